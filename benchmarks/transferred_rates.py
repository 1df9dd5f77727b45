"""Simulated pairs of data sets for a table of `coverage.py`: a study with votes, and data without.

The metric errs equally often on both, as a corrected share assumes. Dialogs have four items whose
labels are alike, and in which the metric tends to be right or wrong together. The data without
votes have as many dialogs as the study.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from benchmarks.few_labels import N_SETUPS, Random, labels
from benchmarks.rare_answers import Cell, Outcome, dialogs_of, header, is_outside, line, simulated
from evaluation.statistics.intervals import Floats
from evaluation.statistics.rogan_gladen import corrected_share, dialog_share, error_rates

__all__ = ["cells", "header", "is_outside", "line"]

SHARES = (0.5, 0.9)
N_DIALOGS = (50, 100, 400)
# Sensitivity and specificity.
RATES = {"strong": (0.95, 0.9), "weak": (0.8, 0.6), "mild": (0.98, 0.4)}


def judged(
    random: Random, n_dialogs: int, share: float, rates: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the labels that items deserve, and those of a metric: (n_dialogs, n_setups) each."""
    human = labels(random, np.full(N_SETUPS, share), n_dialogs)
    sensitivity, specificity = rates
    of_dialog, own = random.random((n_dialogs, 1)), random.random(human.shape)
    drawn = np.where(random.random(human.shape) < 0.5, of_dialog, own)
    is_right = drawn < np.where(human == 1, sensitivity, specificity)
    return human, np.where(is_right, human, 1 - human)


def study(
    random: Random, n_dialogs: int, share: float, voted: float, rates: tuple[float, float]
) -> Outcome:
    """Return the interval of a share of yes, with rates of a study that has another share."""
    human, metric = judged(random, n_dialogs, voted, rates)
    dialogs = dialogs_of(human)
    measured = error_rates(human.ravel(), metric.ravel(), *dialogs)
    _, here = judged(random, n_dialogs, share, rates)
    labelled_yes = dialog_share(here.ravel(), *dialogs)
    return Outcome(corrected_share(labelled_yes, measured).interval)


def cells(n_runs: int, seed: int) -> Iterator[Cell]:
    """Yield the coverage of the corrected share in each kind of pair."""
    for share, voted, (said, rates), n in product(SHARES, SHARES, RATES.items(), N_DIALOGS):
        about = "corrected share", f"{said}, of {voted:g}", share, share, n
        yield simulated(about, partial(study, share=share, voted=voted, rates=rates), n_runs, seed)
