"""Planning a study by formula: how many labels, pairs, examples and hours give a wanted precision.

Every formula is for large numbers and a normal distribution. `pilot_simulation.py` answers what no
formula does.
"""

import math
from typing import NamedTuple

from scipy.special import ndtr, ndtri


class Split(NamedTuple):
    """The numbers of responses with a label and a score, and with a score alone."""

    n_labelled: int
    n_scored: int
    n_effective: float  # the labels that raters alone would need for the same precision
    cost: float


def normal_quantile(level: float) -> float:
    """Return the quantile of the normal distribution for a two-sided level: 1.96 for 0.95."""
    return float(ndtri((1 + level) / 2))


def effective_labels(n_labelled: float, n_scored: float, correlation: float) -> float:
    """Return how many labels alone are as precise as labels and scores together.

    It is n (n + N) / (n + (1 - r²) N) (Broska, Howes and van Loon, 2025).

    Args:
        n_labelled: n, the items with a label and a score.
        n_scored: N, the items with a score alone.
        correlation: r, that of labels and scores, in [-1, 1].

    Returns:
        At least n; NaN without labels.
    """
    if not n_labelled:
        return math.nan
    everything = n_labelled + n_scored
    return n_labelled * everything / (n_labelled + (1 - correlation**2) * n_scored)


def split_of_budget(
    correlation: float, budget: float, *, label_cost: float, score_cost: float
) -> Split:
    """Return the split of a budget that gives the most effective labels.

    Labels alone are best when the metric is weak or its scores are dear. Numbers are rounded to the
    nearest, so the cost may be up to half a label and half a score above the budget.

    Args:
        correlation: that of labels and scores, strictly between -1 and 1.
        budget: what may be spent, in the unit of the costs.
        label_cost: the cost of one label, above 0.
        score_cost: the cost of one score, above 0. Free scores need no split: score everything.
    """
    ratio = _scored_per_label(correlation, label_cost, score_cost)
    alone = budget / label_cost
    n_labelled = budget / (label_cost + score_cost * (1 + ratio))
    if ratio <= 0 or n_labelled * _gain(correlation, ratio) <= alone:
        return Split(round(alone), 0, float(round(alone)), label_cost * round(alone))
    return _rounded(n_labelled, ratio, correlation, label_cost, score_cost)


def split_for_effective_labels(
    correlation: float, n_effective: float, *, label_cost: float, score_cost: float
) -> Split:
    """Return the cheapest split that is as precise as `n_effective` labels alone.

    `split_of_budget` says what the other arguments are.
    """
    ratio = _scored_per_label(correlation, label_cost, score_cost)
    n_labelled = n_effective / _gain(correlation, max(0.0, ratio))
    cost = n_labelled * (label_cost + score_cost * (1 + ratio))
    if ratio <= 0 or cost >= n_effective * label_cost:
        n = math.ceil(n_effective)
        return Split(n, 0, float(n), label_cost * n)
    return _rounded(n_labelled, ratio, correlation, label_cost, score_cost)


def labels_for_error(
    error: float, deviation: float, *, total: float, correlation: float = 0.0, effect: float = 1.0
) -> float:
    """Return how many of all items need a label so that a mean has a wanted standard error.

    The others have a score only. The variance of the mean is s² deff / n · (1 - r² (T - n) / T).

    Args:
        error: the wanted standard error. For an interval of half-width h it is h divided by
            `normal_quantile`.
        deviation: s, the standard deviation of the labels; for a share p it is √(p (1 - p)).
        total: T, all items, with and without a label.
        correlation: r, that of labels and scores; 0 is for raters alone.
        effect: deff, the design effect of dialogs.

    Returns:
        A whole number of labels; NaN when labels for all items are not enough.
    """
    variance = deviation**2 * effect
    left = error**2 - variance * correlation**2 / total
    n_labels = variance * (1 - correlation**2) / left if left > 0 else math.inf
    return float(_ceil(n_labels)) if n_labels <= total else math.nan


def error_of_mean(
    n_labels: float,
    deviation: float,
    *,
    total: float,
    correlation: float = 0.0,
    effect: float = 1.0,
) -> float:
    """Return the standard error to expect of a mean; `labels_for_error` says what all are.

    Returns:
        √(s² deff / n · (1 - r² (T - n) / T)); NaN without labels. With labels for all items, scores
        change nothing.
    """
    if not n_labels:
        return math.nan
    without_label = max(0.0, total - n_labels) / total if math.isfinite(total) else 1.0
    variance = deviation**2 * effect / n_labels
    return math.sqrt(variance * (1 - correlation**2 * without_label))


