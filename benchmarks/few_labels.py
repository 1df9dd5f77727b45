"""Simulated studies with few labels and of A against B, for the second table of `coverage.py`.

A study has dialogs with responses that are alike within a dialog. Raters answer for some dialogs. A
metric scores all of them; its latent scores of yes and no are d' deviations apart.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from evaluation.statistics.intervals import (
    Floats,
    MixOfShares,
    Statistic,
    bootstrap_intervals,
)
from evaluation.statistics.paired_difference import paired_difference
from evaluation.statistics.prediction_powered import (
    PredictionPowered,
    RatedPart,
    prediction_powered_difference,
    prediction_powered_share,
)
from evaluation.statistics.rank_measures import spearman
from evaluation.statistics.rater_answers import mean_statistics
from evaluation.statistics.system_correlation import system_correlation

SHARES = (0.5, 0.7, 0.9, 0.95)
METRICS = {"weak": 1.0, "middling": 2.0, "strong": 3.0}  # d'
SIZES = ((100, 50), (400, 50), (400, 100), (400, 200))  # dialogs, and those with labels
N_DIALOGS = (50, 100, 400)
N_SETUPS = 4
BEST = 0.9  # share of the best of eight setups
ALIKE = 0.5  # two responses of one dialog have correlated labels and scores, by its square
CORRELATION = 0.7  # labels and scores correlate so where the gain in width is judged
EFFECT = 0.05  # difference of two setups
NOISE = 0.02  # difference of the agreement with merged ratings and with a second separate arm
N_RESAMPLES = 400
N_PERMUTATIONS = 1000
LEVEL = 0.05
TESTS = ("permutations", "McNemar")
LOWEST, HIGHEST = 0.93, 0.97

# Gauss-Hermite quadrature: the mean of a function of a normal number is a weighted sum.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS /= math.sqrt(2 * math.pi)

Random = np.random.Generator


class Cell(NamedTuple):
    """The coverage of one kind of interval in one kind of study, or a test's rate of rejection."""

    statistic: str
    share: float
    metric: str
    n_dialogs: int
    n_labelled: int
    coverage: float  # NaN for a test
    coverage_of_humans: float  # raters alone; NaN without prediction-powered figures
    coverage_of_powered: float  # the studies that show prediction-powered figures; NaN: none do
    rejections: float  # NaN for an interval
    width: float
    width_of_humans: float  # NaN without prediction-powered figures
    humans_only: float  # share of studies that show the figure of raters alone
    undefined: float  # share of studies without an interval; they do not count for coverage


class Outcome(NamedTuple):
    """The result of one simulated study."""

    low: float
    high: float
    truth: float
    human_low: float = math.nan
    human_high: float = math.nan
    is_humans_only: bool = False
    p: float = math.nan


Study = Callable[[Random], Outcome]


def labels(random: Random, shares: NDArray[np.floating[Any]], n_dialogs: int) -> Floats:
    """Return labels (n_dialogs, n_setups) whose shares of 1 are `shares`."""
    shape = (n_dialogs, len(shares))
    of_dialog = random.random((n_dialogs, 1))
    drawn = np.where(random.random(shape) < ALIKE, of_dialog, random.random(shape))
    return (drawn < shares).astype(np.float64)


def scores(random: Random, truth: Floats, distance: float) -> Floats:
    """Return the scores in [0, 1] that a metric gives to responses with these labels."""
    of_dialog = random.normal(size=(len(truth), 1))
    noise = ALIKE * of_dialog + math.sqrt(1 - ALIKE**2) * random.normal(size=truth.shape)
    scaled: Floats = expit(distance * (distance * truth + noise - distance / 2))
    return scaled


def part_of(truth: Floats, score: Floats, n_labelled: int) -> RatedPart:
    """Return responses of which the first dialogs have labels; dialogs are in random order."""
    dialogs = np.repeat(np.arange(len(truth)), truth.shape[1])
    return RatedPart(truth.ravel(), score.ravel(), dialogs, np.arange(len(truth)) < n_labelled)


def outcome_of(figures: PredictionPowered, truth: float) -> Outcome:
    """Return the interval that a page shows: that of raters alone where there is no other."""
    human = figures.human_low, figures.human_high
    if figures.reason is None:
        return Outcome(figures.low, figures.high, truth, *human)
    return Outcome(*human, truth, *human, is_humans_only=True)


def powered_share(
    random: Random, share: float, distance: float, n_dialogs: int, n_labelled: int, n_setups: int
) -> Outcome:
    truth = labels(random, np.full(n_setups, share), n_dialogs)
    part = part_of(truth, scores(random, truth, distance), n_labelled)
    return outcome_of(prediction_powered_share(part), share)


