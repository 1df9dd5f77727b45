"""Planning by simulation: what a study would find with other numbers of raters and dialogs.

No formula says how often raters are tied, or how often fewer raters would have
decided otherwise. A pilot's votes do. Studies are drawn from them: dialogs with replacement, and
for each response the votes of some of its raters.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.agreement import votes_per_category
from evaluation.statistics.intervals import Floats, Indexes, share_interval, sum_by_dialog
from evaluation.statistics.rater_answers import majority_label, mean_statistics

Counts = NDArray[np.int64]


class RatersPlan(NamedTuple):
    """The outcome to expect with one number of raters, as means over simulated studies."""

    n_raters: int
    half_width: float  # half the width of the interval of the mean majority
    tied: float  # share of responses without a majority; all votes are in
    same_as_pilot: float  # share of majorities equal to the pilot's, where both have one
    is_extrapolated: bool  # more raters than the pilot's smallest number of votes


def raters_plans(
    counts: Floats,
    dialogs: Indexes,
    *,
    raters: Sequence[int],
    n_dialogs: int,
    seed: int,
    n_studies: int = 200,
    level: float = 0.95,
) -> list[RatersPlan]:
    """Return what studies with each number of raters would find on a yes/no question.

    Up to a response's number of votes, its raters are drawn from the pilot's without replacement.
    Beyond it, all its votes count, and further ones are drawn with the response's share of yes.
    That is a guess: responses on which all raters of the pilot agree stay unanimous.

    Args:
        counts: the pilot's votes, with the columns no and yes, (n_items, 2).
        dialogs: the dialog of each response of the pilot, any whole numbers.
        raters: numbers of raters per response to try, each 1 or more.
        n_dialogs: how many dialogs the planned study has.
        seed: seed of the studies. Each number of raters gets the same dialogs.
        n_studies: how many studies are drawn for each number of raters.
        level: the level of the intervals.

    Returns:
        One plan for each number of raters. Its figures are NaN where no study has them, for example
        an interval where fewer than two dialogs have a majority.
    """
    votes = votes_per_category(counts).astype(np.int64)
    voted = votes.sum(axis=1) > 0
    votes = votes[voted]
    _, place = np.unique(dialogs[voted], return_inverse=True)
    if not len(votes):
        return [RatersPlan(n, np.nan, np.nan, np.nan, is_extrapolated=True) for n in raters]
    return [_plan(votes, place, n, n_dialogs, seed, n_studies, level) for n in raters]


def _plan(
    votes: Counts,
    dialogs: Indexes,
    n_raters: int,
    n_dialogs: int,
    seed: int,
    n_studies: int,
    level: float,
) -> RatersPlan:
    of_dialog = np.split(np.argsort(dialogs, kind="stable"), np.bincount(dialogs).cumsum()[:-1])
    pilot = majority_label(votes, votes.sum(axis=1))
    choice, voting = (np.random.default_rng([seed, part]) for part in (0, 1))
    half_widths, tied, same = [], [], []
    for _ in range(n_studies):
        drawn = choice.integers(len(of_dialog), size=n_dialogs)
        items = np.concatenate([of_dialog[dialog] for dialog in drawn])
        study_dialogs = np.repeat(np.arange(n_dialogs), [len(of_dialog[each]) for each in drawn])
        labels = majority_label(_votes_of(votes[items], n_raters, voting), n_raters)
        sums = sum_by_dialog(mean_statistics(labels), study_dialogs, n_dialogs)
        low, high = share_interval(sums, most_items=float(sums[:, 1].sum()), level=level)
        half_widths.append((high - low) / 2)
        tied.append(np.isnan(labels).mean())
        both = ~np.isnan(labels) & ~np.isnan(pilot[items])
        same.append((labels == pilot[items])[both].mean() if both.any() else np.nan)
    return RatersPlan(
        n_raters,
        half_width=_mean_of_known(half_widths),
        tied=_mean_of_known(tied),
        same_as_pilot=_mean_of_known(same),
        is_extrapolated=n_raters > int(votes.sum(axis=1).min()),
    )


def _votes_of(votes: Counts, n_raters: int, random: np.random.Generator) -> Counts:
    """Return the votes of `n_raters` raters for each item, (n_items, 2), from the pilot's votes."""
    no, yes = votes.T
    n_votes = no + yes
    yes_drawn = random.hypergeometric(yes, no, np.minimum(n_votes, n_raters))
    further = np.maximum(0, n_raters - n_votes)
    yes_drawn += random.binomial(further, yes / n_votes)
    return np.column_stack([n_raters - yes_drawn, yes_drawn])


def _mean_of_known(numbers: Sequence[float]) -> float:
    known = [each for each in numbers if not np.isnan(each)]
    return float(np.mean(known)) if known else np.nan
