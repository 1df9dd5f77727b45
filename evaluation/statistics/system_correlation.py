"""System-level rank correlation: does a metric put setups in the order in which people put them?

Each setup has a mean answer of raters and a mean score of the metric. The correlation is that of
these means over setups. Setups are fixed; the interval tells how much other dialogs would change.
"""

import math
from typing import NamedTuple

import numpy as np

from evaluation.statistics.intervals import (
    Floats,
    Indexes,
    Statistic,
    bootstrap_intervals,
    ratio,
    sum_by_dialog,
)

LEAST_SETUPS = 3
# Means that differ by less are equal: the same numbers, added up in another order, give slightly
# different floats.
TIE = 1e-9


class SystemCorrelation(NamedTuple):
    """Kendall's tau-b and Spearman's correlation over setups, each with its interval."""

    n_setups: int
    tau: float
    tau_low: float
    tau_high: float
    spearman: float
    spearman_low: float
    spearman_high: float


def system_correlation(
    human: Floats,
    score: Floats,
    setups: Indexes,
    dialogs: Indexes,
    n_dialogs: int,
    *,
    seed: int,
    n_resamples: int = 1000,
    level: float = 0.95,
) -> SystemCorrelation:
    """Return how the order of setups by people agrees with their order by a metric.

    Args:
        human: the answer of raters to each response, for example its majority; NaN: none.
        score: the metric's score of each response; NaN: none. Responses without one or the other
            are left out.
        setups: the setup of each response, any whole numbers.
        dialogs: the dialog of each response, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are.
        seed: seed of the resamples of dialogs.
        n_resamples: number of resamples.
        level: the share of such intervals that should hold the true correlation. With few setups, a
            correlation has few possible values, so more do.

    Returns:
        Correlations in [-1, 1]. They are NaN with fewer than LEAST_SETUPS setups, or when all means
        of one side are equal. An interval is undefined where all resamples have one correlation.
    """
    both = ~np.isnan(human) & ~np.isnan(score)
    names, place = np.unique(setups[both], return_inverse=True)
    n_setups = len(names)
    if n_setups < LEAST_SETUPS:
        return SystemCorrelation(n_setups, *[math.nan] * 6)
    values = np.column_stack([human[both], score[both], np.ones(len(place))])
    cells = sum_by_dialog(values, dialogs[both] * n_setups + place, n_dialogs * n_setups)
    by_dialog = cells.reshape(n_dialogs, n_setups, 3).transpose(0, 2, 1).reshape(n_dialogs, -1)
    measures = (_tau_from, _spearman_from)
    figures = [Statistic(by_dialog, np.arange(n_dialogs), measure) for measure in measures]
    intervals = bootstrap_intervals(
        figures, n_dialogs, seed=seed, n_resamples=n_resamples, level=level
    )
    tau, spearman = (float(measure(by_dialog.sum(axis=0)[np.newaxis])[0]) for measure in measures)
    return SystemCorrelation(n_setups, tau, *intervals[0], spearman, *intervals[1])


def _means(sums: Floats) -> tuple[Floats, Floats]:
    """Return mean answers and mean scores of setups, (r, n_setups) each, from sums (r, 3 · n)."""
    answers, scores, n_items = np.split(sums, 3, axis=-1)
    return ratio(answers, n_items), ratio(scores, n_items)


def _tau_from(sums: Floats) -> Floats:
    """Return Kendall's tau-b of each row of sums, (r, 3 · n_setups) to (r,)."""
    return _cosine(*map(_signs_of_pairs, _means(sums)))


def _spearman_from(sums: Floats) -> Floats:
    """Return Spearman's correlation of each row of sums, (r, 3 · n_setups) to (r,)."""
    return _cosine(*map(_centred_ranks, _means(sums)))


def _signs_of_pairs(means: Floats) -> Floats:
    """Return which of two setups has the higher mean, for each pair: 1, -1 or 0 (r, n_pairs).

    A mean that is NaN makes its pairs NaN.
    """
    first, second = np.triu_indices(means.shape[-1], 1)
    differences = means[:, first] - means[:, second]
    signs: Floats = np.where(np.abs(differences) <= TIE, 0.0, np.sign(differences))
    return signs


def _centred_ranks(means: Floats) -> Floats:
    """Return how many more setups have a lower mean than a higher one, for each setup (r, n).

    This is twice the setup's mid-rank above the mean rank. A mean that is NaN makes its row NaN.
    """
    n = means.shape[-1]
    places = np.triu_indices(n, 1)
    sides = np.eye(n)[places[0]] - np.eye(n)[places[1]]  # (n_pairs, n): 1 first, -1 second, else 0
    ranks: Floats = _signs_of_pairs(means) @ sides
    return ranks


def _cosine(x: Floats, y: Floats) -> Floats:
    """Return the cosine of x and y in each row, (r, k) to (r,); NaN makes it NaN."""
    return ratio((x * y).sum(axis=-1), np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1)))
