"""The interval of a sum of estimates, made of their own intervals (Zou and Donner, 2008).

Each estimate's distance to an end of its interval takes the place of its standard error on that
side. So a sum of shares has an interval with a width even where all shares are 0 or 1, and no end
is outside the range that the shares allow.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def ends_of_sum(
    estimates: Floats, ends: Floats, weights: Sequence[float], residuals: Floats, most_alike: float
) -> tuple[float, float]:
    """Return both ends of the interval of a weighted sum of estimates.

    Args:
        estimates: the estimates, (n,).
        ends: lower and upper end of the interval of each estimate, (n, 2).
        weights: the weight of each estimate, positive or negative.
        residuals: the residual of each dialog for each estimate, (n, n_dialogs). They give the
            correlations of the estimates. An estimate that does not vary has a correlation of 0.
        most_alike: how far two estimates may cancel each other at most, as a correlation in [0, 1].
            Where no dialog differs in them, some of the dialogs that were not seen may: their
            difference is not certain.
    """
    signs = np.array(weights)
    distances = np.abs(ends - estimates[:, np.newaxis]) * np.abs(signs)[:, np.newaxis]
    # The sum is lowest where the estimates with a negative weight are highest.
    lower, upper = np.where((signs < 0)[:, np.newaxis], distances[:, ::-1], distances).T
    together = correlations(residuals) * np.outer(np.sign(signs), np.sign(signs))
    together = np.maximum(together, -most_alike)
    middle = float(signs @ estimates)
    return (
        middle - float(np.sqrt(max(0.0, lower @ together @ lower))),
        middle + float(np.sqrt(max(0.0, upper @ together @ upper))),
    )


def correlations(residuals: Floats) -> Floats:
    """Return the correlations of estimates: (n, n_dialogs) to (n, n), with 1 on the diagonal."""
    products = residuals @ residuals.T
    spread = np.sqrt(np.outer(products.diagonal(), products.diagonal()))
    found = np.divide(products, spread, out=np.zeros_like(products), where=spread > 0)
    np.fill_diagonal(found, 1.0)
    return found
