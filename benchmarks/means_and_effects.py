"""Simulated studies of times, places, citations and trade-offs, for a table of `coverage.py`.

The figures are means, medians, F1, means over runs, and differences of these. Every study has
dialogs whose items are alike. Cells and rule are those of `rare_answers.py`; where no answer is the
more frequent one, the share is empty. A true value is a formula, or that of one very large study
(macro figures of citations). The ten raters are the same in all studies: intervals over dialogs say
nothing about other raters.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from benchmarks.few_labels import METRICS, N_SETUPS, Random, labels, moments, scores
from benchmarks.rare_answers import (
    ALIKE,
    N_DIALOGS,
    N_RATERS,
    SHARES,
    Cell,
    Outcome,
    Study,
    header,
    is_outside,
    large,
    line,
    simulated,
)
from evaluation.measures.citation import citation_figures, citation_statistics, figure_of
from evaluation.measures.incompetence import incompetence_figures
from evaluation.measures.recall_mixing import PointMixing, figures_of, in_all
from evaluation.measures.seeded_runs import f1_of_means, mean_share, na_f1_of_means
from evaluation.measures.tradeoff import figures_of_setup, statistics_of
from evaluation.measures.tradeoff_effects import (
    across,
    along,
    attribution_difference,
    beside,
    f1_difference,
    pair_statistics,
)
from evaluation.reports.rarer_answer import MEANS_NARROW_BELOW
from evaluation.statistics.intervals import (
    Floats,
    Measure,
    MixOfShares,
    Statistic,
    bootstrap_intervals,
    difference_of_shares,
    percentile_interval,
    share_from,
)
from evaluation.statistics.jackknife import InRange
from evaluation.statistics.rank_measures import dialogs_with_another_value
from evaluation.statistics.rater_answers import (
    difference_of_means_from,
    mean_from,
    mean_statistics,
)
from evaluation.statistics.timing import Medians, medians, saved_share

__all__ = ["cells", "header", "is_outside", "line"]

SECONDS, SAVED = 40.0, 0.3  # median of the separate arm, and the share that merging saves
# Standard deviations of the logarithm of seconds: of dialogs, of responses, and of what is left.
OF_DIALOG, OF_RESPONSE, OF_JUDGEMENT = 0.4, 0.3, 0.5
RATERS = 0.35 * ndtri((np.arange(10) + 0.5) / 10)  # how much slower each rater is
N_TIMED = 3  # raters of a response
APART = 0.05  # difference of two shares that are compared
FOLLOWS = 0.7  # share of votes that follow the response and not the rater
KNOWS = 0.8  # share of votes on a citation that are right
SENSIBLE = 0.9  # share of sensible responses of the first setup of a pair
N_RUNS = 3  # runs that differ in their seed
MIXING = PointMixing(at_1=0.5, at_k=0.8, weight=0.5)

Ints = NDArray[np.integer[Any]]
Kind = tuple[str, str, float, Study]  # statistic, what else is planted, true value, one study


def outcome(statistics: Floats, dialogs: Ints, measure: Measure, n_dialogs: int) -> Outcome:
    return of_figure(Statistic(statistics, dialogs, measure), n_dialogs)


def of_figure(figure: Statistic, n_dialogs: int) -> Outcome:
    [interval] = bootstrap_intervals([figure], n_dialogs, seed=1)
    return Outcome(interval)


def uniform(random: Random, n_dialogs: int, n_items: int) -> Floats:
    """Return uniform numbers (n_dialogs, n_items), of which those of a dialog are alike."""
    own, of_dialog = random.random((n_dialogs, n_items)), random.random((n_dialogs, 1))
    return np.where(random.random(own.shape) < ALIKE, of_dialog, own)


# --- times ----------------------------------------------------------------------------------


def seconds_of(random: Random, of_dialog: Floats, n_units: int) -> Floats:
    """Return the seconds of three judgements of each unit, (n_dialogs, 3 * n_units)."""
    of_unit = of_dialog + OF_RESPONSE * random.normal(size=(len(of_dialog), n_units))
    rater = random.random((*of_unit.shape, len(RATERS))).argsort(axis=2)[..., :N_TIMED]
    own = OF_JUDGEMENT * random.normal(size=rater.shape)
    judgements: Floats = np.exp(math.log(SECONDS) + of_unit[..., np.newaxis] + RATERS[rater] + own)
    return judgements.reshape(len(of_dialog), -1)


def true_mean_seconds() -> float:
    variance = OF_DIALOG**2 + OF_RESPONSE**2 + OF_JUDGEMENT**2
    return float(SECONDS * math.exp(variance / 2) * np.exp(RATERS).mean())


def times(random: Random, n_dialogs: int, n_setups: int) -> tuple[Floats, Floats]:
    """Return the seconds of the separate and of the merged arm, a row for each dialog.

    The responses of a merged unit share its time.
    """
    of_dialog = OF_DIALOG * random.normal(size=(n_dialogs, 1))
    merged = (1 - SAVED) * seconds_of(random, of_dialog, 1)
    return seconds_of(random, of_dialog, n_setups), np.repeat(merged, n_setups, axis=1)


def medians_of(seconds: Floats) -> Medians:
    dialogs = np.repeat(np.arange(len(seconds)), seconds.shape[1])
    return medians(seconds.ravel(), dialogs, len(seconds), seed=1)


def median_study(random: Random, n_dialogs: int, n_setups: int, is_merged: bool) -> Outcome:
    found = medians_of(times(random, n_dialogs, n_setups)[is_merged])
    return Outcome(percentile_interval(found.resampled, n_dialogs))


def saved_study(random: Random, n_dialogs: int, n_setups: int) -> Outcome:
    separate, merged = map(medians_of, times(random, n_dialogs, n_setups))
    return Outcome(percentile_interval(saved_share(merged, separate).resampled, n_dialogs))


def mean_study(random: Random, n_dialogs: int, n_setups: int) -> Outcome:
    seconds, _ = times(random, n_dialogs, n_setups)
    dialogs = np.repeat(np.arange(n_dialogs), seconds.shape[1])
    return outcome(mean_statistics(seconds.ravel()), dialogs, mean_from, n_dialogs)


def kinds_of_times() -> Iterator[Kind]:
    for n_setups in (1, N_SETUPS):
        said = f"{n_setups} each"
        for is_merged, name in enumerate(("separate", "merged")):
            truth = (1 - SAVED * is_merged) * SECONDS
            study = partial(median_study, n_setups=n_setups, is_merged=bool(is_merged))
            yield f"median seconds, {name}", said, truth, study
        yield "mean seconds", said, true_mean_seconds(), partial(mean_study, n_setups=n_setups)
        yield "time saved", said, SAVED, partial(saved_study, n_setups=n_setups)


# --- scales and places ----------------------------------------------------------------------


def answers_at(share: float, drawn: Floats, values: Sequence[int]) -> Floats:
    """Return answers by uniform numbers: the last value for `share` of them, else any other."""
    others = len(values) - 1
    place = np.minimum((drawn - share) / (1 - share) * others, others - 1)
    chosen = np.where(drawn < share, others, place).astype(np.int64)
    return np.array(values, dtype=np.float64)[chosen]


def true_mean(share: float, values: Sequence[int]) -> float:
    return share * values[-1] + (1 - share) * float(np.mean(values[:-1]))


def quality_study(random: Random, n_dialogs: int, share: float, n_answers: int) -> Outcome:
    score = answers_at(share, uniform(random, n_dialogs, n_answers), range(1, 6)).ravel()
    dialogs = np.repeat(np.arange(n_dialogs), n_answers)
    found = outcome(mean_statistics(score), dialogs, mean_from, n_dialogs)
    return found._replace(is_warned=dialogs_with_another_value(score, dialogs) < MEANS_NARROW_BELOW)


def position_study(
    random: Random, n_dialogs: int, share: float, values: Sequence[int], measure: Measure
) -> Outcome:
    """Return first - later. Each rater has an own order of the responses of a dialog."""
    responses = uniform(random, n_dialogs, N_SETUPS)[:, np.newaxis]
    order = random.random((n_dialogs, N_RATERS, N_SETUPS)).argsort(axis=2)
    shown = np.take_along_axis(np.broadcast_to(responses, order.shape), order, axis=2)
    drawn = np.where(random.random(order.shape) < FOLLOWS, shown, random.random(order.shape))
    first = answers_at(share - APART, drawn[..., :1], values)
    later = answers_at(share, drawn[..., 1:], values)
    columns: list[Floats] = []
    for part in (first, later):
        columns += [part.sum(axis=(1, 2)), np.full(n_dialogs, float(part[0].size))]
    return outcome(np.column_stack(columns), np.arange(n_dialogs), measure, n_dialogs)


def kinds_of_scales(share: float) -> Iterator[Kind]:
    for n_answers in (1, N_SETUPS):
        study = partial(quality_study, share=share, n_answers=n_answers)
        yield "text quality", f"{n_answers} each", true_mean(share, range(1, 6)), study
    measures: dict[tuple[int, ...], Measure] = {
        (0, 1): MixOfShares((1.0, -1.0)),
        (1, 2, 3, 4, 5): difference_of_means_from,
    }
    for values, measure in measures.items():
        truth = true_mean(share - APART, values) - true_mean(share, values)
        study = partial(position_study, share=share, values=values, measure=measure)
        yield "first − later", f"{values[0]} to {values[-1]}", truth, study


# --- citations ------------------------------------------------------------------------------


def citation_counts(random: Random, n_dialogs: int, share: float, n_answers: int) -> Floats:
    """Return the `CitationCounts` of answers, (n_dialogs * n_answers, 6).

    An answer needs two to four triples and cites `share` of them. Often it cites others as well, so
    many that its precision is `share` too.
    """
    n_needed = random.integers(2, 5, (n_dialogs, n_answers))
    drawn = uniform(random, n_dialogs * n_answers, 4).reshape(n_dialogs, n_answers, 4)
    of_dialog = random.random((n_dialogs, 1, 1))
    drawn = np.where(random.random(drawn.shape) < ALIKE / 2, of_dialog, drawn)
    hit = ((drawn < share) & (np.arange(4) < n_needed[..., np.newaxis])).sum(axis=2)
    n_wrong = random.poisson(3 * (1 - share) * random.gamma(1.0, 1.0, hit.shape))
    table = [hit + n_wrong, hit, hit, hit, n_needed, np.zeros_like(hit)]
    return np.stack(table, axis=-1).reshape(-1, 6).astype(np.float64)


def citation_study(
    random: Random, n_dialogs: int, share: float, n_answers: int, name: str
) -> Outcome:
    counts = citation_counts(random, n_dialogs, share, n_answers)
    dialogs = np.repeat(np.arange(n_dialogs), n_answers)
    return of_figure(figure_of(name, citation_statistics(counts), dialogs), n_dialogs)


def runs_study(random: Random, n_dialogs: int, share: float, is_f1: bool) -> Outcome:
    counts = citation_counts(random, n_dialogs, share, N_RUNS).reshape(n_dialogs, N_RUNS, 6)
    runs = [citation_statistics(counts[:, run]) for run in range(N_RUNS)]
    precision, recall = (
        [figure_of(name, run, np.arange(n_dialogs)) for run in runs]
        for name in ("precision", "recall")
    )
    both = f1_of_means(precision, recall, n_dialogs)
    return of_figure(both if is_f1 else mean_share(precision, n_dialogs), n_dialogs)


def na_study(
    random: Random, n_dialogs: int, recall: float, precision: float, n_runs: int
) -> Outcome:
    """Return the F1 of [NA]: one or two triples were removed from each graph."""
    drawn = uniform(random, n_dialogs, 2 * n_runs) < recall
    runs = []
    for of_run in np.hsplit(drawn, n_runs):
        n_removed = random.integers(1, 3, n_dialogs)
        hit = (of_run & (np.arange(2) < n_removed[:, np.newaxis])).sum(axis=1)
        often = 1.5 * recall * (1 - precision) / precision * random.gamma(1.0, 1.0, n_dialogs)
        counts = [hit, hit + random.poisson(often), hit, n_removed]
        statistics = np.column_stack(counts).astype(np.float64)
        runs.append(incompetence_figures(statistics, np.arange(n_dialogs)))
    if n_runs == 1:
        return of_figure(runs[0]["f1"], n_dialogs)
    of_runs = [[run[name] for run in runs] for name in ("precision", "recall")]
    return of_figure(na_f1_of_means(of_runs[0], of_runs[1], n_dialogs), n_dialogs)


def human_study(random: Random, n_dialogs: int, share: float, is_gap: bool) -> Outcome:
    """Return the mean vote of three raters on two citations, or that minus a metric's share."""
    truth = labels(random, np.full(2, share), n_dialogs)
    guessed = random.random((*truth.shape, 3)) < share
    votes = np.where(random.random(guessed.shape) < KNOWS, truth[..., np.newaxis], guessed)
    automatic = labels(random, np.full(6, share - APART), n_dialogs)
    human, metric = (
        Statistic(
            mean_statistics(each.ravel()),
            np.repeat(np.arange(n_dialogs), each.shape[1]),
            share_from,
        )
        for each in (votes.mean(axis=2), automatic)
    )
    return of_figure(difference_of_shares(human, metric) if is_gap else human, n_dialogs)


