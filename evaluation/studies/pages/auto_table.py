"""Auto-metrics against people for the page of a study: one question, and one chosen run.

Nothing is computed here. A table holds the rows of the reports themselves.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evaluation.reports.columns import Estimate, Format
from evaluation.reports.numbers import percent
from evaluation.reports.report import columns_of
from evaluation.studies.figures.charts import (
    MAJORITY,
    decisions_said,
    people_said,
    run_names,
)
from evaluation.studies.pages.tables import in_order, n_said
from evaluation.studies.reports.agreement import AgreementRow, Curves, Point
from evaluation.studies.reports.ceilings import CEILINGS, CeilingColumns
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
COLUMNS = columns_of(AgreementRow)


class Ceiling(NamedTuple):
    """One of the three ceilings: the accuracy that people reach against each other."""

    key: str  # a key of `CEILINGS`
    name: str
    how: str
    estimate: Estimate
    n: int | None  # number of items of the chosen run that have this ceiling


def ceilings_in(columns: CeilingColumns) -> list[Ceiling]:
    """Return the ceilings that a row has. Metrics are compared with the first."""
    return [
        Ceiling(key, *CEILINGS[key], columns.of(key), columns.n(key)) for key in columns.defined
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


class AutoTable(NamedTuple):
    """Runs against people on one question."""

    questions: list[str]
    question: str
    rows: list[RunLine]  # runs with an accuracy
    undefined: list[tuple[str, AgreementRow]]  # names and rows of runs without an accuracy
    chosen: AgreementRow | None
    title: str  # the chosen run's name
    ceilings: list[Ceiling]
    curve: Mapping[str, list[Point]]  # the chosen run's curves: roc, calibration

    @property
    def truth(self) -> str:
        """The arm whose majorities are the truth."""
        return self.chosen.truth if self.chosen else ""

    @property
    def people(self) -> str:
        """The human labels that metrics are compared with, in words."""
        chosen = self.chosen
        label, n_adjudicated = (chosen.label, chosen.n_adjudicated) if chosen else (None, 0)
        return people_said(label, n_adjudicated)

    @property
    def decisions(self) -> str:
        """The number of the chosen run's labels that are decisions, in words; empty if none are."""
        return decisions_said(self.chosen.n_adjudicated) if self.chosen else ""

    @property
    def cut(self) -> str:
        """The rule for a human yes; empty when it is simply the majority."""
        label = self.chosen.label if self.chosen else None
        return "" if not label or label == MAJORITY else label

    @property
    def n_said(self) -> str:
        return n_said([line.row.n for line in self.rows], "response", "compared")

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
        n_yes, n_no = of.tp + of.fn, of.fp + of.tn
        return [
            ("human yes", [_cell(of.tp, n_yes, True), _cell(of.fn, n_yes, False)]),
            ("human no", [_cell(of.fp, n_no, False), _cell(of.tn, n_no, True)]),
        ]

    @property
    def measures(self) -> list[Measure]:
        """The figures of the chosen run, then its accuracy minus each ceiling."""
        row = self.chosen
        if row is None:
            return []
        found = []
        for name in MEASURES:
            title = COLUMNS[name].title
            if name in ("spearman", "mse") and row.n_rater_score != row.n:
                title += f" (n = {row.n_rater_score:,})"  # in studies that stop when decided
            found.append(_measure(title, COLUMNS[name].format, getattr(row, name)))
        return found + [
            _measure(f"− {each.name.lower()}", Format.POINTS, row.ceilings.minus(each.key))
            for each in self.ceilings
        ]


def _measure(name: str, format: Format, estimate: Estimate) -> Measure:
    return Measure(name, format.write(estimate.value), format.interval(estimate))


def _cell(n: int, n_line: int, is_same: bool) -> ConfusionCell:
    return ConfusionCell(n, n / n_line if n_line else None, is_same)


def auto_table_of(figures: Figures, question: str, run: int | None) -> AutoTable:
    """Lay out the metrics of a study's figures. `auto_table` says what is chosen if one is not."""
    rows, main = figures.agreement.rows, figures.overview.main
    return auto_table(rows, figures.curves, main, question, run)


def auto_table(
    rows: Sequence[AgreementRow],
    curves: Curves,
    main: Sequence[str] = (),
    question: str = "",
    run: int | None = None,
) -> AutoTable:
    """Lay out the report on agreement for one question, and choose a run.

    Args:
        main: the scheme's main questions.
        question: the question to show. If it is not in the report: the first main question, else
            the first question with an accuracy, else the first one.
        run: the id of the run to choose. If it has no accuracy: the newest run with one.
    """
    questions = in_order(row.question for row in rows)
    if question not in questions:
        defined = [row.question for row in rows if row.accuracy.value is not None]
        wanted = (*main, *defined, *questions)
        question = next((q for q in wanted if q in questions), "")
    here = [row for row in rows if row.question == question]
    named = list(zip(run_names([row.of_run for row in here]), here, strict=True))
    compared = [(name, row) for name, row in named if row.accuracy.value is not None]
    newest = max(compared, key=lambda pair: pair[1].of_run.run, default=("", None))
    title, chosen = next((pair for pair in compared if pair[1].of_run.run == run), newest)
    ceilings = ceilings_in(chosen.ceilings) if chosen else []
    first = ceilings[0].key if ceilings else ""
    return AutoTable(
        questions,
        question,
        [
            RunLine(name, row, row.ceilings.minus(first) if first else None)
            for name, row in compared
        ],
        [(name, row) for name, row in named if row.accuracy.value is None],
        chosen,
        title,
        ceilings,
        curves.get(f"{chosen.of_run.run}/{question}", {}) if chosen else {},
    )
