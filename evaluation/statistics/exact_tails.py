"""Exact probabilities of sums and of runs, for tests whose null distribution is known.

No figure here is an approximation. Sums are convolved: all terms are positive, so that a
probability of 1e-12 is as precise as one of 0.5. Runs are counted in whole numbers.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.statistics.intervals import Floats

SPARSE = 8  # if fewer than one in so many values can be drawn, shifting is the faster way


class Distribution(NamedTuple):
    """The probabilities of the whole numbers `lowest`, `lowest` + 1, and so on."""

    lowest: int
    probabilities: Floats

    def at_most(self, number: int) -> float:
        """Return the probability of this number or a lower one."""
        n_there = max(0, number - self.lowest + 1)
        return min(1.0, float(self.probabilities[:n_there].sum()))

    def at_least(self, number: int) -> float:
        """Return the probability of this number or a higher one."""
        return min(1.0, float(self.probabilities[max(0, number - self.lowest) :].sum()))

    def times(self, factor: int) -> "Distribution":
        """Return the distribution of a multiple; the factor is not 0."""
        n, step = len(self.probabilities), abs(factor)
        spread = np.zeros((n - 1) * step + 1)
        spread[::step] = self.probabilities if factor > 0 else self.probabilities[::-1]
        ends = (self.lowest * factor, (self.lowest + n - 1) * factor)
        return Distribution(min(ends), spread)


def distribution_of(values: Sequence[int], probabilities: Sequence[float]) -> Distribution:
    """Return the distribution of one draw. Values may repeat; their probabilities are added up."""
    lowest = min(values)
    places = np.asarray(values) - lowest
    return Distribution(lowest, np.bincount(places, weights=probabilities).astype(np.float64))


def sum_of_draws(draws: Iterable[tuple[Distribution, int]]) -> Distribution:
    """Return the distribution of a sum of independent draws.

    With values 0 and 1 it is the Poisson-binomial distribution.

    Args:
        draws: distributions, each with the number of draws from it.
    """
    total = Distribution(0, np.ones(1))
    for draw, n_times in draws:
        power = draw
        while n_times:  # repeated squaring
            if n_times % 2:
                total = _both(total, power)
            n_times //= 2
            if n_times:
                power = _both(power, power)
    return total


def _both(one: Distribution, other: Distribution) -> Distribution:
    lowest = one.lowest + other.lowest
    wide, narrow = one.probabilities, other.probabilities
    if len(narrow) > len(wide):
        wide, narrow = narrow, wide
    if len(narrow) > SPARSE and len(places := np.flatnonzero(narrow)) * SPARSE < len(narrow):
        added = np.zeros(len(wide) + len(narrow) - 1)
        for place in places:  # most values have no probability: copies are shifted and added
            added[place : place + len(wide)] += narrow[place] * wide
        return Distribution(lowest, added)
    return Distribution(lowest, np.convolve(wide, narrow))


# --- runs -----------------------------------------------------------------------------------


def few_runs_p(counts: Sequence[int], n_runs: int) -> float:
    """Return the probability of at most so many runs in a random order of these answers.

    It is the lower tail of the test by Wald and Wolfowitz (1940), for any number of categories. A
    run is a longest sequence of equal answers: no, yes, yes, no has three.

    How it is counted: cut each category's answers into blocks, and put all blocks in any order. An
    order with r runs can be cut into j blocks in C(n - r, j - r) ways, because r - 1 cuts are
    fixed. So the numbers of cut orders give the numbers of orders, by inclusion and exclusion.

    Args:
        counts: how often each category was answered.
        n_runs: the observed number of runs, 1 or more.
    """
    n = sum(counts)
    cut = [1, *[0] * n_runs]  # j → ways to cut and order the categories so far, in j blocks
    for count in filter(None, counts):
        cuts = [0] + [math.comb(count - 1, b - 1) for b in range(1, min(count, n_runs) + 1)]
        cut = [_ways(cut, cuts, j) for j in range(n_runs + 1)]
    n_orders = sum(
        (-1) ** (n_runs - j) * cut[j] * (math.comb(n - j - 1, n_runs - j) if j < n else 1)
        for j in range(1, min(n_runs, n) + 1)
    )
    share: float = n_orders * math.prod(map(math.factorial, counts)) / math.factorial(n)
    return share


def _ways(before: Sequence[int], cuts: Sequence[int], j: int) -> int:
    """Return the ways to order j blocks, some of the next category and some of those before."""
    total, chosen = 0, 1  # `chosen`: places of b blocks among j
    for b in range(1, min(len(cuts) - 1, j) + 1):
        chosen = chosen * (j - b + 1) // b
        total += before[j - b] * cuts[b] * chosen
    return total


def runs_z(counts: Sequence[int], n_runs: int) -> float:
    """Return how many standard deviations a number of runs is from its mean; 0 if it is fixed."""
    n = sum(counts)
    squares, cubes = sum(c**2 for c in counts), sum(c**3 for c in counts)
    if n < 2 or squares == n**2:
        return 0.0
    variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3) / (n**2 * (n - 1))
    return (n_runs - mean_runs(counts)) / math.sqrt(variance) if variance > 0 else 0.0


def mean_runs(counts: Sequence[int]) -> float:
    """Return the mean number of runs in a random order of these answers."""
    n = sum(counts)
    return 1 + (n**2 - sum(c**2 for c in counts)) / n
