"""Human–auto agreement against scikit-learn and scipy, and its intervals against plain loops."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn import metrics as sklearn_metrics
from sklearn.calibration import calibration_curve

from evaluation.statistics.human_auto import (
    MEASURES,
    calibration_bins,
    confusion,
    measures,
    measures_with_intervals,
    roc_points,
    with_ties_half,
)
from tests.evaluation.statistics.outcomes import (
    NAN,
    complete,
    outcomes,
    random_outcomes,
    with_rater_score,
)

EXACT = 1e-12
SEEDS = range(12)

# The worked example of docs/metrics.md.
HUMAN = [1, 1, 1, 0, 0]
SCORE = [0.9, 0.6, 0.4, 0.6, 0.1]
RATER_SCORE = [1.0, 0.8, 0.6, 0.4, 0.0]


def by_scikit_learn(given, threshold=0.5):
    """Return every measure from public packages."""
    human, score, *_ = complete(given)
    scored, rater_score, _ = with_rater_score(given)
    label = (score > threshold).astype(float)
    return {
        "accuracy": sklearn_metrics.accuracy_score(human, label),
        "balanced_accuracy": sklearn_metrics.balanced_accuracy_score(human, label),
        "precision": sklearn_metrics.precision_score(human, label),
        "recall": sklearn_metrics.recall_score(human, label),
        "f1": sklearn_metrics.f1_score(human, label),
        "kappa": sklearn_metrics.cohen_kappa_score(human, label),
        "auc": sklearn_metrics.roc_auc_score(human, score),
        "mse": sklearn_metrics.mean_squared_error(rater_score, scored),
        "spearman": spearmanr(scored, rater_score).statistic,
        "baseline": max(human.mean(), 1 - human.mean()),
    }


# Point measures


@pytest.mark.parametrize("seed", SEEDS)
def test_every_measure_equals_scikit_learn_and_scipy(seed):
    given = random_outcomes(seed)

    expected = by_scikit_learn(given)

    assert measures(given) == pytest.approx(expected, abs=EXACT)
    assert tuple(measures(given)) == MEASURES


def test_measures_by_hand():
    figures = measures(outcomes(HUMAN, SCORE, RATER_SCORE))

    # tp 2, fn 1, fp 1, tn 1
    assert figures["accuracy"] == pytest.approx(3 / 5)
    assert figures["balanced_accuracy"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert figures["precision"] == figures["recall"] == figures["f1"] == pytest.approx(2 / 3)
    # by chance 3/5 * 3/5 + 2/5 * 2/5 = 13/25
    assert figures["kappa"] == pytest.approx((3 / 5 - 13 / 25) / (1 - 13 / 25))
    # pairs of a yes and a no: 0.9 beats both, 0.6 ties and beats, 0.4 loses and beats
    assert figures["auc"] == pytest.approx((2 + 1.5 + 1) / 6)
    # differences 0.1, 0.2, 0.2, 0.2, 0.1
    assert figures["mse"] == pytest.approx((0.01 + 0.04 + 0.04 + 0.04 + 0.01) / 5)
    # ranks 5, 3.5, 2, 3.5, 1 and 5, 4, 3, 2, 1: covariance 8, variances 9.5 and 10
    assert figures["spearman"] == pytest.approx(8 / math.sqrt(95))
    assert figures["baseline"] == pytest.approx(3 / 5)


def test_a_score_at_the_threshold_is_a_no():
    assert confusion(outcomes([1, 0], [0.5, 0.5])) == {"tp": 0, "fn": 1, "fp": 0, "tn": 1}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_confusion_matrix_equals_scikit_learn(seed):
    given = random_outcomes(seed)
    human, score, *_ = complete(given)

    tn, fp, fn, tp = sklearn_metrics.confusion_matrix(human, score > 0.5).ravel()

    assert confusion(given) == {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    assert all(type(n) is int for n in confusion(given).values())


def test_items_without_a_score_take_no_part():
    padded = outcomes([*HUMAN, 1, NAN], [*SCORE, NAN, NAN], [*RATER_SCORE, 1.0, 0.5])

    assert measures(padded) == measures(outcomes(HUMAN, SCORE, RATER_SCORE))


def test_tied_items_count_where_no_majority_is_needed():
    """Two raters, eight items: they agree on two and are tied on six, where the scores fall.

    Rater scores 1, .5 (six times), 0 have the ranks 8, 4.5, 1; scores .2, .1, .3, .4, .5, .6, .7,
    .8 the ranks 2, 1, 3 … 8. Covariance -2.5 · 3.5 + 0 + 3.5 · -3.5 = -21, variances 42 and 24.5:
    -21 / √1029 = -.655. Over the two items with a majority it would be -1.
    """
    human = [1, *[NAN] * 6, 0]
    given = outcomes(human, [0.2, 0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [1, *[0.5] * 6, 0])

    figures = measures(given)

    assert figures["spearman"] == pytest.approx(-21 / math.sqrt(42 * 24.5))
    # Squared errors .64 (of the first), .16, .04, .01, 0, .01, .04, and .64 (of the last)
    assert figures["mse"] == pytest.approx(1.54 / 8)
    assert figures["accuracy"] == 0


def test_with_ties_as_a_half_no_rated_item_drops_out():
    """Scores .9 .6 .4 .1 with yes, tied, no, no: accuracy (3 + ½) / 4; only the tie is 'wrong'.

    On the curve the tied item is half a yes and half a no. Yeses 1 (of .9) and ½ (of .6), noes ½
    (of .6), 1 and 1: pairs won 1 · 2.5, and ½ · (2 + ¼), of 1.5 · 2.5.
    """
    given = outcomes([1, NAN, 0, 0], [0.9, 0.6, 0.4, 0.1])
    is_tied = np.array([False, True, False, False])

    found = with_ties_half(given, is_tied)

    assert found["accuracy"] == pytest.approx(3.5 / 4)
    assert found["auc"] == pytest.approx((2.5 + 0.5 * 2.25) / (1.5 * 2.5))
    assert all(map(math.isnan, with_ties_half(given, np.zeros(4, bool)).values()))


def test_items_without_a_rater_score_are_left_out_of_what_needs_one():
    full = measures(outcomes(HUMAN, SCORE, RATER_SCORE))
    padded = measures(outcomes([*HUMAN, 1], [*SCORE, 0.7], [*RATER_SCORE, NAN]))

    assert (padded["mse"], padded["spearman"]) == (full["mse"], full["spearman"])
    assert padded["accuracy"] == pytest.approx(4 / 6)


@pytest.mark.parametrize("human", [[1, 1, 1], [0, 0, 0]])
def test_with_one_class_only_what_compares_two_is_undefined(human):
    score = [0.9, 0.2, 0.6]
    figures = measures(outcomes(human, score))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isnan(sklearn_metrics.roc_auc_score(human, score))
    assert math.isnan(figures["auc"])
    assert math.isnan(figures["balanced_accuracy"])
    assert figures["kappa"] == 0  # scikit-learn agrees: the metric varies, agreement is chance
    assert figures["baseline"] == 1
    assert roc_points(outcomes(human, score)) == []


def test_where_nobody_ever_says_no_kappa_is_undefined():
    figures = measures(outcomes([1, 1], [0.9, 0.8]))

    assert math.isnan(figures["kappa"])
    assert figures["accuracy"] == figures["precision"] == figures["recall"] == 1


def test_what_is_a_share_of_nothing_is_undefined_and_not_0():
    never_yes = measures(outcomes([1, 0], [0.1, 0.2]))
    no_yes_at_all = measures(outcomes([0, 0], [0.1, 0.2]))

    assert math.isnan(never_yes["precision"])
    assert never_yes["recall"] == never_yes["f1"] == 0
    assert all(math.isnan(no_yes_at_all[name]) for name in ("precision", "recall", "f1"))


@pytest.mark.parametrize("given", [outcomes([], []), outcomes([NAN, 1], [0.5, NAN])])
def test_without_items_everything_is_undefined(given):
    assert all(math.isnan(figure) for figure in measures(given).values())
    assert all(math.isnan(figure) for figure in measures_with_intervals(given, seed=1).values())
    assert confusion(given) == {"tp": 0, "fn": 0, "fp": 0, "tn": 0}
    assert roc_points(given) == calibration_bins(given) == []


def test_equal_scores_are_no_better_than_chance():
    figures = measures(outcomes([1, 0, 1], [0.7, 0.7, 0.7], [1, 0, 0.8]))

    assert figures["auc"] == 1 / 2
    assert math.isnan(figures["spearman"])


@pytest.mark.parametrize("beyond", [-0.1, 1.1])
def test_scores_that_are_no_probabilities_have_no_squared_error(beyond):
    given = outcomes([1, 0, 1], [0.7, 0.2, beyond])
    figures = measures_with_intervals(given, seed=1)

    assert math.isnan(figures["mse"])
    assert math.isnan(figures["mse_low"])
    assert math.isfinite(figures["auc"])
    assert calibration_bins(given) == []


# Curves


@pytest.mark.parametrize("seed", SEEDS)
def test_the_roc_curve_is_that_of_scikit_learn(seed):
    given = random_outcomes(seed)
    human, score, *_ = complete(given)
    false_alarms, hits, _ = sklearn_metrics.roc_curve(human, score, drop_intermediate=False)

    points = roc_points(given)

    x, y = ([point[axis] for point in points] for axis in ("false_alarm", "hit"))
    assert set(zip(x, y, strict=True)) <= set(zip(false_alarms, hits, strict=True))
    assert sklearn_metrics.auc(x, y) == pytest.approx(measures(given)["auc"])
    for point in points:
        threshold = point["threshold"]
        said_yes = score > (-math.inf if threshold is None else threshold)
        assert said_yes[human == 1].mean() == pytest.approx(point["hit"])
        assert said_yes[human == 0].mean() == pytest.approx(point["false_alarm"])


def test_the_last_point_of_a_roc_curve_has_no_threshold_and_0_has_no_sign():
    points = roc_points(outcomes([1, 0, 1, 0], [0.9, 0.6, 0.0, -0.0]))

    # Above .9 nothing; above .6 the first yes; above 0 a no as well; then all.
    assert [point["threshold"] for point in points] == [0.9, 0.6, 0.0, None]
    assert math.copysign(1, points[2]["threshold"] or 0.0) == 1


def test_a_long_roc_curve_is_thinned_and_keeps_its_ends():
    given = random_outcomes(2, n=5000)

    points = roc_points(given, most=50)

    assert len(points) == 50
    assert (points[0]["false_alarm"], points[0]["hit"]) == (0, 0)
    assert (points[-1]["false_alarm"], points[-1]["hit"]) == (1, 1)
    x, y = ([point[axis] for point in points] for axis in ("false_alarm", "hit"))
    assert sklearn_metrics.auc(x, y) == pytest.approx(measures(given)["auc"], abs=2e-3)


def test_a_straight_roc_curve_has_two_points():
    given = outcomes([1, 0, 1, 0], [0.7, 0.7, 0.2, 0.2])

    assert [(point["false_alarm"], point["hit"]) for point in roc_points(given)] == [(0, 0), (1, 1)]


@pytest.mark.parametrize("seed", SEEDS)
def test_calibration_is_that_of_scikit_learn(seed):
    given = random_outcomes(seed)
    human, score, *_ = complete(given)
    shares, scores = calibration_curve(human, score, n_bins=10)

    bins = calibration_bins(given)

    assert [each["share_yes"] for each in bins] == pytest.approx(shares.tolist())
    assert [each["score"] for each in bins] == pytest.approx(scores.tolist())
    assert sum(each["n"] for each in bins) == len(human)
    assert all(each["low"] <= each["share_yes"] <= each["high"] for each in bins)


def test_a_bin_with_one_dialog_has_no_interval():
    [low, high] = calibration_bins(outcomes([0, 1, 1], [0.15, 0.95, 0.97], dialogs=[0, 1, 2]))

    assert math.isnan(low["low"])
    assert math.isnan(low["high"])
    assert high["low"] < high["high"] == 1
