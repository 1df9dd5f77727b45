"""Measures of how much golden evidence a ranking finds: recall and precision in the first k."""

import math
from collections.abc import Collection, Sequence


def recall_at(ranking: Sequence[int], golden: Collection[int], k: int) -> float:
    """Return the share of the golden passages that are among the first `k`; NaN without golden."""
    return n_found(ranking, golden, k) / len(golden) if golden else math.nan


def precision_at(ranking: Sequence[int], golden: Collection[int], k: int) -> float:
    """Return the share of the first `k` that are golden; NaN without golden.

    The divisor is `k` even if the ranking is shorter, as is usual: empty places found nothing.
    """
    return n_found(ranking, golden, k) / k if golden else math.nan


def n_found(ranking: Sequence[int], golden: Collection[int], k: int) -> int:
    """Return how many golden passages are among the first `k`.

    Raises:
        ValueError: `k` is below 1.
    """
    if k < 1:
        raise ValueError(f"the first {k} of a ranking; expected 1 or more")
    return len(set(ranking[:k]) & set(golden))
