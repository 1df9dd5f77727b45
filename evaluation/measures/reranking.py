"""Re-ranking: for each example, the response of a pool that its scores speak for ([A] 7.5).

Choosing by a metric inflates that metric: of several noisy scores the highest is more likely one
that errs upwards. What was chosen is to be judged by something else.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.intervals import Floats

Ints = NDArray[np.integer[Any]]

MAX_ATTRIBUTION, SENSIBLE_FIRST, WEIGHTED = "max-attribution", "sensible-first", "weighted"
FUNCTIONS: Mapping[str, str] = {
    MAX_ATTRIBUTION: "Highest attribution",
    SENSIBLE_FIRST: "Sensible first, then highest attribution",
    WEIGHTED: "Weighted sum, a · sensibleness + b · attribution",
}
SENSIBLE_FROM = 0.5  # the score from which a response counts as sensible ([A] 7.5)
NOTHING = -1  # the place in the pool where nothing can be chosen
_SAME_SUM = 12  # decimals; weighted sums that agree in so many are a tie


class RerankedChoice(NamedTuple):
    """What is chosen for each example."""

    places: Ints  # (n_examples,): 0 .. n_pool - 1, or `NOTHING`
    is_tie: NDArray[
        np.bool_
    ]  # (n_examples,): equals by the function, told apart by the other score


def choose(
    function: str,
    attribution: Floats,
    sensibleness: Floats,
    weights: Sequence[float] | None = None,
) -> Ints:
    """Return the place in the pool of the response that is chosen for each example.

    See `choose_with_ties`.
    """
    return choose_with_ties(function, attribution, sensibleness, weights).places


def choose_with_ties(
    function: str,
    attribution: Floats,
    sensibleness: Floats,
    weights: Sequence[float] | None = None,
) -> RerankedChoice:
    """Return what is chosen for each example, and where the other score decided between equals.

    `max-attribution` takes the highest attribution; `sensible-first` the highest among those with
    a sensibleness of 0.5 and more, or among all where none has that; `weighted` the highest
    a · sensibleness + b · attribution. Of equals, the one that the other metric speaks for is
    chosen (for the weighted sum: attribution; where the other is not known, it is the lowest), and
    of those still equal the first in the pool.

    Args:
        function: one of `FUNCTIONS`.
        attribution: scores in [0, 1], (n_pool, n_examples); NaN where not known.
        sensibleness: the same.
        weights: (a, b) of `weighted`, 0 and more, not both 0.

    Returns:
        Places, `NOTHING` where no response has what the function needs: attribution, and but for
        `max-attribution` sensibleness as well; and where a tie was not left to the order of the
        pool.

    Raises:
        ValueError: an unknown function, shapes that differ, an empty pool, or weights that are
            missing, negative, or not asked for.
    """
    check_function(function, weights)
    if attribution.shape != sensibleness.shape or attribution.ndim != 2 or not len(attribution):
        raise ValueError(
            f"scores of shapes {attribution.shape} and {sensibleness.shape}, expected twice "
            "(n_pool, n_examples) with a pool of one and more"
        )
    is_known = ~np.isnan(attribution)
    if function == MAX_ATTRIBUTION:
        return _best(is_known, attribution, sensibleness)
    is_known &= ~np.isnan(sensibleness)
    if function == SENSIBLE_FIRST:
        is_sensible = is_known & (sensibleness >= SENSIBLE_FROM)
        is_open = np.where(is_sensible.any(axis=0), is_sensible, is_known)
        return _best(is_open, attribution, sensibleness)
    assert weights is not None
    of_sensibleness, of_attribution = weights
    total = of_sensibleness * sensibleness + of_attribution * attribution
    return _best(is_known, np.round(total, _SAME_SUM), attribution)


def check_function(function: str, weights: Sequence[float] | None) -> None:
    """Make sure that there is such a function, with the weights that it needs.

    Raises:
        ValueError: there is not; the message says what was expected.
    """
    if function not in FUNCTIONS:
        raise ValueError(f"function {function!r}; expected one of {', '.join(FUNCTIONS)}")
    if function != WEIGHTED:
        if weights is not None:
            raise ValueError(f"weights {list(weights)} for {function}, which has none")
        return
    if (
        weights is None
        or len(weights) != 2
        or not all(math.isfinite(weight) and weight >= 0 for weight in weights)
        or not any(weights)
    ):
        found = "no weights" if weights is None else f"weights {list(weights)}"
        raise ValueError(
            f"{found}; expected two, of sensibleness and of attribution, 0 and more, not both 0"
        )


def _best(is_open: NDArray[np.bool_], score: Floats, other: Floats) -> RerankedChoice:
    """Return the first in the pool of those open that are highest in a score, then in the other."""
    equals = _highest(is_open, score)
    left = _highest(equals, other)
    places: Ints = np.where(left.any(axis=0), left.argmax(axis=0), NOTHING)
    is_tie: NDArray[np.bool_] = np.any(equals & ~left, axis=0)
    return RerankedChoice(places, is_tie)


def _highest(is_open: NDArray[np.bool_], score: Floats) -> NDArray[np.bool_]:
    """Return which of those open are highest in a score; one not known is the lowest."""
    value = np.where(is_open & ~np.isnan(score), score, -math.inf)
    found: NDArray[np.bool_] = is_open & (value == value.max(axis=0))
    return found
