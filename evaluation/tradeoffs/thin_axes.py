"""Axes that say something about fewer than half of the setups, and the runs that say more.

This module only reads.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.models import MetricRun
from evaluation.runs.main_metrics import SIDES, n_setups_scored
from evaluation.tradeoffs.axes import Axis
from evaluation.tradeoffs.material import TradeoffMaterial


class ThinAxis(NamedTuple):
    """An axis with values for fewer than half of the setups, and the axis with values for most."""

    side: str
    axis: Axis
    n: int  # setups with a value
    n_setups: int  # all setups
    fuller: Axis
    n_fuller: int  # setups with a score by the fuller run


def thin_axes(
    material: TradeoffMaterial, axes: Sequence[Axis], *, by_score: bool = False
) -> list[ThinAxis]:
    """Return the thin axes of a material for which a run of the same side has more setups.

    If no axis is thin, this makes no query.

    Args:
        axes: all axes of the dataset.
        by_score: whether scores count instead of labels.
    """
    values = material.scores if by_score else material.labels
    n_known = np.isfinite(values).any(axis=2).sum(axis=1).tolist()  # (2,): of each axis
    n_setups = len(material.dots)
    found = []
    for side, axis, n in zip(SIDES, material.axes, n_known, strict=True):
        if 2 * n >= n_setups:
            continue
        runs = {
            each.run.pk: each
            for each in axes
            if each.run and each.shows(side) and each.run.threshold is not None
        }
        of_runs = n_setups_scored(MetricRun.objects.filter(pk__in=runs))
        best = min(of_runs, key=lambda pk: (-of_runs[pk], runs[pk].place(side.name)), default=0)
        if of_runs.get(best, 0) > n:
            found.append(ThinAxis(side.name, axis, n, n_setups, runs[best], of_runs[best]))
    return found
