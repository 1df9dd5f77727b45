"""The columns of coefficients that experts read beside kappa and alpha."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.report import ReportRow, number
from evaluation.statistics.agreement import Level
from evaluation.statistics.crossed_raters import (
    ICC,
    BiasIndex,
    CrossedTable,
    bias_index,
    crossed_table,
    icc_of_mean,
    icc_statistics,
)
from evaluation.statistics.gwet import (
    GWET_AC,
    gwet_ac_statistics,
    is_low_for_prevalence,
    prevalence_index,
)
from evaluation.statistics.intervals import Floats, Measure
from evaluation.statistics.rater_answers import Bools
from evaluation.statistics.rater_votes import RaterVotes
from evaluation.votes.counts import Ints

WITH_INTERVAL = ("gwet_ac", "icc")
NOT_CROSSED = "no two raters judged half of the items together, or more"


@dataclass(frozen=True, kw_only=True)
class CoefficientColumns(ReportRow):
    """Gwet's AC1 or AC2, and for some scales more: indices of yes/no, correlations of grades."""

    gwet_ac: Annotated[Estimate, Column("Gwet’s AC", Format.COEFFICIENT)]
    # Yes/no questions only. The indices are undefined without two votes, or two raters, on items.
    prevalence_index: Annotated[float | None, Column("Prevalence index", Format.COEFFICIENT)] = None
    bias_index: Annotated[float | None, Column("Bias index", Format.COEFFICIENT)] = None
    bias_pairs: int | None = None  # pairs of raters with enough common items for the bias index
    alpha_is_low_for_prevalence: bool = False
    # Ordinal questions only.
    icc: Annotated[Estimate, Column("ICC(2,1)", Format.COEFFICIENT)] = UNKNOWN
    icc_of_mean: Annotated[Estimate, Column("ICC(2,k)", Format.COEFFICIENT)] = UNKNOWN
    icc_raters: Annotated[int | None, Column("Raters of ICC", Format.COUNT)] = None
    icc_items: Annotated[int | None, Column("Items of ICC", Format.COUNT)] = None
    icc_left_out: int | None = None  # items with two votes or more that lack one of these raters
    icc_why: str | None = None  # why there is no intraclass correlation


class Coefficients(NamedTuple):
    """The data of the columns of one question."""

    level: Level
    compared: Ints  # (n_items, n_categories)
    table: CrossedTable | None  # the votes of crossed raters; None: there are none
    bias: BiasIndex | None  # None: no yes/no question
    is_ordinal: bool

    @property
    def figures(self) -> dict[str, tuple[Floats, Measure]]:
        """The figures that get intervals: statistics (n_items, S) and the measure of each."""
        found: dict[str, tuple[Floats, Measure]] = {
            "gwet_ac": (gwet_ac_statistics(self.compared, self.level), GWET_AC[self.level])
        }
        if self.table is not None:
            of_table = icc_statistics(self.table.answers)
            statistics = np.zeros((len(self.compared), of_table.shape[1]))
            statistics[self.table.items] = of_table
            found["icc"] = (statistics, ICC)
        return found

    def columns(self, estimates: Mapping[str, Estimate], alpha: Estimate) -> CoefficientColumns:
        """Return the columns, with the estimates of `figures` and that of Krippendorff's alpha."""
        ac, table = estimates["gwet_ac"], self.table
        if self.bias is not None:
            prevalence = prevalence_index(self.compared)
            is_low = (
                alpha.value is not None
                and ac.value is not None
                and is_low_for_prevalence(alpha.value, ac.value, prevalence)
            )
            return CoefficientColumns(
                gwet_ac=ac,
                prevalence_index=number(prevalence),
                bias_index=number(self.bias.value),
                bias_pairs=self.bias.n_pairs,
                alpha_is_low_for_prevalence=is_low,
            )
        if table is None:
            return CoefficientColumns(gwet_ac=ac, icc_why=NOT_CROSSED if self.is_ordinal else None)
        n_items, n_raters = table.answers.shape
        return CoefficientColumns(
            gwet_ac=ac,
            icc=estimates["icc"],
            icc_of_mean=Estimate(*(_of_mean(each, n_raters) for each in estimates["icc"])),
            icc_raters=n_raters,
            icc_items=n_items,
            icc_left_out=table.n_left_out,
        )


def coefficients_of(compared: Ints, votes: RaterVotes, here: Bools, level: Level) -> Coefficients:
    """Return the data of the columns of one question, over some items of an arm.

    Args:
        compared: the votes that agreement uses on the items in `here`, as counts.
        votes: the same votes by rater, on all items.
        here: (n_items of the arm,) whether the row is about an item.
        level: that of alpha.
    """
    new_places = np.cumsum(here) - 1
    is_here = (votes.items >= 0) & here[votes.items]
    own = votes.only(is_here)
    own = own._replace(items=new_places[own.items])
    is_ordinal = votes.kind == "ordinal"
    return Coefficients(
        level,
        compared,
        crossed_table(own) if is_ordinal else None,
        bias_index(own) if votes.kind == "yes_no" else None,
        is_ordinal,
    )


def _of_mean(icc: float | None, n_raters: int) -> float | None:
    return None if icc is None else number(icc_of_mean(icc, n_raters))
