"""The report on retrieval: how much of the golden evidence is among the first k of a ranking."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from django.conf import settings

from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import NotYet
from evaluation.reports.report import Report, ReportRow
from evaluation.retrieval.ranked_examples import (
    MOST_K,
    RankedExample,
    RetrievalChoices,
    can_rank,
    ranked_examples,
)
from evaluation.statistics.intervals import SHARE_METHOD, Statistic, share_from
from generation.models import Dataset
from generation.retrieval.recall import precision_at, recall_at


@dataclass(frozen=True, kw_only=True)
class RecallRow(ReportRow):
    """The recall and precision of the first k passages, as means over examples."""

    named_by = ("k",)

    k: Annotated[int, Column("k", Format.COUNT)]
    n: Annotated[int, Column("Examples", Format.COUNT)]
    n_dialogs: int
    n_guessed: int  # examples whose golden passage a rule has guessed
    n_unranked: int  # examples without passages in an imported ranking; they count as not found
    # Questions that share no word with any passage, so that the order of the passages decides; None
    # for an imported ranking.
    n_without_shared_words: Annotated[int | None, Column("No shared word", Format.COUNT)]
    recall: Annotated[Estimate, Column("Recall", Format.PERCENT)]
    precision: Annotated[Estimate, Column("Precision", Format.PERCENT)]


def report_if_indexed(dataset: Dataset, choices: RetrievalChoices) -> Report[RecallRow]:
    """Return the report if no index is needed, or the index exists or can be built quickly.

    Raises:
        NotYet: an index is needed that does not exist and would take long to build.
    """
    if not can_rank(dataset, choices):
        raise NotYet(
            "The passages are not indexed yet. Open the page Retrieval of the dataset to have them "
            "indexed."
        )
    return retrieval_report(dataset, choices)


def retrieval_report(
    dataset: Dataset,
    choices: RetrievalChoices,
    most_k: int = MOST_K,
    examples: Collection[int] | None = None,
) -> Report[RecallRow]:
    """Return recall@k and precision@k for k = 1 to `most_k`, as means over `ranked_examples`.

    Args:
        dataset: the dataset.
        choices: the choices for the ranking.
        most_k: the last k; it does not change the other rows.
        examples: the ids of the only examples that count; None for all of the dataset.

    Raises:
        Ranking.DoesNotExist: the dataset has no ranking of that name.
    """
    ranked = ranked_examples(dataset, choices, most_k, examples)
    said = ["retrieval", *ranked.said, SHARE_METHOD, f"attest {settings.VERSION}"]
    rows = list(_rows(ranked.examples, most_k))
    return Report(dataset.name, "retrieval", rows, ranked.left_out, " | ".join(said))


def _rows(ranked: Sequence[RankedExample], most_k: int) -> Iterator[RecallRow]:
    """Yield a row for each k: both means with their intervals over dialogs."""
    names, dialogs = np.unique([each.dialog for each in ranked], return_inverse=True)

    def mean(measure: Callable[..., float], k: int) -> Statistic:
        shares = np.array([measure(each.ranking, each.golden, k) for each in ranked])
        return Statistic(np.column_stack([shares, np.ones(len(shares))]), dialogs, share_from)

    planned = [
        Planned(
            partial(
                RecallRow,
                k=k,
                n=len(ranked),
                n_dialogs=len(names),
                n_guessed=sum(each.is_guessed for each in ranked),
                n_unranked=sum(not each.ranking for each in ranked),
                n_without_shared_words=None
                if any(each.shares_words is None for each in ranked)
                else sum(not each.shares_words for each in ranked),
            ),
            {"recall": mean(recall_at, k), "precision": mean(precision_at, k)},
        )
        for k in range(1, most_k + 1)
    ]
    yield from with_estimates(planned, len(names))
