"""The report on alignment: how many citations are entailed by their sentence (KaLMA, 4.3)."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from django.db.models import Count, F, Q, Sum

from evaluation.graphs.reports import methods
from evaluation.graphs.reports.answer_figures import (
    AnswerChoices,
    chosen_setups,
    need_graph,
    share_figure,
)
from evaluation.graphs.reports.cited_answers import CitedAnswers, cited_answers
from evaluation.graphs.reports.leads import to_answers, to_run
from evaluation.measures.alignment import alignment_statistics
from evaluation.measures.citation import Mode
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, data_hash, signature_of, with_estimates
from evaluation.reports.local_ids import RunId
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow
from evaluation.reports.setups import SetupColumns, setup_columns
from evaluation.runs.item_scores import labelled_runs, runs_left_out
from evaluation.runs.progress import title_of
from evaluation.statistics.intervals import Statistic, share_from
from evaluation.votes.counts import Ints
from generation.models import Dataset, Setup

METRIC = "alignment"


@dataclass(frozen=True, kw_only=True)
class AlignmentRunColumns(ReportRow):
    """The columns about the run that a row is made from."""

    metric_run: RunId
    scored_by: str
    judge: Annotated[str, Column("Run")]  # its model, or else its backend; "" for an import
    run_signature: str
    state: str


@dataclass(frozen=True, kw_only=True)
class AlignmentRow(ReportRow):
    """The share of a setup's citations that are aligned, as a run scored them."""

    of: SetupColumns
    by: AlignmentRunColumns
    n_answers: Annotated[int, Column("Answers", Format.COUNT)]  # answers with a scored pair
    n_without_citations: int  # answers
    n_not_asked: int  # answers
    n_all_failed: int  # answers
    n_pairs: Annotated[int, Column("Pairs", Format.COUNT)]
    n_failed: Annotated[int, Column("Failed", Format.COUNT)]
    n_not_scored: int
    n_truncated: Annotated[int, Column("Shortened", Format.COUNT)]
    n_assumed: int
    n_incomplete: int
    aligned: Annotated[Estimate, Column("All pairs", Format.PERCENT)]
    macro_aligned: Annotated[Estimate, Column("Mean over answers", Format.PERCENT)]


class Aligned(NamedTuple):
    """The counts of one run about the citations of one answer."""

    run: int
    place: int  # index of the answer
    n: int  # pairs with a score
    n_aligned: int
    n_failed: int
    n_truncated: int  # pairs whose sentence was cut
    n_assumed: int  # pairs without a sentence; they score 0 without asking a model


def alignment_report(dataset: Dataset, setup: str = "") -> Report[AlignmentRow]:
    """Return a row for each setup and run of alignment over its citations.

    A pair is a sentence with one of its citations. `aligned` is the share of all pairs (`n_pairs`,
    micro) whose sentence entails the citation, and `macro_aligned` is the mean over answers with a
    pair (`n_answers`). Pairs that failed (`n_failed`) do not count. Pairs whose sentence was cut
    (`n_truncated`), or that are in no sentence (`n_assumed`), do. Every other answer of the setup
    is one of `n_without_citations` (it has no complete citation, so there is nothing to ask),
    `n_not_asked` (it is outside the sample, or the run has not reached it yet) and `n_all_failed`.
    In the answers that were asked about, `n_incomplete` citations are no pair. `n_not_scored`
    complete citations have no score yet, or have longer names than the database can store.

    Raises:
        CannotReport: there is no graph, or no setup of that name.
    """
    need_graph(dataset)
    setups = chosen_setups(dataset, setup)
    answers = cited_answers(dataset).of_setups(setups)
    runs = {run.pk: run for run in alignment_runs(dataset)}
    found = aligned(list(runs), answers)
    by_row: dict[tuple[int, int], list[Aligned]] = defaultdict(list)
    for each in found:
        by_row[int(answers.setups[each.place]), each.run].append(each)
    planned = [
        _planned(one, run, of_run, answers)
        for one in setups.values()
        for run in runs.values()
        if (of_run := by_row.get((one.pk, run.pk)))
    ]
    signatures = {pk: run.full_signature for pk, run in runs.items()}
    said = [f"setup {setup} only"] if setup else []
    data = [answers.data_hash, *((signatures[each.run], *each[1:]) for each in found)]
    return Report(
        dataset.name,
        METRIC,
        list(with_estimates(planned, answers.n_dialogs)),
        _left_out(answers, found, {pk for pk, _ in by_row}) | runs_left_out(dataset, METRIC),
        signature_of(METRIC, *said, "micro over pairs, macro over answers", data=data_hash(data)),
    )


def alignment_runs(dataset: Dataset) -> list[MetricRun]:
    """Return the runs of alignment over a dataset that have labels, oldest first."""
    return labelled_runs(dataset, METRIC)


def newest_alignment(dataset: Dataset) -> MetricRun | None:
    """Return the run of alignment to use where a dataset needs exactly one, or None.

    It is the newest finished run over all responses or, if there is none, the newest finished run
    over a sample. Running runs are not used, because their figures could change after a reader has
    quoted them.
    """
    return newest_of(alignment_runs(dataset))


