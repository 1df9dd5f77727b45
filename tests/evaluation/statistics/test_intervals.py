"""Intervals over dialogs: the weights, the sums, shares, and what the interval covers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

from evaluation.statistics.agreement import (
    ALPHA,
    FLEISS_KAPPA,
    fleiss_kappa_statistics,
    krippendorff_alpha_statistics,
    percent_agreement_from,
    percent_agreement_statistics,
)
from evaluation.statistics.intervals import (
    METHOD,
    Statistic,
    bootstrap_intervals,
    percentile_interval,
    ratio,
    resample_dialogs,
    share_from,
    share_interval,
    sum_by_dialog,
)
from evaluation.statistics.rater_answers import mean_from, mean_statistics
from tests.evaluation.statistics.one_figure import bootstrap_interval


def mean_interval(item_values, dialogs, **choices):
    n_dialogs = choices.pop("n_dialogs", max(dialogs, default=-1) + 1)
    choices.setdefault("seed", 1)
    return bootstrap_interval(
        mean_statistics(np.array(item_values, dtype=float)),
        np.array(dialogs, dtype=int),
        n_dialogs,
        mean_from,
        **choices,
    )


def interval_of_share(labels, dialogs):
    labels = np.array(labels, dtype=float)
    figure = Statistic(mean_statistics(labels), np.array(dialogs), share_from)
    [interval] = bootstrap_intervals([figure], max(dialogs) + 1, seed=1)
    return interval


def width(interval):
    return interval.high - interval.low


def is_undefined(interval):
    return math.isnan(interval.low) and math.isnan(interval.high)


def test_the_method_has_a_name():
    assert METHOD == (
        "Wilson interval with the design effect of dialogs for shares, "
        "Wilson interval with the jackknife over dialogs for kappa, alpha, ranks and F1, "
        "else expanded percentile bootstrap over dialogs"
    )


# Ratio


def test_ratio_is_undefined_where_the_denominator_is_zero():
    quotients = ratio(np.array([1.0, 0.0, 1.0]), np.array([2.0, 0.0, 0.0]))

    np.testing.assert_array_equal(quotients, [0.5, np.nan, np.nan])


# Sums by dialog


def test_statistics_are_summed_by_dialog():
    statistics = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])

    sums = sum_by_dialog(statistics, np.array([2, 0, 2]), n_dialogs=4)

    assert sums.tolist() == [[2, 20], [0, 0], [5, 50], [0, 0]]


def test_no_items_sum_to_zeros():
    assert sum_by_dialog(np.zeros((0, 2)), np.zeros(0, dtype=int), 3).tolist() == [[0, 0]] * 3


@pytest.mark.parametrize(
    ("statistics", "dialogs", "message"),
    [
        ([[1.0], [1.0]], [0, 3], "dialogs 0 to 3, expected 0 to 2"),
        ([[1.0], [1.0]], [-1, 0], "dialogs -1 to 0"),
        ([[1.0], [1.0]], [0], r"shape \(1,\) for 2 items"),
        ([[1.0], [math.nan]], [0, 1], "NaN"),
    ],
)
def test_items_that_cannot_be_summed_are_refused(statistics, dialogs, message):
    with pytest.raises(ValueError, match=message):
        sum_by_dialog(np.array(statistics), np.array(dialogs), n_dialogs=3)


# Resamples


def test_each_resample_draws_as_many_dialogs_as_there_are():
    weights = np.vstack(list(resample_dialogs(7, 50, seed=3)))

    assert weights.shape == (50, 7)
    assert (weights >= 0).all()
    assert (weights.sum(axis=1) == 7).all()


def test_weights_have_the_moments_of_a_multinomial():
    n_dialogs, n_resamples = 20, 20_000
    weights = np.vstack(list(resample_dialogs(n_dialogs, n_resamples, seed=4)))

    # each dialog: mean 1, variance 1 - 1/20 = 0.95; two dialogs: covariance -1/20
    covariance = np.cov(weights.T)
    assert weights.mean(axis=0) == pytest.approx(1, abs=0.04)
    assert np.diag(covariance) == pytest.approx(0.95, abs=0.06)
    assert covariance[0, 1:] == pytest.approx(-0.05, abs=0.04)


@given(st.integers(1, 9), st.integers(1, 30), st.integers(0, 2**32), st.integers(1, 10 * 8 * 9))
def test_weights_depend_on_the_seed_and_not_on_the_chunk(n_dialogs, n_resamples, seed, chunk_bytes):
    whole = np.vstack(list(resample_dialogs(n_dialogs, n_resamples, seed)))
    chunks = list(resample_dialogs(n_dialogs, n_resamples, seed, chunk_bytes))

    np.testing.assert_array_equal(np.vstack(chunks), whole)
    assert all(chunk.nbytes <= max(chunk_bytes, 8 * n_dialogs) for chunk in chunks)


def test_another_seed_gives_other_weights():
    [first], [second] = (list(resample_dialogs(100, 1, seed)) for seed in (1, 2))

    assert (first != second).any()


def test_no_dialogs_give_no_resamples():
    assert list(resample_dialogs(0, 10, seed=1)) == []


# Shares


@pytest.mark.parametrize(("n_yes", "n"), [(10, 100), (50, 100), (99, 100), (3, 12)])
def test_a_share_of_one_item_a_dialog_has_wilsons_interval(n_yes, n):
    labels = np.arange(n) < n_yes
    t = student.ppf(0.975, n - 1)

    interval = interval_of_share(labels, range(n))

    # Wilson's formula with t for z; the variance has n - 1 below, so the effective n is n - 1
    expected = proportion_confint(n_yes / n * (n - 1), n - 1, alpha=2 * norm.sf(t), method="wilson")
    assert interval == pytest.approx(expected)


def test_the_effective_number_of_items_by_hand():
    # Three dialogs of two: yes yes, yes no, no no: share 1/2, residuals 1, 0, -1,
    # variance 2 / 6^2 * 3/2 = 1/12, so n = 1/4 / (1/12) = 3; t of 2 degrees squared = 18.513
    interval = interval_of_share([1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 2, 2])

    half = math.sqrt(18.513 / 3 * (1 / 4 + 18.513 / 12)) / (1 + 18.513 / 3)
    assert interval == pytest.approx((1 / 2 - half, 1 / 2 + half), abs=1e-4)


def test_equal_labels_of_a_dialog_tell_no_more_than_one_of_them():
    labels = np.random.default_rng(1).random(50) < 0.7

    one_each = interval_of_share(labels, range(50))

    assert interval_of_share(np.repeat(labels, 8), np.repeat(range(50), 8)) == pytest.approx(
        one_each
    )


@pytest.mark.parametrize(("label", "low", "high"), [(1, 1, 1), (0, 0, 0)])
def test_a_share_of_0_or_1_is_as_uncertain_as_its_dialogs_are_few(label, low, high):
    # 20 dialogs, t of 19 degrees squared = 4.3808: the far end is n / (n + t^2) or t^2 / (n + t^2)
    beyond = 4.3808 / 24.3808

    interval = interval_of_share([label] * 40, np.repeat(range(20), 2))

    assert interval == pytest.approx((max(0, low - beyond), min(1, high + beyond)), abs=1e-5)


def test_dialogs_that_happen_to_be_alike_tell_no_more_than_their_items():
    # every dialog has one yes and one no: no variance between dialogs, but only 20 labels
    alike = interval_of_share([1, 0] * 10, np.repeat(range(10), 2))

    t = student.ppf(0.975, 9)
    expected = proportion_confint(10, 20, alpha=2 * norm.sf(t), method="wilson")
    assert alike == pytest.approx(expected)


def test_a_share_of_nothing_or_of_one_dialog_has_no_interval():
    assert is_undefined(share_interval(np.zeros((5, 2))))
    assert is_undefined(share_interval(np.array([[1.0, 2.0], [0, 0]])))


def test_a_share_needs_no_resamples_and_does_not_depend_on_the_seed():
    labels = np.random.default_rng(2).random(30) < 0.4
    figure = Statistic(mean_statistics(labels.astype(float)), np.arange(30), share_from)

    one, two = (bootstrap_intervals([figure], 30, seed=seed) for seed in (1, 2))

    assert one == two


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30),
    st.sampled_from([0.5, 0.95, 0.99]),
)
def test_a_share_lies_in_its_interval_and_that_in_0_to_1(dialogs, level):
    by_dialog = np.array([[min(pair), max(pair)] for pair in dialogs], dtype=float)

    low, high = share_interval(by_dialog, level=level)

    if math.isnan(low):
        assert np.count_nonzero(by_dialog[:, 1]) < 2
    else:
        assert 0 <= low <= share_from(by_dialog.sum(axis=0)) <= high <= 1


@pytest.mark.parametrize("statistics", [[[2.0, 1.0]], [[-1.0, 1.0]]])
def test_what_is_no_share_is_refused(statistics):
    with pytest.raises(ValueError, match="a share has a part"):
        bootstrap_interval(np.array(statistics), np.array([0]), 1, share_from, seed=1)


# Percentiles


def test_percentiles_are_expanded_as_students_t_is():
    n_dialogs = 20
    resampled = norm.ppf((np.arange(100_000) + 0.5) / 100_000)  # a bootstrap of unit error

    low, high = percentile_interval(resampled, n_dialogs)

    # the bootstrap's error has n below; unbiased it is sqrt(n / (n - 1)) times that
    expected = student.ppf(0.975, 19) * math.sqrt(20 / 19)
    assert (low, high) == pytest.approx((-expected, expected), abs=1e-3)


# Intervals


def test_interval_of_a_mean_is_the_analytic_one_when_each_dialog_has_one_item():
    n = 400
    values = np.random.default_rng(7).normal(10, 2, n)

    interval = mean_interval(values, range(n), n_resamples=4000)

    # the bootstrap's standard error is sd / sqrt(n), sd with n below; at 4000 resamples the end
    # of an interval has a Monte-Carlo error of sqrt(.025 * .975 / 4000) / .0584 = 0.042 of it
    error = values.std() / math.sqrt(n)
    low, high = norm.interval(0.95, values.mean(), error)
    assert interval.low == pytest.approx(low, abs=0.15 * error)
    assert interval.high == pytest.approx(high, abs=0.15 * error)


def test_a_higher_level_gives_a_wider_interval():
    values = np.random.default_rng(8).normal(size=200)

    wide, narrow = (mean_interval(values, range(200), level=level) for level in (0.95, 0.5))

    # ratio of the normal quantiles 1.960 / 0.674
    assert width(wide) / width(narrow) == pytest.approx(2.906, rel=0.15)


def test_equal_items_of_a_dialog_tell_no_more_than_one_of_them():
    values = np.random.default_rng(9).normal(size=50)
    eight_times = np.repeat(values, 8)
    dialogs = np.repeat(range(50), 8)

    one_each = mean_interval(values, range(50))
    by_dialog = mean_interval(eight_times, dialogs)
    by_item = mean_interval(eight_times, range(400))

    assert by_dialog == pytest.approx(one_each)
    assert width(by_dialog) / width(by_item) == pytest.approx(math.sqrt(8), rel=0.15)


def test_intervals_of_several_figures_are_those_of_each_alone():
    random = np.random.default_rng(10)
    counts = random.multinomial(5, [0.2, 0.5, 0.3], size=60)
    dialogs = random.integers(20, size=60)
    few = slice(0, 30)  # a figure over some of the items
    figures = [
        Statistic(percent_agreement_statistics(counts), dialogs, percent_agreement_from),
        Statistic(fleiss_kappa_statistics(counts[few]), dialogs[few], FLEISS_KAPPA),
        Statistic(krippendorff_alpha_statistics(counts), dialogs, ALPHA["ordinal"]),
    ]

    together = bootstrap_intervals(figures, 20, seed=2)

    alone = [bootstrap_interval(f.statistics, f.dialogs, 20, f.measure, seed=2) for f in figures]
    assert np.array(together) == pytest.approx(np.array(alone))
    assert len(set(together)) == 3
    assert all(interval.low < interval.high for interval in together)


def test_a_paired_difference_is_narrower_than_two_figures_apart():
    random = np.random.default_rng(11)
    before = random.normal(size=100)
    after = before + random.normal(1, 0.1, size=100)
    both_sides = np.hstack([mean_statistics(before), mean_statistics(after)])

    shift = bootstrap_interval(
        both_sides,
        np.arange(100),
        100,
        lambda sums: mean_from(sums[..., 2:]) - mean_from(sums[..., :2]),
        seed=1,
    )

    assert shift.low < 1 < shift.high
    assert width(shift) < width(mean_interval(before, range(100))) / 5


def test_the_same_seed_gives_the_same_interval_and_another_does_not():
    values = np.random.default_rng(12).normal(size=30)

    first, again, other = (mean_interval(values, range(30), seed=seed) for seed in (1, 1, 2))

    assert first == again
    assert first != other


def test_nothing_is_said_where_nothing_varies_or_dialogs_are_few():
    # The mean of 1 and 0 in each dialog is the same in every resample. With five dialogs the tail
    # is .1 %, more than the lowest resample's 1 / 5**5 = .03 %; with four it is less.
    assert is_undefined(mean_interval([0.5] * 10, range(10)))
    assert is_undefined(mean_interval([1.0, 0.0] * 6, np.arange(12) // 2))
    # 3 × .1 and .3 differ by 6e-17, as sums do that are added in another order.
    assert is_undefined(mean_interval([0.1 + 0.1 + 0.1, 0.3] * 6, range(12)))
    assert is_undefined(mean_interval([0.0, 1.0, 0.0, 1.0], range(4)))
    assert mean_interval([0.0, 1.0, 0.0, 1.0, 0.0], range(5)) == pytest.approx((0, 1), abs=0.2)


def test_no_figures_have_no_intervals():
    assert bootstrap_intervals([], 10, seed=1) == []


@pytest.mark.parametrize(
    ("item_values", "dialogs", "n_dialogs"),
    [
        pytest.param([], [], 0, id="no dialogs"),
        pytest.param([], [], 5, id="no items"),
        pytest.param([0.0, 1.0], [0, 0], 1, id="one dialog"),
        pytest.param([0.0, 1.0], [3, 3], 5, id="one dialog with items among five"),
        pytest.param([1.0, math.nan, math.nan], [0, 1, 2], 3, id="one dialog with a value"),
    ],
)
def test_fewer_than_two_dialogs_with_data_have_no_interval(item_values, dialogs, n_dialogs):
    assert is_undefined(mean_interval(item_values, dialogs, n_dialogs=n_dialogs))


def test_one_undefined_figure_does_not_spoil_the_others():
    dialogs = np.arange(10)
    nothing = Statistic(mean_statistics(np.full(10, math.nan)), dialogs, mean_from)
    something = Statistic(mean_statistics(dialogs.astype(float)), dialogs, mean_from)

    undefined, defined = bootstrap_intervals([nothing, something], 10, seed=1)

    assert is_undefined(undefined)
    assert defined == mean_interval(range(10), range(10))


def test_no_variation_leaves_the_interval_of_alpha_undefined():
    counts = np.array([[0, 5]] * 10)

    interval = bootstrap_interval(
        krippendorff_alpha_statistics(counts), np.arange(10), 10, ALPHA["nominal"], seed=1
    )

    assert is_undefined(interval)


def resamples_with_both(n_of_one, n_of_other):
    """Return the interval of the share of one group where both are drawn, else undefined."""
    n = n_of_one + n_of_other
    group = np.arange(n) < n_of_one
    statistics = np.column_stack([group, ~group]).astype(float)

    def share_where_both(sums):
        return np.where((sums > 0).all(axis=1), sums[:, 0] / n, np.nan)

    return bootstrap_interval(statistics, np.arange(n), n, share_where_both, seed=1)


def test_undefined_resamples_are_left_out_while_they_are_the_smaller_part():
    # the one dialog of its group is missing from (4/5)^5 = 0.33 of all resamples of five
    assert resamples_with_both(1, 4) == pytest.approx((0.2, 0.8), abs=0.2)


def test_the_interval_is_undefined_when_most_resamples_are():
    def defined_where_first_is_drawn_twice(sums):
        return np.where(sums[:, 0] >= 2, 1.0, np.nan)  # 1 - 2 * 0.368 = 0.26 of all resamples

    statistics = np.eye(50)

    interval = bootstrap_interval(
        statistics, np.arange(50), 50, defined_where_first_is_drawn_twice, seed=1
    )

    assert is_undefined(interval)


@pytest.mark.filterwarnings("error")
def test_a_measure_that_divides_by_zero_warns_nobody():
    statistics = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])

    interval = bootstrap_interval(
        statistics, np.arange(5), 5, lambda sums: sums[:, 0] / sums[:, 1], seed=1
    )

    assert math.isfinite(interval.low)
    assert math.isfinite(interval.high)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_that_is_no_share_is_refused(level):
    with pytest.raises(ValueError, match=f"level {level}"):
        mean_interval([0, 1], [0, 1], level=level)


def test_an_interval_needs_a_resample():
    with pytest.raises(ValueError, match="0 resamples"):
        mean_interval([0, 1], [0, 1], n_resamples=0)
