"""The floors of the axes: which figures say more than the metric says of wrong sources.

This module only reads.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.fitness import FEWEST, Fitness
from evaluation.models import ControlScore
from evaluation.reports.columns import UNKNOWN, Estimate
from evaluation.reports.estimates import estimates_of
from evaluation.runs.control_figures import control_labels, fitness_of
from evaluation.statistics.intervals import (
    Floats,
    Indexes,
    Statistic,
    difference_of_shares,
    share_from,
)
from evaluation.statistics.rater_answers import mean_statistics
from evaluation.tradeoffs.axes import Axes

FLOOR = ControlScore.Kind.FLOOR


class AxisFloor(NamedTuple):
    """The result of the controls of an axis's metric."""

    fitness: Fitness
    labels: Floats  # the labels of the controls that should be no
    dialogs: Indexes  # numbers of their dialogs; those that the figure lacks come after all others
    n_dialogs: int  # dialogs in all

    @property
    def in_signature(self) -> str:
        """The floor in a signature."""
        floor = self.fitness.floor
        return f"floor {floor.share:.3f} of {floor.n:,} controls"


Floors = tuple[AxisFloor | None, ...]  # one for each axis; None: raters, or no controls


def axis_floors(axes: Axes, example_ids: Indexes, dialogs: Indexes, n_dialogs: int) -> Floors:
    """Return the floor of each axis, in one query. Of too few controls there is none.

    Args:
        axes: the axes.
        example_ids: (n_examples,) ids of the examples of a figure.
        dialogs: (n_examples,) the numbers of their dialogs.
        n_dialogs: the number of their dialogs.
    """
    runs = [axis.run for axis in axes if axis.run]
    found = control_labels(runs) if runs else {}
    number_of = dict(zip(example_ids.tolist(), dialogs.tolist(), strict=True))

    def floor_of(run_id: int) -> AxisFloor | None:
        labels = found[run_id]
        if FLOOR not in labels or labels[FLOOR].share.n < FEWEST:
            return None
        of_floor = labels[FLOOR]
        known = [number_of.get(example) for example in of_floor.examples.tolist()]
        # Controls of other examples keep together by dialog, after the dialogs of the figure.
        numbers = [
            n_dialogs + own if number is None else number
            for number, own in zip(known, of_floor.dialogs.tolist(), strict=True)
        ]
        n_all = max([n_dialogs, *(number + 1 for number in numbers)])
        return AxisFloor(fitness_of(labels), of_floor.labels, np.array(numbers), n_all)

    return tuple(floor_of(axis.run.pk) if axis.run else None for axis in axes)


def over_floor(
    floor: AxisFloor | None, of_setups: Sequence[Floats], dialogs: Indexes
) -> list[Estimate]:
    """Return each setup's share of yes minus the floor, paired by dialog.

    Args:
        floor: the floor of the axis; None: it has none.
        of_setups: the labels of each setup, (n_examples,): 1, 0, or NaN for an example that does
            not count.
        dialogs: (n_examples,) the numbers of the dialogs.
    """
    if floor is None:
        return [UNKNOWN] * len(of_setups)
    of_floor = Statistic(mean_statistics(floor.labels), floor.dialogs, share_from)
    differences = [
        difference_of_shares(Statistic(mean_statistics(labels), dialogs, share_from), of_floor)
        for labels in of_setups
    ]
    return estimates_of(differences, floor.n_dialogs)
