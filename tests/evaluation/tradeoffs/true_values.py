"""The true values of the grid: the middle of each cluster, and the results of re-ranking.

Those of re-ranking are found by integration, not by drawing. Labels of one example share what its
dialog and the example itself contribute (`tests.tradeoff_grid`): one normal number for each side.
Given those two, labels of different setups are independent.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from evaluation.measures.reranking import MAX_ATTRIBUTION
from generation.text.prompt_types import TWELVE
from tests.tradeoff_grid import WEIGHTS, Floats, Truth, truth_of

CLUSTERS = {
    # History, golden evidence: [A] table 2.
    (True, True): "top right",
    (False, True): "center",
    (True, False): "top left",
    (False, False): "bottom left",
}
GOLDEN = ("golden", "retrieved")
KNOTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)  # for the standard normal distribution
KNOT_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def expected(pool: Sequence[Truth], function: str) -> tuple[float, float]:
    """Return an aggregate's chances to be attributable and to be sensible (NaN: not given).

    Scores of a yes are higher than any of a no. So a response chosen for its attribution is
    attributable if any response is. The choice of `sensible-first` is attributable if a response is
    both, or if none is sensible and one is attributable; it is sensible if any response is.
    """
    attribution, sensibleness = (
        _given_example([getattr(truth, side) for truth in pool]) for side in Truth._fields
    )
    none_attributable = float(KNOT_WEIGHTS @ (1 - attribution).prod(axis=0))
    none_sensible = float(KNOT_WEIGHTS @ (1 - sensibleness).prod(axis=0))
    if function == MAX_ATTRIBUTION:
        return 1 - none_attributable, math.nan
    # (setups, knots of attribution, knots of sensibleness): no setup is both.
    both = attribution[:, :, np.newaxis] * sensibleness[:, np.newaxis, :]
    none_both = float(KNOT_WEIGHTS @ (1 - both).prod(axis=0) @ KNOT_WEIGHTS)
    return 1 - none_both + none_sensible * (1 - none_attributable), 1 - none_sensible


def _given_example(chances: Sequence[float]) -> Floats:
    """Return each setup's chance, given what its example contributes: (n_setups, n_knots)."""
    shared, own = math.sqrt(WEIGHTS[0] + WEIGHTS[1]), math.sqrt(WEIGHTS[2])
    below: Floats = ndtr((ndtri(np.array(chances))[:, np.newaxis] - shared * KNOTS) / own)
    return below


def cluster_truths(model: str, temperature: float) -> dict[str, Floats]:
    """Return the middle of each cluster of a model: the mean of its types' chances."""
    found = defaultdict(list)
    for kind in TWELVE:
        place = CLUSTERS[kind.has_history, kind.evidence in GOLDEN]
        found[place].append(truth_of(model, temperature, kind))
    return {place: np.mean(chances, axis=0) for place, chances in found.items()}