def kinds_of_citations(share: float) -> Iterator[Kind]:
    for n_answers in (1, N_SETUPS):
        given: dict[str, Any] = {"share": share, "n_answers": n_answers}
        true = citation_figures(large(partial(citation_counts, **given)))
        exact = {"precision": share, "f1": share}
        for name in ("precision", "f1", "macro_precision", "macro_f1"):
            truth = exact.get(name, getattr(true, name))
            study = partial(citation_study, name=name, **given)
            yield f"citations, {name.replace('_', ' ')}", f"{n_answers} each", truth, study
    for name, is_f1 in (("precision", False), ("f1", True)):
        study = partial(runs_study, share=share, is_f1=is_f1)
        yield f"citations, {name}", f"{N_RUNS} runs", share, study
    for recall, n_runs in product(sorted({share, round(1 - share, 2)}), (1, N_RUNS)):
        truth = 2 * recall * share / (recall + share)
        study = partial(na_study, recall=recall, precision=share, n_runs=n_runs)
        yield f"[NA] F1, recall {recall:.2f}", f"{n_runs} runs", truth, study
    for said, is_gap in (("mean vote", False), ("gap", True)):
        truth = APART if is_gap else share
        yield f"alignment, {said}", "", truth, partial(human_study, share=share, is_gap=is_gap)


