"""Check on simulated studies whether 95 % intervals hold the true figure in 95 % of all studies.

The first table is about figures of all pages: every study has 50, 100 or 400 dialogs with four
setups, whose responses are alike within a dialog, and figures get their intervals as on every page.
The second table is about few labels (prediction-powered figures) and about A against B, and has
rates of rejection for tests (`few_labels.py`). The third is about figures that depend on the rarer
answer (`rare_answers.py`), the fourth about means, medians, F1 and effects
(`means_and_effects.py`), the fifth about what experts ask for (`expert_figures.py`), the sixth
about shares that are corrected by error rates of another study (`transferred_rates.py`), and the
last about dialogs that a metric's scores drew (`weighted_draws.py`). The exit status is 1 if a
coverage is outside 93 to 97 % (last five tables: below 93 %), or a test rejects without an effect
in over 5 %, widened by two Monte-Carlo errors.

    .venv/bin/python benchmarks/coverage.py --runs 2000
    .venv/bin/python benchmarks/coverage.py --only few-labels --quick
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import (
    expert_figures,
    few_labels,
    means_and_effects,
    rare_answers,
    transferred_rates,
    weighted_draws,
)
from evaluation.measures.ssa import ssa_figure
from evaluation.statistics.agreement import (
    ALPHA,
    FLEISS_KAPPA,
    fleiss_kappa_statistics,
    krippendorff_alpha_statistics,
    percent_agreement_from,
    percent_agreement_statistics,
)
from evaluation.statistics.intervals import (
    Floats,
    MixOfShares,
    Statistic,
    bootstrap_intervals,
    difference_of_shares,
    method_of,
    share_from,
)
from evaluation.statistics.rater_answers import mean_statistics
from evaluation.statistics.uncertainty import SHIFT, accuracy_statistics, shift_statistics

TRUE_VALUES = (*(round(0.1 * step, 1) for step in range(1, 10)), 0.95)
N_DIALOGS = (50, 100, 400)
N_SETUPS = 4
N_RATERS = 5
ALIKE = 0.5  # share of items that follow their dialog; two of one dialog correlate by its square
DECIDED = 0.92  # share of items with a majority
CEILING = 0.93
YES = 0.8  # share of yes among votes whose agreement is measured
BATCH = 100  # number of studies that share their resamples
LOWEST, HIGHEST = 0.93, 0.97
OUTSIDE = "  outside"


class Simulated(NamedTuple):
    """A figure of one simulated study, and its true value."""

    figure: Statistic
    truth: float


class Coverage(NamedTuple):
    """The share of studies in which the interval of one statistic held its true value."""

    method: str
    statistic: str
    true_value: float
    n_dialogs: int
    coverage: float
    mean_width: float


Simulation = Callable[[np.random.Generator, float, int], Simulated]


def labels(random: np.random.Generator, share: float, of_dialog: Floats, n_setups: int) -> Floats:
    """Return labels 1 or 0, by dialog and setup (n_dialogs, n_setups); the share of 1 is `share`.

    `of_dialog` are uniform numbers (n_dialogs, 1) that items of one dialog have in common.
    """
    shape = (len(of_dialog), n_setups)
    drawn = np.where(random.random(shape) < ALIKE, of_dialog, random.random(shape))
    return (drawn < share).astype(np.float64)


def dialogs_of(items: Floats) -> np.ndarray:
    return np.repeat(np.arange(items.shape[0]), items.shape[1])


def mean_of_one_setup(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    majority = labels(random, value, random.random((n_dialogs, 1)), 1)
    figure = Statistic(mean_statistics(majority.ravel()), dialogs_of(majority), share_from)
    return Simulated(figure, value)


def mean_of_all_setups(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    majority = labels(random, value, random.random((n_dialogs, 1)), N_SETUPS)
    majority[random.random(majority.shape) > DECIDED] = math.nan
    figure = Statistic(mean_statistics(majority.ravel()), dialogs_of(majority), share_from)
    return Simulated(figure, value)


def accuracy(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    """Return the accuracy of merged against separate majorities, or of a metric's labels."""
    of_dialog = random.random((n_dialogs, 1))
    truth = labels(random, 0.6, random.random((n_dialogs, 1)), N_SETUPS)
    is_right = labels(random, value, of_dialog, N_SETUPS)
    truth[random.random(truth.shape) > DECIDED] = math.nan
    label = np.where(is_right == 1, truth, 1 - truth)
    statistics = accuracy_statistics(truth.ravel(), label.ravel())
    return Simulated(Statistic(statistics, dialogs_of(truth), share_from), value)


