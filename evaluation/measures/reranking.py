"""Re-ranking: for each example, the response of a pool with the best scores ([A] 7.5).

Choosing by a metric inflates that metric: the highest of several noisy scores is more likely to be
too high than too low. The chosen responses should therefore be judged by something else.
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
NOTHING = -1  # used instead of a place in the pool if no response can be chosen
_SAME_SUM = 12  # weighted sums that agree in this many decimals are a tie


class RerankedChoice(NamedTuple):
    """The responses that are chosen for the examples."""

    places: Ints  # (n_examples,): 0 .. n_pool - 1, or `NOTHING`
    # (n_examples,): whether the other score decided between responses equal by the function.
    is_tie: NDArray[np.bool_]


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
    """Return the chosen responses, and where the other score decided between equal ones.

    `max-attribution` chooses the highest attribution. `sensible-first` chooses the highest
    attribution among the responses with a sensibleness of at least 0.5, or among all if there is
    none. `weighted` chooses the highest a · sensibleness + b · attribution. Of equal responses, the
    one with the higher other score is chosen: sensibleness, or attribution for `weighted`. An
    unknown score counts as the lowest. Of responses that are still equal, the first in the pool is
    chosen.

    Args:
        function: one of `FUNCTIONS`.
        attribution: scores in [0, 1], (n_pool, n_examples); NaN where not known.
        sensibleness: scores in the same form.
        weights: (a, b) of `weighted`, at least 0 and not both 0.

    Returns:
        Places, and whether each was decided by the other score and not by the order of the pool. A
        place is `NOTHING` where no response has the scores that the function needs: attribution,
        and, except for `max-attribution`, also sensibleness.

    Raises:
        ValueError: the function is unknown, shapes differ, the pool is empty, or weights are
            missing, negative or not used by the function.
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
    """Check that a function exists and that the weights are those that it needs.

    Raises:
        ValueError: the check failed; the message says what was expected.
    """
    if function not in FUNCTIONS:
        raise ValueError(
            f"Found the function {function!r}; expected one of {', '.join(FUNCTIONS)}."
        )
    if function != WEIGHTED:
        if weights is not None:
            raise ValueError(f"Found weights for {function}, which has none. Leave them out.")
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
    """Return the open response that is highest in a score, then in the other, then the first."""
    equals = _highest(is_open, score)
    left = _highest(equals, other)
    places: Ints = np.where(left.any(axis=0), left.argmax(axis=0), NOTHING)
    is_tie: NDArray[np.bool_] = np.any(equals & ~left, axis=0)
    return RerankedChoice(places, is_tie)


def _highest(is_open: NDArray[np.bool_], score: Floats) -> NDArray[np.bool_]:
    """Return which of the open responses are highest in a score; an unknown score is the lowest."""
    value = np.where(is_open & ~np.isnan(score), score, -math.inf)
    found: NDArray[np.bool_] = is_open & (value == value.max(axis=0))
    return found
