"""The tests by which a rater is compared with the others of a study; see `rater_checks`."""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from scipy.special import bdtrc

from evaluation.statistics.exact_tails import (
    Distribution,
    distribution_of,
    few_runs_p,
    mean_runs,
    runs_z,
    sum_of_draws,
)
from evaluation.statistics.intervals import Floats, Indexes, ratio
from evaluation.statistics.rater_pairs import (
    Forms,
    RaterPairs,
    chances_of_equal,
    is_equal,
)
from evaluation.statistics.rater_votes import (
    LEAST,
    Bools,
    RaterVotes,
    VoteDraws,
    agrees,
    as_agreement,
    draws_of,
)

# A test whose sum is closer to its mean than so many standard deviations cannot be significant,
# so its exact p-value is not computed. A bounded sum has at least e^-4 = .018 of its probability
# beyond two of them, and a kind of checks has .05 / 6 = .008 for all its raters.
SUSPICIOUS = 1.5
TENTHS = 10
FALLING = 0.05  # level at which agreement falls within the order of a rater


class Check(StrEnum):
    """The kinds of checks."""

    YES = "share of yes"
    AGREEMENT = "agreement with the others"
    DRIFT = "drift"
    RUNS = "straight-lining"
    FAST = "too fast"
    COPIES = "copied answers"


class Paces(NamedTuple):
    """The units whose time is known; both arrays are (n_units,)."""

    raters: Indexes
    is_fast: Bools  # whether the unit took less than the smallest believable part of its time


class StudyVotes(NamedTuple):
    """All that the checks of a study need."""

    n_raters: int
    questions: Mapping[str, RaterVotes]
    forms: Forms
    paces: Paces


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


# --- tests of raters against the others -------------------------------------------------------


def compared_tests(votes: StudyVotes, pairs: RaterPairs, reference: Bools) -> list[Tests]:
    """Return all tests that depend on the reference."""
    tests = [_copies(votes.forms, pairs, reference)]
    for key, of_question in votes.questions.items():
        draws = draws_of(of_question, reference)
        agreement = as_agreement(draws, of_question)
        if of_question.kind != "nominal":  # the mean of names says nothing
            tests.append(_sums(Check.YES, key, of_question, draws, votes.n_raters))
        tests.append(_sums(Check.AGREEMENT, key, of_question, agreement, votes.n_raters))
        tests.append(_drift(key, of_question, agreement, votes.n_raters))
    return tests


def _sums(kind: Check, question: str, votes: RaterVotes, draws: VoteDraws, n_raters: int) -> Tests:
    """Return the test of each rater's sum of values, which are drawn item by item."""
    raters, values = votes.raters[draws.which], draws.observed(votes)
    means, variances = (each[draws.places] for each in _moments(draws))
    n, total, mean = (_added(raters, n_raters, weights) for weights in (None, values, means))
    z = _z(raters, values, means, variances, n_raters)
    if kind is Check.YES:
        z = -np.abs(z)  # two-sided
    p = np.ones(n_raters)
    for rater in np.flatnonzero((z <= -SUSPICIOUS) & (n >= LEAST)):
        null = _null_of(draws, draws.places[raters == rater])
        lower, upper = null.at_most(int(total[rater])), null.at_least(int(total[rater]))
        p[rater] = min(1.0, 2 * min(lower, upper)) if kind is Check.YES else lower
    if kind is Check.YES:
        observed, expected = ratio(total, n), ratio(mean, n)
    elif votes.kind == "ordinal":
        observed, expected = ratio(total, -2 * n), ratio(mean, -2 * n)
    else:
        observed, expected = _shares_that_agree(votes, draws, raters, n_raters)
    judged = np.flatnonzero(n >= LEAST)
    return _tests(kind, question, judged, n[judged], observed[judged], expected[judged], p[judged])


def _moments(draws: VoteDraws) -> tuple[Floats, Floats]:
    """Return mean and variance of the value that is drawn, for each row of counts."""
    chances, values = draws.chances, draws.values.astype(np.float64)
    means = (chances * values).sum(axis=1)
    return means, (chances * (values - means[:, np.newaxis]) ** 2).sum(axis=1)