# --- trade-offs -----------------------------------------------------------------------------


def pair_study(
    random: Random, n_dialogs: int, share: float, n_pairs: int, measure: Measure
) -> Outcome:
    one = np.array([share, SENSIBLE, share - APART, SENSIBLE + APART])
    drawn = labels(random, np.tile(one, n_pairs), n_dialogs)
    pairs = [
        pair_statistics(statistics_of(*pair[:, :2].T), statistics_of(*pair[:, 2:].T))
        for pair in np.hsplit(drawn, n_pairs)
    ]
    return outcome(beside(pairs), np.arange(n_dialogs), measure, n_dialogs)


def mix_study(random: Random, n_dialogs: int, share: float, measure: Measure) -> Outcome:
    drawn = labels(random, mixed_shares(share).ravel(), n_dialogs)
    statistics = in_all([statistics_of(*setup.T) for setup in np.hsplit(drawn, 4)])
    return outcome(statistics, np.arange(n_dialogs), measure, n_dialogs)


def mixed_shares(share: float) -> Floats:
    """Return attribution and sensibleness of the four setups of a mix, (4, 2)."""
    return np.array([[share * part, SENSIBLE] for part in (1, 0.2, 0.9, 1)])


def score_study(
    random: Random, n_dialogs: int, share: float, distance: float, name: str
) -> Outcome:
    """Return the mean score or the F1 of a setup with scores instead of labels."""
    given = scores(random, labels(random, np.full(2, share), n_dialogs), distance)
    figures = figures_of_setup(statistics_of(*given.T), np.arange(n_dialogs))
    return of_figure(figures[name], n_dialogs)


