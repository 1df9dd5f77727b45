"""The ceilings: the accuracy that people reach against each other. Metrics are compared with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.report import ReportRow
from evaluation.statistics.ceiling import Ceiling
from evaluation.statistics.human_auto import Bools


class Way(NamedTuple):
    """One way to compare people with people, in words."""

    name: str
    compared: str  # in which '{}' stands for the number of votes of each response

    def how(self, n_votes: int | None) -> str:
        """Return what is compared, with the number of votes: '2 of 5 votes against the rest'."""
        return self.compared.format("—" if n_votes is None else f"{n_votes:,}")


# Metrics are compared with the first of these that a study has.
CEILINGS = {
    "merged": Way("Ceiling: merged arm", "{} votes of the merged arm against as many alone"),
    "halves": Way("Ceiling: half against half", "half of {} votes against the other half"),
    "rest": Way("Ceiling: one against the rest", "one of {} votes against the rest"),
}
# Why there is none, if raters have voted.
NO_CEILING = "no response has two votes, so raters cannot be compared with raters"


@dataclass(frozen=True, kw_only=True)
class CeilingColumns(ReportRow):
    """Each ceiling, and the accuracy of the row over the same items; None: there is none.

    `ceiling_x_votes` votes of each of `ceiling_x_n` items are used. Tied votes count half, on both
    sides. So `ceiling_x_accuracy` may differ from the accuracy of the row, which is over items with
    a majority.
    """

    ceiling_merged: Annotated[Estimate, Column("Merged arm", Format.PERCENT, "Ceiling")] = UNKNOWN
    minus_ceiling_merged: Annotated[
        Estimate, Column("Minus the merged arm", Format.POINTS, "Ceiling")
    ] = UNKNOWN
    ceiling_halves: Annotated[Estimate, Column("Halves", Format.PERCENT, "Ceiling")] = UNKNOWN
    minus_ceiling_halves: Estimate = UNKNOWN
    ceiling_rest: Annotated[Estimate, Column("Rest", Format.PERCENT, "Ceiling")] = UNKNOWN
    minus_ceiling_rest: Estimate = UNKNOWN
    ceiling_merged_accuracy: Estimate = UNKNOWN
    ceiling_halves_accuracy: Estimate = UNKNOWN
    ceiling_rest_accuracy: Estimate = UNKNOWN
    ceiling_merged_n: int | None = None
    ceiling_halves_n: int | None = None
    ceiling_rest_n: int | None = None
    ceiling_merged_votes: int | None = None
    ceiling_halves_votes: int | None = None
    ceiling_rest_votes: int | None = None

    def of(self, name: str) -> Estimate:
        """Return the ceiling with a name of `CEILINGS`."""
        found: Estimate = getattr(self, f"ceiling_{name}")
        return found

    def accuracy(self, name: str) -> Estimate:
        """Return the accuracy of the row over the items of a ceiling of `CEILINGS`."""
        found: Estimate = getattr(self, f"ceiling_{name}_accuracy")
        return found

    def minus(self, name: str) -> Estimate:
        """Return that accuracy − the ceiling with a name of `CEILINGS`."""
        found: Estimate = getattr(self, f"minus_ceiling_{name}")
        return found

    def n(self, name: str) -> int | None:
        """Return the number of items of the ceiling with a name of `CEILINGS`."""
        found: int | None = getattr(self, f"ceiling_{name}_n")
        return found

    def votes(self, name: str) -> int | None:
        """Return the votes of each item in the ceiling with a name of `CEILINGS`."""
        found: int | None = getattr(self, f"ceiling_{name}_votes")
        return found

    @property
    def defined(self) -> list[str]:
        """The names of the ceilings that have a value, in the order of `CEILINGS`."""
        return [name for name in CEILINGS if self.of(name).value is not None]


def ceiling_columns(
    estimates: Mapping[str, Estimate], ceilings: Mapping[str, Ceiling], is_compared: Bools
) -> CeilingColumns:
    """Return the columns of the ceilings.

    Args:
        estimates: the estimates of a row by name, with those of `beside_ceilings`; some may be
            missing.
        ceilings: the ceilings of all items by name.
        is_compared: whether the row has a label for each item.
    """
    columns: dict[str, Any] = {
        name: estimate for name, estimate in estimates.items() if "ceiling_" in name
    }
    for name, ceiling in ceilings.items():
        n = int(np.count_nonzero(~np.isnan(ceiling.agreement[is_compared])))
        columns |= {f"ceiling_{name}_n": n, f"ceiling_{name}_votes": ceiling.n_votes if n else None}
    return CeilingColumns(**columns)