def _z(
    groups: Indexes, values: Floats | Indexes, means: Floats, variances: Floats, n_groups: int
) -> Floats:
    """Return how many standard deviations each group's sum is above its mean; 0 if it is fixed."""
    above = _added(groups, n_groups, values - means)
    spread = np.sqrt(_added(groups, n_groups, variances))
    return np.divide(above, spread, out=np.zeros(n_groups), where=spread > 1e-9)


def _added(
    groups: Indexes, n_groups: int, weights: Floats | Indexes | Bools | None = None
) -> Floats:
    """Return the sum of the weights in each group, or the number of members without weights."""
    return np.bincount(groups, weights=weights, minlength=n_groups).astype(np.float64)


def _null_of(draws: VoteDraws, rows: Indexes, weights: Indexes | None = None) -> Distribution:
    """Return the distribution of a sum of values drawn from these rows of counts.

    Args:
        draws: the draws of a question.
        rows: the row of each value.
        weights: the factor of each value, not 0; None: 1.
    """
    factors = np.ones(len(rows), np.int64) if weights is None else weights
    kinds, n_times = np.unique(np.column_stack([rows, factors]), axis=0, return_counts=True)
    chances = draws.chances
    return sum_of_draws(
        (distribution_of(draws.values[row].tolist(), chances[row].tolist()).times(factor), n)
        for (row, factor), n in zip(kinds.tolist(), n_times.tolist(), strict=True)
    )


def _shares_that_agree(
    votes: RaterVotes, draws: VoteDraws, raters: Indexes, n_raters: int
) -> tuple[Floats, Floats]:
    """Return the observed and the expected share of answers that agree with a majority."""
    seen, chances = draws.observed(votes), draws.chances
    expected = [(chances * (draws.values == value)).sum(axis=1)[draws.places] for value in (1, -1)]
    counts = [_added(raters, n_raters, each) for each in (seen == 1, seen == -1, *expected)]
    return ratio(counts[0], counts[0] + counts[1]), ratio(counts[2], counts[2] + counts[3])


def _drift(question: str, votes: RaterVotes, draws: VoteDraws, n_raters: int) -> Tests:
    """Return for each rater the test whether agreement with the others is low late in their order.

    The order is cut into tenths. The sum is that of the test of agreement, but a value in the last
    tenth counts ten times as much as one in the first. It is low for every bad rater. So p is 1
    unless agreement falls within the rater's own order as well (p of .05 at most, not corrected;
    weights -9, -7, ... 9, which add up to 0).
    """
    turns = votes.turns[draws.which]
    usable = np.flatnonzero(turns >= 0)
    usable = usable[np.lexsort([turns[usable], votes.raters[draws.which][usable]])]
    raters, rows = votes.raters[draws.which][usable], draws.places[usable]
    values = draws.observed(votes)[usable]
    same = agrees(values, votes.kind)
    n = np.bincount(raters, minlength=n_raters)
    starts = np.cumsum(n) - n
    late = 1 + TENTHS * (np.arange(len(raters)) - starts[raters]) // n[raters]
    means, variances = (each[rows] for each in _moments(draws))
    z = _z(raters, late * values, late * means, late**2 * variances, n_raters)
    judged = np.flatnonzero(n >= LEAST)
    shares, p = np.full((2, len(judged)), math.nan), np.ones(len(judged))
    for place, rater in enumerate(judged):
        start, end = int(starts[rater]), int(starts[rater] + n[rater])
        middle = (start + end) // 2
        shares[:, place] = _share(same[middle:end]), _share(same[start:middle])
        if z[rater] <= -SUSPICIOUS:
            own = rows[start:end], values[start:end]
            falls = _weighted_p(draws, *own, 2 * late[start:end] - TENTHS - 1) <= FALLING
            p[place] = _weighted_p(draws, *own, late[start:end]) if falls else 1.0
    return _tests(Check.DRIFT, question, judged, n[judged], shares[0], shares[1], p)


def _share(is_same: Floats) -> float:
    """Return the mean of the values that are not NaN, or NaN."""
    known = is_same[~np.isnan(is_same)]
    return float(known.mean()) if known.size else math.nan


def _weighted_p(draws: VoteDraws, rows: Indexes, values: Indexes, weights: Indexes) -> float:
    """Return the probability that a weighted sum of draws is at most the observed one."""
    return _null_of(draws, rows, weights).at_most(int((weights * values).sum()))


