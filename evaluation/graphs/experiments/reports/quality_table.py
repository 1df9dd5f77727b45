"""Table 4: text quality by model and temperature, over seeded runs (KaLMA, 5.1)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

from evaluation.graphs.experiments.reports.chosen_runs import runs_read
from evaluation.graphs.experiments.reports.run_rows import (
    REMOVED,
    OneRun,
    RowOfWholeGraphs,
    per_run,
    removed_unsaid,
    without_setups,
)
from evaluation.graphs.reports import methods
from evaluation.graphs.reports.answer_figures import Counted, counted_responses, need_graph
from evaluation.graphs.reports.quality import (
    QUALITIES,
    QualityScore,
    judge_columns,
    mean_score,
    n_other_dialogs,
    quality_scores,
)
from evaluation.models import MetricRun
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import data_hash, signature_of
from evaluation.reports.local_ids import RunId
from evaluation.reports.registry import NoChoices, ReportGroup, ReportKind
from evaluation.reports.report import Report, ReportRow
from evaluation.reports.setups import setup_columns
from evaluation.runs.scores import setups_of_the_judge
from evaluation.runs.seeded_setups import GroupColumns, seeded_runs
from evaluation.statistics.intervals import Statistic
from generation.models import Dataset

REPORT = "quality_table"


class _QualityMaterial(NamedTuple):
    """The scores of one run of each metric, and the answers that count."""

    counted: Counted
    n_answers: Mapping[int, int]  # setup id → number of its answers
    runs: Mapping[str, MetricRun]  # metric → its run; metrics without one are left out
    scores: Mapping[tuple[int, int], Sequence[QualityScore]]  # (run id, setup id) → scores
    judges_own: Mapping[int, set[int]]  # run id → ids of setups whose answers the judge wrote


@dataclass(frozen=True, kw_only=True)
class JudgedColumns(ReportRow):
    """The columns about one metric's scores for the answers of some runs."""

    n: Annotated[int, Column("Scored", Format.COUNT)]  # answers with a score
    n_failed: Annotated[int, Column("Failed", Format.COUNT)]
    n_not_scored: int
    n_other_dialogs: int  # dialogs with another score than the most frequent one
    is_own_judge: bool  # whether the judge wrote some of the answers
    run: RunId | None


@dataclass(frozen=True, kw_only=True)
class QualityTableRow(RowOfWholeGraphs):
    """The text quality of the answers of some runs, as means from 1 to 5."""

    paper_columns = ("label", "coherence", "consistency", "fluency", "relevance")  # [K] table 4

    runs: GroupColumns | OneRun
    n_answers: Annotated[int, Column("Answers", Format.COUNT)]
    judged: Mapping[str, JudgedColumns]  # metric → its columns
    n_failed: Annotated[int, Column("Failed", Format.COUNT)]
    judge: Annotated[str, Column("Judge")]
    mode: Annotated[str, Column("Mode")]
    is_own_judge: Annotated[bool, Column("Own judge")]
    coherence: Annotated[Estimate, Column("Mean", Format.DECIMAL, "Coherence")]
    consistency: Annotated[Estimate, Column("Mean", Format.DECIMAL, "Consistency")]
    fluency: Annotated[Estimate, Column("Mean", Format.DECIMAL, "Fluency")]
    relevance: Annotated[Estimate, Column("Mean", Format.DECIMAL, "Relevance")]
    over_runs: Mapping[str, float | int | None]  # always empty, see `quality_table`


def quality_table(dataset: Dataset) -> Report[QualityTableRow]:
    """Return a row for each group of seeded runs that were shown a whole graph.

    `coherence`, `consistency`, `fluency` and `relevance` are means over the answers of all runs of
    the group that have a score. Each is from one metric run, the newest finished one whatever its
    sample. A failed score never counts as a number. The means are over answers and not over runs,
    because a sample need not contain the same number of answers of each run. So they have no
    deviation over runs.

    Raises:
        CannotReport: there is no graph.
    """
    return with_run_rows(dataset, "")[0]


