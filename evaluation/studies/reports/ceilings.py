"""The ceilings: the accuracy that people reach against each other. Metrics are compared with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.report import ReportRow
from evaluation.statistics.human_auto import Bools
from evaluation.statistics.intervals import Floats


class Way(NamedTuple):
    """One way to compare people with people, in words."""

    name: str
    how: str


# Metrics are compared with the first of these that a study has.
CEILINGS = {
    "merged": Way("Ceiling: merged arm", "merged arm against separate arm"),
    "halves": Way("Ceiling: half against half", "half of the raters against the other half"),
    "rest": Way("Ceiling: one against the rest", "each rater against the rest"),
}


@dataclass(frozen=True, kw_only=True)
class CeilingColumns(ReportRow):
    """Each ceiling, the accuracy of the row − this ceiling, and the number of items; None: none.

    Only items that the row compares count, so that a metric and its ceiling have the same items.
    """

    ceiling_merged: Annotated[Estimate, Column("Merged arm", Format.PERCENT, "Ceiling")] = UNKNOWN
    minus_ceiling_merged: Annotated[
        Estimate, Column("Minus the merged arm", Format.POINTS, "Ceiling")
    ] = UNKNOWN
    ceiling_halves: Annotated[Estimate, Column("Halves", Format.PERCENT, "Ceiling")] = UNKNOWN
    minus_ceiling_halves: Estimate = UNKNOWN
    ceiling_rest: Annotated[Estimate, Column("Rest", Format.PERCENT, "Ceiling")] = UNKNOWN
    minus_ceiling_rest: Estimate = UNKNOWN
    ceiling_merged_n: int | None = None
    ceiling_halves_n: int | None = None
    ceiling_rest_n: int | None = None

    def of(self, name: str) -> Estimate:
        """Return the ceiling with a name of `CEILINGS`."""
        found: Estimate = getattr(self, f"ceiling_{name}")
        return found

    def minus(self, name: str) -> Estimate:
        """Return the accuracy of the row − the ceiling with a name of `CEILINGS`."""
        found: Estimate = getattr(self, f"minus_ceiling_{name}")
        return found

    def n(self, name: str) -> int | None:
        """Return the number of items of the ceiling with a name of `CEILINGS`."""
        found: int | None = getattr(self, f"ceiling_{name}_n")
        return found

    @property
    def defined(self) -> list[str]:
        """The names of the ceilings that have a value, in the order of `CEILINGS`."""
        return [name for name in CEILINGS if self.of(name).value is not None]


def ceiling_columns(
    estimates: Mapping[str, Estimate], statistics: Mapping[str, Floats], is_compared: Bools
) -> CeilingColumns:
    """Return the columns of the ceilings.

    Args:
        estimates: the estimates of a row by name. Those of the ceilings are called
            'ceiling_<name>' and 'minus_ceiling_<name>'; some may be missing.
        statistics: ceiling → statistics of all items, (n_items, 2). The second number is above 0
            for an item that has this ceiling.
        is_compared: whether the row compares each item.
    """
    names = [f"{kind}_{name}" for name in CEILINGS for kind in ("ceiling", "minus_ceiling")]
    columns: dict[str, Any] = {name: estimates.get(name, UNKNOWN) for name in names}
    for name, of_items in statistics.items():
        columns[f"ceiling_{name}_n"] = int(np.count_nonzero(of_items[is_compared, 1] > 0))
    return CeilingColumns(**columns)
