"""The tables of a study's page, laid out from rows of reports.

Nothing is computed here. A table holds the rows of the reports themselves.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

from annotation.models import Arm
from evaluation.reports.columns import UNKNOWN, Estimate
from evaluation.reports.figures.builders import domain_over
from evaluation.reports.report import ReportRow
from evaluation.reports.setups import short_names
from evaluation.studies.figures.charts import MAJORITY
from evaluation.studies.reports.raters import RatersRow
from evaluation.studies.reports.scenarios import ScenarioRow
from evaluation.studies.reports.sensibleness import MEAN_OF_OTHERS, SensibleRow
from evaluation.studies.reports.timing import (
    MeanAtPosition,
    PositionEffect,
    PositionRow,
    SavedTime,
    TimeOfArm,
)
from evaluation.studies.reports.uncertainty import OverAllSetups, ShiftOfSetup, UncertaintyRow

MOST_COLUMNS = 4  # scenarios beside each other; if there are more, setups are under each other
MOST_SETUPS_BESIDE = 2  # setups whose shifts are shown in the line of their question, at most


class Scenario(NamedTuple):
    """A setup in an arm."""

    letter: str | None  # its letter in the paper
    setup: str  # the setup's name
    short: str  # the setup's short name
    arm: str


C = TypeVar("C")
W = TypeVar("W", bound=ReportRow)


class TableLine(NamedTuple, Generic[C, W]):
    """A line of a table: a question, a cell per column, and the row about the whole question."""

    question: str
    cells: list[C | None]
    row: W | None = None


class ScenarioCell(NamedTuple):
    """A row of the report on scenarios, with the row on raters that has the shares of answers."""

    row: ScenarioRow
    spread: RatersRow | None

    @property
    def has_answers(self) -> bool:
        return bool(self.row.n or self.row.n_assumed)


class ScenarioLine(NamedTuple):
    """A question with a cell per scenario, or one setup of a question with a cell per arm."""

    question: str
    cells: list[ScenarioCell | None]
    setup: str = ""  # the setup's short name; empty when the line is about the whole question

    @property
    def waiting(self) -> int | None:
        """The number of items that wait; None on an ordinal scale, whose mean misses none."""
        rows = self._of_majorities
        return sum(row.waiting for row in rows) if rows else None

    @property
    def tied(self) -> int | None:
        """The number of tied items; None on an ordinal scale."""
        rows = self._of_majorities
        return sum(row.tied for row in rows) if rows else None

    @property
    def _of_majorities(self) -> list[ScenarioRow]:
        return [cell.row for cell in self.cells if cell and cell.row.scale != "ordinal"]


class ScenarioTable(NamedTuple):
    """Question means by scenario.

    The wide layout has a column per scenario; the long one a line per setup and a column per arm.
    """

    scenarios: list[Scenario]
    arms: list[str]
    lines: list[ScenarioLine]
    groups: list[tuple[str, list[ScenarioLine]]]  # each question with a line per setup
    scales: set[str]
    n_said: str

    @property
    def is_wide(self) -> bool:
        return len(self.scenarios) <= MOST_COLUMNS

    @property
    def n_columns(self) -> int:
        """The number of columns of the long layout: mean and n of each arm, and three others."""
        return 3 + 2 * len(self.arms)


class ShiftTable(NamedTuple):
    """Merged against separate: a line per question, with a cell per setup."""

    short: Mapping[str, str]  # name of a setup → its short name
    scenarios: list[str]  # for each setup, the scenarios of the subtraction: 'B − A', or ""
    lines: list[TableLine[ShiftOfSetup, OverAllSetups]]
    accuracy_from: float  # the beginning of the rail of accuracies
    most: float  # the end of the rail of shifts; it begins at minus this
    n_said: str
    rows: list[OverAllSetups | ShiftOfSetup]  # all rows of the table

    @property
    def setups(self) -> list[str]:
        return list(self.short.values())

    @property
    def is_of_majorities(self) -> bool:
        """Whether the label of every question is simply the majority."""
        labels = {line.row.label for line in self.lines if line.row}
        return labels <= {None, "", MAJORITY}

    @property
    def what(self) -> str:
        return "majorities" if self.is_of_majorities else "labels"

    @property
    def truth(self) -> str:
        return f"separate {'majority' if self.is_of_majorities else 'label'} taken as truth"

    @property
    def tested(self) -> str:
        """The questions of Holm's correction, in words.

        These are the questions with responses that are decided in both arms.
        """
        columns = zip(*(line.cells for line in self.lines), strict=True)
        n_tested = {sum(bool(cell and cell.n) for cell in column) for column in columns}
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
    """The share of time that merged judgements take less or more, with the ends of its interval."""

    share: float
    low: float | None
    high: float | None
    than: str  # less or more


class TimeTable(NamedTuple):
    """Seconds by arm, the share that merging saves, and the effect of the position."""

    arms: list[TimeOfArm]
    saved: Estimate
    positions: list[int]
    lines: list[TableLine[MeanAtPosition, PositionEffect]]
    order: str  # random, fixed or unknown

    @property
    def n(self) -> int:
        return sum(row.n_judgements for row in self.arms)

    @property
    def is_timed(self) -> bool:
        return bool(self.timed)

    @property
    def timed(self) -> list[TimeOfArm]:
        """The arms in which seconds were recorded."""
        return [row for row in self.arms if row.median_seconds.value is not None]

    @property
    def usual(self) -> TimeOfArm:
        """The arm whose time stands for the study: the last timed one that is no replicate."""
        is_usual = (row for row in reversed(self.timed) if row.arm != Arm.Kind.SEPARATE_2)
        return next(is_usual, self.timed[-1])

    @property
    def has_merged(self) -> bool:
        return any(row.arm == Arm.Kind.MERGED for row in self.arms)

    @property
    def has_both(self) -> bool:
        """Whether the study has the two arms between which merging may save time."""
        return self.has_merged and any(row.arm == Arm.Kind.SEPARATE for row in self.arms)

    @property
    def untimed(self) -> list[str]:
        return [row.arm for row in self.arms if row.median_seconds.value is None]

    @property
    def saving(self) -> Saving | None:
        """The share of the median time that merging saves, or the share that it takes more."""
        share, low, high = self.saved
        if share is None:
            return None
        if share >= 0:
            return Saving(share, low, high, "less")
        low, high = (None if end is None else -end for end in (high, low))
        return Saving(-share, low, high, "more")


def scenario_table(rows: Sequence[ScenarioRow], of_setups: Iterable[RatersRow]) -> ScenarioTable:
    """Lay out the report on scenarios.

    Args:
        rows: the rows of the report.
        of_setups: the rows of the report on raters by setup. They have the shares of answers, which
            are shown for questions without a mean.
    """
    short = short_names(rows)
    spreads = {(row.question, row.setup, row.arm): row for row in of_setups}
    by_place = {}
    for row in rows:
        place = row.question, row.setup, row.arm
        by_place[place] = ScenarioCell(row, spreads.get(place))
    scenarios = list(
        dict.fromkeys(Scenario(row.scenario, row.setup, short[row.setup], row.arm) for row in rows)
    )
    arms = in_order(row.arm for row in rows)
    questions = in_order(row.question for row in rows)
    counts = [row.n_mean for row in rows if row.mean.value is not None]
    return ScenarioTable(
        scenarios,
        arms,
        [
            ScenarioLine(q, [by_place.get((q, s.setup, s.arm)) for s in scenarios])
            for q in questions
        ],
        [
            (
                q,
                [
                    ScenarioLine(q, [by_place.get((q, setup, arm)) for arm in arms], setup=name)
                    for setup, name in short.items()
                ],
            )
            for q in questions
        ],
        {row.scale for row in rows},
        n_said(counts or [row.n for row in rows], "target", "per mean"),
    )


def shift_table(rows: Sequence[UncertaintyRow], scenarios: Sequence[Scenario]) -> ShiftTable:
    """Lay out the report on uncertainty.

    Args:
        rows: the rows of the report.
        scenarios: the scenarios of the scenario table, which have the letters.
    """
    shifts = [row for row in rows if isinstance(row, ShiftOfSetup)]
    wholes = [row for row in rows if isinstance(row, OverAllSetups)]
    short = short_names(shifts)
    letters = {(s.setup, s.arm): s.letter for s in scenarios}
    by_place = {(row.question, row.setup): row for row in shifts}
    ends = [end for row in shifts for end in (row.shift.low, row.shift.high)]
    return ShiftTable(
        short,
        [_subtraction(letters, setup) for setup in short],
        [
            TableLine(row.question, [by_place.get((row.question, setup)) for setup in short], row)
            for row in wholes
        ],
        domain_over((row.accuracy.low for row in wholes), (0.7, 1), (0, 1))[0],
        domain_over((abs(end) for end in ends if end is not None), (-0.2, 0.2))[1],
        n_said([row.n for row in wholes], "response", "decided in both arms"),
        [*wholes, *shifts],
    )


def _subtraction(letters: Mapping[tuple[str, str], str | None], setup: str) -> str:
    pair = [letters.get((setup, arm)) for arm in (Arm.Kind.MERGED, Arm.Kind.SEPARATE)]
    return " − ".join(filter(None, pair))


def time_table(
    times: Sequence[TimeOfArm | SavedTime], positions: Sequence[PositionRow]
) -> TimeTable:
    """Lay out the reports on time and position."""
    means = [row for row in positions if isinstance(row, MeanAtPosition)]
    effects = {row.question: row for row in positions if isinstance(row, PositionEffect)}
    places = sorted({row.position for row in means})
    by_place = {(row.question, row.position): row for row in means}
    return TimeTable(
        [row for row in times if isinstance(row, TimeOfArm)],
        next((row.saved_share for row in times if isinstance(row, SavedTime)), UNKNOWN),
        places,
        [
            TableLine(q, [by_place.get((q, place)) for place in places], effects.get(q))
            for q in in_order(row.question for row in means)
        ],
        next((row.order for row in positions), ""),
    )


def in_order(values: Iterable[str]) -> list[str]:
    """Return each value once, in the order of first occurrence."""
    return list(dict.fromkeys(values))


def n_said(counts: Sequence[int], what: str, per: str) -> str:
    """Return the n of some figures in words: one number, or the smallest and the largest."""
    fewest, most = min(counts, default=0), max(counts, default=0)
    number = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"n = {number} {what}{'' if most == 1 else 's'} {per}"


class SensibleTable(NamedTuple):
    """Table 1 of [A] for one run: its slices, and the mean over those it was not built on."""

    title: str
    rows: list[SensibleRow]
    mean: SensibleRow

    @property
    def is_built_here(self) -> bool:
        """Whether the run's prompt was built on one of the slices."""
        return any(row.built_on for row in self.rows)


def sensible_tables(rows: Sequence[SensibleRow]) -> list[SensibleTable]:
    """Return a table for each run. Runs without any compared response are left out."""
    tables = []
    for run, group in groupby(rows, lambda row: row.of_run):
        of_run = list(group)
        [mean] = [row for row in of_run if row.slice == MEAN_OF_OTHERS]
        slices = [row for row in of_run if row is not mean]
        if any(row.n for row in slices):
            tables.append(SensibleTable(f"{run.title}, {run.model}", slices, mean))
    return tables
