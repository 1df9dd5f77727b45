"""The draw of the extractive model at a temperature: one of the best, by softmax of weights."""

import math
import random
from collections.abc import Sequence
from itertools import accumulate

from generation.backends.base import Decoding

MOST_DRAWN_FROM = 5  # more candidates would let many poor ones outweigh the good ones


def drawn_place(weights: Sequence[float], decoding: Decoding, draws: random.Random) -> int:
    """Return the place of the best weight; with a temperature, draw one of the best by its share.

    Args:
        weights: at least one, the best first. Top-k and top-p of `decoding` apply to them.
    """
    if not decoding.temperature:
        return 0
    kept = weights[: min(decoding.top_k or MOST_DRAWN_FROM, MOST_DRAWN_FROM)]
    shares = [math.exp((weight - kept[0]) / decoding.temperature) for weight in kept]
    sums = list(accumulate(shares))
    n_kept = next(n for n, total in enumerate(sums, 1) if total >= decoding.top_p * sums[-1])
    drawn = draws.random() * sums[n_kept - 1]
    return next(place for place, total in enumerate(sums) if drawn < total)