def power_of(difference: float, error: float, level: float = 0.95) -> float:
    """Return the probability that a two-sided test detects a difference with a standard error.

    The rejections on the wrong side are not counted, as in `pairs_for_difference`.
    """
    if not error > 0:
        return math.nan
    return float(ndtr(abs(difference) / error - normal_quantile(level)))


def planned_lambda(n_labelled: int, total: int, correlation: float) -> float:
    """Return the λ to expect where labels and scores have the same standard deviation."""
    return max(0.0, correlation) * (total - n_labelled) / total


def design_effect_of(items_per_dialog: float, icc: float) -> float:
    """Return 1 + (m - 1) · ICC: how many times more items are needed when they come in dialogs."""
    return 1 + (items_per_dialog - 1) * icc


def deviation_of_difference(first: float, second: float, correlation: float) -> float:
    """Return the standard deviation of the difference of a pair of labels.

    Args:
        first: the share of yes of one setup, in [0, 1].
        second: that of the other.
        correlation: that of the two labels of a pair.
    """
    variances = first * (1 - first), second * (1 - second)
    product = variances[0] * variances[1]
    return math.sqrt(max(0.0, sum(variances) - 2 * correlation * math.sqrt(product)))


def pairs_for_difference(
    difference: float,
    deviation: float,
    *,
    effect: float = 1.0,
    level: float = 0.95,
    power: float = 0.8,
) -> int:
    """Return how many pairs are needed so that a test detects a difference.

    It is (z + w)² s² deff / d², with the normal quantiles z of the level and w of the power. The
    same formula serves two setups, and merged against separate rating of one response.

    Args:
        difference: d, the difference to detect; not 0.
        deviation: s, the standard deviation of the differences of pairs.
        effect: the design effect of dialogs.
        level: 1 minus the level of the two-sided test.
        power: the probability to detect the difference.
    """
    distance = normal_quantile(level) + float(ndtri(power))
    return _ceil(distance**2 * deviation**2 * effect / difference**2)


def visible_difference(
    n_pairs: int,
    deviation: float,
    *,
    effect: float = 1.0,
    level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Return the smallest difference that a test of `n_pairs` pairs detects; NaN without pairs.

    `pairs_for_difference` says what the other arguments are.
    """
    if not n_pairs:
        return math.nan
    distance = normal_quantile(level) + float(ndtri(power))
    return distance * deviation * math.sqrt(effect / n_pairs)


def rater_hours(
    n_responses: int, *, raters_per_response: int, n_arms: int, seconds_per_response: float
) -> float:
    """Return the hours of all raters together; each rater of each arm sees each response once."""
    return n_responses * raters_per_response * n_arms * seconds_per_response / 3600


def _scored_per_label(correlation: float, label_cost: float, score_cost: float) -> float:
    """Return the best number of responses with a score alone for each with a label.

    It may be negative; then labels alone are best.
    """
    if not -1 < correlation < 1:
        raise ValueError(f"correlation {correlation}, expected a number between -1 and 1")
    if label_cost <= 0 or score_cost <= 0:
        raise ValueError(f"costs {label_cost} and {score_cost}, expected numbers above 0")
    odds = correlation**2 / (1 - correlation**2)
    return math.sqrt(odds * label_cost / score_cost) - 1


def _gain(correlation: float, ratio: float) -> float:
    """Return the effective labels for each label, with `ratio` scored responses for each."""
    return (1 + ratio) / (1 + (1 - correlation**2) * ratio)


def _rounded(
    n_labelled: float, ratio: float, correlation: float, label_cost: float, score_cost: float
) -> Split:
    labelled, scored = round(n_labelled), round(n_labelled * ratio)
    cost = labelled * label_cost + (labelled + scored) * score_cost
    return Split(labelled, scored, effective_labels(labelled, scored, correlation), cost)


def _ceil(number: float) -> int:
    """Return the next whole number; a float just above one, by rounding error, counts as it."""
    return math.ceil(number - 1e-9 * max(1.0, number))
