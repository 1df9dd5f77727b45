"""Figures over runs that differ only in their seed: mean, deviation, F1 (KaLMA, table 3).

A figure over several runs is the mean of the runs' own figures, where they are defined. Its
deviation is that of the sample (n - 1). F1 is the harmonic mean of the mean precision and the mean
recall, never a mean of F1: this is how the paper's printed F1 follow from its printed means.

Intervals are over dialogs, and answers of different runs to the same dialog belong to one dialog. A
mean of shares is a sum of shares with fixed weights, and F1 is made of shares.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from evaluation.measures.citation import f1
from evaluation.measures.incompetence import na_f1
from evaluation.statistics.intervals import (
    Floats,
    Measure,
    MixOfShares,
    Statistic,
    ratio,
    share_from,
    sum_by_dialog,
)
from evaluation.statistics.jackknife import InRange

N_COLUMNS = 2  # a share has two columns: part and whole


class MeanAndDeviation(NamedTuple):
    """A mean and a deviation. NaN is a mean of no values, or a deviation of fewer than two."""

    mean: float
    deviation: float


def mean_and_deviation(values: Sequence[float]) -> MeanAndDeviation:
    """Return mean and sample deviation (n - 1) of runs' figures; NaN among them is left out."""
    given = np.array(values, dtype=np.float64)
    defined = given[~np.isnan(given)]
    return MeanAndDeviation(
        float(defined.mean()) if len(defined) else np.nan,
        float(defined.std(ddof=1)) if len(defined) > 1 else np.nan,
    )


def value_of(figure: Statistic) -> float:
    """Return a figure's value; NaN if it is undefined."""
    return float(figure.measure(figure.statistics.sum(axis=0)))


def mean_share(runs: Sequence[Statistic], n_dialogs: int) -> Statistic:
    """Return the mean of a share over runs as one figure, over the runs where it is defined.

    If it is defined for one run only, the result is that run's own figure. If it is defined for
    none, the result is the figure of the first run.

    Args:
        runs: the same share (its measure is `share_from`) of each run, at least one.
        n_dialogs: how many dialogs there are; all runs number them 0 .. n_dialogs - 1.
    """
    defined = _defined(runs) or runs[:1]
    if len(defined) == 1:
        return defined[0]
    return _beside(defined, n_dialogs, MixOfShares((1 / len(defined),) * len(defined)))


def f1_of_means(
    precision: Sequence[Statistic], recall: Sequence[Statistic], n_dialogs: int
) -> Statistic:
    """Return the F1 of the mean precision and the mean recall over runs, as one figure.

    Args:
        precision, recall: the shares of each run, as in `mean_share`.
    """
    found, hit = (_defined(runs) or runs[:1] for runs in (precision, recall))
    measure = InRange(partial(_f1_of_means, n_precision=len(found)))
    return _beside([*found, *hit], n_dialogs, measure)


def na_f1_of_means(
    precision: Sequence[Statistic], recall: Sequence[Statistic], n_dialogs: int
) -> Statistic:
    """Return the F1 of the mean precision and the mean recall of [NA] over runs, as one figure.

    A run that admits nothing of what was removed has recall 0 and no precision: it counts for the
    mean recall alone. Where no run admits anything, F1 is 0.

    Args:
        precision, recall: the shares of each run, as in `mean_share`.
    """
    measure = InRange(partial(_na_f1_of_means, n_precision=len(precision)))
    return _beside([*precision, *recall], n_dialogs, measure)


def _defined(runs: Sequence[Statistic]) -> list[Statistic]:
    return [run for run in runs if not np.isnan(value_of(run))]


def _beside(runs: Sequence[Statistic], n_dialogs: int, measure: Measure) -> Statistic:
    """Return a figure whose items are the dialogs, with the sums of all runs side by side."""
    sums = [sum_by_dialog(run.statistics, run.dialogs, n_dialogs) for run in runs]
    return Statistic(np.hstack(sums), np.arange(n_dialogs), measure)


def _mean_share(sums: Floats) -> Floats:
    """Return the mean of shares from their sums: (..., 2 n_runs) to (...)."""
    means: Floats = _shares(sums).mean(axis=-1)
    return means


def _f1_of_means(sums: Floats, *, n_precision: int) -> Floats:
    """Return F1 from the sums of shares: those of precision, then those of recall."""
    end = N_COLUMNS * n_precision
    return f1(_mean_share(sums[..., :end]), _mean_share(sums[..., end:]))


def _na_f1_of_means(sums: Floats, *, n_precision: int) -> Floats:
    """Return the F1 of [NA] from the sums of shares, in the order of `_f1_of_means`."""
    end = N_COLUMNS * n_precision
    precision, recall = _shares(sums[..., :end]), _shares(sums[..., end:])
    return na_f1(_mean_of_defined(precision), _mean_of_defined(recall))


def _shares(sums: Floats) -> Floats:
    """Return each share from its sums: (..., 2 n_runs) to (..., n_runs)."""
    return share_from(sums.reshape(*sums.shape[:-1], -1, N_COLUMNS))


def _mean_of_defined(shares: Floats) -> Floats:
    """Return the mean of the defined shares; NaN if none is: (..., n_runs) to (...)."""
    n_defined = np.count_nonzero(~np.isnan(shares), axis=-1)
    return ratio(np.nansum(shares, axis=-1), np.asarray(n_defined, dtype=np.float64))
