"""Simulated studies whose dialogs a metric's scores drew, for a table of `coverage.py`.

Of 400 dialogs with four setups, 50, 100 or 200 are drawn with different probabilities. The mean of
one setup has its interval by raters alone, with weights, and by raters and metric.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from benchmarks.few_labels import METRICS, N_SETUPS, Random, labels, scores
from benchmarks.rare_answers import Cell, Outcome, header, is_outside, line, simulated
from evaluation.statistics.inclusion_probabilities import (
    by_strata,
    by_uncertainty,
    systematic,
    uncertainty,
)
from evaluation.statistics.intervals import Indexes, Interval
from evaluation.statistics.prediction_powered import RatedPart
from evaluation.statistics.weighted_means import weighted_prediction_powered

__all__ = ["cells", "header", "is_outside", "line"]

SHARES = (0.5, 0.9)
N_DRAWN = (50, 100, 200)
N_DIALOGS = 400
FIGURES = ("raters", "both")


def study(
    random: Random, n_drawn: int, share: float, distance: float, draw: str, figure: str
) -> Outcome:
    """Return the interval of the mean of the first setup."""
    truth = labels(random, np.full(N_SETUPS, share), N_DIALOGS)
    score = scores(random, truth, distance)
    strata: Indexes = np.zeros(N_DIALOGS, np.int64)
    if draw == "active":
        probabilities = by_uncertainty(uncertainty(score).mean(axis=1), n_drawn)
    else:
        probabilities, strata = by_strata(score.mean(axis=1), n_drawn)
    order = np.lexsort((random.random(N_DIALOGS), strata))
    is_drawn = systematic(probabilities, order, random.random())
    part = RatedPart(
        np.where(is_drawn, truth[:, 0], np.nan), score[:, 0], np.arange(N_DIALOGS), is_drawn
    )
    of_drawn = np.where(is_drawn, probabilities, np.nan)
    found = weighted_prediction_powered(part, of_drawn, is_share=True)
    if figure == "raters":
        return Outcome(Interval(found.human_low, found.human_high))
    return Outcome(Interval(found.low, found.high))


def cells(n_runs: int, seed: int) -> Iterator[Cell]:
    """Yield the coverage of both means in each kind of study; its dialogs are those drawn."""
    kinds = product(("active", "stratified"), SHARES, METRICS.items(), FIGURES, N_DRAWN)
    for draw, share, (metric, distance), figure, n in kinds:
        about = f"{draw}, {figure}", metric, share, share, n
        one = partial(study, share=share, distance=distance, draw=draw, figure=figure)
        yield simulated(about, one, n_runs, seed)
