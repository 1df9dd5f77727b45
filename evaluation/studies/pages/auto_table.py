"""Auto-metrics against people for the page of a study: one question, and one chosen run.

Nothing is computed here. A table holds the rows of the reports themselves.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from evaluation.reports.columns import Estimate, Format
from evaluation.reports.numbers import percent
from evaluation.reports.report import columns_of
from evaluation.runs.families import imported_family
from evaluation.runs.item_scores import WITHOUT_THRESHOLD
from evaluation.studies.figures.charts import (
    MAJORITY,
    decisions_said,
    people_said,
    run_names,
)
from evaluation.studies.pages.tables import in_order, n_said
from evaluation.studies.reports.agreement import AgreementRow, Curves, Point
from evaluation.studies.reports.ceilings import CEILINGS, NO_CEILING, CeilingColumns
from evaluation.studies.reports.study import Figures

# The figures of a run, in the order of their table on the page.
MEASURES = (
    "accuracy",
    "baseline",
    "balanced_accuracy",
    "precision",
    "recall",
    "f1",
    "kappa",
    "auc",
    "spearman",
    "mse",
)
OF_CONTROLS = ("floor", "nothing", "top")
COLUMNS = columns_of(AgreementRow)


class CeilingLine(NamedTuple):
    """One of the three ceilings: the accuracy that people reach against each other."""

    key: str  # a key of `CEILINGS`
    name: str
    how: str
    estimate: Estimate
    n: int | None  # number of items of the chosen run that have this ceiling
    accuracy: Estimate  # the accuracy of the chosen run over these items, with ties as a half


def ceilings_in(columns: CeilingColumns) -> list[CeilingLine]:
    """Return the ceilings that a row has. Metrics are compared with the first."""
    return [
        CeilingLine(
            key,
            CEILINGS[key].name,
            CEILINGS[key].how(columns.votes(key)),
            columns.of(key),
            columns.n(key),
            columns.accuracy(key),
        )
        for key in columns.defined
    ]


class ConfusionCell(NamedTuple):
    """A cell of a confusion matrix. `share` is its share of the line."""

    n: int
    share: float | None
    is_same: bool  # the metric's label equals the human label


class Measure(NamedTuple):
    """A figure of the chosen run, written in the format of its column."""

    name: str
    figure: str
    interval: str


class RunLine(NamedTuple):
    """A run with its name, its row, and its accuracy minus the first ceiling."""

    name: str
    row: AgreementRow
    minus: Estimate | None  # None: there is no ceiling


class RankedLine(NamedTuple):
    """A run without a threshold: it has ranks, and a family whose threshold can be chosen."""

    name: str
    row: AgreementRow
    family: str


class AutoTable(NamedTuple):
    """Runs against people on one question."""

    questions: list[str]
    question: str
    rows: list[RunLine]  # runs with an accuracy
    ranked: list[RankedLine]  # runs without a threshold whose scores are compared by ranks
    undefined: list[tuple[str, AgreementRow]]  # names and rows of the other runs
    chosen: AgreementRow | None
    title: str  # the chosen run's name
    ceilings: list[CeilingLine]
    curve: Mapping[str, list[Point]]  # the chosen run's curves: roc, calibration

    @property
    def _shown(self) -> AgreementRow | None:
        """The chosen run's row, or that of a run without a threshold, if there is one of them."""
        return self.chosen or next((line.row for line in self.ranked), None)

    @property
    def truth(self) -> str:
        """The arm whose majorities are the truth."""
        return self._shown.truth if self._shown else ""

    @property
    def people(self) -> str:
        """The human labels that metrics are compared with, in words."""
        row = self._shown
        label, n_adjudicated = (row.label, row.n_adjudicated) if row else (None, 0)
        return people_said(label, n_adjudicated)

    @property
    def decisions(self) -> str:
        """The number of the chosen run's labels that are decisions, in words; empty if none are."""
        return decisions_said(self._shown.n_adjudicated) if self._shown else ""

    @property
    def cut(self) -> str:
        """The rule for a human yes; empty when it is simply the majority."""
        label = self._shown.label if self._shown else None
        return "" if not label or label == MAJORITY else label

    @property
    def n_said(self) -> str:
        shown = [*self.compared, *(line.row for line in self.ranked)]
        return n_said([row.n for row in shown], "response", "compared")

    @property
    def note(self) -> str:
        """The meaning of the chart's marks; without a chart, of the intervals alone."""
        if not self.rows:
            return "95 % intervals over dialogs"
        return (
            "whiskers and band: 95 % intervals over dialogs; baseline and ceilings over the"
            " responses of the chosen run"
        )

    @property
    def compared(self) -> list[AgreementRow]:
        """The rows of the runs with an accuracy."""
        return [line.row for line in self.rows]

    @property
    def no_ceiling(self) -> str:
        """The reason why the chosen run has no ceiling; empty if it has one."""
        return "" if self.ceilings or self.chosen is None else NO_CEILING

    @property
    def on_other_items(self) -> list[CeilingLine]:
        """The ceilings over whose items the chosen run has another accuracy than over its own."""
        if self.chosen is None:
            return []
        own = percent(self.chosen.accuracy.value)
        return [each for each in self.ceilings if percent(each.accuracy.value) != own]

    @property
    def label(self) -> str:
        """The contents of the chart of accuracies, in words."""
        said = ", ".join(
            f"{each.name} {percent(each.row.accuracy.value)}" for each in self.rows[:6]
        )
        more = "".join(f", {c.name.lower()} {percent(c.estimate.value)}" for c in self.ceilings)
        return f"Accuracy with 95 % intervals: {said}{more}; numbers in the tables beside"

    @property
    def confusion(self) -> list[tuple[str, list[ConfusionCell]]]:
        """The lines of the chosen run's confusion matrix."""
        if self.chosen is None:
            return []
        of = self.chosen.confusion
        tp, fn, fp, tn = (n or 0 for n in (of.tp, of.fn, of.fp, of.tn))
        return [
            ("human yes", [_cell(tp, tp + fn, True), _cell(fn, tp + fn, False)]),
            ("human no", [_cell(fp, fp + tn, False), _cell(tn, fp + tn, True)]),
        ]

    @property
    def measures(self) -> list[Measure]:
        """The figures of the chosen run, its accuracy minus each ceiling, and its controls."""
        row = self.chosen
        if row is None:
            return []
        found = []
        for name in MEASURES:
            title = COLUMNS[name].title
            if name in ("spearman", "mse") and row.n_rater_score != row.n:
                title += f" (n = {row.n_rater_score:,})"  # in studies that stop when decided
            found.append(_measure(title, COLUMNS[name].format, getattr(row, name)))
        found += [
            _measure(f"Gap to {each.name.lower()}", Format.POINTS, row.ceilings.minus(each.key))
            for each in self.ceilings
        ]
        of_controls = {name: getattr(row.of_controls, name) for name in OF_CONTROLS}
        return found + [
            _measure(f"{COLUMNS[name].title}: controls", COLUMNS[name].format, share)
            for name, share in of_controls.items()
            if share.value is not None
        ]


