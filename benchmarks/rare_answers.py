"""Simulated studies in which one answer may be rare, for the third table of `coverage.py`.

Intervals of kappa, alpha, AUC and their like depend on how often the rarer answer was given. Every
study has dialogs whose items are alike. What a page shows counts: where it shows no interval, the
study is counted as undefined and not for the coverage. A page knows how many dialogs hold the rarer
answer, and warns of few; the share of studies with a warning stands beside the coverage.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import ndtr

from benchmarks.few_labels import METRICS, N_SETUPS, Random, labels
from evaluation.measures.seeded_runs import value_of
from evaluation.measures.tradeoff import figures_of_setup, statistics_of
from evaluation.reports.rarer_answer import NARROW_BELOW, is_ordinal_alpha_narrow
from evaluation.statistics import human_auto
from evaluation.statistics.agreement import (
    ALPHA,
    FLEISS_KAPPA,
    fleiss_kappa_statistics,
    krippendorff_alpha_statistics,
)
from evaluation.statistics.ceiling import beside_ceilings, halves_ceiling, rest_ceiling
from evaluation.statistics.intervals import (
    Floats,
    Interval,
    Measure,
    Statistic,
    bootstrap_intervals,
)
from evaluation.statistics.jackknife import dialogs_with_rarer_answer
from evaluation.statistics.rank_measures import Dialogs, auc_interval, spearman, spearman_interval
from evaluation.statistics.rater_answers import (
    consensus,
    majority_label,
    mean_from,
    mean_statistics,
)

SHARES = (0.5, 0.9, 0.95)
N_DIALOGS = (50, 100, 400)
ALIKE = 0.5  # share of items that follow their dialog
N_RATERS = 5
N_LARGE = 200_000  # dialogs of the study whose figure is taken as the true one
LOWEST, HIGHEST = 0.93, 0.97


class Outcome(NamedTuple):
    """The interval of one simulated study."""

    interval: Interval
    is_warned: bool = False  # whether the page says that intervals are too narrow


class Cell(NamedTuple):
    """The coverage of one kind of interval in one kind of study."""

    statistic: str
    kind: str  # what else is planted
    share: float  # share of the more frequent answer; NaN: there is none
    true_value: float
    n_dialogs: int
    coverage: float  # share of the studies with an interval that hold the truth; NaN without any
    warned: float  # share of these studies whose page warns that few dialogs hold the rarer answer
    width: float
    undefined: float  # share of studies without an interval


Study = Callable[[Random, int], Outcome]


def dialogs_of(items: Floats) -> Dialogs:
    return Dialogs(np.repeat(np.arange(items.shape[0]), items.shape[1]), items.shape[0])


def is_few(answers: Floats) -> bool:
    """Return whether the page warns of few dialogs, from their answers (n_dialogs, n_answers)."""
    return 0 < dialogs_with_rarer_answer(answers) < NARROW_BELOW


def labels_are_few(is_yes: Floats) -> bool:
    return is_few(np.column_stack([is_yes.sum(axis=1), (1 - is_yes).sum(axis=1)]))


def interval_of(statistics: Floats, dialogs: Dialogs, measure: Measure) -> Interval:
    figure = Statistic(statistics, dialogs.of_items, measure)
    [interval] = bootstrap_intervals([figure], dialogs.n, seed=1)
    return interval


# --- a metric against people ----------------------------------------------------------------


def auc_study(random: Random, n_dialogs: int, share: float, distance: float) -> Outcome:
    is_yes = labels(random, np.full(N_SETUPS, share), n_dialogs)
    of_dialog = random.normal(size=(n_dialogs, 1))
    noise = ALIKE * of_dialog + math.sqrt(1 - ALIKE**2) * random.normal(size=is_yes.shape)
    score = distance * is_yes + noise
    found = auc_interval(is_yes.ravel() == 1, score.ravel(), dialogs_of(is_yes))
    return Outcome(found, labels_are_few(is_yes))


def labels_study(random: Random, n_dialogs: int, share: float, right: float, name: str) -> Outcome:
    """Return a measure of labels of a metric that is right about yes and no alike."""
    is_yes = labels(random, np.full(N_SETUPS, share), n_dialogs)
    is_right = labels(random, np.full(N_SETUPS, right), n_dialogs)
    said = np.where(is_right == 1, is_yes, 1 - is_yes)
    nothing = np.full(is_yes.size, math.nan)
    outcomes = human_auto.Outcomes(
        is_yes.ravel(), said.ravel(), nothing, dialogs_of(is_yes).of_items, n_dialogs, 0.5
    )
    [interval] = bootstrap_intervals([human_auto.summed(outcomes)[name]], n_dialogs, seed=1)
    return Outcome(interval, labels_are_few(is_yes))


def kappa_of(share: float, right: float) -> float:
    """Return the true kappa: chance agrees on yes and yes, or no and no."""
    says_yes = share * right + (1 - share) * (1 - right)
    by_chance = share * says_yes + (1 - share) * (1 - says_yes)
    return (right - by_chance) / (1 - by_chance)


# --- raters ---------------------------------------------------------------------------------


def votes(random: Random, kappa: float, share: float, n_dialogs: int, n_setups: int) -> Floats:
    """Return counts of no and yes, (n_items, 2); each rater knows the answer with √kappa."""
    truth = labels(random, np.full(n_setups, share), n_dialogs).reshape(-1, 1)
    guessed = random.random((truth.size, N_RATERS)) < share
    yes = np.where(random.random(guessed.shape) < math.sqrt(kappa), truth, guessed).sum(axis=1)
    return np.column_stack([N_RATERS - yes, yes])


def votes_study(
    random: Random,
    n_dialogs: int,
    share: float,
    kappa: float,
    n_setups: int,
    statistics_of: Callable[[Floats], Floats],
    measure: Measure,
) -> Outcome:
    counts = votes(random, kappa, share, n_dialogs, n_setups)
    dialogs = Dialogs(np.repeat(np.arange(n_dialogs), n_setups), n_dialogs)
    by_dialog = counts.reshape(n_dialogs, n_setups, 2).sum(axis=1)
    found = interval_of(statistics_of(counts), dialogs, measure)
    return Outcome(found, is_few(by_dialog))


def ceilings_of(random: Random, n_dialogs: int, share: float, kappa: float) -> dict[str, Statistic]:
    """Return the ceilings of a study and what a metric, right about 90 %, is below them."""
    counts = votes(random, kappa, share, n_dialogs, N_SETUPS)
    label = majority_label(counts, N_RATERS)
    is_right = labels(random, np.full(N_SETUPS, 0.9), n_dialogs).ravel()
    of_study = {
        "halves": halves_ceiling(counts, label_of),
        "rest": rest_ceiling(counts, label_of),
    }
    dialogs = np.repeat(np.arange(n_dialogs), N_SETUPS)
    return beside_ceilings(np.where(is_right == 1, label, 1 - label), dialogs, of_study)


def label_of(counts: Floats) -> Floats:
    return majority_label(counts, counts.sum(axis=1))


def ceiling_study(random: Random, n_dialogs: int, share: float, kappa: float, name: str) -> Outcome:
    figure = ceilings_of(random, n_dialogs, share, kappa)[name]
    [interval] = bootstrap_intervals([figure], n_dialogs, seed=1)
    return Outcome(interval)


# --- scores against rater scores, and means --------------------------------------------------


def pairs_of_scores(
    random: Random, n_dialogs: int, share: float, rho: float
) -> tuple[Floats, Floats]:
    """Return scores, and rater scores of five raters; `share` is that of their yes, roughly."""

    def alike() -> Floats:
        of_dialog = random.normal(size=(n_dialogs, 1))
        own = random.normal(size=(n_dialogs, N_SETUPS))
        return math.sqrt(ALIKE) * of_dialog + math.sqrt(1 - ALIKE) * own

    score, noise = alike(), alike()
    latent = rho * score + math.sqrt(1 - rho**2) * noise
    middle = {0.5: 0.0, 0.9: 2.3, 0.95: 3.0}[share]
    return score, random.binomial(N_RATERS, ndtr(1.5 * latent + middle)) / N_RATERS


def spearman_study(random: Random, n_dialogs: int, share: float, rho: float) -> Outcome:
    score, rater_score = pairs_of_scores(random, n_dialogs, share, rho)
    found = spearman_interval(score.ravel(), rater_score.ravel(), dialogs_of(score))
    return Outcome(found, labels_are_few((rater_score == rater_score.max()).astype(np.float64)))


def mse_study(random: Random, n_dialogs: int, share: float, rho: float) -> Outcome:
    score, rater_score = pairs_of_scores(random, n_dialogs, share, rho)
    squared = mean_statistics(((ndtr(score) - rater_score) ** 2).ravel())
    return Outcome(interval_of(squared, dialogs_of(score), mean_from))


def scale_counts(random: Random, n_dialogs: int, share: float) -> Floats:
    """Return counts of five raters' answers on 1 to 5, (n_items, 5); `share` of items are worth 5.

    The others have any worth, and a rater may be off by one.
    """
    is_five = labels(random, np.full(N_SETUPS, share), n_dialogs)
    worth = np.where(is_five == 1, 5, random.integers(1, 6, is_five.shape)).reshape(-1, 1)
    answers = np.clip(worth + random.integers(-1, 2, (worth.size, N_RATERS)), 1, 5)
    counts: Floats = (answers[:, :, np.newaxis] == np.arange(1, 6)).sum(axis=1).astype(np.float64)
    return counts


def medians_of(random: Random, n_dialogs: int, share: float) -> Floats:
    """Return medians of five raters on 1 to 5, by dialog and setup."""
    counts = scale_counts(random, n_dialogs, share)
    return consensus(counts, [1, 2, 3, 4, 5]).reshape(n_dialogs, N_SETUPS)


def ordinal_study(random: Random, n_dialogs: int, share: float) -> Outcome:
    counts = scale_counts(random, n_dialogs, share)
    dialogs = Dialogs(np.repeat(np.arange(n_dialogs), N_SETUPS), n_dialogs)
    statistics = krippendorff_alpha_statistics(counts)
    alpha = float(ALPHA["ordinal"](statistics.sum(axis=0)))
    found = interval_of(statistics, dialogs, ALPHA["ordinal"])
    return Outcome(found, is_ordinal_alpha_narrow(alpha, n_dialogs))


def medians_study(random: Random, n_dialogs: int, share: float) -> Outcome:
    medians = medians_of(random, n_dialogs, share)
    statistics = mean_statistics(medians.ravel())
    return Outcome(interval_of(statistics, dialogs_of(medians), mean_from))


def f1_study(random: Random, n_dialogs: int, share: float, other: float) -> Outcome:
    """Return the F1 of a trade-off: of the shares of attributable and of sensible responses."""
    first, second = (labels(random, np.array([each]), n_dialogs) for each in (share, other))
    statistics = statistics_of(first.ravel(), second.ravel())
    figure = figures_of_setup(statistics, np.arange(n_dialogs))["f1"]
    return Outcome(interval_of(statistics, dialogs_of(first), figure.measure))


T = TypeVar("T")


def large(simulate: Callable[[Random, int], T]) -> T:
    """Return one very large study, whose figures are taken as true where no formula gives them."""
    return simulate(np.random.default_rng(0), N_LARGE)


def kinds(share: float) -> Iterator[tuple[str, str, float, Study]]:
    """Yield statistic, what else is planted, true value, and what simulates one study."""
    for metric, distance in METRICS.items():
        truth = float(ndtr(distance / math.sqrt(2)))
        yield "AUC", metric, truth, partial(auc_study, share=share, distance=distance)
    for right in (0.7, 0.9, 0.97):
        hit, alarm = share * right, (1 - share) * (1 - right)
        truths = {
            "kappa": kappa_of(share, right),
            "balanced accuracy": right,
            "precision of labels": hit / (hit + alarm),
            "f1 of labels": 2 * hit / (hit + alarm + share),
        }
        for name, truth in truths.items():
            key = name.replace(" of labels", "").replace(" ", "_")
            study = partial(labels_study, share=share, right=right, name=key)
            yield name, f"right {right:g}", truth, study
    for kappa, n_setups in product((0.5, 0.9), (1, N_SETUPS)):
        rated = partial(votes_study, share=share, kappa=kappa, n_setups=n_setups)
        said = f"{kappa:g}, {n_setups} each"
        alpha = {"statistics_of": krippendorff_alpha_statistics, "measure": ALPHA["nominal"]}
        yield "alpha", said, kappa, partial(rated, **alpha)
        fleiss = {"statistics_of": fleiss_kappa_statistics, "measure": FLEISS_KAPPA}
        yield "Fleiss’ kappa", said, kappa, partial(rated, **fleiss)
    for kappa in (0.5, 0.9):
        figures = large(partial(ceilings_of, share=share, kappa=kappa))
        for name in ("ceiling_halves", "ceiling_rest", "minus_ceiling_rest"):
            truth = value_of(figures[name])
            study = partial(ceiling_study, share=share, kappa=kappa, name=name)
            yield name.replace("_", " "), f"{kappa:g}", truth, study
    for rho in (0.5, 0.9):
        score, rater_score = (
            each.ravel() for each in large(partial(pairs_of_scores, share=share, rho=rho))
        )
        study = partial(spearman_study, share=share, rho=rho)
        yield "Spearman", f"rho {rho:g}", spearman(score, rater_score), study
        squared = (ndtr(score) - rater_score) ** 2
        study = partial(mse_study, share=share, rho=rho)
        yield "MSE", f"rho {rho:g}", float(squared.mean()), study
    for other in (0.5, 0.95):
        truth = 2 * share * other / (share + other)
        study = partial(f1_study, share=share, other=other)
        yield "F1 of a trade-off", f"with {other:g}", truth, study
    counts = large(partial(scale_counts, share=share))
    truth = float(ALPHA["ordinal"](krippendorff_alpha_statistics(counts).sum(axis=0)))
    yield "ordinal alpha", "", truth, partial(ordinal_study, share=share)
    truth = float(large(partial(medians_of, share=share)).mean())
    yield "mean of medians", "", truth, partial(medians_study, share=share)


def cells(n_runs: int, seed: int) -> Iterator[Cell]:
    """Yield the coverage of each kind of interval in each kind of study."""
    for share in SHARES:
        for (statistic, kind, truth, study), n_dialogs in product(kinds(share), N_DIALOGS):
            about = (statistic, kind, share, truth, n_dialogs)
            yield simulated(about, study, n_runs, seed)


def simulated(
    about: tuple[str, str, float, float, int], study: Study, n_runs: int, seed: int
) -> Cell:
    """Return what many studies of one kind show; a study's seed depends on its cell alone."""
    statistic, kind, share, truth, n_dialogs = about
    random = np.random.default_rng([seed, *f"{statistic}|{kind}|{share}|{n_dialogs}".encode()])
    outcomes = [study(random, n_dialogs) for _ in range(n_runs)]
    ends = np.array([outcome.interval for outcome in outcomes])
    is_warned = np.array([outcome.is_warned for outcome in outcomes])
    known = ~np.isnan(ends[:, 0])
    held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return Cell(
        *about,
        coverage=_mean(held[known]),
        warned=_mean(is_warned[known]),
        width=_mean((ends[:, 1] - ends[:, 0])[known]),
        undefined=float(1 - known.mean()),
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else math.nan


def is_outside(cell: Cell, n_runs: int) -> bool:
    """Return whether a coverage is below 93 % by more than two Monte-Carlo errors, unwarned.

    Where the page of most studies warns, it says that intervals are too narrow.

    An interval that holds the true figure more often than in 97 % of studies is wider than it must
    be, and not wrong; its line says so with its width.
    """
    n_known = max(1.0, n_runs * (1 - cell.undefined))
    is_low = cell.coverage < LOWEST - 2 * math.sqrt(0.95 * 0.05 / n_known)
    return is_low and cell.warned < 0.5


def header() -> str:
    numbers = ("true", "dialogs", "coverage", "warned", "width", "undefined")
    return f"{'statistic':<27}{'kind':<13}{'share':>6}" + "".join(f"{name:>10}" for name in numbers)


def line(cell: Cell) -> str:
    statistic, kind, share, truth, n_dialogs, *numbers = cell
    written = "".join(f"{'' if math.isnan(each) else f'{each:.3f}':>10}" for each in numbers)
    shown = "" if math.isnan(share) else f"{share:g}"
    wide = "  wide" if cell.coverage > HIGHEST else ""
    return f"{statistic:<27}{kind:<13}{shown:>6}{truth:>10.3f}{n_dialogs:>10}{written}{wide}"
