"""Gwet's AC1 and AC2: agreement beyond a chance that does not grow as one answer takes over.

Where nearly all votes are yes, two raters who vote at random by the shares of the answers agree
nearly always. Kappa and alpha take this as chance, so a few noes bring them near 0 although raters
nearly always agree. Gwet's chance is the reverse: raters guess only where an item is hard, and
where nearly all votes are yes, few items are hard.

`counts` is everywhere as in `agreement.py`, with a column for each category of the scale. A column
without votes counts here: a scale with more categories leaves less to chance. AC1 is for answers
that are equal or not. AC2 is for a scale in order, on which near answers agree in part.
"""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from evaluation.statistics.agreement import Level, votes_per_category
from evaluation.statistics.intervals import Floats, ratio
from evaluation.statistics.jackknife import InRange

# With yes and no, kappa and alpha are low only because nearly all votes are one answer if the
# prevalence index is this far from 0, and AC1 is above alpha by this much.
PREVALENT, FAR_ABOVE_ALPHA = 0.6, 0.3


def weights_of(level: Level, n_categories: int) -> Floats:
    """Return how far two categories agree, from 0 to 1: (k, k), with 1 on the diagonal.

    The ordinal weights are Gwet's (2014, table 3.4): 1 minus the number of pairs of categories from
    one of the two to the other, divided by that from the first to the last.
    """
    if level == "nominal":
        return np.eye(n_categories)
    places = np.arange(n_categories)
    n_between = np.abs(places[:, np.newaxis] - places) + 1
    n_pairs = n_between * (n_between - 1) / 2
    weights: Floats = 1 - n_pairs / n_pairs.max()
    return weights


def gwet_ac_statistics(counts: ArrayLike, level: Level) -> Floats:
    """Return agreement of pairs, whether there are any, and shares: (n_items, 2 + n_categories).

    An item with fewer than two votes has 0 and 0 in the first two columns. An item with one vote
    takes part in the shares of the categories alone, as Gwet (2014, section 2.3) has it.
    """
    votes = votes_per_category(counts)
    n_votes = votes.sum(axis=1)
    weighted = votes @ weights_of(level, votes.shape[1])
    agreeing = (votes * (weighted - 1)).sum(axis=1)
    has_pairs = n_votes >= 2
    pairs = np.where(has_pairs, n_votes * (n_votes - 1), 1.0)
    shares = votes / np.maximum(n_votes, 1)[:, np.newaxis]
    return np.column_stack([np.where(has_pairs, agreeing / pairs, 0.0), has_pairs, shares])


def gwet_ac_from(sums: Floats, level: Level) -> Floats:
    """Return AC1 (nominal) or AC2 (ordinal) from summed statistics, (..., 2 + k) to (...).

    It is (pₐ - pₑ) / (1 - pₑ), where pₐ is the mean agreement of pairs over items with two votes or
    more, and pₑ = Σ w / k (k - 1) · Σ π (1 - π) over the mean shares π of the k categories (Gwet,
    2008; with weights 2014, section 3.4). It is at most 1, and NaN without pairs. Where all votes
    are the same, it is 1.
    """
    n_categories = sums.shape[-1] - 2
    shares = ratio(sums[..., 2:], sums[..., 2:].sum(axis=-1, keepdims=True))
    of_two = weights_of(level, n_categories).sum() / (n_categories * max(1, n_categories - 1))
    by_chance = of_two * (shares * (1 - shares)).sum(axis=-1)
    return ratio(ratio(sums[..., 0], sums[..., 1]) - by_chance, 1 - by_chance)


GWET_AC: dict[Level, InRange] = {
    "nominal": InRange(partial(gwet_ac_from, level="nominal"), (-1.0, 1.0)),
    "ordinal": InRange(partial(gwet_ac_from, level="ordinal"), (-1.0, 1.0)),
}


def prevalence_index(counts: ArrayLike) -> float:
    """Return how far votes on a yes/no question lean to yes (above 0) or to no, in [-1, 1].

    For two raters it is (a - d) / n, where a items have two yeses and d two noes (Byrt, Bishop and
    Carlin, 1993). For more raters it is the mean over pairs of raters, each weighted by the items
    that both judged; so it needs only the pairs of votes on each item. It is NaN without a pair.
    """
    no, yes = votes_per_category(counts).T
    n_pairs = (no + yes) * (no + yes - 1)
    leaning = yes * (yes - 1) - no * (no - 1)
    return float(ratio(leaning.sum(), n_pairs.sum()))


def is_low_for_prevalence(alpha: float, ac1: float, prevalence: float) -> bool:
    """Return whether alpha is low only because nearly all votes are one answer; NaN: False."""
    return abs(prevalence) >= PREVALENT and ac1 - alpha >= FAR_ABOVE_ALPHA