def with_run_rows(
    dataset: Dataset, group: str
) -> tuple[Report[QualityTableRow], list[QualityTableRow]]:
    """Return the table, and a row for each run of a group. There are none for an unknown group.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    groups = seeded_runs(dataset)
    made = _material(dataset, [pk for each in groups for pk in each.ids])
    there = without_setups(groups, {pk for each in groups for pk in each.ids} - set(made.n_answers))
    rows = [(_row(made, each.columns, each.ids), _figures(made, each.ids)) for each in there]
    n_kept = len({pk for each in there for pk in each.ids} & set(made.counted.setups.values()))
    said = [f"{metric} by {run.full_signature}" for metric, run in made.runs.items()]
    report = Report(
        dataset.name,
        REPORT,
        per_run(rows, made.counted.n_dialogs),
        {
            **made.counted.left_out([pk for each in groups for pk in each.ids]),
            "setups_of_ablations": len(set(made.counted.setups.values())) - n_kept,
            "qualities_without_a_run": len(QUALITIES) - len(made.runs),
        },
        signature_of(
            REPORT, "means over the answers of all runs, from 1 to 5", *said, data=_hash(made)
        ),
    )
    alone = [
        (_row(made, OneRun(of=setup_columns(one)), [one.pk]), _figures(made, [one.pk]))
        for each in there
        if each.key == group
        for one in each.setups
    ]
    return report, per_run(alone, made.counted.n_dialogs)


def counted_answers(dataset: Dataset) -> Counted:
    """Return the answers that may be counted, and those of ablations.

    Answers with removed knowledge whose prompt type removes none are left out.
    """
    counted, unsaid = counted_responses(dataset), removed_unsaid(dataset)
    out = Counter(setup for pk, setup in counted.setups.items() if pk in unsaid)
    return counted._replace(
        setups={pk: setup for pk, setup in counted.setups.items() if pk not in unsaid},
        n_left_out={**counted.n_left_out, REMOVED: out},
    )


def _material(dataset: Dataset, setups: Collection[int]) -> _QualityMaterial:
    counted = counted_answers(dataset)
    n_answers: dict[int, int] = defaultdict(int)
    for pk in counted.setups.values():
        n_answers[pk] += 1
    runs = runs_read(dataset, QUALITIES)
    scores: dict[tuple[int, int], list[QualityScore]] = defaultdict(list)
    for score in quality_scores(list(runs.values()), setups, counted):
        scores[score.run, score.setup].append(score)
    judges_own = {run.pk: setups_of_the_judge(run) for run in runs.values()}
    return _QualityMaterial(counted, n_answers, runs, scores, judges_own)


def _of(made: _QualityMaterial, metric: str, setups: Collection[int]) -> list[QualityScore]:
    """Return the scores by the run of a metric for the answers of some setups."""
    run = made.runs.get(metric)
    return [each for pk in setups for each in made.scores.get((run.pk, pk), ())] if run else []


def _figures(made: _QualityMaterial, setups: Collection[int]) -> dict[str, Statistic]:
    return {metric: mean_score(_of(made, metric, setups)) for metric in QUALITIES}


def _row(
    made: _QualityMaterial, runs: GroupColumns | OneRun, setups: Collection[int]
) -> Callable[..., QualityTableRow]:
    """Return a function that makes a row about some runs from its figures."""
    n_answers = sum(made.n_answers.get(pk, 0) for pk in setups)
    judged = {metric: _judged(made, metric, setups, n_answers) for metric in QUALITIES}
    judges = [judge_columns(run) for metric, run in made.runs.items() if judged[metric].run]
    return partial(
        QualityTableRow,
        runs=runs,
        n_answers=n_answers,
        judged=judged,
        n_failed=sum(each.n_failed for each in judged.values()),
        judge=", ".join(dict.fromkeys(each.judge for each in judges)),
        mode=", ".join(dict.fromkeys(each.mode for each in judges if each.mode)),
        is_own_judge=any(each.is_own_judge for each in judged.values()),
    )


def _judged(
    made: _QualityMaterial, metric: str, setups: Collection[int], n_answers: int
) -> JudgedColumns:
    """Return how many answers of some runs are scored, failed or not scored by a metric."""
    scores = _of(made, metric, setups)
    run = made.runs.get(metric)
    n = sum(each.score is not None for each in scores)
    return JudgedColumns(
        n=n,
        n_failed=len(scores) - n,
        n_not_scored=n_answers - len(scores),
        n_other_dialogs=n_other_dialogs(scores),
        is_own_judge=run is not None and bool(made.judges_own[run.pk] & set(setups)),
        run=run.pk if run and scores else None,
    )


def _hash(made: _QualityMaterial) -> str:
    signatures = {run.pk: run.full_signature for run in made.runs.values()}
    found = [each for of in made.scores.values() for each in of]
    return data_hash([(signatures[each.run], each.key, *each[4:]) for each in found])


QUALITY_TABLE = ReportKind(
    key="quality_table",
    title="Text quality (table 4)",
    lede="Gives text quality by model, as a model judges it.",
    group=ReportGroup.GRAPH,
    about=Dataset,
    methods=methods.QUALITY_TABLE,
    choices=NoChoices,
    make=lambda dataset, _: quality_table(dataset),
    rows=(QualityTableRow,),
)
