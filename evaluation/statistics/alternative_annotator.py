"""The alternative-annotator test: may a metric stand in for one of the raters?

One rater after the other is left out. The metric and that rater are both compared with the other
raters of each item, who are the measure of both (Calderon, Reichart and Dror, 2025). The test is
about labels, yes or no. A rater is a person, never the place of a vote in a file.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from evaluation.statistics.clustered_mean import design_effect, variance_of_mean
from evaluation.statistics.intervals import Floats, Indexes, ratio
from evaluation.statistics.jackknife import InRange, ends_in_range
from evaluation.statistics.rater_answers import Bools

LEAST_ITEMS = 30  # items that a rater needs for a part in the test
LEAST_DIALOGS = 2  # dialogs that these items must be from
LEAST_RATERS = 2  # raters who need a part in the test
USUAL_RATERS = 3  # the test is meant for so many raters or more
FALSE_DISCOVERIES = 0.05  # q, the level of the corrected p-values
PASSING = 0.5  # the winning rate with which a metric passes


class LabelVotes(NamedTuple):
    """The votes on one question as labels; all arrays are (n_votes,)."""

    raters: Indexes  # 0 or more
    items: Indexes  # 0 or more
    says_yes: Indexes  # 1: yes, 0: no

    def only(self, here: Bools) -> "LabelVotes":
        """Return some of the votes."""
        return LabelVotes(*(each[here] for each in self))


class BesideRater(NamedTuple):
    """The metric beside one rater. What is undefined is NaN."""

    rater: int
    n_items: int
    n_dialogs: int
    metric_advantage: float  # W^f: share of items on which the metric agrees as well or better
    rater_advantage: float  # W^h: share of items on which the rater agrees as well or better
    p: float  # NaN: the rater has no part in the test
    p_corrected: float  # corrected for all raters with a part (Benjamini and Yekutieli)

    @property
    def has_part(self) -> bool:
        return not math.isnan(self.p)

    @property
    def is_won(self) -> bool:
        """Whether the metric is better than this rater, less the margin."""
        return self.p_corrected <= FALSE_DISCOVERIES


class AlternativeAnnotator(NamedTuple):
    """The result of the test. What is undefined is NaN."""

    beside: list[BesideRater]  # every rater with an item, by number
    n_items: int
    n_dialogs: int
    winning_rate: float  # ω: share of the raters with a part whom the metric wins against
    advantage: float  # the advantage probability: mean of W^f over these raters
    low: float
    high: float

    @property
    def n_raters(self) -> int:
        """The number of raters with a part in the test."""
        return sum(each.has_part for each in self.beside)

    @property
    def passes(self) -> bool | None:
        """Whether the metric may stand in for a rater; None: too few raters have a part."""
        return None if math.isnan(self.winning_rate) else self.winning_rate >= PASSING


def alternative_annotator(
    votes: LabelVotes, metric: Floats, dialogs: Indexes, n_dialogs: int, epsilon: float
) -> AlternativeAnnotator:
    """Return the alternative-annotator test of one metric.

    An item counts if it has a label of the metric and the votes of two raters or more. A rater has
    a part in the test with `LEAST_ITEMS` such items from `LEAST_DIALOGS` dialogs. Other raters
    still are among those with whom the metric and a rater are compared.

    Args:
        votes: the labels of the raters; one vote of a rater on an item at most.
        metric: the label of each item, 1 or 0, (n_items,); NaN: none.
        dialogs: the dialog of each item, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are.
        epsilon: the margin ε in (0, 1), by which a rater may agree more often than the metric.

    Returns:
        The test; winning rate and advantage are NaN if fewer than `LEAST_RATERS` have a part.

    Raises:
        ValueError: ε is outside (0, 1).
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"a margin of {epsilon}, expected a number between 0 and 1")
    n_votes = np.bincount(votes.items, minlength=len(metric))
    is_counted = (n_votes > 1) & ~np.isnan(metric)
    votes = votes.only(is_counted[votes.items])
    by_metric, by_rater = as_good(votes, metric)
    of_vote = dialogs[votes.items]
    beside = []
    for rater in np.unique(votes.raters).tolist():
        own = votes.raters == rater
        pair = by_metric[own], by_rater[own]
        beside.append(_beside(rater, *pair, of_vote[own], n_dialogs, epsilon))
    beside = _corrected(beside)
    taking = [each.rater for each in beside if each.has_part]
    winning_rate, advantage = math.nan, (math.nan, math.nan, math.nan)
    if len(taking) >= LEAST_RATERS:
        winning_rate = sum(each.is_won for each in beside) / len(taking)
        here = np.isin(votes.raters, taking)
        places = np.searchsorted(taking, votes.raters[here])
        shape = n_dialogs, len(taking)
        advantage = advantage_of(advantage_by_dialog(by_metric[here], places, of_vote[here], shape))
    n_items, n_with_data = (len(np.unique(each)) for each in (votes.items, of_vote))
    return AlternativeAnnotator(beside, n_items, n_with_data, winning_rate, *advantage)


