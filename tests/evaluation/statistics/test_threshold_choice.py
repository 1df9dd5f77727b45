"""Thresholds by hand, and what choosing on the scored items does to a figure, by simulation."""

import math

import numpy as np
import pytest
from scipy.special import expit, ndtri

from evaluation.models import MetricRun
from evaluation.statistics.ceiling import Ceiling
from evaluation.statistics.threshold_choice import (
    ThresholdChoice,
    best_threshold,
    figures_of_choice,
    nested,
)

NAN = math.nan
TRUE_ACCURACY = 0.834  # each simulated candidate's, at its best threshold


def of(*values):
    return np.array(values, float)


@pytest.mark.parametrize(
    ("scores", "human", "threshold"),
    [
        # no .2, yes .4, yes .8: only a cut between .2 and .4 is always right.
        ([0.2, 0.4, 0.8], [0, 1, 1], 0.3),
        # no .1, yes .3, no .5, yes .9: between .1 and .3 and between .5 and .9 three of four are
        # right; .2 is .3 from the middle, .7 only .2.
        ([0.1, 0.3, 0.5, 0.9], [0, 1, 0, 1], 0.7),
        # Both .2 to .6 and .4 to .8 are equally far from .5 and right twice: the lower one.
        ([0.2, 0.6, 0.4, 0.8], [0, 0, 1, 1], 0.3),
        # Reversed: best is to say yes to all (below .2) or no to all (above .6), 1 of 2 each;
        # so is .4 with none right. (0 + .2) / 2 = .1 is .4 from the middle, (.6 + 1) / 2 = .8 .3.
        ([0.2, 0.6], [1, 0], 0.8),
        # Equal scores are never parted: yes to both or no to both.
        ([0.5, 0.5], [0, 1], 0.25),
        # One class only: halfway to the end of the scale.
        ([0.6, 0.8], [1, 1], 0.3),
        ([0.6, 0.8], [0, 0], 0.9),
        # No number is beyond the end of the scale: 'no to all' is a cut at 1, which 1 is not above.
        ([1.0, 1.0, 0.0], [0, 0, 0], 1.0),
        # Ties and missing ones take no part.
        ([0.2, 0.4, 0.3, NAN], [0, 1, NAN, 1], 0.3),
        ([NAN, 0.4], [0, NAN], NAN),
    ],
)
def test_the_threshold_with_the_highest_accuracy(scores, human, threshold):
    assert best_threshold(of(*scores), of(*human)) == pytest.approx(threshold, nan_ok=True)


@pytest.mark.parametrize(
    ("scores", "human", "threshold"),
    [
        # no .2, yes .4, yes .8: midpoints are the same under either rule.
        ([0.2, 0.4, 0.8], [0, 1, 1], 0.3),
        # No cut is above 1, so 'no to all' (3 right) is no choice; .5 is right once, 0 never.
        ([1.0, 1.0, 0.0], [0, 0, 0], 0.5),
        # Below the top of the scale it is one.
        ([0.6, 0.8], [0, 0], 0.9),
        # 'Yes to all' is 0, which 0 itself reaches; above it (>) that could not be said.
        ([0.0, 0.6], [1, 1], 0.0),
        # All alike at the top: only 'yes to all' is left, halfway from 0.
        ([1.0, 1.0, 1.0], [0, 0, 1], 0.5),
    ],
)
def test_the_threshold_of_a_metric_that_is_yes_at_its_threshold(scores, human, threshold):
    found = best_threshold(of(*scores), of(*human), is_yes_at_threshold=True)

    assert found == pytest.approx(threshold)


def test_neighbours_without_a_number_in_between_are_parted_all_the_same():
    low = 0.3
    high = math.nextafter(low, 1)

    above = best_threshold(of(low, high), of(0, 1))
    reached = best_threshold(of(low, high), of(0, 1), is_yes_at_threshold=True)

    assert (above, reached) == (low, high)  # low > low and low ≥ high are no, high is yes in both


