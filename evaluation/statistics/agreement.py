"""Agreement between raters, from how many raters gave each category to each item.

`counts` is everywhere an array of whole numbers (n_items, n_categories). Items may have any number
of votes. A category that no rater used may have a column; it changes nothing.

Each measure comes as three functions: `..._statistics` gives one row of numbers per item that may
be added up, `..._from` turns sums of such rows into the figure (any leading axes: many sets of sums
at once), and the function named after the measure does both. An undefined figure is NaN;
`has_no_variation` returns whether that is because all votes are the same. For intervals, the
measures that compare with chance are `FLEISS_KAPPA` and `ALPHA`.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.statistics.intervals import Floats, ratio, share_from
from evaluation.statistics.jackknife import BeyondChance

Level = Literal["nominal", "ordinal"]


def votes_per_category(counts: ArrayLike) -> Floats:
    """Return the counts as floats, so that their products cannot overflow.

    Raises:
        ValueError: `counts` has not two axes, or a count is negative or not a whole number.
    """
    votes = np.asarray(counts, dtype=np.float64)
    if votes.ndim != 2:
        raise ValueError(f"counts of shape {votes.shape}, expected (n_items, n_categories)")
    wrong = votes[(votes < 0) | (votes != np.floor(votes))]
    if wrong.size:
        raise ValueError(f"count {wrong[0]}, expected 0, 1, 2, ...")
    return votes


def has_no_variation(counts: ArrayLike) -> bool:
    """Return whether some items have two votes or more and all those votes are one category.

    Agreement is then perfect, but kappa and alpha, which compare it with chance, are undefined.
    The result is False without such items, because then there are no data. For Fleiss' kappa,
    pass the items that `items_with_most_frequent_votes` selects.
    """
    votes = votes_per_category(counts)
    compared = votes[votes.sum(axis=1) >= 2]
    return int(np.count_nonzero(compared.any(axis=0))) == 1


def percent_agreement(counts: ArrayLike) -> float:
    """Return the share of agreeing pairs among all pairs of votes on the same item.

    Items with two votes or more take part; an item with many votes has many pairs, so it weighs
    more. The share is in [0, 1], or NaN when there is no pair. Without any variation it is 1.
    """
    return float(percent_agreement_from(percent_agreement_statistics(counts).sum(axis=0)))


def percent_agreement_statistics(counts: ArrayLike) -> Floats:
    """Return agreeing pairs and all pairs of votes per item, (n_items, 2); 0, 0 below two votes."""
    votes = votes_per_category(counts)
    n_votes = votes.sum(axis=1)
    agreeing = (votes * (votes - 1)).sum(axis=1) / 2
    return np.column_stack([agreeing, n_votes * (n_votes - 1) / 2])


percent_agreement_from = share_from  # takes summed statistics (..., 2) and returns (...)


def fleiss_kappa(counts: ArrayLike) -> float:
    """Return Fleiss' kappa over the items with the most frequent number of votes.

    It is the agreement beyond what the shares of the categories give by chance (Fleiss, 1971). The
    formula needs the same number of votes on each item, so only the items that
    `items_with_most_frequent_votes` selects take part.

    Kappa is at most 1; 0 is chance, and a negative value is less than chance. It is NaN without
    items or without variation.
    """
    return float(fleiss_kappa_from(fleiss_kappa_statistics(counts).sum(axis=0)))


def items_with_most_frequent_votes(counts: ArrayLike) -> NDArray[np.bool_]:
    """Return which items have the number of votes that most items have, (n_items,).

    Items below two votes are neither counted nor selected. On a tie the larger number wins.
    """
    n_votes = votes_per_category(counts).sum(axis=1)
    numbers, n_items = np.unique(n_votes[n_votes >= 2], return_counts=True)
    if not numbers.size:
        return np.zeros(n_votes.shape, dtype=bool)
    selected: NDArray[np.bool_] = n_votes == numbers[n_items == n_items.max()].max()
    return selected


def fleiss_kappa_statistics(counts: ArrayLike) -> Floats:
    """Return agreeing pairs, all pairs, votes per category: (n_items, 2 + n_categories).

    Items without the most frequent number of votes have zeros. That number is taken once, from
    these counts; resamples of them do not choose it again.
    """
    votes = votes_per_category(counts) * items_with_most_frequent_votes(counts)[:, np.newaxis]
    return np.hstack([percent_agreement_statistics(votes), votes])


def fleiss_kappa_from(sums: Floats) -> Floats:
    """Return Fleiss' kappa from summed statistics, (..., 2 + n_categories) to (...)."""
    votes = _votes_of_fleiss(sums)
    shares = ratio(votes, votes.sum(axis=-1, keepdims=True))
    by_chance = (shares**2).sum(axis=-1)
    return ratio(percent_agreement_from(sums) - by_chance, 1 - by_chance)


