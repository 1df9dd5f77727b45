"""RaterPairs of raters who judged the same items, and how often they give the same answers."""

from typing import NamedTuple

import numpy as np

from evaluation.statistics.grouped_pairs import pairs_in_groups
from evaluation.statistics.intervals import Floats, Indexes
from evaluation.statistics.rater_forms import Forms
from evaluation.statistics.rater_votes import LEAST, Bools

LATER = 0.9  # who answered later on this share of the common items is the one who may have copied


class RaterPairs(NamedTuple):
    """The pairs of raters with enough items in common, and their forms on these items."""

    first: Indexes  # (n_pairs,) a rater
    second: Indexes  # (n_pairs,) another rater, with a higher number
    later: Indexes  # (n_pairs,) which of them answered later, nearly always; -1: neither
    pairs: Indexes  # (n_common,) the pair
    of_first: Indexes  # (n_common,) the form of the first rater
    of_second: Indexes  # (n_common,) and of the second, on the same item


def pairs_of(forms: Forms) -> RaterPairs:
    """Return the pairs of raters who have `LEAST` items in common or more."""
    one, other = pairs_in_groups(forms.items)
    swapped = forms.raters[one] > forms.raters[other]
    one, other = np.where(swapped, other, one), np.where(swapped, one, other)
    n_raters = int(forms.raters.max(initial=-1)) + 1
    names = forms.raters[one] * n_raters + forms.raters[other]
    known, pairs, n_common = np.unique(names, return_inverse=True, return_counts=True)
    enough = n_common >= LEAST
    here = enough[pairs]
    numbers = np.cumsum(enough) - 1
    one, other, pairs = one[here], other[here], numbers[pairs[here]]
    first, second = known[enough] // max(1, n_raters), known[enough] % max(1, n_raters)
    later = _later(forms, one, other, pairs, first, second)
    return RaterPairs(first, second, later, pairs, one, other)


def _later(
    forms: Forms, one: Indexes, other: Indexes, pairs: Indexes, first: Indexes, second: Indexes
) -> Indexes:
    """Return the rater of each pair who answered later on nearly all common items, or -1."""
    difference = forms.moments[one] - forms.moments[other]
    n_common = np.maximum(1, np.bincount(pairs, minlength=len(first)))
    is_first, is_second = (
        np.bincount(pairs, weights=late, minlength=len(first)) / n_common >= LATER
        for late in (difference > 0, difference < 0)
    )
    return np.where(is_first, first, np.where(is_second, second, -1))


def chances_of_equal(forms: Forms, pairs: RaterPairs, reference: Bools) -> Floats:
    """Return the probability that a pair's two forms on an item are equal, (n_common,).

    The forms on an item are those of the reference and of the pair itself. Two of them are drawn
    without putting back: of n forms, of which n_c have code c, the probability is
    Σ n_c (n_c - 1) / n (n - 1).
    """
    here = reference[forms.raters] & (forms.items >= 0)
    n_codes = int(forms.codes.max(initial=-1)) + 1
    names = np.maximum(forms.items, 0) * n_codes + forms.codes
    groups, group = np.unique(names, return_inverse=True)
    in_group = np.bincount(group[here], minlength=len(groups))
    n_items = int(forms.items.max(initial=-1)) + 1
    n_forms = np.bincount(forms.items[here], minlength=n_items)
    equal = np.bincount(
        groups // max(1, n_codes), weights=in_group * (in_group - 1), minlength=n_items
    )
    one, other = pairs.of_first, pairs.of_second
    adds_one, adds_other = ~reference[forms.raters[one]], ~reference[forms.raters[other]]
    n = n_forms[forms.items[one]] + adds_one + adds_other
    # A form that is added makes two ordered pairs with each equal form that is there.
    n_equal = equal[forms.items[one]] + 2 * adds_one * in_group[group[one]]
    also = in_group[group[other]] + (adds_one & (group[one] == group[other]))
    chances: Floats = (n_equal + 2 * adds_other * also) / (n * (n - 1))
    return chances


def is_equal(forms: Forms, pairs: RaterPairs) -> Bools:
    """Return whether the pair's two forms on an item are equal, (n_common,)."""
    same: Bools = forms.codes[pairs.of_first] == forms.codes[pairs.of_second]
    return same
