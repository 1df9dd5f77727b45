"""The model of raters by Dawid and Skene (1979): how often each is right, without a known truth.

Every item has a true class, and every rater has probabilities of answers for each class, by which
they answer independently of the other raters. Both are estimated together by expectation
maximisation, which starts from the shares of the votes. The model is a diagnosis of raters. Its
labels are no better than its assumption, which raters who make the same mistakes break.
"""

import math
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from evaluation.statistics.intervals import Floats, Indexes
from evaluation.statistics.rater_votes import LEAST, Bools, RaterVotes

MOST_STEPS = 200
TOLERANCE = 1e-5  # the estimate is found once no probability of a class changes by more
LEAST_RATERS = 3  # two raters do not tell who of them errs
LEAST_OF_CLASS = 5  # expected items of a class that a rater must have judged


class NoModel(Enum):
    """A reason why there is no model of a question."""

    FEW_RATERS = auto()
    FEW_ITEMS = auto()
    NOT_FOUND = auto()  # the estimate still changes after `MOST_STEPS` steps


class ErrorModel(NamedTuple):
    """The estimate for some votes."""

    prevalences: Floats  # (n_classes,): share of the items
    errors: Floats  # (n_raters, n_classes, n_classes): probability of an answer by true class
    classes: Floats  # (n_items, n_classes): probability of each class of an item
    is_found: bool  # whether the steps came to an end


class YesNoModel(NamedTuple):
    """The model of a yes/no question. Figures are NaN, and numbers 0, if there is no model."""

    sensitivity: Floats  # (n_raters,): probability of a yes where the model has a yes
    specificity: Floats  # (n_raters,): probability of a no where the model has a no
    n_of_rater: Indexes  # (n_raters,): items of the model that a rater has judged
    n_items: int  # items with two votes or more
    n_majorities: int  # items on which more than half of the votes are the same
    n_against_majority: int  # items with a majority that is not the label of the model
    why: NoModel | None


def dawid_skene(raters: Indexes, items: Indexes, answers: Indexes, n_classes: int) -> ErrorModel:
    """Return the model of some votes.

    Args:
        raters: the rater of each vote, 0 or more, (n_votes,).
        items: the item of each vote, 0 or more; each number up to the largest has a vote. A rater
            may have several votes on an item.
        answers: the answer of each vote, 0 .. n_classes - 1.
        n_classes: how many classes there are.
    """
    shape = int(raters.max()) + 1, n_classes, n_classes
    n_items = int(items.max()) + 1
    votes = np.bincount(items * n_classes + answers, minlength=n_items * n_classes)
    votes = votes.reshape(n_items, n_classes)
    classes: Floats = votes / votes.sum(axis=1, keepdims=True)
    cells = raters * n_classes + answers  # the rater and the answer of each vote
    for _ in range(MOST_STEPS):
        prevalences = classes.mean(axis=0)
        errors = _errors(classes[items], cells, shape)
        before, classes = classes, _classes(prevalences, errors, cells, items)
        change = float(np.abs(classes - before).max())
        if change < TOLERANCE:
            break
    return ErrorModel(prevalences, errors, classes, change < TOLERANCE)


def _errors(of_votes: Floats, cells: Indexes, shape: tuple[int, int, int]) -> Floats:
    """Return the probabilities of each rater's answers; 0 for a class that no item may have."""
    n_raters, n_classes, _ = shape
    sums = np.empty(shape)
    for each in range(n_classes):
        of_class = np.bincount(cells, of_votes[:, each], n_raters * n_classes)
        sums[:, each, :] = of_class.reshape(n_raters, n_classes)
    totals = sums.sum(axis=2, keepdims=True)
    errors: Floats = np.divide(sums, totals, out=np.zeros(shape), where=totals > 0)
    return errors


def _classes(prevalences: Floats, errors: Floats, cells: Indexes, items: Indexes) -> Floats:
    """Return the probability of each class of each item."""
    with np.errstate(divide="ignore"):  # the logarithm of 0 is minus infinity: an impossible class
        priors, logs = np.log(prevalences), np.log(errors)
    of_votes = [logs[:, each, :].ravel()[cells] for each in range(len(prevalences))]
    log_odds = priors + np.column_stack([np.bincount(items, each) for each in of_votes])
    chances = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
    classes: Floats = chances / chances.sum(axis=1, keepdims=True)
    return classes


def yes_no_model(votes: RaterVotes, counted: Bools) -> YesNoModel:
    """Return how often each rater is right on a yes/no question, by the model.

    The model is made of the votes of the raters who count, on items that two of them judged.
    Sensitivity and specificity are (right + 1) / (all + 2), with each item weighted by its
    probability of a yes, or of a no. They are NaN for a rater with fewer than `LEAST` items of the
    model, or with fewer than `LEAST_OF_CLASS` expected ones.

    Args:
        votes: the votes on a yes/no question; the place of yes is 1.
        counted: (n_raters,) whether a rater's votes count.
    """
    votes = votes.only(votes.items >= 0)
    n_votes = np.bincount(votes.items, counted[votes.raters], minlength=1)
    votes = votes.only(n_votes[votes.items] >= 2)
    names, items = np.unique(votes.items, return_inverse=True)
    here = counted[votes.raters]
    n_of_rater = np.bincount(votes.raters, minlength=len(counted))
    nothing = np.full(len(counted), math.nan)
    without = YesNoModel(nothing, nothing, n_of_rater, len(names), 0, 0, None)
    if len(names) < LEAST:
        return without._replace(why=NoModel.FEW_ITEMS)
    if len(np.unique(votes.raters[here])) < LEAST_RATERS:
        return without._replace(why=NoModel.FEW_RATERS)
    model = dawid_skene(votes.raters[here], items[here], votes.answers[here], 2)
    if not model.is_found:
        return without._replace(why=NoModel.NOT_FOUND)
    sensitivity, specificity = (
        _smoothed(model.classes[items, answer], votes, answer, n_of_rater) for answer in (1, 0)
    )
    n_yes = np.bincount(items[here], votes.answers[here])
    more_yes = 2 * n_yes - np.bincount(items[here])
    says_yes = model.classes[:, 1] > 0.5
    return YesNoModel(
        sensitivity,
        specificity,
        n_of_rater,
        n_items=len(names),
        n_majorities=int(np.count_nonzero(more_yes)),
        n_against_majority=int(np.count_nonzero((more_yes != 0) & ((more_yes > 0) != says_yes))),
        why=None,
    )


def _smoothed(of_class: Floats, votes: RaterVotes, answer: int, n_of_rater: Indexes) -> Floats:
    """Return the share of each rater's items of a class to which they gave its answer."""
    n_raters = len(n_of_rater)
    is_right = votes.answers == answer
    right = np.bincount(votes.raters, of_class * is_right, n_raters)
    whole = np.bincount(votes.raters, of_class, n_raters)
    is_enough = (n_of_rater >= LEAST) & (whole >= LEAST_OF_CLASS)
    return np.where(is_enough, (right + 1) / (whole + 2), math.nan)
