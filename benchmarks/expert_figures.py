"""Simulated studies for figures that experts ask for, for a table of `coverage.py`.

They are Gwet's AC1 and AC2, the intraclass correlation of crossed raters, pairwise accuracy with
tie calibration, Kendall's and Pearson's correlations, the expected calibration error, and the
advantage probability of the alternative-annotator test. Their cells are those of `rare_answers.py`.
"""

import math
from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
from scipy.special import expit

from benchmarks.few_labels import N_SETUPS, Random, labels
from benchmarks.rare_answers import (
    N_RATERS,
    Cell,
    Outcome,
    Study,
    dialogs_of,
    header,
    interval_of,
    is_outside,
    labels_are_few,
    large,
    line,
    pairs_of_scores,
    scale_counts,
    simulated,
    votes,
)
from evaluation.statistics.agreement import Level
from evaluation.statistics.alternative_annotator import (
    ADVANTAGE,
    LabelVotes,
    advantage_by_dialog,
    advantage_of,
    as_good,
)
from evaluation.statistics.calibration_error import calibration_error
from evaluation.statistics.crossed_raters import ICC, icc_statistics
from evaluation.statistics.gwet import GWET_AC, gwet_ac_statistics
from evaluation.statistics.intervals import Floats, Interval, share_interval
from evaluation.statistics.pairwise_accuracy import PairwiseAccuracy, pairwise_accuracy
from evaluation.statistics.rank_measures import Dialogs
from evaluation.statistics.segment_correlations import Correlation, kendall, pearson

__all__ = ["cells", "header", "is_outside", "line"]

SHARES = (0.5, 0.9)
N_DIALOGS = (100, 400)
RATER_RIGHT = 0.9  # share of items on which a rater is right
OVERCONFIDENT = {"right": 1.0, "bold": 1.3, "very bold": 2.0}  # factor of the log-odds


def counts_of(random: Random, n_dialogs: int, share: float, kappa: float, n_setups: int) -> Floats:
    """Return counts of yes/no votes, or of answers from 1 to 5 where kappa is NaN."""
    if math.isnan(kappa):
        return scale_counts(random, n_dialogs, share)
    return votes(random, kappa, share, n_dialogs, n_setups)


def gwet_study(
    random: Random, n_dialogs: int, share: float, kappa: float, n_setups: int, level: Level
) -> Outcome:
    counts = counts_of(random, n_dialogs, share, kappa, n_setups)
    dialogs = Dialogs(np.repeat(np.arange(n_dialogs), n_setups), n_dialogs)
    return Outcome(interval_of(gwet_ac_statistics(counts, level), dialogs, GWET_AC[level]))


def crossed_answers(random: Random, n_dialogs: int, share: float, noise: float) -> Floats:
    """Return the answers of the same three raters on 1 to 5; one of them is milder."""
    is_five = labels(random, np.full(N_SETUPS, share), n_dialogs)
    worth = np.where(is_five == 1, 5, random.integers(1, 6, is_five.shape)).reshape(-1, 1)
    drawn = worth + noise * random.normal(size=(worth.size, 3)) + np.array([0, 0, 0.5])
    answers: Floats = np.clip(np.rint(drawn), 1, 5)
    return answers


def icc_study(random: Random, n_dialogs: int, share: float, noise: float) -> Outcome:
    answers = crossed_answers(random, n_dialogs, share, noise)
    dialogs = Dialogs(np.repeat(np.arange(n_dialogs), N_SETUPS), n_dialogs)
    return Outcome(interval_of(icc_statistics(answers), dialogs, ICC))


def pairwise(random: Random, n_dialogs: int, share: float, rho: float) -> PairwiseAccuracy:
    score, rater_score = pairs_of_scores(random, n_dialogs, share, rho)
    examples = dialogs_of(score).of_items
    return pairwise_accuracy(rater_score.ravel(), score.ravel(), examples, examples)


def pairwise_study(random: Random, n_dialogs: int, share: float, rho: float) -> Outcome:
    return Outcome(share_interval(pairwise(random, n_dialogs, share, rho).figure.statistics))


def correlation(
    random: Random, n_dialogs: int, share: float, rho: float, *, is_kendall: bool
) -> Correlation:
    score, rater_score = pairs_of_scores(random, n_dialogs, share, rho)
    measure = kendall if is_kendall else pearson
    return measure(score.ravel(), rater_score.ravel(), dialogs_of(score))


def correlation_study(
    random: Random, n_dialogs: int, share: float, rho: float, *, is_kendall: bool
) -> Outcome:
    score, rater_score = pairs_of_scores(random, n_dialogs, share, rho)
    measure = kendall if is_kendall else pearson
    found = measure(score.ravel(), rater_score.ravel(), dialogs_of(score))
    return Outcome(
        found.interval, labels_are_few((rater_score == rater_score.max()).astype(np.float64))
    )


