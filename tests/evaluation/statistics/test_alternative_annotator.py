"""The alternative-annotator test: by hand, beside scipy and statsmodels, and on planted votes."""

import math

import numpy as np
import pytest
from scipy.stats import false_discovery_control, ttest_1samp
from scipy.stats import t as student
from statsmodels.api import OLS

from evaluation.statistics.alternative_annotator import (
    LabelVotes,
    alternative_annotator,
    as_good,
    margin_p,
)

NONE = -1
# Labels of raters A, B and C, then that of the metric; how many of the 40 items are like this.
# Where two raters differ, they are split, so the metric and the third tie whatever they say.
BY_HAND = {
    (1, 1, 1, 1): 20,
    (0, 0, 0, 0): 8,
    (1, 1, 0, 1): 6,  # A and B say the same as the metric; against C the metric has A and B
    (0, 1, 1, 1): 3,  # against A the metric has B and C
    (1, 1, 1, 0): 2,  # each rater has the two others, and the metric has neither
    (0, 0, 1, 1): 1,  # A and B: the others are split; C says the same as the metric
}


def labels(table):
    """Return the votes of a table of labels, (n_items, n_raters), with -1 for no vote."""
    table = np.asarray(table)
    items, raters = np.nonzero(table != NONE)
    return LabelVotes(raters, items, table[items, raters])


def by_hand():
    table = np.array([row for row, n in BY_HAND.items() for _ in range(n)])
    return table[:, :3], table[:, 3].astype(float)


def outcome(raters, metric, dialogs=None, epsilon=0.1):
    dialogs = np.arange(len(metric)) if dialogs is None else dialogs
    return alternative_annotator(labels(raters), metric, dialogs, int(dialogs.max()) + 1, epsilon)


def differences(raters, metric, rater):
    votes = labels(raters)
    by_metric, by_rater = as_good(votes, metric)
    return (by_rater - by_metric)[votes.raters == rater]


def test_the_table_worked_by_hand():
    found = outcome(*by_hand())

    # W^f is 1 but on the two items where the metric stands alone: 38/40. W^h is 1 but where the
    # metric is better: on 3 items of A, none of B and 6 of C.
    assert [each[3:5] for each in found.beside] == [
        (38 / 40, 37 / 40),
        (38 / 40, 40 / 40),
        (38 / 40, 34 / 40),
    ]
    # W^h − W^f of A: −1 three times and 1 twice. The mean is −1/40, and s² = (5 − 40/40²)/39 =
    # .12756. t = (−.025 − .1)/√(.12756/40) = −2.2135.
    # B: the mean is 2/40, and s² = (2 − .1)/39 = .0487. That is less than ε(1 − ε) = .09, so
    # t = (.05 − .1)/√(.09/40) = −1.0541.
    # C: the mean is −4/40, and s² = (8 − .4)/39 = .19487. t = (−.1 − .1)/√(.19487/40) = −2.8654.
    # The tails of Student's t with 39 degrees of freedom are:
    p = [0.01639, 0.14915, 0.00334]
    assert [each.p for each in found.beside] == pytest.approx(p, abs=1e-4)
    # Benjamini and Yekutieli: p · 3 · (1 + 1/2 + 1/3) / rank = p · 5.5 / rank.
    corrected = [p[0] * 5.5 / 2, p[1] * 5.5 / 3, p[2] * 5.5]  # .0451, .273 and .0184
    assert [each.p_corrected for each in found.beside] == pytest.approx(corrected, abs=5e-4)
    assert [each.is_won for each in found.beside] == [True, False, True]
    assert (found.winning_rate, found.passes) == (2 / 3, True)
    # The advantage probability is the mean of three times 38/40.
    assert found.advantage == pytest.approx(0.95)
    assert found.low < 0.95 < found.high
    assert (found.n_items, found.n_dialogs, found.n_raters) == (40, 40, 3)


def test_one_item_a_dialog_is_the_test_of_scipy():
    raters, metric = by_hand()
    found = outcome(raters, metric)

    given = [differences(raters, metric, rater) for rater in (0, 2)]
    p_values = [ttest_1samp(each, 0.1, alternative="less").pvalue for each in given]
    assert [found.beside[rater].p for rater in (0, 2)] == pytest.approx(p_values)
    all_three = [each.p for each in found.beside]
    assert [each.p_corrected for each in found.beside] == pytest.approx(
        false_discovery_control(all_three, method="by")
    )


def test_items_of_one_dialog_are_kept_together():
    random = np.random.default_rng(3)
    dialogs = np.sort(random.integers(0, 25, 120))
    given = random.choice([-1.0, 0.0, 1.0], 120, p=[0.3, 0.5, 0.2])
    clusters = {"groups": dialogs, "use_correction": True}
    # Its correction is C/(C − 1) · (n − 1)/(n − 1) for a regression on a constant.
    fit = OLS(given, np.ones(120)).fit(cov_type="cluster", cov_kwds=clusters, use_t=True)
    two_sided = float(np.squeeze(fit.t_test(([[1.0]], 0.1)).pvalue))

    assert given.mean() < 0.1
    assert margin_p(given, dialogs, 25, 0.1) == pytest.approx(two_sided / 2)


