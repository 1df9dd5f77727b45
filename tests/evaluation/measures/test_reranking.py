import math

import numpy as np
import pytest

from evaluation.measures.reranking import (
    MAX_ATTRIBUTION,
    NOTHING,
    SENSIBLE_FIRST,
    WEIGHTED,
    choose,
    choose_with_ties,
)

UNKNOWN = math.nan


def one_example(function, attribution, sensibleness, weights=None):
    """Return the place chosen for a single example of these scores, in pool order."""
    by_pool = [np.array(scores, float)[:, np.newaxis] for scores in (attribution, sensibleness)]
    [chosen] = choose(function, by_pool[0], by_pool[1], weights)
    return chosen


def test_max_attribution_takes_the_highest_whatever_its_sensibleness():
    assert one_example(MAX_ATTRIBUTION, [0.4, 0.9, 0.8], [1.0, 0.0, 1.0]) == 1


def test_max_attribution_breaks_ties_by_sensibleness_then_by_place():
    # 0.9 is at 0, 1 and 3; of these, 1 and 3 have sensibleness 0.7; 1 comes first.
    assert one_example(MAX_ATTRIBUTION, [0.9, 0.9, 0.1, 0.9], [0.2, 0.7, 1.0, 0.7]) == 1


def test_sensible_first_looks_at_attribution_among_the_sensible_only():
    # Sensible from 0.5: places 1 (exactly 0.5) and 2; of 0.6 and 0.3 the first is higher.
    assert one_example(SENSIBLE_FIRST, [0.9, 0.6, 0.3], [0.49, 0.5, 1.0]) == 1


def test_sensible_first_takes_the_highest_attribution_where_none_is_sensible():
    assert one_example(SENSIBLE_FIRST, [0.2, 0.6, 0.3], [0.4, 0.0, 0.49]) == 1


def test_sensible_first_breaks_ties_by_sensibleness_then_by_place():
    # All sensible, attribution 0.8 at 1, 2, 3; sensibleness 0.9 at 2 and 3.
    assert one_example(SENSIBLE_FIRST, [0.1, 0.8, 0.8, 0.8], [1.0, 0.6, 0.9, 0.9]) == 2


def test_weights_are_of_sensibleness_then_of_attribution():
    # a = 0.25, b = 0.75:  0.25 · 1.0 + 0.75 · 0.2 = 0.40;  0.25 · 0.0 + 0.75 · 0.6 = 0.45
    assert one_example(WEIGHTED, [0.2, 0.6], [1.0, 0.0], (0.25, 0.75)) == 1
    # a = 0.75, b = 0.25:  0.75 + 0.05 = 0.80;  0.15
    assert one_example(WEIGHTED, [0.2, 0.6], [1.0, 0.0], (0.75, 0.25)) == 0


def test_weighted_sums_that_are_equal_but_for_rounding_are_a_tie_for_attribution():
    # 0.5 · 0.3 + 0.5 · 0.1 = 0.2 = 0.5 · 0.2 + 0.5 · 0.2; the first has less attribution.
    assert one_example(WEIGHTED, [0.1, 0.2], [0.3, 0.2], (0.5, 0.5)) == 1
    # 0.2 + 0.1 is 0.30000000000000004 in floats, and 0.0 + 0.3 is 0.3: still the same sum.
    assert one_example(WEIGHTED, [0.1, 0.3], [0.2, 0.0], (1.0, 1.0)) == 1
    assert one_example(WEIGHTED, [0.2, 0.2], [0.5, 0.5], (1.0, 1.0)) == 0


def test_a_response_without_a_score_that_is_needed_is_not_chosen():
    assert one_example(MAX_ATTRIBUTION, [UNKNOWN, 0.1], [1.0, 0.0]) == 1
    assert one_example(SENSIBLE_FIRST, [0.9, 0.1], [UNKNOWN, 0.6]) == 1
    assert one_example(SENSIBLE_FIRST, [0.9, 0.1], [UNKNOWN, 0.0]) == 1
    assert one_example(WEIGHTED, [0.9, 0.1], [UNKNOWN, 0.0], (0.0, 1.0)) == 1


