"""All answers of a rater about an item as one form, and what a form would be by chance.

If the raters of an item are interchangeable, so are their whole forms: a rater's form is one of
those on the item, drawn at random. So how far a form agrees with the others can be added up over
all questions, although the answers to several questions depend on each other.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from evaluation.statistics.intervals import Floats, Indexes
from evaluation.statistics.rater_votes import (
    Bools,
    RaterVotes,
    agrees,
    as_agreement,
    draws_of,
)


class Forms(NamedTuple):
    """The forms of all raters; arrays are (n_forms,), sorted by rater and item.

    Two raters have the same code on an item if all their answers are the same.
    """

    raters: Indexes
    items: Indexes  # 0 or more; -1: the form is compared with no other form
    codes: Indexes  # 0 or more
    turns: Indexes  # place in the rater's own order, from 0; -1: not known
    moments: Floats  # when it was answered, on any scale; NaN: not known

    def only(self, here: Bools) -> "Forms":
        """Return some of the forms."""
        raters, items, codes, turns, moments = self
        return Forms(raters[here], items[here], codes[here], turns[here], moments[here])


class FormDraws(NamedTuple):
    """Forms that are compared, each with those that it is drawn from, itself among them.

    A form is row `own` of the table, and is drawn from the rows `start` to `start + size`.
    """

    raters: Indexes  # (n_compared,)
    turns: Indexes
    own: Indexes
    start: Indexes
    size: Indexes
    agreeing: Indexes  # (n_rows,) answers that agree with the majority of the others
    differing: Indexes  # (n_rows,) answers that differ from it

    @property
    def values(self) -> Indexes:
        """The number that a row adds to a sum, agreeing minus differing answers, (n_rows,)."""
        difference: Indexes = self.agreeing - self.differing
        return difference

    def means(self, of_rows: Indexes | Floats) -> Floats:
        """Return the mean of a column of the table over what each form is drawn from."""
        sums = np.concatenate([[0.0], np.cumsum(of_rows, dtype=np.float64)])
        mean: Floats = (sums[self.start + self.size] - sums[self.start]) / self.size
        return mean


def form_draws(forms: Forms, questions: Mapping[str, RaterVotes], reference: Bools) -> FormDraws:
    """Return what each form is drawn from: the forms of the reference on its item, and itself.

    Forms on items with no other form of the reference are left out.

    Args:
        forms: the forms.
        questions: the votes that they consist of.
        reference: (n_raters,) whether a rater is in the reference.
    """
    tables = list(_tables(forms, questions, reference))
    if not tables:
        none = np.zeros(0, np.int64)
        return FormDraws(none, none, none, none, none, none, none)
    offsets = np.cumsum([0, *(len(each.agreeing) for each in tables[:-1])])
    moved = [
        each._replace(own=each.own + offset, start=each.start + offset)
        for each, offset in zip(tables, offsets, strict=True)
    ]
    return FormDraws(*(np.concatenate(columns) for columns in zip(*moved, strict=True)))


def _tables(
    forms: Forms, questions: Mapping[str, RaterVotes], reference: Bools
) -> Iterator[FormDraws]:
    """Yield the draws of the raters in the reference, then those of each other rater."""
    yield _table(forms, questions.values(), reference, reference)
    for rater in np.unique(forms.raters[~reference[forms.raters]]):
        alone = np.arange(len(reference)) == rater
        items = np.unique(forms.items[(forms.raters == rater) & (forms.items >= 0)])
        there = forms.only(np.isin(forms.items, items))
        votes = [each.only(np.isin(each.items, items)) for each in questions.values()]
        yield _table(there, votes, reference | alone, alone)


def _table(forms: Forms, questions: Iterable[RaterVotes], pool: Bools, asked: Bools) -> FormDraws:
    """Return the draws of the forms of some raters from those of a pool that they belong to."""
    agreeing, differing = _agreement(forms, questions, pool)
    rows = np.flatnonzero(pool[forms.raters] & (forms.items >= 0))
    rows = rows[np.argsort(forms.items[rows], kind="stable")]
    _, start, of_item, size = np.unique(
        forms.items[rows], return_index=True, return_inverse=True, return_counts=True
    )
    own = np.flatnonzero(asked[forms.raters[rows]] & (size[of_item] >= 2))
    return FormDraws(
        raters=forms.raters[rows[own]],
        turns=forms.turns[rows[own]],
        own=own,
        start=start[of_item[own]],
        size=size[of_item[own]],
        agreeing=agreeing[rows],
        differing=differing[rows],
    )


def _agreement(
    forms: Forms, questions: Iterable[RaterVotes], pool: Bools
) -> tuple[Indexes, Indexes]:
    """Return how many answers of each form agree with the majority of the pool, and differ."""
    n_items = int(forms.items.max(initial=-1)) + 1
    names = forms.raters * n_items + forms.items
    order = np.argsort(names)
    counts = np.zeros((2, len(names)), np.int64)
    for votes in questions:
        draws = draws_of(votes, pool)
        same = agrees(as_agreement(draws, votes).observed(votes), votes.kind)
        of_vote = votes.raters[draws.which] * n_items + votes.items[draws.which]
        form = order[np.searchsorted(names, of_vote, sorter=order)]
        for row, answer in enumerate((1, 0)):
            counts[row] += np.bincount(form[same == answer], minlength=len(names))
    return counts[0], counts[1]
