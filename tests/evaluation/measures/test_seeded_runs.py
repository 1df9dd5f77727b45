"""Mean, deviation and F1 over runs that differ in their seed: by hand, and the paper's table 3."""

import math
import statistics

import numpy as np
import pytest

from evaluation.measures.seeded_runs import (
    f1_of_means,
    mean_and_deviation,
    mean_share,
    na_f1_of_means,
    value_of,
)
from evaluation.statistics.intervals import Statistic, bootstrap_intervals, share_from

# Precision, recall, F1 as printed, in per cent: micro, then macro.
TABLE_3 = {
    "GPT-4 (0.5)": ((36.0, 43.6, 39.4), (40.7, 43.9, 42.3)),
    "ChatGPT (0.1)": ((29.0, 50.8, 36.9), (32.7, 51.2, 39.9)),
    "ChatGPT (0.5)": ((29.9, 49.0, 37.2), (34.1, 49.4, 40.4)),
    "ChatGPT (0.9)": ((28.7, 49.0, 36.2), (32.5, 49.4, 39.2)),
    "Alpaca-7B": ((14.9, 19.4, 16.8), (19.8, 19.9, 19.8)),
    "LLaMA-7B": ((7.7, 41.1, 13.0), (11.0, 41.4, 17.4)),
    "LLaMA-13B": ((10.5, 43.7, 16.9), (13.8, 43.5, 20.9)),
    "Vicuna-13B": ((14.9, 16.8, 15.8), (15.1, 17.0, 16.0)),
}


@pytest.mark.parametrize("model", TABLE_3)
def test_the_papers_f1_follow_from_its_printed_means(model):
    for precision, recall, f1 in TABLE_3[model]:
        means = [share((round(10 * figure), 1000)) for figure in (precision, recall)]
        assert 100 * value_of(f1_of_means(means[:1], means[1:], 1)) == pytest.approx(f1, abs=0.1)


def test_mean_and_deviation_are_over_the_runs_where_they_are_defined():
    assert mean_and_deviation([0.2, 0.5, 0.8]) == pytest.approx((0.5, 0.3))
    assert mean_and_deviation([0.2, math.nan, 0.8]) == pytest.approx(
        (0.5, statistics.stdev([0.2, 0.8]))
    )
    mean, deviation = mean_and_deviation([0.4, math.nan])
    assert mean == 0.4
    assert math.isnan(deviation)
    assert all(map(math.isnan, mean_and_deviation([])))


def test_f1_is_0_of_two_zeros_and_undefined_with_either():
    zero, half, undefined = share((0, 2)), share((1, 2)), share((0, 0))
    assert value_of(f1_of_means([zero], [zero], 1)) == 0.0
    assert math.isnan(value_of(f1_of_means([undefined], [half], 1)))


def share(*pairs):
    """Return a share with one item (part, whole) in each dialog."""
    return Statistic(np.array(pairs, np.float64), np.arange(len(pairs)), share_from)


def test_a_mean_share_is_no_share_of_all_items():
    # 1 of 10 and 1 of 2: their mean is 0.3, of all items it would be 2 of 12.
    assert value_of(mean_share([share((1, 10)), share((1, 2))], 1)) == pytest.approx(0.3)
    # A run in which it is undefined has no part.
    assert value_of(mean_share([share((1, 10)), share((0, 0))], 1)) == pytest.approx(0.1)
    assert math.isnan(value_of(mean_share([share((0, 0)), share((0, 0))], 1)))


def test_f1_is_of_the_means_and_no_mean_of_f1():
    # Precision 1/2 and 1, recall 1 and 0: means 3/4 and 1/2. The F1 of the runs are 2/3 and 0.
    precision, recall = [share((1, 2)), share((1, 1))], [share((1, 1)), share((0, 1))]
    assert value_of(f1_of_means(precision, recall, 1)) == pytest.approx(
        2 * (3 / 4) * (1 / 2) / (3 / 4 + 1 / 2)
    )


@pytest.mark.parametrize(
    ("precision", "recall", "f1"),
    [
        # The first run admits nothing of four triples: it has a part in the mean recall alone.
        # Means 3/4 over two runs and 1/4 over three: 2 · 3/16 / 1.
        ([(0, 0), (1, 2), (2, 2)], [(0, 4), (1, 4), (2, 4)], 3 / 8),
        ([(0, 0), (0, 0)], [(0, 4), (0, 4)], 0.0),  # no run admits anything
        ([(0, 0), (0, 0)], [(0, 4), (0, 0)], 0.0),  # nor was anything removed for the second
        ([(0, 0), (0, 0)], [(0, 0), (0, 0)], math.nan),  # nothing was removed
        ([(0, 3), (0, 0)], [(0, 4), (0, 4)], 0.0),
    ],
)
def test_f1_of_na_is_0_where_something_was_removed_and_nothing_admitted(precision, recall, f1):
    figure = na_f1_of_means([share(each) for each in precision], [share(e) for e in recall], 1)

    assert value_of(figure) == pytest.approx(f1, nan_ok=True)


def test_a_run_that_admits_nothing_in_a_resample_has_no_precision_there():
    """Two dialogs, two runs; each run admits in one dialog only, rightly, one of one triple.

    The first dialog twice: precision 1 by the first run alone; recalls 2/2 and 0/2, mean 1/2; F1
    2 · 1/2 / (3/2) = 2/3. Each dialog once: precision 1, recalls 1/2 and 1/2, so 2/3 again.
    """
    once, never = (1, 1), (0, 0)
    precision = [share(once, never), share(never, once)]
    recall = [share((1, 1), (0, 1)), share((0, 1), (1, 1))]

    figure = na_f1_of_means(precision, recall, 2)

    weights = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    assert figure.measure(weights @ figure.statistics) == pytest.approx([2 / 3] * 3)


def test_runs_about_the_same_dialogs_are_kept_together():
    # The second run is the first one again: nothing is known better by asking twice.
    rng = np.random.default_rng(5)
    run = share(*((int(rng.integers(0, n + 1)), n) for n in rng.integers(1, 6, 30)))
    other = run._replace(statistics=run.statistics[::-1])

    once, twice, averaged = bootstrap_intervals(
        [
            run,
            mean_share([run, run], 30),
            mean_share([run, other], 30),
        ],
        30,
        seed=0,
    )
    assert twice == pytest.approx(once)
    assert averaged != pytest.approx(once)


def test_runs_that_are_right_everywhere_are_not_certain():
    # Of ten dialogs, nothing varies: both runs are shares of 1 with n = 10. t² of 9 degrees =
    # 2.26216² = 5.1174, so each lower end is 10 / 15.1174 = .6615, which is .3385 below 1. The
    # distances of two shares that do not vary are independent: 1 - √(2 · (.3385 / 2)²) = .7606.
    run = share(*[(1, 1)] * 10)

    [interval] = bootstrap_intervals([mean_share([run, run], 10)], 10, seed=0)

    assert interval == pytest.approx((0.7606, 1.0), abs=1e-4)
