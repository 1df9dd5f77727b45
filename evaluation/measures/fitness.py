"""Whether a metric can tell right from wrong on these data: its answers about controls.

The limits are ours. A metric that says yes to more than `MOST_FALSE` of wrong sources, or of texts
that say nothing, or to less than `LEAST_TRUE` of the evidence itself, is called unfit.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from evaluation.statistics.intervals import Floats

NONE = np.empty(0)
MOST_FALSE = 0.3  # the largest floor, and share of texts that say nothing
LEAST_TRUE = 0.7  # the smallest top
MOST_FALSE_CHOSEN = 0.05  # the largest floor at a threshold that it chooses
FEWEST = 20  # controls of a kind; of fewer, nothing is said


def threshold_by_floor(
    floor: Floats, others: Floats = NONE, *, is_yes_at_threshold: bool = False
) -> float:
    """Return the lowest threshold at which at most `MOST_FALSE_CHOSEN` of the floor is a yes.

    Args:
        floor: (n,) the scores of controls that should be no; NaN: none.
        others: (m,) other scores of the metric, among which a threshold may be.
        is_yes_at_threshold: whether a score of the threshold itself is a yes.

    Returns:
        One of the scores; NaN if the floor has fewer than `FEWEST`, or if no score will do.
    """
    known = np.sort(floor[~np.isnan(floor)])
    if known.size < FEWEST:
        return math.nan
    n_yes = int(MOST_FALSE_CHOSEN * known.size)
    highest_no = float(known[known.size - 1 - n_yes])
    if not is_yes_at_threshold:
        return highest_no
    everything = np.concatenate([known, others[~np.isnan(others)]])
    return float(min(everything[everything > highest_no], default=math.nan))


class ShareOfYes(NamedTuple):
    """The share of controls of one kind that a metric calls yes."""

    share: float = math.nan  # in [0, 1]; NaN: none has a label
    low: float = math.nan  # its 95 % interval over dialogs
    high: float = math.nan
    n: int = 0  # controls with a label
    n_left_out: int = 0  # controls without one


class Fitness(NamedTuple):
    """The shares of yes of a metric about its controls. A kind that it does not have has n = 0."""

    floor: ShareOfYes = ShareOfYes()
    top: ShareOfYes = ShareOfYes()
    nothing: ShareOfYes = ShareOfYes()

    @property
    def is_known(self) -> bool:
        """Whether each kind that the metric has has enough controls to say something."""
        there = [each for each in self if each.n or each.n_left_out]
        return bool(there) and all(each.n >= FEWEST for each in there)

    @property
    def is_unfit(self) -> bool:
        """Whether one of the limits is exceeded."""
        return next(self.faults, "") != ""

    @property
    def faults(self) -> Iterator[str]:
        """Yield each exceeded limit, as what the metric does wrong."""
        if self.floor.n >= FEWEST and self.floor.share > MOST_FALSE:
            yield f"says yes to {100 * self.floor.share:.1f} % of what is wrong"
        if self.nothing.n >= FEWEST and self.nothing.share > MOST_FALSE:
            yield f"says yes to {100 * self.nothing.share:.1f} % of what says nothing"
        if self.top.n >= FEWEST and self.top.share < LEAST_TRUE:
            yield f"says yes to only {100 * self.top.share:.1f} % of what is right"