def test_another_scale_has_another_middle_and_other_ends():
    # 1 no, 3 yes, 4 no, 5 yes on 1 to 5: 2 and 4.5 are right 3 of 4 times; 2 is nearer to 3.
    assert best_threshold(of(1, 3, 4, 5), of(0, 1, 0, 1), (1, 5)) == 2.0


@pytest.mark.parametrize("is_yes_at", [False, True])
def test_no_other_threshold_is_better(is_yes_at):
    random = np.random.default_rng(3)
    for _ in range(50):
        scores = random.integers(0, 12, 20) / 12
        human = random.integers(0, 2, 20).astype(float)

        cut = best_threshold(scores, human, is_yes_at_threshold=is_yes_at)

        def n_right(threshold, scores=scores, human=human):
            says = scores >= threshold if is_yes_at else scores > threshold
            return (says == (human == 1)).sum()

        # Whatever a run could be given: a threshold from 0 to 1.
        assert 0 <= cut <= 1
        assert n_right(cut) >= max(map(n_right, np.linspace(0, 1, 500)))


# --- nested ---------------------------------------------------------------------------------


def simulated(seed, n, n_candidates):
    """Draw labels, and scores whose best threshold is right 83.4 % of the time, all alike."""
    random = np.random.default_rng(seed)
    human = (random.random(n) < 0.5).astype(float)
    distance = 2 * ndtri(TRUE_ACCURACY)
    noise = random.normal(size=(n_candidates, n))
    return expit(noise + distance * (human - 0.5)), human


@pytest.mark.parametrize(
    ("n", "n_candidates", "flattering"),
    [
        # The published trial: a threshold alone, and the best of 15 equally good candidates.
        (100, 1, 0.854),
        (200, 1, 0.845),
        (100, 15, 0.908),
        (200, 15, 0.886),
    ],
)
def test_choosing_and_reporting_on_the_same_items_flatters_and_nested_does_not(
    n, n_candidates, flattering
):
    honest, flattered = [], []
    for seed in range(40):
        scores, human = simulated(seed, n, n_candidates)
        found = nested(scores, human, np.arange(n), seed=seed)
        honest.append((found.labels == human).mean())
        flattered.append((found.flattering_labels == human).mean())

    error = np.std(honest) / math.sqrt(len(honest))
    assert np.mean(honest) == pytest.approx(TRUE_ACCURACY, abs=3 * error)
    error = np.std(flattered) / math.sqrt(len(flattered))
    assert np.mean(flattered) == pytest.approx(flattering, abs=4 * error)
    assert np.mean(flattered) - np.mean(honest) > (0.04 if n_candidates > 1 else 0.01)


def test_no_dialog_has_a_part_in_the_choice_that_labels_it():
    """Each dialog has its own score, and a label that no other dialog's label tells.

    A choice that used a dialog's own labels would be right about it; the others only teach that
    most labels are no.
    """
    n_dialogs = 40
    dialogs = np.repeat(np.arange(n_dialogs), 3)
    human = (dialogs % 4 == 0).astype(float)
    scores = np.vstack([(dialogs == d).astype(float) for d in range(0, n_dialogs, 4)])

    found = nested(scores, human, dialogs, seed=1)

    # Each candidate finds one yes dialog of ten; what is chosen never finds the one held out.
    assert (found.flattering_labels == human).mean() == pytest.approx(31 / 40)
    held_out = found.labels[human == 1]
    assert held_out.mean() == 0