def powered_difference(
    random: Random, share: float, distance: float, n_dialogs: int, n_labelled: int
) -> Outcome:
    truth = labels(random, np.array([share, share - EFFECT]), n_dialogs)
    score = scores(random, truth, distance)
    sides = [part_of(truth[:, [n]], score[:, [n]], n_labelled) for n in (0, 1)]
    return outcome_of(prediction_powered_difference(*sides), EFFECT)


def difference(
    random: Random, share: float, effect: float, n_dialogs: int, n_pairs: int, distance: float = 0
) -> Outcome:
    """Return the paired difference of labels; with a distance, that of a metric's scores."""
    shares = np.repeat(np.array([share, share - effect]), n_pairs)
    sides, expected = labels(random, shares, n_dialogs), effect
    if distance:
        sides = scores(random, sides, distance)
        expected = effect * mean_shift(distance)
    first, second = (sides[:, :n_pairs].ravel(), sides[:, n_pairs:].ravel())
    dialogs = np.repeat(np.arange(n_dialogs), n_pairs)
    # Only where nothing differs does the test matter.
    n_permutations = 1 if effect else N_PERMUTATIONS
    compared = paired_difference(
        first, second, dialogs, n_dialogs, seed=_seed(random), n_permutations=n_permutations
    )
    return Outcome(compared.low, compared.high, expected, p=compared.p_permutation)


def mid_p(random: Random, share: float, n_dialogs: int) -> Outcome:
    first, second = labels(random, np.array([share, share]), n_dialogs).T
    dialogs = np.arange(n_dialogs)
    compared = paired_difference(first, second, dialogs, n_dialogs, seed=1, n_permutations=1)
    return Outcome(compared.low, compared.high, 0.0, p=compared.p_mcnemar)


def arms(random: Random, share: float, n_dialogs: int) -> Outcome:
    """Return how much less often merged than replicate majorities equal the separate ones."""
    agree = labels(random, np.repeat(np.array([share, share + NOISE]), N_SETUPS), n_dialogs)
    dialogs = np.repeat(np.arange(n_dialogs), N_SETUPS)
    merged, replicate = (mean_statistics(each.ravel()) for each in np.hsplit(agree, 2))
    both = np.hstack([merged, replicate])
    figure = Statistic(both, dialogs, MixOfShares((1.0, -1.0)))
    [interval] = bootstrap_intervals([figure], n_dialogs, seed=1, n_resamples=N_RESAMPLES)
    return Outcome(interval.low, interval.high, -NOISE)


def systems(random: Random, share: float, distance: float, n_dialogs: int, name: str) -> Outcome:
    """Return tau or Spearman over 8 setups; two neighbours have the other order by the metric."""
    shares = np.asarray(share - 0.06 * np.arange(8), np.float64)
    truth = labels(random, shares, n_dialogs)
    bias = np.zeros(8)
    bias[[2, 3]] = -0.1, 0.1
    score = scores(random, truth, distance) + bias
    dialogs, setups = (each.ravel() for each in np.indices(truth.shape))
    found = system_correlation(
        truth.ravel(), score.ravel(), setups, dialogs, n_dialogs, seed=1, n_resamples=N_RESAMPLES
    )
    by_metric = shares * mean_shift(distance) + bias
    signs = np.sign(np.subtract.outer(by_metric, by_metric))[np.triu_indices(8, 1)]
    if name == "tau":
        return Outcome(found.tau_low, found.tau_high, float(signs.mean()))
    return Outcome(found.spearman_low, found.spearman_high, spearman(shares, by_metric))


def kinds(share: float, n_dialogs: int) -> Iterator[tuple[str, Study]]:
    """Yield the name of a statistic without a metric's help, and what simulates one study."""
    given: dict[str, Any] = {"share": share, "n_dialogs": n_dialogs}
    for n_pairs in (1, N_SETUPS):
        pairs = given | {"n_pairs": n_pairs}
        yield f"labels A − B, pairs: {n_pairs}", partial(difference, effect=EFFECT, **pairs)
        yield f"permutations, pairs: {n_pairs}", partial(difference, effect=0.0, **pairs)
    yield "McNemar mid-p", partial(mid_p, **given)
    middling: dict[str, Any] = {"distance": METRICS["middling"]}
    yield "scores A − B", partial(difference, effect=EFFECT, n_pairs=1, **given, **middling)
    yield "merged − replicate", partial(arms, **given)


def powered_kinds(given: dict[str, Any]) -> Iterator[tuple[str, Study]]:
    """Yield the name of a prediction-powered statistic, and what simulates one study."""
    for n_setups in (1, N_SETUPS):
        name = f"prediction-powered mean, setups: {n_setups}"
        yield name, partial(powered_share, n_setups=n_setups, **given)
    yield "prediction-powered A − B", partial(powered_difference, **given)