def promises(
    random: Random, n_dialogs: int, share: float, bold: float
) -> tuple[Floats, Floats, Floats]:
    """Return labels, their true probabilities, and scores that are too bold by a factor."""
    of_dialog = random.normal(size=(n_dialogs, 1))
    own = random.normal(size=(n_dialogs, N_SETUPS))
    odds = {0.5: 0.0, 0.9: 3.0}[share] + 1.5 * (of_dialog + own) / math.sqrt(2)
    chance = expit(odds)
    label = (random.random(chance.shape) < chance).astype(np.float64)
    return label, chance, expit(bold * odds)


def calibration_study(random: Random, n_dialogs: int, share: float, bold: float) -> Outcome:
    label, _, score = promises(random, n_dialogs, share, bold)
    dialogs = dialogs_of(label)
    return Outcome(
        calibration_error(label.ravel(), score.ravel(), dialogs.of_items, n_dialogs).interval
    )


def true_calibration_error(share: float, bold: float) -> float:
    """Return the error over true probabilities, so that it is 0 where scores are right."""
    _, chance, score = large(partial(promises, share=share, bold=bold))
    dialogs = np.arange(chance.size)
    return calibration_error(chance.ravel(), score.ravel(), dialogs, chance.size).value


def advantage_sums(random: Random, n_dialogs: int, share: float, right: float) -> Floats:
    """Return the sums of the advantage probability of a metric that is so often right."""
    truth = labels(random, np.full(N_SETUPS, share), n_dialogs).reshape(-1, 1)
    rates = np.full(N_SETUPS * (N_RATERS + 1), RATER_RIGHT)
    rates[:N_SETUPS] = right
    is_right = labels(random, rates, n_dialogs).reshape(n_dialogs, N_RATERS + 1, N_SETUPS)
    said = np.abs(truth - 1 + is_right.transpose(0, 2, 1).reshape(len(truth), -1))
    items, raters = np.indices((len(truth), N_RATERS)).reshape(2, -1)
    votes = LabelVotes(raters, items, said[:, 1:].ravel().astype(np.int64))
    by_metric, _ = as_good(votes, said[:, 0])
    return advantage_by_dialog(by_metric, raters, items // N_SETUPS, (n_dialogs, N_RATERS))


def advantage_study(random: Random, n_dialogs: int, share: float, right: float) -> Outcome:
    _, low, high = advantage_of(advantage_sums(random, n_dialogs, share, right))
    return Outcome(Interval(low, high))


def kinds(share: float) -> Iterator[tuple[str, str, float, Study]]:
    """Yield statistic, what else is planted, true value, and what simulates one study."""
    yes_no = [(kappa, n, f"{kappa:g}, {n} each") for kappa, n in product((0.5, 0.9), (1, N_SETUPS))]
    planted: dict[Level, list[tuple[float, int, str]]] = {
        "nominal": yes_no,
        "ordinal": [(math.nan, N_SETUPS, "1 to 5")],
    }
    for level, (kappa, n, said) in ((key, each) for key in planted for each in planted[key]):
        counts = large(partial(counts_of, share=share, kappa=kappa, n_setups=n))
        truth = float(GWET_AC[level](gwet_ac_statistics(counts, level).sum(axis=0)))
        study = partial(gwet_study, share=share, kappa=kappa, n_setups=n, level=level)
        yield "AC1" if level == "nominal" else "AC2", said, truth, study
    for noise in (0.5, 1.0):
        table = large(partial(crossed_answers, share=share, noise=noise))
        truth = float(ICC(icc_statistics(table).sum(axis=0)))
        yield "ICC(2,1)", f"noise {noise:g}", truth, partial(icc_study, share=share, noise=noise)
    for rho in (0.5, 0.9):
        truth = large(partial(pairwise, share=share, rho=rho)).accuracy
        study = partial(pairwise_study, share=share, rho=rho)
        yield "pairwise accuracy", f"rho {rho:g}", truth, study
        for name, is_kendall in (("Kendall", True), ("Pearson", False)):
            truth = large(partial(correlation, share=share, rho=rho, is_kendall=is_kendall)).value
            study = partial(correlation_study, share=share, rho=rho, is_kendall=is_kendall)
            yield name, f"rho {rho:g}", truth, study
    for said, bold in OVERCONFIDENT.items():
        truth = true_calibration_error(share, bold)
        study = partial(calibration_study, share=share, bold=bold)
        yield "calibration error", said, truth, study
    for right in (0.4, 0.85, 0.97):
        sums = large(partial(advantage_sums, share=share, right=right))
        truth = float(ADVANTAGE(sums.sum(axis=0)))
        study = partial(advantage_study, share=share, right=right)
        yield "advantage", f"right {right:g}", truth, study


def cells(n_runs: int, seed: int) -> Iterator[Cell]:
    """Yield the coverage of each kind of interval in each kind of study."""
    for share in SHARES:
        for (statistic, kind, truth, study), n_dialogs in product(kinds(share), N_DIALOGS):
            yield simulated((statistic, kind, share, truth, n_dialogs), study, n_runs, seed)