def test_the_same_seed_chooses_the_same_and_every_scored_item_has_a_label():
    scores, human = simulated(1, 60, 4)
    human[3] = NAN
    scores[2, 5] = NAN

    found = nested(scores, human, np.arange(60) // 2, seed=7)
    again = nested(scores, human, np.arange(60) // 2, seed=7)

    assert np.array_equal(found.labels, again.labels, equal_nan=True)
    assert found.by_fold == again.by_fold
    left_out = np.flatnonzero(np.isnan(found.labels)).tolist()
    assert left_out == [5]  # the item without a human label has one, for its tied votes
    assert (sum(found.n_chosen), len(found.by_fold), found.n_dialogs) == (10, 10, 30)


@pytest.mark.parametrize("is_yes_at", [False, True])
def test_a_run_with_the_recommended_threshold_gives_the_labels_that_were_recommended(is_yes_at):
    # Eight of ten are no, but seven have the highest score there is.
    scores = of(1, 1, 1, 1, 1, 1, 1, 0.2, 0.2, 0.2)
    human = of(0, 0, 0, 0, 0, 1, 1, 0, 0, 0)

    found = nested(
        scores[np.newaxis],
        human,
        np.arange(10),
        seed=1,
        untuned=ThresholdChoice(0, 1.0),
        is_yes_at_threshold=is_yes_at,
    )
    assert found.recommended is not None
    run = MetricRun(threshold=found.recommended.threshold, is_yes_at_threshold=is_yes_at)

    assert found.recommended == found.flattering
    assert np.array_equal(scores > run.cut, found.flattering_labels == 1)
    # Above 1: no to all, 8 right. From 1 on that cannot be said: .6 is right about 2 + 3.
    assert (found.flattering_labels == human).sum() == (5 if is_yes_at else 8)
    assert found.recommended.threshold == pytest.approx(0.6 if is_yes_at else 1.0)
    # Untuned at 1: seven have it, none is above it.
    assert found.untuned_labels.sum() == (7 if is_yes_at else 0)


def test_with_few_dialogs_there_is_a_fold_for_each():
    scores, human = simulated(2, 12, 2)

    found = nested(scores, human, np.arange(12) // 2, seed=1)

    assert len(found.by_fold) == 6


@pytest.mark.parametrize(
    ("human", "dialogs", "why"),
    [
        ([1] * 6, range(6), "people said yes to all"),
        ([0] * 6, range(6), "people said no to all"),
        ([0, 1] * 3, [0, 0, 0, 1, 1, 1], "only 2 dialogs"),
        ([0, 1] * 3, [0] * 6, "only 1 dialog,"),
        ([NAN] * 6, range(6), "no response"),
    ],
)
def test_what_cannot_be_chosen_says_why(human, dialogs, why):
    scores = np.vstack([np.linspace(0, 1, 6)] * 2)

    found = nested(scores, of(*human), np.array(list(dialogs)), seed=1)

    assert found.why.startswith(why)
    assert found.recommended is None
    assert np.isnan(found.labels).all()


def test_figures_of_labels_by_hand():
    # Two candidates, five dialogs of two items; the second candidate is right about all.
    human = of(1, 0, 1, 0, 1, 0, 1, 0, 1, 0)
    dialogs = np.repeat(np.arange(5), 2)
    good = np.where(human == 1, 0.9, 0.2)
    bad = np.full(10, 0.7)

    found = nested(np.vstack([bad, good]), human, dialogs, seed=3, untuned=ThresholdChoice(0, 0.5))
    ceiling = Ceiling(5, of(1, 1, 1, 1, 1, 1, 1, 1, 0, 0), human)
    figures = figures_of_choice(found, human, dialogs, 5, seed=1, ceilings={"rest": ceiling})

    assert found.recommended == found.flattering
    assert found.recommended is not None
    assert found.recommended.candidate == 1
    assert found.recommended.threshold == pytest.approx(0.55)
    assert found.n_chosen == (0, 5)
    assert figures["accuracy"] == figures["flattering_accuracy"] == 1.0
    assert figures["optimism_low"] < figures["optimism"] == 0 < figures["optimism_high"]
    # Untuned: .7 > .5, yes to all.
    assert figures["untuned_accuracy"] == figures["gain"] == 0.5
    assert figures["untuned_balanced_accuracy"] == 0.5
    assert figures["baseline"] == 0.5
    assert figures["ceiling_rest"] == pytest.approx(0.8)
    assert figures["minus_ceiling_rest"] == pytest.approx(figures["ceiling_rest_accuracy"] - 0.8)
    assert figures["ceiling_rest_accuracy"] == 1
    assert figures["accuracy_low"] < 1.0 == figures["accuracy_high"]
