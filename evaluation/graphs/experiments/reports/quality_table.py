"""Table 4: text quality by model and temperature, over seeded runs (KaLMA, 5.1)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.graphs.experiments.reports.run_rows import REMOVED, removed_unsaid, setups_of
from evaluation.graphs.experiments.reports.runs_read import runs_read
from evaluation.graphs.reports.answer_figures import (
    Counted,
    counted_responses,
    data_hash,
    need_graph,
    signature,
    with_intervals,
)
from evaluation.graphs.reports.quality import QUALITIES, QualityScore, judge_row, quality_scores
from evaluation.models import MetricRun
from evaluation.reports.base import Report, Row
from evaluation.reports.registry import NoChoices, ReportKind, columns
from evaluation.reports.setups import setup_row
from evaluation.runs.scores import setups_of_the_judge
from evaluation.runs.seeded_setups import seeded_runs
from evaluation.statistics.intervals import Figure
from evaluation.statistics.rater_answers import mean_from, mean_statistics
from generation.models import Dataset, Setup

REPORT = "quality_table"


class _Material(NamedTuple):
    """What one run of each metric says."""

    counted: Counted
    n_answers: Mapping[int, int]  # of each setup
    runs: Mapping[str, MetricRun]  # by metric, those that there are
    scores: Mapping[tuple[int, int], Sequence[QualityScore]]  # by run and setup
    judges_own: Mapping[int, set[int]]  # setups by run


def quality_table(dataset: Dataset) -> Report:
    """Return a row for each group of seeded runs that were shown a whole graph.

    `coherence`, `consistency`, `fluency` and `relevance` are means from 1 to 5 over the answers of
    all runs of the group that have a score (`…_n`), each by one metric run: the newest that is
    done, whatever its sample. `…_n_failed` answers have none and are never a
    number, `…_n_not_scored` were not asked about. A mean over answers, not over runs, as a sample
    need not hold as many answers of each; it has no deviation over runs.
    `…_is_own_judge`: the judge wrote some of the answers.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    groups = seeded_runs(dataset)
    made = _material(dataset, [pk for group in groups for pk in group.ids])
    there = [
        (group, setups)
        for group in groups
        if (setups := [setup for setup in group.setups if setup.pk in made.n_answers])
    ]
    rows: list[Row] = []
    figures = []
    for group, setups in there:
        ids = [setup.pk for setup in setups]
        rows.append(group._replace(setups=tuple(setups)).row | _counts(made, ids))
        figures.append(_figures(made, ids))
    kept = {setup.pk for _, setups in there for setup in setups}
    said = [f"{metric} by {run.full_signature}" for metric, run in made.runs.items()]
    return Report(
        dataset.name,
        REPORT,
        with_intervals(rows, figures, made.counted.n_dialogs),
        {
            **made.counted.left_out([pk for group in groups for pk in group.ids]),
            "setups_of_ablations": len(set(made.counted.setups.values()) - kept),
            "qualities_without_a_run": len(QUALITIES) - len(made.runs),
        },
        signature(
            REPORT, "means over the answers of all runs, from 1 to 5", *said, data=_hash(made)
        ),
    )


def run_rows(dataset: Dataset, row: Row) -> list[Row]:
    """Return a row for each run behind a row of the table, with the same figures."""
    setups: list[Setup] = setups_of(dataset, row)
    made = _material(dataset, [setup.pk for setup in setups])
    rows = [setup_row(setup) | {"n_runs": 1} | _counts(made, [setup.pk]) for setup in setups]
    figures = [_figures(made, [setup.pk]) for setup in setups]
    return with_intervals(rows, figures, made.counted.n_dialogs)


def counted_answers(dataset: Dataset) -> Counted:
    """Return the answers that may be counted; those from whose graph knowledge was removed are
    none, whatever their prompt is called.
    """
    counted, unsaid = counted_responses(dataset), removed_unsaid(dataset)
    out = Counter(setup for pk, setup in counted.setups.items() if pk in unsaid)
    return counted._replace(
        setups={pk: setup for pk, setup in counted.setups.items() if pk not in unsaid},
        n_left_out={**counted.n_left_out, REMOVED: out},
    )


def _material(dataset: Dataset, setups: Collection[int]) -> _Material:
    counted = counted_answers(dataset)
    n_answers: dict[int, int] = defaultdict(int)
    for pk in counted.setups.values():
        n_answers[pk] += 1
    runs = runs_read(dataset, QUALITIES)
    scores: dict[tuple[int, int], list[QualityScore]] = defaultdict(list)
    for score in quality_scores(list(runs.values()), setups, counted):
        scores[score.run, score.setup].append(score)
    judges_own = {run.pk: setups_of_the_judge(run) for run in runs.values()}
    return _Material(counted, n_answers, runs, scores, judges_own)


def _of(made: _Material, metric: str, setups: Collection[int]) -> list[QualityScore]:
    """Return what the run of a metric says of the answers of some setups."""
    run = made.runs.get(metric)
    return [each for pk in setups for each in made.scores.get((run.pk, pk), ())] if run else []


def _figures(made: _Material, setups: Collection[int]) -> dict[str, Figure]:
    figures = {}
    for metric in QUALITIES:
        scores = _of(made, metric, setups)
        values = np.array([np.nan if s.score is None else s.score for s in scores], np.float64)
        dialogs = np.array([each.dialog for each in scores], np.int64)
        figures[metric] = Figure(mean_statistics(values), dialogs, mean_from)
    return figures


def _counts(made: _Material, setups: Collection[int]) -> Row:
    n_answers = sum(made.n_answers.get(pk, 0) for pk in setups)
    row: Row = {"n_answers": n_answers}
    judges = []
    for metric in QUALITIES:
        scores = _of(made, metric, setups)
        run = made.runs.get(metric)
        n = sum(each.score is not None for each in scores)
        row[f"{metric}_n"] = n
        row[f"{metric}_n_failed"] = len(scores) - n
        row[f"{metric}_n_not_scored"] = n_answers - len(scores)
        is_own = run is not None and bool(made.judges_own[run.pk] & set(setups))
        row[f"{metric}_is_own_judge"] = is_own
        row[f"{metric}_run"] = run.pk if run and scores else None
        if run and scores:
            judges.append(judge_row(run))
    return row | {
        "n_failed": sum(row[f"{metric}_n_failed"] for metric in QUALITIES),
        "judge": ", ".join(dict.fromkeys(each["judge"] for each in judges)),
        "mode": ", ".join(dict.fromkeys(filter(None, (each["mode"] for each in judges)))),
        "is_own_judge": any(row[f"{metric}_is_own_judge"] for metric in QUALITIES),
    }


def _hash(made: _Material) -> str:
    signatures = {run.pk: run.full_signature for run in made.runs.values()}
    found = [each for of in made.scores.values() for each in of]
    return data_hash([(signatures[each.run], each.key, *each[4:]) for each in found])


QUALITY_TABLE = ReportKind(
    key="quality_table",
    title="Text quality (table 4)",
    lede="Text quality by model, as judged by a model.",
    about=Dataset,
    choices=NoChoices,
    make=lambda dataset, _: quality_table(dataset),
    columns=columns(
        "label",
        "prompt_title",
        "n_runs",
        "n_answers",
        "coherence",
        "consistency",
        "fluency",
        "relevance",
        "n_failed",
        "judge",
        "mode",
        "is_own_judge",
    ),
)