def slices_study(random: Random, n_dialogs: int, share: float) -> Outcome:
    """Return the mean error rate of a metric over four slices with the same dialogs."""
    right = labels(random, np.full(N_SETUPS, share), n_dialogs)
    statistics = np.stack([1 - right, np.ones_like(right)], axis=2).reshape(n_dialogs, -1)
    measure = MixOfShares((1 / N_SETUPS,) * N_SETUPS)
    return outcome(statistics, np.arange(n_dialogs), measure, n_dialogs)


def kinds_of_tradeoffs(share: float) -> Iterator[Kind]:
    compared = [share, SENSIBLE, 1, share - APART, SENSIBLE + APART, 1]
    differences = (f1_difference, attribution_difference)
    for measure, n_pairs in (*product(differences, (1, 3)), (across, 1), (along, 1)):
        study = partial(pair_study, share=share, n_pairs=n_pairs, measure=measure)
        name = measure.__name__.replace("_", " ")
        yield name, f"{n_pairs} pairs", float(measure(np.array(compared))), study
    figures = figures_of(MIXING)
    top: dict[str, Measure] = {
        "F1 of top 1": InRange(figures["top_1_f1"]),
        "top k − top 1, F1": figures["delta_f1"],
    }
    for name, of_mix in top.items():
        sums = np.column_stack([mixed_shares(share), np.ones(4)]).ravel()
        study = partial(mix_study, share=share, measure=of_mix)
        yield name, "", float(of_mix(sums)), study
    for (metric, distance), name in product(METRICS.items(), ("attribution", "f1")):
        yes, no = (moments(distance, label)[0] for label in (1, 0))
        truth = share * yes + (1 - share) * no
        study = partial(score_study, share=share, distance=distance, name=name)
        yield f"mean scores, {name}", metric, truth, study
    yield "error rate", f"{N_SETUPS} slices", 1 - share, partial(slices_study, share=share)


def cells(n_runs: int, seed: int) -> Iterator[Cell]:
    """Yield the coverage of each kind of interval in each kind of study."""
    planted = [(math.nan, kind) for kind in kinds_of_times()]
    for kinds in (kinds_of_scales, kinds_of_citations, kinds_of_tradeoffs):
        planted += [(share, kind) for share in SHARES for kind in kinds(share)]
    for (share, (statistic, kind, truth, study)), n_dialogs in product(planted, N_DIALOGS):
        yield simulated((statistic, kind, share, truth, n_dialogs), study, n_runs, seed)
