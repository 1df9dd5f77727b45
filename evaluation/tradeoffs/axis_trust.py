"""The trust that each axis deserves, by its controls and by its agreement with raters.

This module only reads.
"""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from annotation.models import Study, Vote
from evaluation.reports.cache import count_and_last
from evaluation.reports.columns import Estimate, Format
from evaluation.reports.registry import all_reports
from evaluation.runs.main_metrics import SIDES, Side
from evaluation.tradeoffs.axes import Axes, Axis
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.material_cache import cached_on_axes

CHANCE = 0.5  # the AUC of a metric that knows nothing
MOST_VOTES = 150_000  # votes of an arm whose agreement is computed for this page, at most


Controls = Literal["fit", "unfit", "—"]


class Agreement(NamedTuple):
    """The agreement of a metric with the raters of a study."""

    study: Study
    n: int  # responses with a score and a label
    auc: Estimate
    is_known: bool = True  # the study is small enough to compute it here

    @property
    def is_chance(self) -> bool:
        """Whether no interval lies above what chance gives."""
        is_above = self.auc.low is not None and self.auc.low > CHANCE
        return self.auc.value is not None and not is_above

    @property
    def auc_text(self) -> str:
        """The AUC with its interval; a dash if it is not defined."""
        interval = Format.COEFFICIENT.interval(self.auc)
        value = Format.COEFFICIENT.write(self.auc.value)
        return f"{value} ({interval})" if interval else value


class AxisTrust(NamedTuple):
    """An axis with all that says how far it can be trusted."""

    place: str  # x, y
    side: str  # attribution, sensibleness
    axis: Axis
    controls: Controls  # a dash: none, too few, or raters
    agreement: Agreement | None  # None: no study has votes on this side, or raters


def axis_trust(
    material: TradeoffMaterial, axes: Sequence[Axis], unfit: Collection[int]
) -> list[AxisTrust]:
    """Return what is known of x and of y.

    Of the questions to raters on a side, that of the newest study counts, so that the number of
    queries is fixed.

    Args:
        axes: all axes of the dataset.
        unfit: ids of runs that are unfit for these data, as menus say.
    """
    found = []
    sides = zip("xy", SIDES, material.axes, material.floors, strict=True)
    for place, side, axis, floor in sides:
        controls: Controls = "fit" if floor and floor.fitness.is_known else "—"
        if axis.run and axis.run.pk in unfit:
            controls = "unfit"
        agreement = _agreement(material, axis, side, axes)
        found.append(AxisTrust(place, side.name, axis, controls, agreement))
    return found


def _agreement(
    material: TradeoffMaterial, axis: Axis, side: Side, axes: Sequence[Axis]
) -> Agreement | None:
    raters = _newest_raters(side, axes)
    if axis.run is None or raters is None or raters.arm is None or raters.question is None:
        return None
    run, arm, question = axis.run.pk, raters.arm, raters.question.key
    study = arm.study
    if Vote.objects.filter(arm=arm).count() > MOST_VOTES:
        return Agreement(study, 0, Estimate(), is_known=False)

    def made() -> tuple[int, Estimate]:
        kind = all_reports()["agreement"]
        report = kind.make(study, kind.chosen(study, {"truth": arm.kind}))
        rows = [row for row in report.rows if (row.of_run.run, row.question) == (run, question)]
        return (rows[0].n, rows[0].auc) if rows else (0, Estimate())

    what = f"agreement {raters.key} {count_and_last(study.adjudications.all())}"
    n, auc = cached_on_axes(material.dataset, what, made, axes=Axes(axis, raters))
    return Agreement(study, n, auc) if n else None


def _newest_raters(side: Side, axes: Sequence[Axis]) -> Axis | None:
    """Return the question of a side that the newest study asks; None if none does."""
    asked = [axis for axis in axes if axis.arm and axis.shows(side) and not axis.mean_of]
    return max(asked, key=lambda axis: axis.arm.study_id if axis.arm else 0, default=None)
