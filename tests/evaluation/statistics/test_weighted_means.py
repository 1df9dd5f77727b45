"""Weighted means by raters alone and with scores: hand calculations, and what limits them."""

import math

import numpy as np
import pytest

from evaluation.statistics.inclusion_probabilities import by_uncertainty, systematic, uncertainty
from evaluation.statistics.prediction_powered import HumansOnly, RatedPart
from evaluation.statistics.rater_answers import weighted_statistics
from evaluation.statistics.weighted_means import weighted_prediction_powered

NAN = math.nan


def drawn_part(seed, n=200, n_drawn=60):
    """Return dialogs of one response, drawn by uncertainty, and the answers of all of them."""
    random = np.random.default_rng(seed)
    scores = random.random(n)
    answers = (random.random(n) < scores).astype(float)
    probabilities = by_uncertainty(uncertainty(scores), n_drawn)
    is_drawn = systematic(probabilities, random.permutation(n), random.random())
    part = RatedPart(np.where(is_drawn, answers, NAN), scores, np.arange(n), is_drawn)
    return part, np.where(is_drawn, probabilities, NAN), answers


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        # The known items have (1 + 3)² / (1 + 9) = 1.6 in all, so each weight is multiplied by .4.
        ([1.0, 3, 5], [[0.4, 0.4], [0, 1.2], [0, 0]]),
        ([2.0, 2, 2], [[1, 1], [0, 1], [0, 0]]),
        ([0.0, 0, 2], [[0, 0], [0, 0], [0, 0]]),
    ],
)
def test_weights_of_known_items_add_up_to_the_number_of_kish(weights, expected):
    found = weighted_statistics(np.array([1, 0, NAN]), np.array(weights))

    assert found == pytest.approx(np.array(expected))


def test_both_means_by_their_formulas():
    part, probabilities, _ = drawn_part(1)
    here = ~np.isnan(probabilities)
    weights = 1 / probabilities[here]
    answers, errors = part.human[here], part.human[here] - part.score[here]

    found = weighted_prediction_powered(part, probabilities, is_share=True, lam=1)

    assert found.human == pytest.approx(weights @ answers / weights.sum())
    assert found.estimate == pytest.approx(part.score.mean() + weights @ errors / 200)
    assert (found.lam, found.n_labels, found.reason) == (1, 60, None)
    assert found.low < found.estimate < found.high
    # Hájek: each dialog adds w (y - mean) / Σ w to the error.
    residuals = weights * (answers - found.human) / weights.sum()
    human_variance = residuals @ residuals * 60 / 59
    z = part.score - found.estimate
    z[here] += weights * errors
    variance = (z @ z - 200 * z.mean() ** 2) / 200**2 * 200 / 199
    assert found.n_effective == pytest.approx(60 * human_variance / variance)


def test_lambda_is_that_of_the_smallest_variance():
    """The labels that an estimate is worth are the fewer, the larger its variance."""
    part, probabilities, _ = drawn_part(6)

    def worth(lam):
        found = weighted_prediction_powered(part, probabilities, is_share=True, lam=lam)
        return found.n_effective

    tuned = weighted_prediction_powered(part, probabilities, is_share=True)

    best = max(np.linspace(0, 1, 1001), key=worth)
    assert tuned.lam == pytest.approx(best, abs=0.001)
    assert 0 < tuned.lam < 1


def test_scores_that_say_nothing_leave_raters_alone():
    part, probabilities, _ = drawn_part(7)
    same = part._replace(score=np.full(200, 0.5))

    found = weighted_prediction_powered(same, probabilities, is_share=True, lam=0)

    assert found.estimate == pytest.approx(found.human)
    # Both variances differ by the weights of the draw, which add up to N only on average.
    assert (found.low, found.high) == pytest.approx((found.human_low, found.human_high), abs=0.005)


def test_with_equal_probabilities_raters_alone_are_a_plain_share():
    part, _, _ = drawn_part(2)
    equal = np.where(part.is_rated, 0.3, NAN)

    found = weighted_prediction_powered(part, equal, is_share=True)

    assert found.human == pytest.approx(np.nanmean(part.human))


def test_ordinal_means_have_intervals_by_t():
    part, probabilities, _ = drawn_part(3)
    on_five = part._replace(human=1 + 4 * part.human, score=1 + 4 * part.score)

    share = weighted_prediction_powered(part, probabilities, is_share=True)
    found = weighted_prediction_powered(on_five, probabilities, is_share=False)

    assert found.lam == pytest.approx(share.lam)

    assert found.estimate == pytest.approx(1 + 4 * share.estimate)
    assert found.human == pytest.approx(1 + 4 * share.human)
    assert found.high - found.estimate == pytest.approx(found.estimate - found.low)


@pytest.mark.parametrize(
    ("n_drawn", "is_rare", "reason"),
    [(20, False, HumansOnly.FEW_LABELS), (60, True, HumansOnly.RARE_ANSWER)],
)
def test_the_rules_are_those_of_few_labels(n_drawn, is_rare, reason):
    part, probabilities, _ = drawn_part(4, n_drawn=n_drawn)
    if is_rare:
        part = part._replace(human=np.where(np.isnan(part.human), NAN, 1.0))

    found = weighted_prediction_powered(part, probabilities, is_share=True)

    assert found.reason == reason
    assert math.isnan(found.estimate)
    assert found.human_low < found.human_high


def test_without_any_answer_nothing_is_defined():
    part, probabilities, _ = drawn_part(5)

    found = weighted_prediction_powered(
        part._replace(human=np.full(200, NAN)), probabilities, is_share=True
    )

    assert math.isnan(found.human)
    assert found.reason == HumansOnly.NO_SCORES


def test_intervals_hold_the_truth():
    """With 300 studies, two Monte-Carlo errors are 2.5 %, so 92.5 % of them or more hold .5."""
    held = np.zeros(2)
    for seed in range(300):
        part, probabilities, _ = drawn_part([9, seed])
        found = weighted_prediction_powered(part, probabilities, is_share=True)
        held += [found.low <= 0.5 <= found.high, found.human_low <= 0.5 <= found.human_high]

    assert (held / 300 >= 0.925).all()
