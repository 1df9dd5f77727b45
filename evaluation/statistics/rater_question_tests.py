"""Tests of raters question by question: their share of yes, and agreement with the others."""

from collections.abc import Mapping

import numpy as np

from evaluation.statistics.exact_tails import Distribution, distribution_of, sum_of_draws
from evaluation.statistics.intervals import Floats, Indexes, ratio
from evaluation.statistics.rater_tests import (
    Check,
    Tests,
    added,
    suspicious_z,
    tests_of_single_raters,
    z_of,
)
from evaluation.statistics.rater_votes import (
    LEAST,
    Bools,
    RaterVotes,
    VoteDraws,
    as_agreement,
    draws_of,
)


def question_tests(questions: Mapping[str, RaterVotes], reference: Bools) -> list[Tests]:
    """Return the tests of each rater on each question, against the raters of the reference."""
    tests = []
    limit = suspicious_z(len(questions) * len(reference))
    for key, votes in questions.items():
        draws = draws_of(votes, reference)
        if votes.kind != "nominal":  # the mean of names says nothing
            tests.append(_sums(Check.YES, key, votes, draws, limit, len(reference)))
        agreement = as_agreement(draws, votes)
        tests.append(_sums(Check.AGREEMENT, key, votes, agreement, limit, len(reference)))
    return tests


def _sums(
    kind: Check, question: str, votes: RaterVotes, draws: VoteDraws, limit: float, n_raters: int
) -> Tests:
    """Return the test of each rater's sum of values, which are drawn item by item."""
    raters, values = votes.raters[draws.which], draws.observed(votes)
    chances, of_rows = draws.chances, draws.values.astype(np.float64)
    row_means = (chances * of_rows).sum(axis=1)
    row_variances = (chances * (of_rows - row_means[:, np.newaxis]) ** 2).sum(axis=1)
    means, variances = row_means[draws.places], row_variances[draws.places]
    n, total, mean = (added(raters, n_raters, weights) for weights in (None, values, means))
    z = z_of(raters, n_raters, values, means, variances)
    if kind is Check.YES:
        z = -np.abs(z)  # two-sided
    p = np.ones(n_raters)
    for rater in np.flatnonzero((z <= -limit) & (n >= LEAST)):
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
    return tests_of_single_raters(
        kind, question, judged, n[judged], observed[judged], expected[judged], p[judged]
    )


def _null_of(draws: VoteDraws, rows: Indexes) -> Distribution:
    """Return the distribution of a sum of values drawn from these rows of counts."""
    known, n_times = np.unique(rows, return_counts=True)
    chances = draws.chances
    return sum_of_draws(
        (distribution_of(draws.values[row].tolist(), chances[row].tolist()), int(n))
        for row, n in zip(known, n_times, strict=True)
    )


def _shares_that_agree(
    votes: RaterVotes, draws: VoteDraws, raters: Indexes, n_raters: int
) -> tuple[Floats, Floats]:
    """Return the observed and the expected share of answers that agree with a majority."""
    seen, chances = draws.observed(votes), draws.chances
    expected = [(chances * (draws.values == value)).sum(axis=1)[draws.places] for value in (1, -1)]
    counts = [added(raters, n_raters, each) for each in (seen == 1, seen == -1, *expected)]
    return ratio(counts[0], counts[0] + counts[1]), ratio(counts[2], counts[2] + counts[3])