def newest_of(runs: Sequence[MetricRun]) -> MetricRun | None:
    """Return one of some runs of a metric, chosen as in `newest_alignment`, or None.

    Args:
        runs: the runs, oldest first.
    """
    done = [run for run in runs if run.state == MetricRun.State.DONE]
    whole = [run for run in done if run.parameters.get("n_sampled") is None]
    return next(reversed(whole or done), None)


def run_columns(run: MetricRun) -> AlignmentRunColumns:
    """Return the columns about the run that a row is made from."""
    return AlignmentRunColumns(
        metric_run=run.pk,
        scored_by=title_of(run),
        judge=run.model_name or run.backend,
        run_signature=run.full_signature,
        state=str(run.state),
    )


def aligned(runs: Collection[int], answers: CitedAnswers) -> list[Aligned]:
    """Return the counts of runs about the citations of some answers.

    The database does the counting, in one query.
    """
    above = Q(score__gt=F("run__threshold"))
    at = Q(run__is_yes_at_threshold=True, score__gte=F("run__threshold"))
    places = {pk: place for place, pk in enumerate(answers.responses.tolist())}
    counted = (
        AutoScore.objects.filter(
            run__in=runs,
            target__citation__isnull=False,
            target__response__setup__in=np.unique(answers.setups).tolist(),
        )
        .order_by()
        .values_list("run", "target__response")
        .annotate(
            n_scored=Count("score"),
            n_aligned=Count("pk", filter=above | at),
            n_without=Count("pk", filter=Q(score=None)),
            n_cut=Sum("n_truncated"),
            n_assumed=Count("pk", filter=Q(is_assumed=True)),
        )
    )
    return sorted(
        Aligned(run, places[response], *counts)
        for run, response, *counts in counted.iterator(chunk_size=5000)
        if response in places
    )


def aligned_figures(found: Sequence[Aligned], answers: CitedAnswers) -> Mapping[str, Statistic]:
    """Return the two figures of some answers: the share over pairs, and the mean over answers."""
    dialogs = answers.dialogs[[each.place for each in found]]
    n_pairs = np.array([each.n for each in found])
    n_aligned = np.array([each.n_aligned for each in found])
    statistics = alignment_statistics(n_aligned, n_pairs)
    return {
        "aligned": share_figure(n_aligned, n_pairs, dialogs),
        "macro_aligned": Statistic(statistics[:, 2:], dialogs, share_from),
    }


def _planned(
    setup: Setup, run: MetricRun, found: Sequence[Aligned], answers: CitedAnswers
) -> Planned[AlignmentRow]:
    """Return the planned row of a setup and a run: its counts and its figures."""
    places = [each.place for each in found]
    complete = n_complete_citations(answers)
    is_asked = np.isin(np.arange(len(complete)), places)
    of_setup = answers.setups == setup.pk
    # An imported score may be about a citation that the current parser reads differently.
    missing = np.maximum(0, complete[places] - [each.n + each.n_failed for each in found])
    make = partial(
        AlignmentRow,
        of=setup_columns(setup),
        by=run_columns(run),
        n_answers=sum(each.n > 0 for each in found),
        n_without_citations=int((of_setup & ~is_asked & (complete == 0)).sum()),
        n_not_asked=int((of_setup & ~is_asked & (complete > 0)).sum()),
        n_all_failed=sum(each.n == 0 for each in found),
        n_pairs=sum(each.n for each in found),
        n_failed=sum(each.n_failed for each in found),
        n_not_scored=int(missing.sum()),
        n_truncated=sum(each.n_truncated for each in found),
        n_assumed=sum(each.n_assumed for each in found),
        n_incomplete=int(answers.column(Mode.PAPER, "n_incomplete")[places].sum()),
    )
    return Planned(make, aligned_figures(found, answers))


def n_complete_citations(answers: CitedAnswers) -> Ints:
    """Return how many complete citations each answer has, (n,)."""
    complete = answers.column(Mode.PAPER, "n_citations") - answers.column(
        Mode.PAPER, "n_incomplete"
    )
    return complete.astype(np.int64)


def _left_out(
    answers: CitedAnswers, found: Sequence[Aligned], with_run: Collection[int]
) -> LeftOut:
    """Return how much is left out, by reason. Each answer counts once, whatever runs there are."""
    cites = n_complete_citations(answers) > 0
    is_asked = np.isin(np.arange(len(cites)), [each.place for each in found])
    has_run = np.isin(answers.setups, list(with_run))
    return {
        **answers.left_out,
        "setups_without_a_run": len(set(answers.setups.tolist()) - set(with_run)),
        "answers_without_a_complete_citation": int((~cites).sum()),
        "answers_not_asked": int((has_run & cites & ~is_asked).sum()),
        "answers_with_failed_pairs": len({each.place for each in found if each.n_failed}),
    }


ALIGNMENT = ReportKind(
    key="alignment",
    title="Alignment",
    lede="Gives how often the sentences of each setup support what they cite.",
    group=ReportGroup.GRAPH,
    about=Dataset,
    methods=methods.ALIGNMENT,
    choices=AnswerChoices,
    make=lambda dataset, choices: alignment_report(dataset, choices.setup),
    rows=(AlignmentRow,),
    leads={"setup": to_answers, "judge": to_run},
)
