"""The interval of a sum of estimates, made of their own intervals (Zou and Donner, 2008).

Each estimate's distance to an end of its interval stands for its standard error there, so that a
sum of shares has a width where all of them are 0 or 1, and no end outside of what they can be.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def ends_of_sum(
    estimates: Floats, ends: Floats, weights: Sequence[float], residuals: Floats
) -> tuple[float, float]:
    """Return both ends of the interval of a weighted sum of estimates.

    Args:
        estimates: (n,)
        ends: lower and upper end of each one's interval, (n, 2).
        weights: of each, positive or negative.
        residuals: what each dialog adds to each estimate beyond the others, (n, n_dialogs): they
            say which estimates go together. One that does not vary goes with none.
    """
    signs = np.array(weights)
    distances = np.abs(ends - estimates[:, np.newaxis]) * np.abs(signs)[:, np.newaxis]
    # The sum is lowest where those with a negative weight are highest.
    lower, upper = np.where((signs < 0)[:, np.newaxis], distances[:, ::-1], distances).T
    together = correlations(residuals) * np.outer(np.sign(signs), np.sign(signs))
    middle = float(signs @ estimates)
    return (
        middle - float(np.sqrt(max(0.0, lower @ together @ lower))),
        middle + float(np.sqrt(max(0.0, upper @ together @ upper))),
    )


def correlations(residuals: Floats) -> Floats:
    """Return how estimates go together: (n, n_dialogs) to (n, n), 1 on the diagonal."""
    products = residuals @ residuals.T
    spread = np.sqrt(np.outer(products.diagonal(), products.diagonal()))
    found = np.divide(products, spread, out=np.zeros_like(products), where=spread > 0)
    np.fill_diagonal(found, 1.0)
    return found