def _is_ranked(row: AgreementRow) -> bool:
    """Return whether a row has no labels for want of a threshold alone."""
    return row.why == WITHOUT_THRESHOLD and row.n > 0


def _measure(name: str, format: Format, estimate: Estimate) -> Measure:
    return Measure(name, format.write(estimate.value), format.interval(estimate))


def _cell(n: int, n_line: int, is_same: bool) -> ConfusionCell:
    return ConfusionCell(n, n / n_line if n_line else None, is_same)


def auto_table_of(
    figures: Figures, question: str, run: int | None, main_runs: Mapping[str, Sequence[int]]
) -> AutoTable:
    """Lay out the metrics of a study's figures. `auto_table` says what is chosen if one is not."""
    rows, main = figures.agreement.rows, figures.overview.main
    return auto_table(rows, figures.curves, main, question, run, main_runs)


def auto_table(
    rows: Sequence[AgreementRow],
    curves: Curves,
    main: Sequence[str] = (),
    question: str = "",
    run: int | None = None,
    main_runs: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> AutoTable:
    """Lay out the report on agreement for one question, and choose a run.

    Args:
        main: the scheme's main questions.
        question: the question to show. If it is not in the report: the first main question, else
            the first question with an accuracy, else the first one.
        run: the id of the run to choose. If it has no accuracy: the first of the question's main
            runs that has one, else the newest run with one.
        main_runs: the ids of the main runs of each question, the best first.
    """
    questions = in_order(row.question for row in rows)
    if question not in questions:
        defined = [row.question for row in rows if row.accuracy.value is not None]
        wanted = (*main, *defined, *questions)
        question = next((q for q in wanted if q in questions), "")
    here = [row for row in rows if row.question == question]
    named = list(zip(run_names([row.of_run for row in here]), here, strict=True))
    compared = [(name, row) for name, row in named if row.accuracy.value is not None]
    by_run = {row.of_run.run: (name, row) for name, row in compared}
    wanted_runs = [run, *main_runs.get(question, ()), max(by_run, default=None)]
    title, chosen = next((by_run[pk] for pk in wanted_runs if pk in by_run), ("", None))
    ceilings = ceilings_in(chosen.ceilings) if chosen else []
    first = ceilings[0].key if ceilings else ""
    return AutoTable(
        questions,
        question,
        [
            RunLine(name, row, row.ceilings.minus(first) if first else None)
            for name, row in compared
        ],
        [
            RankedLine(name, row, imported_family(row.of_run.metric, row.of_run.run_signature))
            for name, row in named
            if _is_ranked(row)
        ],
        [(name, row) for name, row in named if row.accuracy.value is None and not _is_ranked(row)],
        chosen,
        title,
        ceilings,
        curves.get(f"{chosen.of_run.run}/{question}", {}) if chosen else {},
    )
