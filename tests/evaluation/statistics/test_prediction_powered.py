"""Prediction-powered means: published numbers, plain loops over dialogs, and the rules."""

import math
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from evaluation.statistics.intervals import share_interval
from evaluation.statistics.paired_difference import difference_interval
from evaluation.statistics.prediction_powered import (
    HumansOnly,
    RatedPart,
    corrected_mean,
    prediction_powered_difference,
    prediction_powered_mean,
    prediction_powered_share,
    tuned_lambda,
    variances,
)

NAN = math.nan

# Numbers computed with ppi_py (MIT), ppi_mean_pointestimate and ppi_mean_ci at alpha = .05.
HUMAN = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1]
OF_RATED = [0.9, 0.8, 0.3, 0.7, 0.4, 0.6, 0.95, 0.2, 0.5, 0.85, 0.6, 0.9]
OF_OTHERS = [
    *(0.9, 0.1, 0.4, 0.8, 0.7, 0.95, 0.3, 0.6, 0.2, 0.85, 0.5, 0.75, 0.65, 0.9, 0.15),
    *(0.45, 0.55, 0.8, 0.7, 0.35, 0.25, 0.6, 0.9, 0.1, 0.5, 0.7, 0.8, 0.3, 0.4, 0.6),
]
PUBLISHED = RatedPart(
    human=np.array([*HUMAN, *[NAN] * 30]),
    score=np.array([*OF_RATED, *OF_OTHERS]),
    dialogs=np.arange(42),
    is_rated=np.arange(42) < 12,
)
TUNED = 0.9698475003511


def dialogs_of_a_study(seed, n_dialogs=120, n_rated=40, n_setups=3, share=0.6):
    """Return a study with dialogs of different sizes, and a few answers and scores missing."""
    random = np.random.default_rng(seed)
    dialogs = np.repeat(np.arange(n_dialogs), random.integers(1, n_setups + 1, size=n_dialogs))
    is_rated = random.permutation(n_dialogs) < n_rated
    human = (random.random(n_dialogs)[dialogs] * 0.5 + random.random(len(dialogs)) * 0.5) < share
    human = human.astype(float)
    score = np.clip(0.3 + 0.4 * human + random.normal(0, 0.15, len(dialogs)), 0, 1)
    human[~is_rated[dialogs] | (random.random(len(dialogs)) < 0.1)] = NAN
    return RatedPart(human, score, dialogs, is_rated)


# Published numbers


def test_the_tuned_lambda_is_that_of_ppi_py():
    assert tuned_lambda(PUBLISHED) == pytest.approx(TUNED, abs=1e-12)


@pytest.mark.parametrize(
    ("lam", "estimate", "low", "high"),
    [
        (TUNED, 0.58584604, 0.38308500, 0.78860708),
        (1, 0.58333333, 0.38088496, 0.78578170),
        (0, 0.66666667, 0.39994935, 0.93338398),
    ],
)
def test_estimate_and_variance_are_those_of_ppi_py(lam, estimate, low, high):
    of_rated, of_others = variances(PUBLISHED, lam)

    # ppi_py divides variances by n and uses the normal distribution; here it is n - 1 and t.
    half = 1.959963985 * math.sqrt(of_rated * 11 / 12 + of_others * 29 / 30)

    assert corrected_mean(PUBLISHED, lam) == pytest.approx(estimate, abs=1e-8)
    assert corrected_mean(PUBLISHED, lam) - half == pytest.approx(low, abs=1e-8)
    assert corrected_mean(PUBLISHED, lam) + half == pytest.approx(high, abs=1e-8)


# Against plain loops


def loop_variance(values, dialogs):
    """Return D / (D - 1) · Σ over dialogs (Σ over items (x - mean))² / n²."""
    mean = sum(values) / len(values)
    of_dialog: dict[int, float] = defaultdict(float)
    for value, dialog in zip(values, dialogs, strict=True):
        of_dialog[dialog] += value - mean
    n = len(of_dialog)
    return n / (n - 1) * sum(each**2 for each in of_dialog.values()) / len(values) ** 2


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lam", [0, 0.4, 1])
def test_variances_between_dialogs_equal_a_loop(seed, lam):
    part = dialogs_of_a_study(seed)
    # Without missing answers in rated dialogs, the formula is that of the paper.
    complete = ~(part.is_rated[part.dialogs] & np.isnan(part.human))
    part = part._replace(
        human=part.human[complete], score=part.score[complete], dialogs=part.dialogs[complete]
    )
    rated: tuple[list[float], list[int]] = ([], [])
    others: tuple[list[float], list[int]] = ([], [])
    for human, score, dialog in zip(part.human, part.score, part.dialogs, strict=True):
        if part.is_rated[dialog]:
            rated[0].append(human - lam * score)
            rated[1].append(dialog)
        else:
            others[0].append(lam * score)
            others[1].append(dialog)

    expected = loop_variance(*rated), loop_variance(*others)

    assert variances(part, lam) == pytest.approx(expected)


