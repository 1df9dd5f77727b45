"""The noise between two sets of raters, beside the effect of merging: table and sentences."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from evaluation.reports.columns import Estimate
from evaluation.reports.numbers import percent
from evaluation.reports.report import ReportRow
from evaluation.reports.setups import short_names
from evaluation.studies.pages.tables import n_said
from evaluation.studies.reports.replicate import Replicate, ReplicateOfSetup, ReplicateOverAll

LEAST_RAIL = 0.2  # the shortest rail of disagreements begins at 0 and ends here


class ReplicateLine(NamedTuple):
    """A question over all setups, with a row for each setup by its short name."""

    question: str
    row: ReplicateOverAll
    of_setups: list[tuple[str, ReplicateOfSetup]]


class ReplicateTable(NamedTuple):
    """The second separate arm against the separate arm: a line per question."""

    lines: list[ReplicateLine]
    has_merged: bool  # whether the study has a merged arm as well
    most: float  # the end of the rail of disagreements
    n_said: str
    sentences: list[tuple[str, str]]  # each main question with what was found
    rows: list[Replicate]  # all rows of the table

    @property
    def has_setups(self) -> bool:
        return any(len(line.of_setups) > 1 for line in self.lines)


def replicate_table(rows: Sequence[ReportRow], main: Collection[str]) -> ReplicateTable:
    """Lay out the rows about the replicate; there are no lines without them.

    Args:
        rows: the rows of the report on uncertainty.
        main: the keys of the main questions, which get a sentence each.
    """
    wholes = [row for row in rows if isinstance(row, ReplicateOverAll)]
    of_setups = [row for row in rows if isinstance(row, ReplicateOfSetup)]
    short = short_names(of_setups)
    ends = [row.replicate_disagreement.high for row in wholes]
    ends += [row.merged_disagreement.high for row in wholes]
    return ReplicateTable(
        [
            ReplicateLine(
                row.question,
                row,
                [(short[r.setup], r) for r in of_setups if r.question == row.question],
            )
            for row in wholes
        ],
        any(row.merged_disagreement.value is not None for row in wholes),
        max([LEAST_RAIL, *(end for end in ends if end is not None)]),
        n_said([row.n for row in wholes], "response", "decided in every arm"),
        [
            (row.question, said)
            for row in wholes
            if row.question in main and (said := _sentence(row))
        ],
        [*wholes, *of_setups],
    )


def _sentence(row: Replicate) -> str:
    """Return what two sets of raters and merging do to the labels; "" if nothing is compared."""
    noise, merged = row.replicate_disagreement.value, row.merged_disagreement.value
    if noise is None:
        return ""
    said = f"Two sets of raters who both rated separately disagree on {_percent(noise)}"
    if merged is None:
        return f"{said} of {row.n:,} responses."
    said += f" of {row.n:,} responses; merged and separate raters disagree on {_percent(merged)}"
    return f"{said}. {_from_merging(row.difference)}"


def _from_merging(difference: Estimate) -> str:
    """Return how much of the disagreement comes from merging, as far as its interval shows."""
    value, low, high = difference
    size = f"{percent(abs(value or 0.0))} points"
    if value is None or low is None or high is None:
        return f"The difference is {size}; its interval needs two dialogs or more."
    if low > 0:
        return f"{size} ({percent(low)} to {percent(high)}) come from merging."
    if high < 0:
        within = f"{percent(-high)} to {percent(-low)}"
        return f"Merged raters disagree less, by {size} ({within})."
    within = f"{percent(low)} to {percent(high)}"
    return f"The difference, {percent(value)} points ({within}), may be chance."


def _percent(share: float) -> str:
    return f"{percent(share)}\N{NO-BREAK SPACE}%"