@pytest.mark.parametrize(
    ("difference", "t"),
    [
        (0, -1.825742),  # (0 − .1) / √(.09/30)
        (-1, -20.083160),  # (−1 − .1) / √(.09/30)
        (1, 16.431677),  # (1 − .1) / √(.09/30)
    ],
)
def test_equal_differences_have_a_p_value(difference, t):
    # 30 dialogs of two items each: as nothing varies, the items of a dialog count as one.
    given, dialogs = np.full(60, float(difference)), np.repeat(np.arange(30), 2)

    assert margin_p(given, dialogs, 30, 0.1) == pytest.approx(student.cdf(t, df=29), rel=1e-4)


def test_a_single_dialog_has_no_p_value():
    assert math.isnan(margin_p(np.zeros(40), np.zeros(40, int), 1, 0.1))


def crowd(n_items=200, right=(0.9, 0.85, 0.8, 0.9, 0.85), seed=4):
    """Return the truth of some items, and the labels of raters with these shares of right ones."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, n_items)
    is_right = random.random((n_items, len(right))) < right
    return truth, np.where(is_right, truth[:, np.newaxis], 1 - truth[:, np.newaxis]), random


PLANTED = {
    "the majority": (lambda truth, raters, random: raters.sum(axis=1) > 2, True, 1.0),
    "the truth": (lambda truth, raters, random: truth, True, 1.0),
    "one more rater": (
        lambda truth, raters, random: np.where(random.random(200) < 0.88, truth, 1 - truth),
        True,
        None,
    ),
    "at random": (lambda truth, raters, random: random.integers(0, 2, 200), False, 0.0),
    "always yes": (lambda truth, raters, random: np.ones(200), False, 0.0),
    "always wrong": (lambda truth, raters, random: 1 - truth, False, 0.0),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_metrics(planted):
    metric_of, passes, winning_rate = PLANTED[planted]
    truth, raters, random = crowd()

    found = outcome(raters, metric_of(truth, raters, random).astype(float), np.arange(200) // 2)

    assert found.passes is passes
    if winning_rate is not None:
        assert found.winning_rate == winning_rate
    assert 0 <= found.low < found.high <= 1
    assert found.low <= found.advantage <= found.high


def test_a_perfect_metric_and_perfect_raters_have_an_interval():
    labels_of_all = np.ones((60, 3), int)

    found = outcome(labels_of_all, np.ones(60))

    assert (found.advantage, found.high, found.passes) == (1, 1, True)
    # Wilson's interval of 60 dialogs that are all alike, with t = 2.0010: 1 / (1 + t²/60).
    assert found.low == pytest.approx(1 / (1 + 2.0010**2 / 60), abs=1e-4)


def test_who_and_what_takes_part():
    truth, raters, _ = crowd(60, (0.9,) * 4)
    raters[:, 3] = np.where(np.arange(60) < 29, raters[:, 3], NONE)  # 29 items: too few
    raters[50:, :2] = NONE  # one vote on each: no other rater
    metric = truth.astype(float)
    metric[:5] = math.nan

    found = outcome(raters, metric)

    assert found.n_items == 45
    assert [each.n_items for each in found.beside] == [45, 45, 45, 24]
    assert [each.has_part for each in found.beside] == [True, True, True, False]
    assert math.isnan(found.beside[3].p_corrected)
    assert not found.beside[3].is_won
    assert found.n_raters == 3


@pytest.mark.parametrize(("n_raters", "passes"), [(1, None), (2, True)])
def test_two_raters_with_a_part_are_the_fewest(n_raters, passes):
    raters = np.ones((60, 3), int)
    raters[10:, n_raters:] = NONE  # the others have 10 items
    if n_raters == 1:
        raters[:, 1] = np.where(np.arange(60) < 20, 1, NONE)

    found = outcome(raters, np.ones(60))

    assert found.passes is passes
    assert math.isnan(found.advantage) is (passes is None)


@pytest.mark.parametrize("epsilon", [0, 1, -0.1])
def test_a_margin_outside_its_range_is_refused(epsilon):
    with pytest.raises(ValueError, match="expected a number between 0 and 1"):
        alternative_annotator(labels(np.ones((2, 2))), np.ones(2), np.arange(2), 2, epsilon)


@pytest.mark.parametrize(
    ("more", "n_dialogs", "of_dialog"), [(0.0, 30, 1), (0.0, 100, 3), (0.05, 100, 3), (0.2, 100, 3)]
)
def test_a_metric_at_the_margin_is_accepted_in_one_study_of_twenty(more, n_dialogs, of_dialog):
    """The true mean of W^h − W^f is ε; the metric is better on a share `more` of items."""
    random, epsilon, n_studies = np.random.default_rng(5), 0.1, 1000
    dialogs = np.repeat(np.arange(n_dialogs), of_dialog)
    shape = (n_studies, n_dialogs, of_dialog)
    # Half of the items follow their dialog.
    of_dialogs = np.broadcast_to(random.random((n_studies, n_dialogs, 1)), shape)
    drawn = np.where(random.random(shape) < 0.5, of_dialogs, random.random(shape))
    given = ((drawn < epsilon + more) * 1.0 - (drawn > 1 - more)).reshape(n_studies, -1)

    rejected = np.mean([margin_p(each, dialogs, n_dialogs, epsilon) <= 0.05 for each in given])

    # 5 %, widened by two Monte-Carlo errors
    assert 0.01 < rejected <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / n_studies)