def metric_minus_ceiling(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    of_dialog = random.random((n_dialogs, 1))
    of_metric, of_raters = (
        labels(random, share, of_dialog, N_SETUPS) for share in (value, CEILING)
    )
    dialogs = dialogs_of(of_metric)
    metric, raters = (
        Statistic(mean_statistics(each.ravel()), dialogs, share_from)
        for each in (of_metric, of_raters)
    )
    return Simulated(difference_of_shares(metric, raters), value - CEILING)


def shift(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    """Return merged - separate majorities of one setup: some no become yes, and 5 % of yes no."""
    yes_before = min(0.4, 0.9 * (1 - value) / 2)
    separate = random.random(n_dialogs) < yes_before
    becomes_no = 0.05
    becomes_yes = (value + yes_before * becomes_no) / (1 - yes_before)
    chance = np.where(separate, 1 - becomes_no, becomes_yes)
    merged = random.random(n_dialogs) < chance
    statistics = shift_statistics(separate.astype(np.float64), merged.astype(np.float64))
    return Simulated(Statistic(statistics, np.arange(n_dialogs), SHIFT), value)


def votes(random: np.random.Generator, kappa: float, shares: Floats, n_dialogs: int) -> Floats:
    """Return vote counts (n_items, n_categories); raters know the answer, or vote at random.

    Each rater knows it with a probability of sqrt(kappa). So two raters agree beyond chance with a
    probability of kappa.
    """
    ends = shares.cumsum()[:-1]
    of_dialog = np.searchsorted(ends, random.random((n_dialogs, 1)))
    shape = (n_dialogs, N_SETUPS)
    own = np.searchsorted(ends, random.random(shape))
    truth = np.where(random.random(shape) < ALIKE, of_dialog, own).reshape(-1, 1)
    guessed = np.searchsorted(ends, random.random((truth.size, N_RATERS)))
    given = np.where(random.random(guessed.shape) < math.sqrt(kappa), truth, guessed)
    place = given + len(shares) * np.arange(truth.size)[:, np.newaxis]
    counts = np.bincount(place.ravel(), minlength=len(shares) * truth.size)
    return counts.reshape(truth.size, len(shares)).astype(np.float64)


def percent_agreement(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    """Return percent agreement of ten categories: with two, five raters agree in at least 40 %."""
    counts = votes(random, (value - 0.1) / 0.9, np.full(10, 0.1), n_dialogs)
    dialogs = np.repeat(np.arange(n_dialogs), N_SETUPS)
    statistics = percent_agreement_statistics(counts)
    return Simulated(Statistic(statistics, dialogs, percent_agreement_from), value)


def fleiss_kappa(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    counts = votes(random, value, np.array([1 - YES, YES]), n_dialogs)
    dialogs = np.repeat(np.arange(n_dialogs), N_SETUPS)
    return Simulated(Statistic(fleiss_kappa_statistics(counts), dialogs, FLEISS_KAPPA), value)


def alpha(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    """Return nominal alpha, with a fifth of the votes missing."""
    counts = votes(random, value, np.array([1 - YES, YES]), n_dialogs)
    counts = random.binomial(counts.astype(np.int64), 0.8).astype(np.float64)
    dialogs = np.repeat(np.arange(n_dialogs), N_SETUPS)
    statistics = krippendorff_alpha_statistics(counts)
    return Simulated(Statistic(statistics, dialogs, ALPHA["nominal"]), value)


def mix(random: np.random.Generator, n_dialogs: int, shares: Floats, weights: Floats) -> Simulated:
    """Return a weighted sum of shares, each of which has one response to each example."""
    of_dialog = random.random((n_dialogs, 1))
    of_each = [labels(random, share, of_dialog, 1) for share in shares.tolist()]
    ones = np.ones((n_dialogs, 1))
    statistics = np.hstack([column for label in of_each for column in (label, ones)])
    measure = MixOfShares(tuple(weights.tolist()))
    return Simulated(
        Statistic(statistics, np.arange(n_dialogs), measure), float(np.dot(shares, weights))
    )


def top_1(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    """Return the attribution of a retriever with recall `value`: golden near 1, other near 0."""
    shares, weights = np.array([0.96, 0.05]), np.array([value, 1 - value])
    return mix(random, n_dialogs, shares, weights)


def top_k_minus_top_1(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    """Return the difference of two retrievers, as in the report on restricted context.

    Its four parts are golden evidence and non-evidence at the dialog share s of top 1, and golden
    evidence at the dialog shares below and above that of top k.
    """
    at_1, at_k = 0.5, 0.8
    shares = np.array([value, 0.2 * value, 0.9 * value, value])
    weights = np.array([-at_1, (1 - at_k) - (1 - at_1), 0.5 * at_k, 0.5 * at_k])
    return mix(random, n_dialogs, shares, weights)


def ssa_shares(value: float) -> tuple[float, float]:
    """Return the shares of sensible and of specific responses whose mean is `value`."""
    apart = min(0.1, value / 2, (1 - value) / 2)
    return value + apart, value - apart


def ssa_labels(random: np.random.Generator, value: float, n_dialogs: int) -> tuple[Floats, Floats]:
    """Return labels of sensible and of specific: (n_dialogs, n_setups).

    What is not sensible is not specific.
    """
    sensible_share, specific_share = ssa_shares(value)
    of_dialog = random.random((n_dialogs, 1))
    sensible = labels(random, sensible_share, of_dialog, N_SETUPS)
    is_here = labels(
        random, specific_share / sensible_share, random.random((n_dialogs, 1)), N_SETUPS
    )
    return sensible, sensible * is_here


def ssa_by_majority(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    both = ssa_labels(random, value, n_dialogs)
    for each in both:
        each[random.random(each.shape) > DECIDED] = math.nan
    figure = ssa_figure(both[0].ravel(), both[1].ravel(), dialogs_of(both[0]))
    return Simulated(figure, value)


def ssa_by_votes(random: np.random.Generator, value: float, n_dialogs: int) -> Simulated:
    """Return SSA by the shares of five votes, of which some miss the truth.

    A rater says sensible of 98 % of what is and of 2 % of what is not, and so with what is specific
    of what this rater calls sensible.
    """
    right = 0.98
    sensible_share, specific_share = ssa_shares(value)
    wanted = sensible_share, specific_share / sensible_share
    shares = [min(1.0, max(0.0, (each - (1 - right)) / (2 * right - 1))) for each in wanted]
    truths = [labels(random, each, random.random((n_dialogs, 1)), N_SETUPS) for each in shares]
    votes_of = [
        random.random((*truth.shape, N_RATERS)) < np.where(truth == 1, right, 1 - right)[..., None]
        for truth in truths
    ]
    sensible, specific = votes_of[0], votes_of[0] & votes_of[1]
    chances = [share * right + (1 - share) * (1 - right) for share in shares]
    figure = ssa_figure(
        sensible.mean(axis=2).ravel(), specific.mean(axis=2).ravel(), dialogs_of(truths[0])
    )
    return Simulated(figure, (chances[0] + chances[0] * chances[1]) / 2)


SIMULATIONS: dict[str, Simulation] = {
    "question mean, one setup": mean_of_one_setup,
    "question mean, all setups": mean_of_all_setups,
    "merged vs separate accuracy": accuracy,
    "shift, one setup": shift,
    "percent agreement": percent_agreement,
    "Fleiss kappa": fleiss_kappa,
    "alpha": alpha,
    "metric accuracy": accuracy,
    "metric − ceiling": metric_minus_ceiling,
    "top 1": top_1,
    "top k − top 1": top_k_minus_top_1,
    "SSA by majorities": ssa_by_majority,
    "SSA by votes": ssa_by_votes,
}


def coverage(
    statistic: str, value: float, n_dialogs: int, n_runs: int, n_resamples: int, seed: int
) -> Coverage:
    """Return how often the intervals of one statistic hold its true value."""
    place = list(SIMULATIONS).index(statistic)
    random = np.random.default_rng([seed, place, n_dialogs, round(10 * value)])
    n_held, widths, method, truth = 0, 0.0, "", value
    for start in range(0, n_runs, BATCH):
        simulated = [
            SIMULATIONS[statistic](random, value, n_dialogs)
            for _ in range(min(BATCH, n_runs - start))
        ]
        intervals = bootstrap_intervals(
            [each.figure for each in simulated],
            n_dialogs,
            seed=int(random.integers(2**32)),
            n_resamples=n_resamples,
        )
        for (figure, truth), interval in zip(simulated, intervals, strict=True):
            n_held += interval.low <= truth <= interval.high  # False if undefined
            widths += interval.high - interval.low
            method = method_of(figure)
    return Coverage(method, statistic, round(truth, 3), n_dialogs, n_held / n_runs, widths / n_runs)


def coverages(options: argparse.Namespace) -> Iterator[Coverage]:
    for statistic in SIMULATIONS:
        for n_dialogs in N_DIALOGS:
            for value in TRUE_VALUES:
                yield coverage(
                    statistic, value, n_dialogs, options.runs, options.resamples, options.seed
                )


def table_of_figures(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Print the first table and yield its rows."""
    error = math.sqrt(0.95 * 0.05 / options.runs)
    lowest, highest = LOWEST - 2 * error, HIGHEST + 2 * error
    write = sys.stdout.write
    write(f"{'method':<62}{'statistic':<30}{'true':>7}{'dialogs':>9}{'coverage':>10}{'width':>8}\n")
    for row in coverages(options):
        is_outside = not lowest <= row.coverage <= highest
        write(
            f"{row.method:<62}{row.statistic:<30}{row.true_value:>7.2f}{row.n_dialogs:>9}"
            f"{row.coverage:>10.4f}{row.mean_width:>8.3f}{OUTSIDE if is_outside else ''}\n"
        )
        sys.stdout.flush()
        yield row._asdict() | {"is_outside": is_outside}


def table_of_cells(kind: ModuleType, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Print a table of cells and yield its rows; figures without a value are None."""
    sys.stdout.write(kind.header() + "\n")
    for cell in kind.cells(options.runs, options.seed):
        is_outside = kind.is_outside(cell, options.runs)
        sys.stdout.write(kind.line(cell) + (OUTSIDE if is_outside else "") + "\n")
        sys.stdout.flush()
        row = {name: None if value != value else value for name, value in cell._asdict().items()}
        yield row | {"is_outside": is_outside}


TABLES: dict[str, Callable[[argparse.Namespace], Iterator[dict[str, Any]]]] = {
    "figures": table_of_figures,
    "few-labels": partial(table_of_cells, few_labels),
    "rare-answers": partial(table_of_cells, rare_answers),
    "means-and-effects": partial(table_of_cells, means_and_effects),
    "expert-figures": partial(table_of_cells, expert_figures),
    "transferred-rates": partial(table_of_cells, transferred_rates),
    "weighted-draws": partial(table_of_cells, weighted_draws),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000, help="simulated studies for each line")
    parser.add_argument("--quick", action="store_true", help="100 studies for each line")
    parser.add_argument("--only", choices=TABLES, help="one of the tables")
    parser.add_argument("--resamples", type=int, default=1000, help="of the first table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    if options.quick:
        options.runs = 100
    began = time.perf_counter()
    tables = [options.only] if options.only else list(TABLES)
    rows = [row for table in tables for row in TABLES[table](options)]
    n_outside = sum(row["is_outside"] for row in rows)
    seconds = round(time.perf_counter() - began, 1)
    error = math.sqrt(0.95 * 0.05 / options.runs)
    lowest, highest = LOWEST - 2 * error, HIGHEST + 2 * error
    sys.stdout.write(
        f"{n_outside} of {len(rows)} outside {lowest:.2%} to {highest:.2%}, "
        f"{options.runs} runs each, {seconds} seconds\n"
    )
    if options.json:
        summary = {
            "runs": options.runs,
            "resamples": options.resamples,
            "seed": options.seed,
            "lowest": round(lowest, 4),
            "highest": round(highest, 4),
            "n_outside": n_outside,
            "seconds": seconds,
            "rows": rows,
        }
        sys.stdout.write(json.dumps(summary) + "\n")
    sys.exit(1 if n_outside else 0)


if __name__ == "__main__":
    main()