def _copies(forms: Forms, pairs: RaterPairs, reference: Bools) -> Tests:
    """Return the test of each pair of raters: how many of their forms are equal."""
    n_pairs = len(pairs.first)
    chances = chances_of_equal(forms, pairs, reference)
    equal = is_equal(forms, pairs)
    n, total, mean = (_added(pairs.pairs, n_pairs, weights) for weights in (None, equal, chances))
    z = _z(pairs.pairs, equal.astype(np.float64), chances, chances * (1 - chances), n_pairs)
    p = np.ones(n_pairs)
    ends = np.cumsum(n.astype(np.int64))
    chances = chances[np.argsort(pairs.pairs, kind="stable")]
    for pair in np.flatnonzero(z >= SUSPICIOUS):
        of_pair = chances[ends[pair] - int(n[pair]) : ends[pair]]
        known, n_times = np.unique(of_pair, return_counts=True)
        null = sum_of_draws(
            (distribution_of([0, 1], [1 - chance, chance]), int(times))
            for chance, times in zip(known.tolist(), n_times, strict=True)
        )
        p[pair] = null.at_least(int(total[pair]))
    # The rater who answered later is marked; both are, where the times do not say who that is.
    blamed = np.where(pairs.later >= 0, pairs.later, pairs.first)
    return Tests(
        kind=Check.COPIES,
        question="",
        raters=blamed,
        partners=pairs.first + pairs.second - blamed,
        is_mutual=pairs.later < 0,
        n=n.astype(np.int64),
        observed=ratio(total, n),
        expected=ratio(mean, n),
        p=p,
    )


# --- tests of a rater alone -------------------------------------------------------------------


def own_tests(votes: StudyVotes) -> list[Tests]:
    """Return all tests that depend on no other rater."""
    return [_paces(votes), *(_runs(votes, key) for key in votes.questions)]


def _runs(votes: StudyVotes, question: str) -> Tests:
    """Return for each rater the test whether equal answers follow each other too often."""
    of_question = votes.questions[question]
    usable = np.flatnonzero(of_question.turns >= 0)
    order = usable[np.lexsort([of_question.turns[usable], of_question.raters[usable]])]
    raters, answers = of_question.raters[order], of_question.answers[order]
    n = np.bincount(raters, minlength=votes.n_raters)
    ends = np.cumsum(n)
    judged = np.flatnonzero(n >= LEAST)
    n_runs, expected, p = np.zeros(len(judged)), np.zeros(len(judged)), np.ones(len(judged))
    for place, rater in enumerate(judged):
        of_rater = answers[ends[rater] - n[rater] : ends[rater]]
        counts = np.bincount(of_rater).tolist()
        runs = 1 + int(np.count_nonzero(np.diff(of_rater)))
        n_runs[place], expected[place] = runs, mean_runs(counts)
        if runs_z(counts, runs) <= -SUSPICIOUS:
            p[place] = few_runs_p(counts, runs)
    return _tests(Check.RUNS, question, judged, n[judged], n_runs, expected, p)


def _paces(votes: StudyVotes) -> Tests:
    """Return for each rater the test whether more than half of the units were answered too fast."""
    raters, is_fast = votes.paces
    n = _added(raters, votes.n_raters)
    n_fast = _added(raters, votes.n_raters, is_fast)
    judged = np.flatnonzero(n >= LEAST)
    n, n_fast = n[judged], n_fast[judged]
    # The upper tail of the binomial distribution, from the observed number on.
    p = np.where(n_fast > 0, bdtrc(np.maximum(n_fast - 1, 0), n.astype(np.int64), 0.5), 1.0)
    half = np.full(len(judged), 0.5)
    return _tests(Check.FAST, "", judged, n, ratio(n_fast, n), half, p)


def _tests(
    kind: Check,
    question: str,
    raters: Indexes,
    n: Floats | Indexes,
    observed: Floats,
    expected: Floats,
    p: Floats,
) -> Tests:
    """Return tests that are about one rater each."""
    nobody = np.full(len(raters), -1)
    not_mutual = np.zeros(len(raters), np.bool_)
    whole = n.astype(np.int64)
    return Tests(kind, question, raters, nobody, not_mutual, whole, observed, expected, p)
