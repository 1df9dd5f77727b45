"""The report on text quality: means of a judge's scores from 1 to 5 (KaLMA, 4.1)."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from django.db.models import F

from evaluation.graphs.reports import methods
from evaluation.graphs.reports.answer_figures import (
    AnswerChoices,
    Counted,
    chosen_setups,
    counted_responses,
    scores_of_answers,
)
from evaluation.graphs.reports.leads import to_answers, to_run
from evaluation.metrics.registry import METRICS
from evaluation.metrics.text_quality import TextQuality
from evaluation.models import MetricRun
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, data_hash, signature_of, with_estimates
from evaluation.reports.local_ids import RunId
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow
from evaluation.reports.setups import SetupColumns, setup_columns
from evaluation.runs.scores import setups_of_the_judge
from evaluation.statistics.intervals import Floats, Indexes, Statistic
from evaluation.statistics.rank_measures import dialogs_with_another_value
from evaluation.statistics.rater_answers import mean_from, mean_statistics
from generation.models import Dataset

QUALITIES = tuple(key for key, kind in METRICS.items() if issubclass(kind, TextQuality))


@dataclass(frozen=True, kw_only=True)
class JudgeColumns(ReportRow):
    """The judge of a run, and how it was asked. What an import does not say is "" or None."""

    metric_run: RunId
    judge: Annotated[str, Column("Judge")]
    mode: Annotated[str, Column("Mode")]
    repeats: Annotated[int | None, Column("Repeats", Format.COUNT)]
    n_sampled: int | None
    run_signature: str
    state: str


@dataclass(frozen=True, kw_only=True)
class QualityRow(ReportRow):
    """The scores of one run, by one metric, for the answers of a setup."""

    metric: Annotated[str, Column("Metric")]
    of: SetupColumns
    by: JudgeColumns
    is_own_judge: Annotated[bool, Column("Own judge")]  # whether the judge wrote the answers
    n: Annotated[int, Column("Answers", Format.COUNT)]  # answers with a score
    n_failed: Annotated[int, Column("Failed", Format.COUNT)]
    deviation: Annotated[float | None, Column("Deviation", Format.DECIMAL)]
    n_not_asked: int
    n_other_dialogs: int  # dialogs with another score than the most frequent one
    mean: Annotated[Estimate, Column("Mean", Format.DECIMAL)]


class QualityScore(NamedTuple):
    run: int
    key: str  # key of the response
    response: int
    setup: int
    dialog: int  # number of its dialog
    score: float | None  # None: failed


def quality_report(dataset: Dataset, setup: str = "") -> Report[QualityRow]:
    """Return a row for each metric, setup and run of text quality.

    `mean` with its interval, and `deviation` (of the sample, n − 1), are over the `n` answers with
    a score. `n_failed` answers have no score and never count as a 0 or a 3. `n_not_asked` answers
    of the setup are outside the run's sample, or the run has not reached them yet. `is_own_judge`
    is whether the judge wrote the answers.

    Raises:
        CannotReport: there is no setup of that name.
    """
    setups = chosen_setups(dataset, setup)
    runs = list(
        MetricRun.objects.filter(dataset=dataset, metric__in=QUALITIES)
        .select_related("dataset")
        .order_by("pk")
    )
    counted = counted_responses(dataset, any_graph=True)
    n_of_setup = Counter(counted.setups.values())
    found = quality_scores(runs, setups, counted)
    by_row: dict[tuple[int, int], list[QualityScore]] = defaultdict(list)
    for each in found:
        by_row[each.run, each.setup].append(each)
    judges_own = {run.pk: setups_of_the_judge(run) for run in runs}
    planned = []
    for metric in QUALITIES:
        for pk, one in setups.items():
            for run in runs:
                scores = by_row.get((run.pk, pk))
                if run.metric != metric or not scores:
                    continue
                given = [each.score for each in scores if each.score is not None]
                mean = mean_score(scores)
                make = partial(
                    QualityRow,
                    metric=metric,
                    of=setup_columns(one),
                    by=judge_columns(run),
                    is_own_judge=pk in judges_own[run.pk],
                    n=len(given),
                    n_failed=len(scores) - len(given),
                    deviation=statistics.stdev(given) if len(given) > 1 else None,
                    n_not_asked=n_of_setup[pk] - len(scores),
                    n_other_dialogs=n_other_dialogs(scores),
                )
                planned.append(Planned(make, {"mean": mean}))
    with_run = {pk for _, pk in by_row}
    # Each answer counts once, however many runs and metrics there are.
    left_out: LeftOut = {
        **counted.left_out(setups),
        "setups_without_a_run": sum(pk in n_of_setup and pk not in with_run for pk in setups),
        "answers_not_asked": sum(n_of_setup[pk] for pk in with_run)
        - len({each.response for each in found}),
        "answers_with_failed_scores": len({s.response for s in found if s.score is None}),
    }
    signatures = {run.pk: run.full_signature for run in runs}
    data = data_hash([(signatures[each.run], each.key, *each[4:]) for each in found])
    said = [f"setup {setup} only"] if setup else []
    return Report(
        dataset.name,
        "quality",
        list(with_estimates(planned, counted.n_dialogs)),
        left_out,
        signature_of("quality", *said, "scores from 1 to 5", data=data),
    )


def quality_scores(
    runs: Collection[MetricRun], setups: Collection[int], counted: Counted
) -> list[QualityScore]:
    """Return the scores of some runs for the responses that count. This takes one query."""
    found = scores_of_answers(runs, setups).values_list(
        "run",
        F("target__response__key"),
        F("target__response"),
        F("target__response__setup"),
        "score",
    )
    rows: Any = found.iterator(chunk_size=5000)
    return sorted(
        (
            QualityScore(run, key, response, setup, counted.dialogs[response], score)
            for run, key, response, setup, score in rows
            if response in counted.setups
        ),
        key=lambda each: each[:3],
    )


def judge_columns(run: MetricRun) -> JudgeColumns:
    """Return the columns about the judge of a run, and how it was asked."""
    return JudgeColumns(
        metric_run=run.pk,
        judge=run.parameters.get("served_name") or run.model_name or run.backend,
        mode=str(run.parameters.get("mode", "")),
        repeats=run.parameters.get("repeats"),
        n_sampled=run.parameters.get("n_sampled"),
        run_signature=run.full_signature,
        state=str(run.state),
    )


def mean_score(scores: Collection[QualityScore]) -> Statistic:
    """Return the mean of the scores, ready for an interval; failed ones are left out."""
    values, dialogs = _values(scores)
    return Statistic(mean_statistics(values), dialogs, mean_from)


def n_other_dialogs(scores: Collection[QualityScore]) -> int:
    """Return how many dialogs have another score than the most frequent one."""
    return dialogs_with_another_value(*_values(scores))


def _values(scores: Collection[QualityScore]) -> tuple[Floats, Indexes]:
    """Return each score, NaN for a failed one, and its dialog."""
    values = [np.nan if each.score is None else each.score for each in scores]
    return np.array(values, np.float64), np.array([each.dialog for each in scores], np.int64)


QUALITY = ReportKind(
    key="quality",
    title="Text quality",
    lede="Gives coherence, consistency, fluency and relevance by setup, as a model judges them.",
    group=ReportGroup.GRAPH,
    about=Dataset,
    methods=methods.QUALITY,
    choices=AnswerChoices,
    make=lambda dataset, choices: quality_report(dataset, choices.setup),
    rows=(QualityRow,),
    leads={"setup": to_answers, "judge": to_run},
)