def test_missing_answers_and_scores_leave_each_mean_its_own_items():
    part = dialogs_of_a_study(3)
    part.score[::9] = NAN
    lam, is_rated = 0.7, part.is_rated[part.dialogs]
    answered, scored = is_rated & ~np.isnan(part.human), is_rated & ~np.isnan(part.score)
    others = ~is_rated & ~np.isnan(part.score)
    human, score = part.human[answered].mean(), part.score[scored].mean()
    of_dialog: dict[int, float] = defaultdict(float)
    for place, dialog in enumerate(part.dialogs):
        if answered[place]:
            of_dialog[dialog] += (part.human[place] - human) / answered.sum()
        if scored[place]:
            of_dialog[dialog] -= lam * (part.score[place] - score) / scored.sum()
    n_labelled = len(set(part.dialogs[answered]))

    of_rated, of_others = variances(part, lam)

    expected = sum(each**2 for each in of_dialog.values()) * n_labelled / (n_labelled - 1)
    assert of_rated == pytest.approx(expected)
    assert of_others == pytest.approx(loop_variance(lam * part.score[others], part.dialogs[others]))
    assert corrected_mean(part, lam) == pytest.approx(
        human + lam * (part.score[others].mean() - score)
    )


def test_one_item_in_each_dialog_gives_the_form_for_independent_items():
    random = np.random.default_rng(1)
    human = random.integers(2, size=50).astype(float)
    score = random.random(300)
    score[:50] = (score[:50] + human) / 2
    dialogs, is_rated = random.permutation(300), np.ones(300, bool)
    is_rated[dialogs[50:]] = False
    part = RatedPart(np.append(human, [NAN] * 250), score, dialogs, is_rated)
    lam = tuned_lambda(part)

    found = prediction_powered_mean(part)

    variance = (human - lam * score[:50]).var(ddof=1) / 50 + lam**2 * score[50:].var(ddof=1) / 250
    estimate = human.mean() + lam * (score[50:].mean() - score[:50].mean())
    half = stats.t.ppf(0.975, 49) * math.sqrt(variance)
    assert found.reason is None
    assert found[:4] == pytest.approx((estimate, estimate - half, estimate + half, lam))
    assert found.n_labels == 50
    assert found.n_effective == pytest.approx(human.var(ddof=1) / variance)
    assert found.human == human.mean()
    assert found.metric == pytest.approx(score.mean())
    expected = stats.t.interval(0.95, 49, human.mean(), stats.sem(human))
    assert (found.human_low, found.human_high) == pytest.approx(expected)


# Shares


@pytest.mark.parametrize("level", [0.95, 0.9])
def test_a_share_has_a_wilson_interval_of_its_effective_number(level):
    part = dialogs_of_a_study(1)
    rated = part.is_rated[part.dialogs] & ~np.isnan(part.human)
    human, dialogs = part.human[rated], part.dialogs[rated]
    share, n_dialogs = human.mean(), len(set(dialogs))

    found = prediction_powered_share(part, level=level)

    variance = loop_variance(human, dialogs)
    n = min(share * (1 - share) / variance, len(human)) * variance
    n /= sum(variances(part, found.lam))
    # Wilson's formula in statsmodels, at the level whose normal quantile is that of t.
    tail = 2 * stats.norm.sf(stats.t.ppf((1 + level) / 2, n_dialogs - 1))
    expected = proportion_confint(found.estimate * n, n, alpha=tail, method="wilson")
    assert found.estimate == pytest.approx(corrected_mean(part, found.lam))
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.n_effective == pytest.approx(
        found.n_labels * variance / sum(variances(part, found.lam))
    )
    assert found.high - found.low < found.human_high - found.human_low
    assert found.is_helpful


def test_the_figure_of_raters_alone_is_that_of_other_reports():
    part = dialogs_of_a_study(2)
    rated = part.is_rated[part.dialogs] & ~np.isnan(part.human)
    sums = np.zeros((120, 2))
    np.add.at(sums, part.dialogs[rated], np.column_stack([part.human[rated], np.ones(rated.sum())]))

    found = prediction_powered_share(part)

    assert found.human == pytest.approx(part.human[rated].mean())
    assert (found.human_low, found.human_high) == pytest.approx(
        share_interval(sums, most_items=rated.sum())
    )


def test_a_lambda_of_0_gives_the_figure_of_raters_alone():
    found = prediction_powered_share(dialogs_of_a_study(2), lam=0)

    assert found[:3] == pytest.approx((found.human, found.human_low, found.human_high))
    assert found.n_effective == pytest.approx(found.n_labels)
    assert not found.is_helpful


def test_a_constant_score_and_one_that_contradicts_raters_have_no_weight():
    part = dialogs_of_a_study(2)

    assert tuned_lambda(part._replace(score=np.full(len(part.score), 0.4))) == 0
    assert tuned_lambda(part._replace(score=1 - part.score)) == 0
    assert tuned_lambda(part._replace(score=part.score / 10)) == 1  # limited


def test_a_share_stays_between_0_and_1():
    human = np.array([1.0] * 95 + [0.0] * 5 + [NAN] * 100)
    score = np.array([0.5] * 95 + [0.0] * 5 + [1.0] * 100)

    found = prediction_powered_share(
        RatedPart(human, score, np.arange(200), np.arange(200) < 100), lam=1
    )

    # 0.95 + 1 - 0.475 is above 1.
    assert found.estimate == found.high == 1
    assert 0 < found.low < 1