def test_max_attribution_needs_no_sensibleness_but_prefers_a_known_one_among_equals():
    assert one_example(MAX_ATTRIBUTION, [0.9, 0.1], [UNKNOWN, 1.0]) == 0
    assert one_example(MAX_ATTRIBUTION, [0.9, 0.9], [UNKNOWN, 0.0]) == 1
    assert one_example(MAX_ATTRIBUTION, [0.9, 0.9], [UNKNOWN, UNKNOWN]) == 0


def test_where_nothing_has_its_scores_nothing_is_chosen():
    assert one_example(MAX_ATTRIBUTION, [UNKNOWN, UNKNOWN], [1.0, 1.0]) == NOTHING
    assert one_example(SENSIBLE_FIRST, [UNKNOWN, 0.4], [0.9, UNKNOWN]) == NOTHING
    assert one_example(WEIGHTED, [UNKNOWN], [0.9], (1.0, 1.0)) == NOTHING


@pytest.mark.parametrize(
    ("function", "weights", "attribution", "sensibleness", "is_tie"),
    [
        (MAX_ATTRIBUTION, None, [0.9, 0.8], [0.1, 0.2], False),
        (MAX_ATTRIBUTION, None, [0.9, 0.9], [0.1, 0.2], True),
        (MAX_ATTRIBUTION, None, [0.9, 0.9], [0.2, 0.1], True),  # the first, but not by its place
        (MAX_ATTRIBUTION, None, [0.9, 0.9], [0.2, 0.2], False),  # left to the order of the pool
        (MAX_ATTRIBUTION, None, [0.9, 0.9, 0.9], [0.2, 0.2, 0.1], True),
        (MAX_ATTRIBUTION, None, [UNKNOWN, 0.9], [0.2, 0.1], False),
        (MAX_ATTRIBUTION, None, [UNKNOWN, UNKNOWN], [0.2, 0.1], False),
        # Both sensible, equal in attribution; then only one sensible.
        (SENSIBLE_FIRST, None, [0.9, 0.9], [0.6, 0.7], True),
        (SENSIBLE_FIRST, None, [0.9, 0.9], [0.4, 0.7], False),
        # Without a weight, attribution decides what sensibleness leaves equal, not the reverse.
        (WEIGHTED, (1.0, 0.0), [0.9, 0.8], [0.5, 0.5], True),
        (WEIGHTED, (0.0, 1.0), [0.9, 0.9], [0.5, 0.4], False),
    ],
)
def test_a_tie_is_what_the_other_score_decides(
    function, weights, attribution, sensibleness, is_tie
):
    scores = [np.array(each, float)[:, np.newaxis] for each in (attribution, sensibleness)]

    assert choose_with_ties(function, scores[0], scores[1], weights).is_tie.tolist() == [is_tie]


def test_each_example_is_chosen_for_by_itself():
    attribution = np.array([[0.1, 0.9, UNKNOWN], [0.8, 0.2, UNKNOWN]])
    sensibleness = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])

    chosen = choose(SENSIBLE_FIRST, attribution, sensibleness)

    # 1: both sensible, 0.8 is higher. 2: only the second is sensible. 3: no attribution.
    assert chosen.tolist() == [1, 1, NOTHING]


def test_no_examples_are_no_choices():
    assert choose(MAX_ATTRIBUTION, np.zeros((2, 0)), np.zeros((2, 0))).tolist() == []


@pytest.mark.parametrize(
    ("function", "weights", "said"),
    [
        ("max-f1", None, "max-f1.*expected one of max-attribution"),
        (WEIGHTED, None, "no weights"),
        (WEIGHTED, (0.0, 0.0), "not both 0"),
        (WEIGHTED, (-1.0, 2.0), "0 and more"),
        (WEIGHTED, (math.inf, 1.0), "0 and more"),
        (WEIGHTED, (1.0,), "expected two"),
        (MAX_ATTRIBUTION, (1.0, 1.0), "which has none"),
    ],
)
def test_a_function_that_is_not_there_or_has_other_weights_is_refused(function, weights, said):
    with pytest.raises(ValueError, match=said):
        choose(function, np.zeros((1, 1)), np.zeros((1, 1)), weights)


def test_shapes_that_differ_and_empty_pools_are_refused():
    with pytest.raises(ValueError, match="shapes"):
        choose(MAX_ATTRIBUTION, np.zeros((2, 3)), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="a pool of one"):
        choose(MAX_ATTRIBUTION, np.zeros((0, 3)), np.zeros((0, 3)))


