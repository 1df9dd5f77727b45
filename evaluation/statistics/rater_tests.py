"""The parts that all tests of raters share; `rater_checks` says what they test."""

import math
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from evaluation.statistics.intervals import Floats, Indexes
from evaluation.statistics.rater_votes import Bools

LEVEL = 0.05  # the highest probability that a study marks any good rater


class Check(StrEnum):
    """The kinds of checks."""

    YES = "share of yes"
    AGREEMENT = "agreement with the others"
    DRIFT = "drift"
    RUNS = "straight-lining"
    FAST = "too fast"
    COPIES = "copied answers"


def suspicious_z(n_tests: int) -> float:
    """Return how many standard deviations from its mean a sum has to be to be significant.

    Closer sums have no exact p-value, because computing it takes long. A sum of rare events that is
    as low as possible, 0, has the probability e^-λ and lies √λ standard deviations below its mean.
    Sums of events of different sizes may lie a little closer, so 0.7 √λ is returned, for half as
    many tests as there are: Holm's factor falls when others are significant.

    Args:
        n_tests: tests of one kind.
    """
    level = LEVEL / len(Check) / max(1, n_tests / 2)
    return 0.7 * math.sqrt(-math.log(level))


class Tests(NamedTuple):
    """Tests of one kind, all arrays (n_tests,). Only those with enough responses are there."""

    kind: Check
    question: str  # "" for all questions together
    raters: Indexes
    partners: Indexes  # the other rater of a pair; -1: there is none
    is_mutual: Bools  # whether the partner is marked as well
    n: Indexes  # responses
    observed: Floats
    expected: Floats  # what is expected of interchangeable raters
    p: Floats  # before correction; 1 where it is not suspicious


def tests_of_single_raters(
    kind: Check,
    question: str,
    raters: Indexes,
    n: Floats | Indexes,
    observed: Floats,
    expected: Floats,
    p: Floats,
) -> Tests:
    """Return tests that are about one rater each."""
    none = np.full(len(raters), -1)
    not_mutual = np.zeros(len(raters), np.bool_)
    return Tests(
        kind, question, raters, none, not_mutual, n.astype(np.int64), observed, expected, p
    )


def added(
    groups: Indexes, n_groups: int, weights: Floats | Indexes | Bools | None = None
) -> Floats:
    """Return the sum of the weights in each group, or the number of members without weights."""
    return np.bincount(groups, weights=weights, minlength=n_groups).astype(np.float64)


def z_of(
    groups: Indexes, n_groups: int, values: Floats | Indexes, means: Floats, variances: Floats
) -> Floats:
    """Return how many standard deviations each group's sum is above its mean; 0 if it is fixed."""
    above = added(groups, n_groups, values - means)
    spread = np.sqrt(added(groups, n_groups, variances))
    return np.divide(above, spread, out=np.zeros(n_groups), where=spread > 1e-9)
