"""The rows of a plan: studies of different sizes, numbers of raters and arms, and assumptions."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from evaluation.reports.columns import Column, Format
from evaluation.reports.report import ReportRow


@dataclass(frozen=True, kw_only=True)
class DesignRow(ReportRow):
    """A study that could be rated: how large it is, and the hours of its raters together."""

    named_by = ("compares", "n_dialogs", "raters", "arms")

    # The choice that differs from row to row: in words, as a column, and as a field in the form of
    # a new study.
    varied: ClassVar[str] = ""
    column: ClassVar[str] = ""
    field: ClassVar[str] = ""

    compares: Annotated[str, Column("Compares")]
    n_dialogs: Annotated[int, Column("Dialogs", Format.COUNT)]
    raters: Annotated[int, Column("Raters", Format.COUNT)]
    arms: Annotated[str, Column("Arms")]
    n_setups: int
    n_responses: Annotated[int, Column("Responses", Format.COUNT)]
    hours: Annotated[float, Column("Rater hours", Format.DECIMAL)]


@dataclass(frozen=True, kw_only=True)
class DialogsDesign(DesignRow):
    """A number of dialogs and its precision, by formula."""

    varied: ClassVar[str] = "dialogs"
    column: ClassVar[str] = "n_dialogs"
    field: ClassVar[str] = "n_sampled"

    half_width: Annotated[float | None, Column("Interval ±", Format.PERCENT)]
    half_width_with_metric: Annotated[
        float | None, Column("Interval ± with the metric", Format.PERCENT)
    ]
    visible: Annotated[float | None, Column("Detects", Format.PERCENT)]
    visible_with_metric: Annotated[float | None, Column("Detects with the metric", Format.PERCENT)]
    power: Annotated[float | None, Column("Power", Format.PERCENT)]
    power_with_metric: Annotated[float | None, Column("Power with the metric", Format.PERCENT)]
    n_effective: Annotated[int | None, Column("Effective labels", Format.COUNT)]
    is_enough: Annotated[bool, Column("Enough")]
    is_enough_with_metric: Annotated[bool | None, Column("Enough with the metric")]
    is_in_dataset: Annotated[bool, Column("In the dataset")]
    wish: float  # a share in [0, 1], as the widths are

    @property
    def reached(self) -> float | None:
        """The figure to compare with the wish: the half-width, or the smallest difference found."""
        return self.half_width if self.visible is None else self.visible

    @property
    def reached_with_metric(self) -> float | None:
        if self.visible is None:
            return self.half_width_with_metric
        return self.visible_with_metric


@dataclass(frozen=True, kw_only=True)
class RatersDesign(DesignRow):
    """A number of raters per response and its figures, simulated from the pilot's votes."""

    varied: ClassVar[str] = "raters"
    column: ClassVar[str] = "raters"
    field: ClassVar[str] = "raters_per_unit"

    of_arm: Annotated[str, Column("Votes of arm")]
    n_simulated: int  # dialogs of each simulated study
    half_width: Annotated[float | None, Column("Interval ±", Format.PERCENT)]
    tied: Annotated[float | None, Column("Tied", Format.PERCENT)]
    same_as_pilot: Annotated[float | None, Column("Majority as in the pilot", Format.PERCENT)]
    is_extrapolated: Annotated[bool, Column("Beyond the pilot")]


@dataclass(frozen=True, kw_only=True)
class ArmsDesign(DesignRow):
    """One arm or both, and their hours."""

    varied: ClassVar[str] = "arms"
    column: ClassVar[str] = "arms"
    field: ClassVar[str] = "arms"

    seconds: Annotated[float, Column("Seconds per response and rater", Format.SECONDS)]


@dataclass(frozen=True, kw_only=True)
class AssumptionRow(ReportRow):
    """An assumption of the plan, and the origin of its value."""

    key: str  # the name of the choice
    assumption: Annotated[str, Column("Assumption")]
    amount: float | None
    written: Annotated[str, Column("Value")]
    source: Annotated[str, Column("From")]


AnyPlanRow = DialogsDesign | RatersDesign | ArmsDesign | AssumptionRow
