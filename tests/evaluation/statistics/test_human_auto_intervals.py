"""Intervals of human–auto agreement, against plain loops and by hand."""

import math

import numpy as np
import pytest
from scipy.stats import spearmanr
from scipy.stats import t as student
from sklearn import metrics as sklearn_metrics

from evaluation.statistics.ceiling import Ceiling
from evaluation.statistics.human_auto import MEASURES, measures_with_intervals
from evaluation.statistics.intervals import (
    percentile_interval,
    resample_dialogs,
    share_interval,
    sum_by_dialog,
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


def test_mse_has_the_bootstrap_of_items_written_out_again_and_again():
    given = random_outcomes(0, n=120, n_dialogs=30)
    score, rater_score, dialogs = with_rater_score(given)
    figures = measures_with_intervals(given, seed=5, n_resamples=60)

    [weights] = resample_dialogs(30, 60, seed=5)
    repeats = weights[:, dialogs].astype(int)
    resampled = [
        sklearn_metrics.mean_squared_error(np.repeat(rater_score, n), np.repeat(score, n))
        for n in repeats
    ]

    expected = percentile_interval(np.array(resampled), len(np.unique(dialogs)))
    assert (figures["mse_low"], figures["mse_high"]) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", [0, 1])
def test_kappa_and_ranks_have_wilsons_interval_with_the_variance_of_a_plain_jackknife(seed):
    given = random_outcomes(seed, n=120, n_dialogs=30)
    human, score, _, dialogs = complete(given)
    scored, rater_score, of_rated = with_rater_score(given)
    figures = measures_with_intervals(given, seed=5)

    def expected(measure, columns, own, ends, *, most=math.inf, degrees=None):
        """Wilson's ends of a figure that is read as a share of its range."""
        values = [
            measure(*(column[own != dialog] for column in columns)) for dialog in np.unique(own)
        ]
        variance = np.var(values, ddof=1) * (len(values) - 1) ** 2 / len(values)
        low, high = ends
        p, v = (measure(*columns) - low) / (high - low), variance / (high - low) ** 2
        n, t = min(p * (1 - p) / v, most), student.ppf(0.975, degrees or len(values) - 1)
        middle, root = p + t**2 / (2 * n), t * math.sqrt(p * (1 - p) / n + t**2 / (4 * n**2))
        return [low + (high - low) * (middle + s * root) / (1 + t**2 / n) for s in (-1, 1)]

    # Both labels are in more than 5 dialogs. Student's t has a degree for each dialog that holds
    # the rarer one, less one.
    rarer = min(len(np.unique(dialogs[human == label])) for label in (0, 1))
    label = score > 0.5
    of_labels = {"columns": (human, label), "own": dialogs, "degrees": rarer - 1}
    kappa = expected(sklearn_metrics.cohen_kappa_score, ends=(-1, 1), **of_labels)
    # No more items than independent ones without ties would be worth: Newcombe (2006) with n yes
    # and m no has V = A (1 - A) (1 + ((m + n) / 2 - 1) ((1 - A) / (2 - A) + A / (1 + A))) / mn.
    area, n_yes, n_no = figures["auc"], (human == 1).sum(), (human == 0).sum()
    unequal = (1 - area) / (2 - area) + area / (1 + area)
    most = n_yes * n_no / (1 + ((n_yes + n_no) / 2 - 1) * unequal)
    auc = expected(sklearn_metrics.roc_auc_score, (human, score), dialogs, (0, 1), most=most)
    # Bonett and Wright (2000): V = (1 - ρ²)² (1 + ρ² / 2) / (n - 3)
    rho = figures["spearman"]
    most = (len(scored) - 3) / ((1 - rho**2) * (1 + rho**2 / 2))
    spearman = expected(
        lambda x, y: spearmanr(x, y).statistic, (scored, rater_score), of_rated, (-1, 1), most=most
    )

    found = {
        name: [figures[f"{name}_low"], figures[f"{name}_high"]]
        for name in ("kappa", "auc", "spearman")
    }
    assert found["kappa"] == pytest.approx(kappa, abs=1e-10)
    assert found["auc"] == pytest.approx(auc, abs=1e-10)
    assert found["spearman"] == pytest.approx(spearman, abs=1e-10)


def test_scores_that_are_all_different_have_a_correlation_with_an_interval():
    ranks = np.arange(12) / 12
    figures = measures_with_intervals(outcomes([1, 0] * 6, ranks, ranks[::-1]), seed=1)

    assert figures["spearman"] == pytest.approx(-1)
    # Eleven dialogs have another score than the first: 11 / (11 + t²), t² = 2.201² = 4.844
    assert figures["spearman_high"] == pytest.approx(1 - 2 * 11 / (11 + 4.844), abs=1e-3)


def test_a_metric_that_is_always_right_is_not_certain():
    """Twenty dialogs, 15 yes and 5 no. Nothing varies, so 5 dialogs hold all that is known.

    The lower end of 5 of 5 is 1 / (1 + t² / 5): with 19 degrees t² = 2.093² = 4.381, so .533 for
    AUC, and 2 · .533 - 1 for Spearman; with 4 degrees t² = 2.776² = 7.709, so 2 · .3934 - 1 for
    kappa. The recalls have the lower ends .765 (15 of 15, t² = 2.145² = 4.600) and .3934: their
    mean 1 - √(.235² + .6066²) / 2 = .675. With four noes, AUC and kappa say nothing.
    """
    human = [1] * 15 + [0] * 5
    known = measures_with_intervals(outcomes(human, human), seed=1)
    unknown = measures_with_intervals(outcomes([1, *human][:20], [1, *human][:20]), seed=1)

    lows = {"auc": 0.533, "spearman": 0.066, "kappa": -0.213, "balanced_accuracy": 0.675}
    for name, low in lows.items():
        assert (known[name], known[f"{name}_high"], unknown[name]) == (1, 1, 1)
        assert known[f"{name}_low"] == pytest.approx(low, abs=1e-3)
        assert math.isnan(unknown[f"{name}_low"]) == (name != "balanced_accuracy")


def test_shares_have_wilson_intervals_over_dialogs():
    given = random_outcomes(3)
    human, score, _, dialogs = complete(given)
    figures = measures_with_intervals(given, seed=1)

    same = np.column_stack([human == (score > 0.5), np.ones(len(human))]).astype(float)
    expected = share_interval(sum_by_dialog(same, dialogs, 40), most_items=len(human))

    assert (figures["accuracy_low"], figures["accuracy_high"]) == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_measure_lies_in_its_interval(seed):
    figures = measures_with_intervals(random_outcomes(seed), seed=seed)

    for name in MEASURES:
        assert figures[f"{name}_low"] < figures[name] < figures[f"{name}_high"]


def test_a_perfect_metric_still_has_an_interval():
    figures = measures_with_intervals(outcomes([1, 0] * 20, [0.9, 0.1] * 20), seed=1)

    for name in ("accuracy", "precision", "recall", "f1"):
        assert figures[name] == figures[f"{name}_high"] == 1
        assert 0.8 < figures[f"{name}_low"] < 0.95


def test_large_chunks_and_small_ones_give_the_same_intervals(monkeypatch):
    given = random_outcomes(4)
    whole = measures_with_intervals(given, seed=1)

    monkeypatch.setattr("evaluation.statistics.rank_measures.CHUNK_BYTES", 10_000)

    assert measures_with_intervals(given, seed=1) == pytest.approx(whole, abs=EXACT)


def test_accuracy_is_held_against_a_ceiling_over_the_same_items():
    # Ten dialogs of four items, of which people agree on three. The metric is right where they
    # agree, and has no score for the items of the last dialog.
    same = np.array([1.0, 1.0, 1.0, 0.0] * 10)
    scores = np.where(np.arange(40) < 36, 1.0, NAN)
    given = outcomes([1] * 40, scores, dialogs=np.repeat(range(10), 4))
    ceiling = Ceiling(5, same, same)

    figures = measures_with_intervals(given, seed=1, ceilings={"rest": ceiling})

    assert figures["accuracy"] == 1
    assert figures["ceiling_rest"] == figures["ceiling_rest_accuracy"] == 0.75
    assert figures["minus_ceiling_rest"] == 0
    # Nothing differs in nine dialogs: t² / (√2 · 9) = 2.306² / 12.7 = .42 would be possible for
    # shares of one half, and less here.
    low, high = figures["minus_ceiling_rest_low"], figures["minus_ceiling_rest_high"]
    assert -0.42 < low < -0.1
    assert 0.1 < high < 0.42