def _votes_of_fleiss(sums: Floats) -> Floats:
    """Return the votes per category in summed statistics, (..., 2 + k) to (..., k)."""
    return sums[..., 2:]


FLEISS_KAPPA = BeyondChance(fleiss_kappa_from, _votes_of_fleiss)


def krippendorff_alpha_statistics(counts: ArrayLike) -> Floats:
    """Return each item's coincidences, row by row: (n_items, n_categories²).

    The coincidence of two categories is the number of ordered pairs of votes for the one and the
    other, divided by the item's number of votes - 1. So the weight of an item is its number of
    votes, and an item with fewer than two votes has no weight. Every level uses the same
    statistics.
    """
    votes = votes_per_category(counts)
    n_items, n_categories = votes.shape
    pairs = votes[:, :, np.newaxis] * votes[:, np.newaxis, :]
    diagonal = np.arange(n_categories)
    pairs[:, diagonal, diagonal] -= votes  # a vote makes no pair with itself
    partners = np.maximum(votes.sum(axis=1) - 1, 1)  # an item with one vote has no pairs: 0 / 1
    coincidences: Floats = pairs.reshape(n_items, n_categories**2) / partners[:, np.newaxis]
    return coincidences


def krippendorff_alpha_from(sums: Floats, level: Level) -> Floats:
    """Return Krippendorff's alpha from summed statistics, (..., n_categories²) to (...)."""
    coincidences = _coincidences(sums)
    votes = coincidences.sum(axis=-1)
    distances = DISTANCES[level](votes)
    observed = (coincidences * distances).sum(axis=(-2, -1))
    expected = np.einsum("...i,...ij,...j->...", votes, distances, votes)
    return 1 - ratio(observed * (votes.sum(axis=-1) - 1), expected)


def _coincidences(sums: Floats) -> Floats:
    """Return the coincidence matrix of summed statistics, (..., k²) to (..., k, k)."""
    n_categories = math.isqrt(sums.shape[-1])
    return sums.reshape(*sums.shape[:-1], n_categories, n_categories)


def _votes_of_alpha(sums: Floats) -> Floats:
    """Return the votes per category in summed statistics, (..., k²) to (..., k)."""
    votes: Floats = _coincidences(sums).sum(axis=-1)
    return votes


def _nominal_distances(votes: Floats) -> Floats:
    """Return 0 for the same category and 1 for two different ones, (k, k), whatever the votes."""
    return 1 - np.eye(votes.shape[-1])


def _ordinal_distances(votes: Floats) -> Floats:
    """Return the squared number of votes between two categories, (..., k) to (..., k, k).

    Votes are counted between the middles of the two: half of the votes of each of the two
    categories, and all votes of the categories between them.
    """
    middles = votes.cumsum(axis=-1) - votes / 2
    distances: Floats = (middles[..., :, np.newaxis] - middles[..., np.newaxis, :]) ** 2
    return distances


DISTANCES: dict[Level, Callable[[Floats], Floats]] = {
    "nominal": _nominal_distances,
    "ordinal": _ordinal_distances,
}

ALPHA: dict[Level, BeyondChance] = {
    level: BeyondChance(partial(krippendorff_alpha_from, level=level), _votes_of_alpha)
    for level in DISTANCES
}
