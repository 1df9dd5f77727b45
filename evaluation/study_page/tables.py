"""What the page of a study shows, from its figures: rows of reports laid out as tables.

Nothing is computed here: a table holds the rows of the reports themselves.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from evaluation.charts.specifications import CEILINGS, MAJORITY, ceilings_of, people_said, run_names
from evaluation.reports.base import Row

MOST_COLUMNS = 4  # scenarios beside each other; more of them lie under each other
BETWEEN_PARTS = " · "  # of a setup's name
MOST_SETUPS_BESIDE = 2  # whose shifts stand in the line of their question

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


class Scenario(NamedTuple):
    """A setup in an arm, with the letter that the paper gives it."""

    letter: str
    setup: str  # its name
    short: str
    arm: str


class Line(NamedTuple):
    """A line of a table: a question (or one of its setups), and a row of the report per column."""

    question: str
    cells: list[Row | None]
    setup: str = ""  # its short name, where a line is a setup of a question
    row: Row | None = None  # the row about the question as a whole

    @property
    def undecided(self) -> int | None:
        """How many majorities are undecided; None where that leaves nothing out of a mean."""
        counts = [cell["undecided"] for cell in self.cells if cell and cell["scale"] != "ordinal"]
        return sum(counts) if counts else None


class ScenarioTable(NamedTuple):
    """Question means by scenario: a column each, or a line per setup and a column per arm."""

    scenarios: list[Scenario]
    arms: list[str]
    lines: list[Line]
    groups: list[tuple[str, list[Line]]]  # question → a line per setup
    scales: set[str]
    n_said: str

    @property
    def is_wide(self) -> bool:
        return len(self.scenarios) <= MOST_COLUMNS

    @property
    def n_columns(self) -> int:
        """How many columns the long layout has: mean and n of each arm between two others."""
        return 2 + 2 * len(self.arms)


class ShiftTable(NamedTuple):
    """Merged against separate: a line per question, with a cell per setup."""

    short: Mapping[str, str]  # of setups
    scenarios: list[str]  # what is subtracted from what: 'B − A'
    lines: list[Line]
    accuracy_from: float  # where the rail of accuracies begins
    most: float  # how far the rail of shifts goes to both sides
    n_said: str

    @property
    def setups(self) -> list[str]:
        return list(self.short.values())

    @property
    def is_of_majorities(self) -> bool:
        """Whether every question's label is simply the majority."""
        labels = {line.row.get("label") for line in self.lines if line.row}
        return labels <= {None, "", MAJORITY}

    @property
    def what(self) -> str:
        return "majorities" if self.is_of_majorities else "labels"

    @property
    def truth(self) -> str:
        return f"separate {'majority' if self.is_of_majorities else 'label'} taken as truth"

    @property
    def tested(self) -> str:
        """Which questions Holm's correction is over: those with responses decided in both arms."""
        columns = zip(*(line.cells for line in self.lines), strict=True)
        n_tested = {sum(bool(cell and cell["n"]) for cell in column) for column in columns}
        n = len(self.lines)
        if n_tested == {n}:
            return f"the {n} questions" if n > 1 else "the one question"
        return "the questions with pairs"

    @property
    def is_wide(self) -> bool:
        return len(self.short) <= MOST_SETUPS_BESIDE

    @property
    def least(self) -> float:
        return -self.most


class Saving(NamedTuple):
    """How much less, or more, merged judgements take, with the ends of its interval."""

    share: float
    low: float | None
    high: float | None
    than: str  # less or more


class TimeTable(NamedTuple):
    """Seconds by arm, what merging saves, and the effect of the position."""

    arms: list[Row]
    saved: Row
    positions: list[int]
    lines: list[Line]  # a cell per position, `row` with the effect
    order: str  # random, fixed or unknown

    @property
    def n(self) -> int:
        return sum(row["n_judgements"] for row in self.arms)

    @property
    def is_timed(self) -> bool:
        return bool(self.timed)

    @property
    def timed(self) -> list[Row]:
        """The arms in which seconds were recorded."""
        return [row for row in self.arms if row["median_seconds"] is not None]

    @property
    def untimed(self) -> list[str]:
        return [row["arm"] for row in self.arms if row["median_seconds"] is None]

    @property
    def saving(self) -> Saving | None:
        """What merging saves of the median; of a loss, how much more it takes."""
        share, low, high = (self.saved.get(f"saved_share{end}") for end in ("", "_low", "_high"))
        if share is None:
            return None
        if share >= 0:
            return Saving(share, low, high, "less")
        low, high = (None if end is None else -end for end in (high, low))
        return Saving(-share, low, high, "more")


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
        return [
            Measure(name, kind, row[key], row[f"{key}_low"], row[f"{key}_high"])
            for key, (name, kind) in (MEASURES | names).items()
        ]


def _cell(n: int, n_line: int, is_same: bool) -> Cell:
    return Cell(n, n / n_line if n_line else None, is_same)


