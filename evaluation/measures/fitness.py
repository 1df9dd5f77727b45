"""Whether a metric can tell right from wrong on these data: its answers about controls.

The limits are ours. A metric that says yes to more than `MOST_FALSE` of wrong sources, or of texts
that say nothing, or to less than `LEAST_TRUE` of the evidence itself, is called unfit.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

MOST_FALSE = 0.3  # the largest floor, and share of texts that say nothing
LEAST_TRUE = 0.7  # the smallest top
FEWEST = 20  # controls of a kind; of fewer, nothing is said


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
        """Whether any kind has enough controls to say something."""
        return any(each.n >= FEWEST for each in self)

    @property
    def is_unfit(self) -> bool:
        """Whether one of the limits is exceeded."""
        return next(self.faults, "") != ""

    @property
    def faults(self) -> Iterator[str]:
        """Yield each exceeded limit, as what the metric does wrong."""
        if self.floor.n >= FEWEST and self.floor.share > MOST_FALSE:
            yield f"says yes to {100 * self.floor.share:.0f} % of what is wrong"
        if self.nothing.n >= FEWEST and self.nothing.share > MOST_FALSE:
            yield f"says yes to {100 * self.nothing.share:.0f} % of what says nothing"
        if self.top.n >= FEWEST and self.top.share < LEAST_TRUE:
            yield f"says yes to only {100 * self.top.share:.0f} % of what is right"
