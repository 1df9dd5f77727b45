"""The votes of raters one by one, and what each vote would be if raters were interchangeable.

The null hypothesis of every check of a rater against others is: *the raters of an item are
interchangeable*. Given all the votes on an item, a rater's own vote is then one of them, drawn at
random, and independent between items. So nothing has to be assumed about how hard an item is, or
how often its answer is yes: the other raters' votes on the same item say so.

A *reference* is the set of raters with whom everybody is compared. The votes on an item are those
of the reference, and the rater's own.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.intervals import Floats, Indexes
from evaluation.statistics.rater_answers import consensus

Bools = NDArray[np.bool_]
LEAST = 20  # nothing is judged below so many responses


class RaterVotes(NamedTuple):
    """The votes on one question; all arrays are (n_votes,)."""

    raters: Indexes  # 0 .. n_raters - 1
    items: Indexes  # 0 or more; -1: the vote is compared with no other vote
    answers: Indexes  # place on the scale, from 0
    kind: Literal["yes_no", "ordinal", "nominal"]
    values: tuple[int, ...]  # the numbers that the places on the scale stand for, rising

    def only(self, here: Bools) -> "RaterVotes":
        """Return some of the votes."""
        return self._replace(
            raters=self.raters[here], items=self.items[here], answers=self.answers[here]
        )


class VoteDraws(NamedTuple):
    """The votes of one question that are compared, each with the votes that it is drawn from."""

    which: Indexes  # (n_compared,) places in `RaterVotes`
    places: Indexes  # (n_compared,) row of `counts` of each vote
    counts: Indexes  # (n_rows, n_categories): different compositions of the votes on an item
    values: Indexes  # (n_rows, n_categories): what an answer adds to the sum that is tested

    @property
    def chances(self) -> Floats:
        """The probability of each answer, (n_rows, n_categories)."""
        shares: Floats = self.counts / self.counts.sum(axis=1, keepdims=True)
        return shares

    def observed(self, votes: RaterVotes) -> Indexes:
        """Return the value of each compared vote, (n_compared,)."""
        of_vote: Indexes = self.values[self.places, votes.answers[self.which]]
        return of_vote


def draws_of(votes: RaterVotes, reference: Bools) -> VoteDraws:
    """Return what each vote is drawn from: the votes of the reference on its item, and itself.

    A vote is not compared if no other rater of the reference has voted on its item.

    Args:
        votes: the votes on one question. `VoteDraws.values` are the numbers of its scale.
        reference: (n_raters,) whether a rater is in the reference.
    """
    which = np.flatnonzero(votes.items >= 0)
    items, answers, raters = (each[which] for each in (votes.items, votes.answers, votes.raters))
    n_categories = len(votes.values)
    here = reference[raters]
    n_items = int(items.max(initial=-1)) + 1
    of_items = np.bincount(
        items[here] * n_categories + answers[here], minlength=n_items * n_categories
    ).reshape(n_items, n_categories)
    counts = of_items[items]
    counts[np.flatnonzero(~here), answers[~here]] += 1
    is_compared = counts.sum(axis=1) >= 2
    rows, places = _different_rows(counts[is_compared])
    values = np.broadcast_to(np.array(votes.values), rows.shape)
    return VoteDraws(which[is_compared], places, rows, values)


def _different_rows(counts: Indexes) -> tuple[Indexes, Indexes]:
    """Return the different rows, and the place of each row among them."""
    base = int(counts.max(initial=0)) + 1
    if base ** counts.shape[1] < 2**62:  # a row is a number, and numbers are sorted quickly
        names = counts @ base ** np.arange(counts.shape[1])
        _, first, places = np.unique(names, return_index=True, return_inverse=True)
        return counts[first], places
    rows, places = np.unique(counts, axis=0, return_inverse=True)
    return rows, places.reshape(-1)


def as_agreement(draws: VoteDraws, votes: RaterVotes) -> VoteDraws:
    """Return the draws with the agreement of each answer as its value.

    Yes/no and nominal: 1 if more than half of the others gave this answer, -1 if they gave
    another, 0 if they have no majority. Ordinal: minus twice the distance to the median of the
    others, which is a whole number because a median may lie between two points.
    """
    n_rows, n_categories = draws.counts.shape
    # (n_rows, own answer, category): the votes of the others
    others = draws.counts[:, np.newaxis, :] - np.eye(n_categories, dtype=np.int64)
    others = np.maximum(others, 0)  # an answer that no rater gave is never drawn
    if votes.kind == "ordinal":
        medians = consensus(others.reshape(-1, n_categories), votes.values)
        distances = np.abs(np.array(votes.values) - medians.reshape(n_rows, n_categories))
        return draws._replace(values=-np.rint(2 * np.nan_to_num(distances)).astype(np.int64))
    n_others = others.sum(axis=2)
    has_majority = 2 * others.max(axis=2) > n_others
    is_own = others.argmax(axis=2) == np.arange(n_categories)
    return draws._replace(values=np.where(has_majority, np.where(is_own, 1, -1), 0))


def agrees(values: Indexes, kind: str) -> Floats:
    """Return 1 where an answer agrees with the others, 0 where it differs, NaN without a majority.

    An ordinal answer agrees with a median that is at most half a point away.

    Args:
        values: values of `as_agreement`, in any shape.
        kind: the kind of the scale.
    """
    if kind == "ordinal":
        return (values >= -1).astype(np.float64)
    return np.where(values == 0, np.nan, values > 0)


def others_mean(draws: VoteDraws, votes: RaterVotes) -> Floats:
    """Return the mean answer of the others beside each compared vote, (n_compared,)."""
    numbers = np.array(votes.values, dtype=np.float64)
    totals = (draws.counts @ numbers)[draws.places]
    n_votes = draws.counts.sum(axis=1)[draws.places]
    own = numbers[votes.answers[draws.which]]
    mean: Floats = (totals - own) / (n_votes - 1)
    return mean


def longest_run(answers: Sequence[int]) -> int:
    """Return the length of the longest sequence of equal answers; 0 without answers."""
    longest = here = 0
    for place, answer in enumerate(answers):
        here = here + 1 if place and answer == answers[place - 1] else 1
        longest = max(longest, here)
    return longest