def test_choosing_by_a_noisy_metric_raises_it_more_than_the_truth():
    """The winner's curse, with truth and noise of equal size, so that both can be reckoned.

    Seven candidates per example have a true attribution t ~ N(0.5, 0.1²), a metric shows
    t + e with e ~ N(0, 0.1²), a second one t + e' of its own error. The metric's values have the
    standard deviation 0.1 · √2 = 0.1414. The highest of seven normal values lies 1.3522 standard
    deviations over their mean (order statistics, Harter 1961), so the metric of those chosen lies
    1.3522 · 0.1414 = 0.1912 over the pool. Of a deviation of the metric half is truth, as
    Var t / Var (t + e) = 0.01 / 0.02: the truth rises by 0.0956 only, and so does the second
    metric. Means over 20,000 examples have a standard error below 0.1414 / √20,000 = 0.001; five
    of them are the margin.
    """
    random = np.random.default_rng(7)
    shape, margin = (7, 20_000), 0.005
    truth = random.normal(0.5, 0.1, shape)
    metric = truth + random.normal(0, 0.1, shape)
    second = truth + random.normal(0, 0.1, shape)

    chosen = choose(MAX_ATTRIBUTION, metric, np.ones(shape))

    def gain(values):
        return values[chosen, np.arange(shape[1])].mean() - values.mean()

    assert gain(metric) == pytest.approx(0.1912, abs=margin)
    assert gain(truth) == pytest.approx(0.0956, abs=margin)
    assert gain(second) == pytest.approx(gain(truth), abs=margin)
    assert gain(metric) - gain(truth) > 0.08


def test_choosing_by_the_truth_flatters_nobody():
    random = np.random.default_rng(8)
    truth = random.normal(0.5, 0.1, (7, 20_000))

    chosen = choose(MAX_ATTRIBUTION, truth, np.ones(truth.shape))

    # 1.3522 · 0.1 over the pool, and that is real.
    gain = truth[chosen, np.arange(20_000)].mean() - truth.mean()
    assert gain == pytest.approx(0.1352, abs=0.005)


def test_a_metric_that_decides_among_many_equals_is_raised_as_well():
    """Seven candidates with a yes or no of attribution (a yes with p = 0.6), and sensibleness as
    above: truth N(0.5, 0.1²), the metric with an error of its own size.

    The highest sensibleness is taken of those with a yes, k of them with k ~ Bin(7, 0.6), or of all
    seven where k = 0. Expected highest of k standard normal values (Harter 1961), k = 1 to 7:
    0, 0.5642, 0.8463, 1.0294, 1.1630, 1.2672, 1.3522. With P(k) = 0.0172, 0.0774, 0.1935, 0.2903,
    0.2613, 0.1306, 0.0280 and P(0) = 0.0016 for the last value, their mean is 1.0158: the metric
    rises by 1.0158 · 0.1414 = 0.1437, and the truth by half of it. Labels cut at 0.5 are all no
    with 0.5^k, so shown are 1 - E 0.5^k = 1 - ((0.4 + 0.6 · 0.5)^7 - 0.4^7 + 0.4^7 · 0.5^7)
    = 1 - (0.0824 - 0.0016 + 0.0000) = 0.919 of them, where the pool has one half. All but k = 1 is
    decided so: 1 - 0.0172 = 0.983. Margins are as above; of shares five times √(0.25 / 20,000).
    """
    random = np.random.default_rng(9)
    shape, margin = (7, 20_000), 0.005
    attribution = (random.random(shape) < 0.6).astype(float)
    truth = random.normal(0.5, 0.1, shape)
    metric = truth + random.normal(0, 0.1, shape)

    chosen, is_tie = choose_with_ties(MAX_ATTRIBUTION, attribution, metric)

    def taken(values):
        return values[chosen, np.arange(shape[1])]

    assert taken(metric).mean() - metric.mean() == pytest.approx(0.1437, abs=margin)
    assert taken(truth).mean() - truth.mean() == pytest.approx(0.0718, abs=margin)
    assert (taken(metric) > 0.5).mean() == pytest.approx(0.919, abs=0.018)
    assert (taken(metric) > 0.5).mean() - (taken(truth) > 0.5).mean() > 0.1
    assert is_tie.mean() == pytest.approx(0.983, abs=margin)
