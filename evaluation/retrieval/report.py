"""The report on retrieval: how much of the golden evidence BM25 finds among the first k."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nsmallest
from typing import Annotated, NamedTuple

import numpy as np
from django.conf import settings

from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import NotYet
from evaluation.reports.report import LeftOut, Report, Row
from evaluation.statistics.intervals import SHARE_METHOD, Figure, share_from
from generation.choices.declaration import Choice
from generation.draws import random_key
from generation.grids.grid_file import QUERIES, Query
from generation.models import Dataset, Example, ExamplePassage, Turn
from generation.retrieval.bm25 import USUAL, Bm25
from generation.retrieval.dataset_index import (
    MANY_PASSAGES,
    DatasetIndex,
    can_wait_for_index,
    index_of,
)
from generation.retrieval.recall import precision_at, recall_at

MOST_K = 10
SEED = 0  # of the sample
MOST_EXAMPLES = 500
FEW_EXAMPLES = 100  # of many passages: each query takes milliseconds more there


class RetrievalChoices(NamedTuple):
    """What a reader may choose about the ranking."""

    bm25: Bm25 = USUAL
    query: Annotated[Query, Choice("Searched by", QUERIES)] = "question"


@dataclass(frozen=True, kw_only=True)
class RecallRow(Row):
    """How much golden evidence is among the first k passages, means over examples."""

    k: Annotated[int, Column("k", Format.COUNT)]
    n: Annotated[int, Column("Examples", Format.COUNT)]
    n_dialogs: int
    n_guessed: int  # examples whose golden passage a rule has guessed
    recall: Annotated[Estimate, Column("Recall", Format.PERCENT)]
    precision: Annotated[Estimate, Column("Precision", Format.PERCENT)]


def report_if_indexed(dataset: Dataset, choices: RetrievalChoices) -> Report[RecallRow]:
    """Return the report where its passages are indexed, or few enough to be indexed meanwhile.

    Raises:
        NotYet: they are not.
    """
    if not can_wait_for_index(dataset.pk):
        raise NotYet("The passages are not indexed yet: the page of retrieval has it done.")
    return retrieval_report(dataset, choices)


class _Asked(NamedTuple):
    """One example of the sample."""

    dialog: str
    query: str
    golden: frozenset[int]  # passage ids
    is_guessed: bool  # nobody has said which passage is golden; a rule has


def retrieval_report(
    dataset: Dataset,
    choices: RetrievalChoices,
    most_k: int = MOST_K,
    examples: Collection[int] | None = None,
) -> Report[RecallRow]:
    """Return recall@k and precision@k for k = 1..10, means over examples with golden evidence.

    At most 500 examples, drawn by a seed; 100 where the collection has more than 20,000 passages.

    Args:
        most_k: the last k of the rows; each row is the same whatever it is.
        examples: the ids of those that count; None for all of the dataset.
    """
    index = index_of(dataset.pk, choices.bm25)
    golden = _golden_of(dataset)
    if examples is None:
        n_all, counted = dataset.examples.of_benchmark().count(), []
    else:
        golden = {pk: passages for pk, passages in golden.items() if pk in examples}
        n_all, counted = (
            len(examples),
            [f"of {len(examples)} chosen, {_hash_of(dataset, examples)}"],
        )
    most = FEW_EXAMPLES if len(index) > MANY_PASSAGES else MOST_EXAMPLES
    asked = _asked(dataset, golden, choices.query, most)
    left_out: LeftOut = {
        "examples_without_golden_evidence": n_all - len(golden),
        "examples_outside_the_sample": len(golden) - len(asked),
    }
    said = [
        "retrieval",
        f"query {choices.query}",
        index.signature,
        f"at most {most} examples, seed {SEED}",
        *counted,
        SHARE_METHOD,
        f"attest {settings.VERSION}",
    ]
    return Report(
        dataset.name, "retrieval", list(_rows(asked, index, most_k)), left_out, " | ".join(said)
    )


def _hash_of(dataset: Dataset, examples: Collection[int]) -> str:
    """Return a hash of the keys of some examples."""
    keys = dataset.examples.values_list("key", "pk").iterator(chunk_size=20_000)
    text = "\n".join(sorted(key for key, pk in keys if pk in examples))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _golden_of(dataset: Dataset) -> Mapping[int, frozenset[int]]:
    """Return the golden passages of each example that has any."""
    found: dict[int, set[int]] = defaultdict(set)
    rows = ExamplePassage.objects.filter(example__dataset=dataset, is_golden=True).order_by()
    for example, passage in rows.values_list("example", "passage").iterator():
        found[example].add(passage)
    return {example: frozenset(passages) for example, passages in found.items()}


def _asked(
    dataset: Dataset, golden: Mapping[int, frozenset[int]], query: Query, most: int
) -> list[_Asked]:
    """Draw examples and return what is searched for each, in the order of their keys."""
    keys = dataset.examples.of_benchmark().values_list("key", "pk").iterator()
    with_golden = ((key, pk) for key, pk in keys if pk in golden)
    drawn = sorted(nsmallest(most, with_golden, key=lambda row: (random_key(SEED, row[0]), row)))
    ids = [pk for _, pk in drawn]
    examples = Example.objects.in_bulk(ids)
    turns: dict[int, list[str]] = defaultdict(list)
    rows = Turn.objects.filter(example__in=ids).order_by("example", "index")
    for example, text in rows.values_list("example", "text"):
        turns[example].append(text)
    return [
        _Asked(
            dialog=examples[pk].dialog,
            query=" ".join(turns[pk][-1:] if query == "question" else turns[pk]),
            golden=golden[pk],
            is_guessed=examples[pk].meta.get("golden") == "guessed",
        )
        for pk in ids
    ]


def _rows(asked: Sequence[_Asked], index: DatasetIndex, most_k: int) -> Iterator[RecallRow]:
    """Yield a row for each k: both means with their intervals over dialogs."""
    rankings = [[hit.passage for hit in index.ranked(each.query, most_k)] for each in asked]
    names, dialogs = np.unique([each.dialog for each in asked], return_inverse=True)

    def mean(measure: Callable[..., float], k: int) -> Figure:
        shares = np.array(
            [measure(found, each.golden, k) for found, each in zip(rankings, asked, strict=True)]
        )
        return Figure(np.column_stack([shares, np.ones(len(shares))]), dialogs, share_from)

    planned = [
        Planned(
            partial(
                RecallRow,
                k=k,
                n=len(asked),
                n_dialogs=len(names),
                n_guessed=sum(each.is_guessed for each in asked),
            ),
            {"recall": mean(recall_at, k), "precision": mean(precision_at, k)},
        )
        for k in range(1, most_k + 1)
    ]
    yield from with_estimates(planned, len(names))