def _beside(
    rater: int,
    by_metric: Floats,
    by_rater: Floats,
    dialogs: Indexes,
    n_dialogs: int,
    epsilon: float,
) -> BesideRater:
    """Return the metric beside one rater, before p-values are corrected."""
    n_items, n_with_data = len(by_metric), len(np.unique(dialogs))
    has_part = n_items >= LEAST_ITEMS and n_with_data >= LEAST_DIALOGS
    return BesideRater(
        rater=rater,
        n_items=n_items,
        n_dialogs=n_with_data,
        metric_advantage=float(by_metric.mean()),
        rater_advantage=float(by_rater.mean()),
        p=margin_p(by_rater - by_metric, dialogs, n_dialogs, epsilon) if has_part else math.nan,
        p_corrected=math.nan,
    )


def as_good(votes: LabelVotes, metric: Floats) -> tuple[Floats, Floats]:
    """Return for each vote whether the metric, and whether its rater, agrees as well or better.

    Agreement is with the other raters of the item. A tie counts for both.

    Args:
        votes: the votes on items with two votes or more.
        metric: the label of each of their items, 1 or 0.

    Returns:
        1 or 0 for each vote, for the metric and for the rater: (n_votes,) twice.
    """
    n_votes = np.bincount(votes.items, minlength=len(metric))
    n_yes = np.bincount(votes.items, votes.says_yes, minlength=len(metric))
    others_yes = n_yes[votes.items] - votes.says_yes
    others_no = n_votes[votes.items] - 1 - others_yes
    with_rater = np.where(votes.says_yes == 1, others_yes, others_no)
    with_metric = np.where(metric[votes.items] == 1, others_yes, others_no)
    metric_is_as_good: Floats = (with_metric >= with_rater).astype(np.float64)
    rater_is_as_good: Floats = (with_rater >= with_metric).astype(np.float64)
    return metric_is_as_good, rater_is_as_good


def margin_p(differences: Floats, dialogs: Indexes, n_dialogs: int, epsilon: float) -> float:
    """Return the one-sided p-value that the mean of differences is ε or more.

    It is that of Student's t, with the variance between dialogs and as many degrees of freedom as
    there are dialogs, less one. A difference is -1, 0 or 1, so where its true mean is ε, the
    variance of one difference is ε (1 - ε) or more. It is taken as no less. So equal differences
    have a p-value too, and few unequal ones have none that is too small.

    Args:
        differences: W^h - W^f of each item, (n_items,).
        dialogs: the dialog of each item, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are.
        epsilon: the margin, in (0, 1).

    Returns:
        A probability; NaN with fewer than two dialogs.
    """
    n_items, n_with_data = len(differences), len(np.unique(dialogs))
    if n_with_data < LEAST_DIALOGS:
        return math.nan
    effect = design_effect(differences, dialogs, n_dialogs)
    # Where nothing varies, all items of a dialog count as one.
    effect = n_items / n_with_data if math.isnan(effect) else max(1.0, effect)
    variance = max(
        variance_of_mean(differences, dialogs, n_dialogs),
        effect * epsilon * (1 - epsilon) / n_items,
    )
    distance = (float(differences.mean()) - epsilon) / math.sqrt(variance)
    return float(stdtr(n_with_data - 1, distance))


def advantage_by_dialog(
    metric_is_as_good: Floats, places: Indexes, dialogs: Indexes, shape: tuple[int, int]
) -> Floats:
    """Return the sums of `ADVANTAGE` for each dialog, (n_dialogs, 2 · n_raters).

    Args:
        metric_is_as_good: 1 or 0 for each vote.
        places: the rater of each vote, 0 .. n_raters - 1.
        dialogs: the dialog of each vote, 0 .. n_dialogs - 1.
        shape: the numbers of dialogs and of raters.
    """
    n_dialogs, n_raters = shape
    cells = dialogs * n_raters + places
    n_cells = n_dialogs * n_raters
    part = np.bincount(cells, metric_is_as_good, n_cells)
    whole = np.bincount(cells, minlength=n_cells).astype(np.float64)
    by_dialog: Floats = np.column_stack([part, whole]).reshape(n_dialogs, 2 * n_raters)
    return by_dialog


def advantage_of(by_dialog: Floats) -> tuple[float, float, float]:
    """Return the advantage probability and both ends of its interval.

    Args:
        by_dialog: the sums of `advantage_by_dialog`.
    """
    return float(ADVANTAGE(by_dialog.sum(axis=0))), *ends_in_range(ADVANTAGE, by_dialog)


def _mean_of_shares(sums: Floats) -> Floats:
    """Return the mean over raters of their shares, from part and whole of each: (..., 2 · k)."""
    mean: Floats = ratio(sums[..., 0::2], sums[..., 1::2]).mean(axis=-1)
    return mean


def _corrected(beside: list[BesideRater]) -> list[BesideRater]:
    """Return the raters with p-values that are corrected for how many have a part."""
    from scipy.stats import false_discovery_control  # 45 MB, which an import has no use for

    p_values = [each.p for each in beside if each.has_part]
    if not p_values:
        return beside
    corrected = iter(false_discovery_control(p_values, method="by").tolist())
    return [
        each._replace(p_corrected=next(corrected)) if each.has_part else each for each in beside
    ]


ADVANTAGE = InRange(_mean_of_shares)