def short_names(rows: Sequence[Row]) -> dict[str, str]:
    """Return how tables call each setup: by what its name does not share with all others.

    Names of the parts 'model · T 0.0 · golden' that differ in the temperature are called 'T 0.0'.

    Args:
        rows: of a report, with setup, model and temperature.
    """
    by_setup = {row["setup"]: row for row in rows if row.get("setup")}
    temperatures = [row.get("temperature") for row in by_setup.values()]
    is_alike = len({row.get("model") for row in by_setup.values()}) == 1
    if is_alike and None not in temperatures and len(set(temperatures)) == len(temperatures) > 1:
        short = {setup: f"T {_degrees(row['temperature'])}" for setup, row in by_setup.items()}
        return short if len(set(short.values())) == len(short) else {name: name for name in short}
    parts = {setup: setup.split(BETWEEN_PARTS) for setup in by_setup}
    if len(parts) < 2 or len({len(of_setup) for of_setup in parts.values()}) > 1:
        return {setup: setup for setup in by_setup}
    differs = [len(set(column)) > 1 for column in zip(*parts.values(), strict=True)]
    return {
        setup: BETWEEN_PARTS.join(compress(of_setup, differs)) for setup, of_setup in parts.items()
    }


def _degrees(temperature: float) -> str:
    """Return a temperature with one digit where that says it all: '0.0', '0.71'."""
    short = f"{temperature:.1f}"
    return short if float(short) == temperature else f"{temperature:g}"


def scenario_table(rows: Sequence[Row], of_setups: Iterable[Row]) -> ScenarioTable:
    """Lay out the report on scenarios.

    Args:
        of_setups: the report on raters by setup, for the spread of answers without a mean.
    """
    short = short_names(rows)
    spreads = {(row["question"], row["setup"], row["arm"]): row for row in of_setups}
    by_place = {}
    for row in rows:
        place = row["question"], row["setup"], row["arm"]
        by_place[place] = row | {"spread": spreads.get(place)}
    scenarios = list(
        dict.fromkeys(
            Scenario(row["scenario"], row["setup"], short[row["setup"]], row["arm"]) for row in rows
        )
    )
    arms = _in_order(row["arm"] for row in rows)
    questions = _in_order(row["question"] for row in rows)
    # Stored figures of before do not have `n_mean`.
    counts = [row["n_mean" if "n_mean" in row else "n"] for row in rows if row["mean"] is not None]
    return ScenarioTable(
        scenarios,
        arms,
        [Line(q, [by_place.get((q, s.setup, s.arm)) for s in scenarios]) for q in questions],
        [
            (
                q,
                [
                    Line(q, [by_place.get((q, setup, arm)) for arm in arms], setup=name)
                    for setup, name in short.items()
                ],
            )
            for q in questions
        ],
        {row["scale"] for row in rows},
        n_said(counts or [row["n"] for row in rows], "target", "per mean"),
    )


def shift_table(rows: Sequence[Row], scenarios: Sequence[Scenario]) -> ShiftTable:
    """Lay out the report on uncertainty.

    Args:
        scenarios: those of the scenario table, for their letters.
    """
    short = short_names(rows)
    letters = {(s.setup, s.arm): s.letter for s in scenarios}
    wholes = [row for row in rows if row["setup"] is None]
    by_place = {(row["question"], row["setup"]): row for row in rows}
    ends = [row.get(end) for row in rows for end in ("shift_low", "shift_high")]
    lows = [row["accuracy_low"] for row in wholes if row["accuracy_low"] is not None]
    return ShiftTable(
        short,
        [f"{letters.get((s, 'merged'), '')} − {letters.get((s, 'separate'), '')}" for s in short],
        [
            Line(q := row["question"], [by_place.get((q, setup)) for setup in short], row=row)
            for row in wholes
        ],
        min(0.7, math.floor(10 * min(lows, default=0.7)) / 10),
        _rail(ends, 0.2),
        n_said([row["n"] for row in wholes], "response", "decided in both arms"),
    )


def time_table(times: Sequence[Row], positions: Sequence[Row]) -> TimeTable:
    """Lay out the reports on time and position."""
    places = sorted({row["position"] for row in positions if row["position"] is not None})
    by_place = {(row["question"], row["position"]): row for row in positions}
    return TimeTable(
        [row for row in times if row["arm"] != "saved"],
        next((row for row in times if row["arm"] == "saved"), {}),
        places,
        [
            Line(q, [by_place.get((q, place)) for place in places], row=by_place.get((q, None)))
            for q in _in_order(row["question"] for row in positions)
        ],
        next((row["order"] for row in positions), ""),
    )


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
    questions = _in_order(row["question"] for row in rows)
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


def _in_order(values: Iterable[str]) -> list[str]:
    """Return each value once, in the order of its first place."""
    return list(dict.fromkeys(values))


def _rail(ends: Iterable[float | None], least: float) -> float:
    """Return how far a rail around 0 has to go for all intervals, in steps of 0.05."""
    furthest = max((abs(end) for end in ends if end is not None), default=least)
    return max(least, math.ceil(20 * furthest) / 20)


def n_said(counts: Sequence[int], what: str, per: str) -> str:
    """Return the number behind each figure in words: one, or from the fewest to the most."""
    fewest, most = min(counts, default=0), max(counts, default=0)
    number = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"n = {number} {what}{'' if most == 1 else 's'} {per}"