def test_shares_of_votes_are_shares_too():
    part = dialogs_of_a_study(4)
    votes = part._replace(human=part.human * 0.6 + 0.2)

    found = prediction_powered_share(votes)

    assert found.reason is None
    assert found.low < found.estimate < found.high


def test_answers_of_other_dialogs_are_ignored():
    part = dialogs_of_a_study(5)
    elsewhere = ~part.is_rated[part.dialogs]

    with_more = part._replace(human=np.where(elsewhere, 1.0, part.human))

    assert prediction_powered_share(with_more) == prediction_powered_share(part)


def test_the_order_of_items_does_not_matter():
    part = dialogs_of_a_study(6)
    order = np.random.default_rng(1).permutation(len(part.dialogs))
    shuffled = RatedPart(part.human[order], part.score[order], part.dialogs[order], part.is_rated)

    assert prediction_powered_share(shuffled) == pytest.approx(
        prediction_powered_share(part), nan_ok=True
    )


# When there are only raters


def simple(human, n_others=50, score=0.5):
    """Return a study with one response in each dialog, rated first."""
    n = len(human) + n_others
    random = np.random.default_rng(1)
    scores = np.full(n, NAN) if score is None else score + random.random(n) / 10
    return RatedPart(
        np.array([*human, *[NAN] * n_others]), scores, np.arange(n), np.arange(n) < len(human)
    )


ENOUGH = [1.0] * 25 + [0.0] * 5


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (simple(ENOUGH), None),
        (simple(ENOUGH)._replace(is_rated=None), HumansOnly.NOT_DRAWN),
        (simple(ENOUGH, score=None), HumansOnly.NO_SCORES),
        (simple(ENOUGH, n_others=1), HumansOnly.NOTHING_UNRATED),
        (simple(ENOUGH[:29]), HumansOnly.FEW_LABELS),
        (simple([1.0] * 24 + [0.0] * 5 + [NAN] * 9), HumansOnly.FEW_LABELS),
        (simple([1.0] * 60 + [0.0] * 4), HumansOnly.RARE_ANSWER),
        (simple([0.0] * 60 + [1.0] * 4), HumansOnly.RARE_ANSWER),
    ],
)
def test_the_reason_for_raters_alone(part, reason):
    found = prediction_powered_share(part)

    assert found.reason == reason
    undefined = np.isnan([found.estimate, found.low, found.high, found.lam, found.n_effective])
    assert (undefined == (reason is not None)).all()
    assert found.human_low < found.human < found.human_high


def test_labels_of_one_dialog_are_too_few():
    part = simple(ENOUGH)
    dialogs = np.where(np.arange(80) < 30, 0, part.dialogs)

    found = prediction_powered_share(part._replace(dialogs=dialogs))

    assert found.reason == HumansOnly.FEW_LABELS
    assert np.isnan([found.human_low, found.human_high]).all()


def test_without_responses_everything_is_undefined():
    nothing = np.zeros(0)
    part = RatedPart(nothing, nothing, np.zeros(0, int), np.zeros(0, bool))

    for found in (prediction_powered_share(part), prediction_powered_mean(part)):
        assert np.isnan([found.estimate, found.human, found.metric]).all()
        assert found.reason == HumansOnly.NO_SCORES


def test_ordinal_answers_have_no_rarer_answer():
    part = simple([3.0] * 15 + [4.0] * 15)

    assert prediction_powered_mean(part).reason is None
    assert prediction_powered_mean(part).human == 3.5


# Differences


def test_a_difference_is_the_mean_of_differences():
    first = dialogs_of_a_study(7)
    change = np.random.default_rng(8).integers(4, size=len(first.dialogs)) == 0
    second = first._replace(
        human=np.where(change, 1 - first.human, first.human),
        score=np.where(change, 1 - first.score, first.score),
    )
    pairs = first._replace(human=first.human - second.human, score=first.score - second.score)

    found = prediction_powered_difference(first, second)

    expected = prediction_powered_mean(pairs)
    rated = first.is_rated[first.dialogs]
    of_humans = difference_interval(
        first.human[rated], second.human[rated], first.dialogs[rated], 120
    )
    assert found.reason is None
    assert found[:7] == pytest.approx(expected[:7])
    assert (found.human_low, found.human_high) == of_humans


def test_five_pairs_must_differ():
    human = np.array([1.0] * 26 + [0.0] * 4)
    first = simple(human)
    four, five = (
        first._replace(human=np.append(np.r_[[0.0] * n, human[n:]], [NAN] * 50)) for n in (4, 5)
    )

    assert prediction_powered_difference(first, four).reason == HumansOnly.RARE_ANSWER
    assert prediction_powered_difference(first, five).reason is None


def test_setups_must_answer_the_same_examples():
    first = simple(ENOUGH)

    with pytest.raises(ValueError, match="not about the same dialogs"):
        prediction_powered_difference(first, first._replace(dialogs=first.dialogs[::-1]))