def cells(n_runs: int, seed: int) -> Iterator[Cell]:
    """Yield the coverage of each kind of interval in each kind of study."""
    for share, (metric, distance), size in product(SHARES, METRICS.items(), SIZES):
        sizes = dict(zip(("n_dialogs", "n_labelled"), size, strict=True))
        for name, study in powered_kinds({"share": share, "distance": distance, **sizes}):
            yield simulated((name, share, metric, *size), study, n_runs, seed)
    for share in SHARES:
        given: dict[str, Any] = {"share": share, "distance": distance_of(CORRELATION, share)}
        given |= {"n_dialogs": 1000, "n_labelled": 100}
        study = partial(powered_share, n_setups=1, **given)
        about = ("prediction-powered mean, setups: 1", share, f"r = {CORRELATION}", 1000, 100)
        yield simulated(about, study, n_runs, seed)
    for share, n_dialogs in product(SHARES, N_DIALOGS):
        for name, study in kinds(share, n_dialogs):
            yield simulated((name, share, "", n_dialogs, n_dialogs), study, n_runs, seed)
    of_setups = product(METRICS.items(), N_DIALOGS, ("tau", "Spearman"))
    for (metric, distance), n_dialogs, name in of_setups:
        study = partial(systems, share=BEST, distance=distance, n_dialogs=n_dialogs, name=name)
        about = (f"{name} over 8 setups", BEST, metric, n_dialogs, n_dialogs)
        yield simulated(about, study, n_runs, seed)


def simulated(
    about: tuple[str, float, str, int, int], study: Study, n_runs: int, seed: int
) -> Cell:
    """Return what many studies of one kind show; a study's seed depends on its cell alone."""
    random = np.random.default_rng([seed, *"|".join(map(str, about)).encode()])
    outcomes = [study(random) for _ in range(n_runs)]
    table = np.array(outcomes, dtype=np.float64)
    low, high, truth, human_low, human_high, is_humans_only, p = table.T
    known, is_test = ~np.isnan(low), about[0].startswith(TESTS)
    held = (low <= truth) & (truth <= high)
    is_powered = known & (is_humans_only == 0) & ~np.isnan(human_low)
    held_by_humans = (human_low <= truth) & (truth <= human_high)
    return Cell(
        *about,
        coverage=math.nan if is_test else float(held[known].mean()),
        coverage_of_humans=math.nan if np.isnan(human_low).all() else float(held_by_humans.mean()),
        coverage_of_powered=float(held[is_powered].mean()) if is_powered.any() else math.nan,
        rejections=float(np.mean(p < LEVEL)) if is_test else math.nan,
        width=float(np.mean((high - low)[known])),
        width_of_humans=float(np.mean((human_high - human_low)[known])),
        humans_only=float(is_humans_only.mean()),
        undefined=float(1 - known.mean()),
    )


def is_outside(cell: Cell, n_runs: int) -> bool:
    """Return whether a coverage is outside 93 to 97 %, or a test rejects in more than 5 %.

    Both are widened by two Monte-Carlo errors.
    """
    error = 2 * math.sqrt(0.95 * 0.05 / n_runs)
    if not math.isnan(cell.rejections):
        return cell.rejections > LEVEL + error
    return not LOWEST - error <= cell.coverage <= HIGHEST + error


def header() -> str:
    numbers = (
        *("coverage", "by humans", "powered", "rejects", "width", "humans'", "humans only"),
        "undefined",
    )
    return f"{'statistic':<36}{'true':>5}  {'metric':<9}{'dialogs':>8}{'labelled':>9}" + "".join(
        f"{name:>12}" for name in numbers
    )


def line(cell: Cell) -> str:
    statistic, share, metric, n_dialogs, n_labelled, *numbers = cell
    return f"{statistic:<36}{share:>5}  {metric:<9}{n_dialogs:>8}{n_labelled:>9}" + "".join(
        f"{'' if math.isnan(number) else f'{number:.3f}':>12}" for number in numbers
    )


def distance_of(correlation: float, share: float) -> float:
    """Return the d' with which scores and labels have a correlation."""

    def excess(distance: float) -> float:
        (no, no_squared), (yes, yes_squared) = (moments(distance, label) for label in (0, 1))
        mean = share * yes + (1 - share) * no
        variance = share * yes_squared + (1 - share) * no_squared - mean**2
        return (yes - no) * math.sqrt(share * (1 - share) / variance) - correlation

    return float(brentq(excess, 0.1, 10))


def mean_shift(distance: float) -> float:
    """Return the mean score of yes minus that of no."""
    return moments(distance, 1)[0] - moments(distance, 0)[0]


def moments(distance: float, label: int) -> tuple[float, float]:
    """Return the mean of the scores of a label, and of their squares."""
    given = expit(distance * (NODES + distance * (label - 0.5)))
    return float(given @ WEIGHTS), float(given**2 @ WEIGHTS)


def _seed(random: Random) -> int:
    return int(random.integers(2**32))
