"""The corrected share: published figures, hand calculations, a plain loop, and the refusals."""

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.statistics.intervals import UNDEFINED
from evaluation.statistics.rogan_gladen import (
    NoTransfer,
    adjusted_ends,
    corrected_share,
    dialog_share,
    error_rates,
)

Z = stats.norm.ppf(0.975)


def alone(n_yes, n):
    """Return the share of items of which each is a dialog of its own."""
    return dialog_share(np.repeat([1.0, 0.0], [n_yes, n - n_yes]), np.arange(n), n)


def rates_of(right_yes, yes, right_no, no):
    """Return error rates of items of which each is a dialog: those of a yes come first."""
    human = np.repeat([1.0, 0.0], [yes, no])
    metric = np.repeat([1.0, 0.0, 0.0, 1.0], [right_yes, yes - right_yes, right_no, no - right_no])
    return error_rates(human, metric, np.arange(yes + no), yes + no)


def test_the_interval_is_the_published_one():
    """The call in the README of Lee et al.: p = .4 of 1,000, q0 = .7 and q1 = .9 of 200 each."""
    ends = adjusted_ends([(0.4, 1000), (0.9, 200), (0.7, 200)], Z)

    assert ends == pytest.approx((0.056351, 0.262733), abs=1e-6)


def test_the_share_is_the_published_one_and_its_interval_only_a_little_wider():
    found = corrected_share(alone(400, 1000), rates_of(180, 200, 140, 200))

    # θ = (.4 + .7 - 1) / (.7 + .9 - 1) = .1 / .6. The interval uses t of 200 dialogs, and n - 1.
    t = stats.t.ppf(0.975, 199)
    assert found.share == pytest.approx(0.166667, abs=1e-6)
    assert found.interval == pytest.approx(
        adjusted_ends([(0.4, 999), (0.9, 199), (0.7, 199)], t), abs=1e-12
    )
    assert found.interval == pytest.approx((0.056351, 0.262733), abs=0.002)
    assert found.reason is None


def test_the_rates_and_their_correlation_by_hand():
    """Three dialogs; the human says yes, no and nothing, and the metric misses some.

    Sensitivity: dialogs have 2 of 2, 1 of 2 and 0 of 1 right: 3/5. What they add to its error is
    2 - 1.2, 1 - 1.2 and -.6. Specificity: 1 of 1, 0 of 1 and 1 of 1: 2/3, with 1/3, -2/3 and 1/3.
    """
    human = np.array([1, 1, 0, 1, 1, 0, 1, 0, math.nan, 1])
    metric = np.array([1, 1, 0, 1, 0, 1, 0, 0, 1, math.nan])
    dialogs = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])

    rates = error_rates(human, metric, dialogs, 3)

    assert rates.sensitivity.share == pytest.approx(3 / 5)
    assert rates.specificity.share == pytest.approx(2 / 3)
    assert (rates.sensitivity.n, rates.specificity.n) == (5, 3)
    of_both = 0.8 / 3 + 0.2 * 2 / 3 - 0.6 / 3
    of_each = math.sqrt((0.64 + 0.04 + 0.36) * (1 / 9 + 4 / 9 + 1 / 9))
    assert rates.correlation == pytest.approx(of_both / of_each)
    # V = 3/2 · (.64 + .04 + .36) / 25, so 3/5 · 2/5 of (.24 / .0624) independent items.
    assert rates.sensitivity.n_independent == pytest.approx(0.24 / 0.0624)


def test_dialogs_whose_items_are_copies_tell_no_more_than_one_item_each():
    once, twice = np.arange(60), np.repeat(np.arange(60), 2)
    human = np.tile([1.0, 0.0], 30)
    metric = np.where(np.arange(60) % 5 == 0, 1 - human, human)
    here = (np.arange(60) % 3 == 0).astype(float)

    single = corrected_share(dialog_share(here, once, 60), error_rates(human, metric, once, 60))
    copied = corrected_share(
        dialog_share(np.repeat(here, 2), twice, 60),
        error_rates(np.repeat(human, 2), np.repeat(metric, 2), twice, 60),
    )

    assert copied.share == pytest.approx(single.share)
    assert copied.interval == pytest.approx(single.interval)


def test_errors_that_come_together_make_the_interval_narrower_and_others_wider():
    """A dialog in which the metric is right about yes and no alike leaves its balance as it is."""
    counted = [(0.5, 400.0), (0.8, 100.0), (0.8, 100.0)]
    widths = [high - low for low, high in (adjusted_ends(counted, Z, r) for r in (0.9, 0.0, -0.9))]

    assert widths == sorted(widths)
    # θ is .5, so with r = 1 the rates cancel, and the width is that of p alone, over .6 adjusted.
    low, high = adjusted_ends(counted, Z, 1.0)
    n = 400 + Z**2
    of_p = math.sqrt(0.25 / n)
    assert high - low == pytest.approx(2 * Z * of_p / (2 * 81 / 102 - 1))


@pytest.mark.parametrize(
    ("labelled_yes", "rates", "reason"),
    [
        (alone(40, 100), rates_of(19, 19, 50, 60), NoTransfer.FEW_LABELS),
        (alone(40, 100), rates_of(60, 60, 19, 19), NoTransfer.FEW_LABELS),
        (alone(40, 100), rates_of(0, 0, 60, 60), NoTransfer.FEW_LABELS),
        # .6 + .59 - 1 = .19
        (alone(40, 100), rates_of(60, 100, 59, 100), NoTransfer.WEAK),
        (alone(1, 1), rates_of(90, 100, 90, 100), NoTransfer.FEW_HERE),
        # It says yes to half of what deserves a no, so 10 of 400 cannot be.
        (alone(10, 400), rates_of(200, 200, 100, 200), NoTransfer.CONTRADICTED),
        (alone(390, 400), rates_of(100, 200, 200, 200), NoTransfer.CONTRADICTED),
    ],
)
def test_no_share_without_what_it_needs(labelled_yes, rates, reason):
    found = corrected_share(labelled_yes, rates)

    assert found.reason == reason
    assert math.isnan(found.share)
    assert np.isnan(found.interval).all()


def test_twenty_items_of_nine_dialogs_are_too_few():
    human = np.repeat([1.0, 0.0], [27, 60])
    dialogs = np.concatenate([np.repeat(np.arange(9), 3), np.arange(9, 69)])
    metric = np.where(np.arange(87) % 7 == 0, 1 - human, human)

    rates = error_rates(human, metric, dialogs, 69)

    assert (rates.sensitivity.n, rates.sensitivity.n_dialogs) == (27, 9)
    assert rates.reason == NoTransfer.FEW_LABELS


@pytest.mark.parametrize("n_yes", [0, 100])
def test_an_interval_has_a_width_also_where_nothing_varies(n_yes):
    found = corrected_share(alone(n_yes, 100), rates_of(100, 100, 100, 100))

    assert found.share == n_yes / 100
    assert 0.02 < found.interval.high - found.interval.low < 0.1
    assert 0 <= found.interval.low <= found.share <= found.interval.high <= 1


def test_a_share_without_items_is_undefined():
    nothing = dialog_share(np.array([math.nan]), np.array([0]), 1)

    assert (nothing.n, nothing.n_dialogs, nothing.interval) == (0, 0, UNDEFINED)
    assert math.isnan(nothing.share)
