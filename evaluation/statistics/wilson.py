"""Wilson's interval of a share, for items that come in dialogs.

Wilson's formula (1927) is used with two changes. The quantile is that of Student's t. And the
number of items is replaced by the number of independent items that would make the share as
uncertain as it is between dialogs (Franco, Little, Louis and Slud, 2019).
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def independent_items(sums: Floats, most_items: float = math.inf) -> float:
    """Return how many independent items would make a share as uncertain as it is.

    The number is p (1 - p) / V, where V is the linearised variance of a ratio of sums over dialogs.
    When the share is 0 or 1, nothing varies. The number is then that of dialogs, as if all items of
    a dialog were one, but not above the upper limit. It is also that of dialogs where nothing
    varies between them and there is no upper limit: an interval always has a width.

    Args:
        sums: part and whole of each dialog, (n_dialogs, 2), with two or more dialogs and no whole
            of 0.
        most_items: the upper limit of the result. For weighted items it is Kish's number, which may
            be below the number of dialogs.
    """
    n_dialogs, total = len(sums), float(sums[:, 1].sum())
    share = float(sums[:, 0].sum() / total)
    residuals = sums[:, 0] - share * sums[:, 1]
    variance = float(residuals @ residuals) / total**2 * n_dialogs / (n_dialogs - 1)
    spread = share * (1 - share)
    if spread <= 0:
        return min(float(n_dialogs), most_items)
    if variance > spread * 1e-18:
        return min(spread / variance, most_items)
    return most_items if math.isfinite(most_items) else float(n_dialogs)


def wilson_ends(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Return both ends of Wilson's interval, in [0, 1] and never beyond the share itself.

    Args:
        share: the share, in [0, 1].
        n: the number of independent items, above 0.
        quantile: the quantile of the normal distribution, or of Student's t, for the level.
    """
    t2, spread = quantile**2, share * (1 - share)
    middle = (share + t2 / n / 2) / (1 + t2 / n)
    half = math.sqrt(t2 / n * (spread + t2 / n / 4)) / (1 + t2 / n)
    return max(0.0, float(min(middle - half, share))), min(1.0, float(max(middle + half, share)))
