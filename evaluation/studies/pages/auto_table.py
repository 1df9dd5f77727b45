"""Auto-metrics against people, as the page of a study shows them: one question, one chosen run.

Nothing is computed here: a table holds the rows of the reports themselves.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evaluation.reports.base import Row
from evaluation.studies.figures.charts import (
    CEILINGS,
    MAJORITY,
    ceilings_of,
    people_said,
    run_names,
)
from evaluation.studies.pages.tables import in_order, n_said

# The figures of a run, and how each is written.
MEASURES = {
    "accuracy": ("Accuracy", "percent"),
    "baseline": ("Majority-label baseline", "percent"),
    "balanced_accuracy": ("Balanced accuracy", "percent"),
    "precision": ("Precision", "percent"),
    "recall": ("Recall", "percent"),
    "f1": ("F1", "percent"),
    "kappa": ("Cohen’s kappa", "coefficient"),
    "auc": ("ROC AUC", "coefficient"),
    "spearman": ("Spearman, rater score", "coefficient"),
    "mse": ("MSE, rater score", "mse"),
}
HOW = {
    "ceiling_merged": "merged arm against separate arm",
    "ceiling_halves": "half of the raters against the other half",
    "ceiling_rest": "each rater against the rest",
}


class Ceiling(NamedTuple):
    """How often people say what people say, one way of three."""

    key: str
    name: str
    how: str
    figure: float
    low: float | None
    high: float | None
    n: int | None  # items of the chosen run that it is over


class Cell(NamedTuple):
    """A cell of a confusion matrix; `share` is that of its line."""

    n: int
    share: float | None
    is_same: bool  # metric and people say the same


class Measure(NamedTuple):
    """A figure of the chosen run, to be written as its kind is."""

    name: str
    kind: str  # percent, points, coefficient or mse
    figure: float | None
    low: float | None
    high: float | None


class AutoTable(NamedTuple):
    """Runs against people on one question."""

    questions: list[str]
    question: str
    rows: list[tuple[str, Row]]  # by name, those with an accuracy
    undefined: list[tuple[str, Row]]  # by name, those without, and why
    chosen: Row | None
    title: str  # of the chosen run
    ceilings: list[Ceiling]
    curve: Mapping[str, list[Row]]  # of the chosen run: roc, calibration

    @property
    def truth(self) -> str:
        """The arm whose majorities were compared with."""
        return str(self.chosen["truth"]) if self.chosen else ""

    @property
    def people(self) -> str:
        """What metrics are held against, in words."""
        return people_said(self.chosen)

    @property
    def cut(self) -> str:
        """What makes a human yes, where that is not simply the majority."""
        label = self.chosen.get("label") if self.chosen else None
        return "" if not label or label == MAJORITY else str(label)

    @property
    def minus(self) -> str:
        """The figure that says how far a metric is from the first ceiling; empty without one."""
        return f"minus_{self.ceilings[0].key}" if self.ceilings else ""

    @property
    def n_said(self) -> str:
        return n_said([row["n"] for _, row in self.rows], "response", "compared")

    @property
    def label(self) -> str:
        """What the chart of accuracies shows, in words."""
        said = ", ".join(f"{name} {100 * row['accuracy']:.1f}" for name, row in self.rows[:6])
        more = "".join(f", {c.name.lower()} {100 * c.figure:.1f}" for c in self.ceilings)
        return f"Accuracy with 95 % intervals: {said}{more}; numbers in the tables beside"

    @property
    def confusion(self) -> list[tuple[str, list[Cell]]]:
        """The lines of the chosen run's confusion matrix."""
        row = self.chosen
        if row is None:
            return []
        n_yes, n_no = row["tp"] + row["fn"], row["fp"] + row["tn"]
        return [
            ("human yes", [_cell(row["tp"], n_yes, True), _cell(row["fn"], n_yes, False)]),
            ("human no", [_cell(row["fp"], n_no, False), _cell(row["tn"], n_no, True)]),
        ]

    @property
    def measures(self) -> list[Measure]:
        """The figures of the chosen run, with their distance from each ceiling."""
        row = self.chosen
        if row is None:
            return []
        names = {f"minus_{c.key}": (f"− {c.name.lower()}", "points") for c in self.ceilings}
        n_rater_score = row.get("n_rater_score", row["n"])
        if n_rater_score != row["n"]:  # in studies that stop when decided
            for key in ("spearman", "mse"):
                name, kind = MEASURES[key]
                names[key] = (f"{name} (n = {n_rater_score:,})", kind)
        return [
            Measure(name, kind, row[key], row[f"{key}_low"], row[f"{key}_high"])
            for key, (name, kind) in (MEASURES | names).items()
        ]


def _cell(n: int, n_line: int, is_same: bool) -> Cell:
    return Cell(n, n / n_line if n_line else None, is_same)


def auto_table(
    rows: Sequence[Row],
    curves: Mapping[str, Mapping[str, list[Row]]],
    question: str = "",
    run: int | None = None,
) -> AutoTable:
    """Lay out the report on agreement for one question, and choose a run.

    Args:
        question: the asked one; without it attributable, else the first with a figure.
        run: the asked one; without it the newest with a figure.
    """
    questions = in_order(row["question"] for row in rows)
    if question not in questions:
        defined = [row["question"] for row in rows if row["accuracy"] is not None]
        wanted = ("attributable", *defined, *questions)
        question = next((q for q in wanted if q in questions), "")
    here = [row for row in rows if row["question"] == question]
    named = list(zip(run_names(here), here, strict=True))
    compared = [(name, row) for name, row in named if row["accuracy"] is not None]
    newest = max(compared, key=lambda pair: pair[1]["run"], default=("", None))
    title, chosen = next((pair for pair in compared if pair[1]["run"] == run), newest)
    ceilings = ceilings_of([row for _, row in compared], chosen["run"] if chosen else None)
    return AutoTable(
        questions,
        question,
        compared,
        [(name, row) for name, row in named if row["accuracy"] is None],
        chosen,
        title,
        [
            Ceiling(
                key,
                CEILINGS[key],
                HOW[key],
                row[key],
                row[f"{key}_low"],
                row[f"{key}_high"],
                row.get(f"{key}_n"),
            )
            for key, row in ceilings.items()
        ],
        curves.get(f"{chosen['run']}/{question}", {}) if chosen else {},
    )
