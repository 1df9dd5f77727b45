"""Threshold choice: a candidate and a threshold chosen on some dialogs and reported on others.

The method is nested cross-validation. A *candidate* is one way to score (a flavor and a window of
Auto-AIS). A researcher who tries several candidates, gives each its best threshold and reports the
best accuracy on the same items also reports chance: among fifteen equally good candidates the
luckiest wins. Here every item is labelled by a choice that was made without its dialog.

A label is yes when score > threshold. For a metric that is yes at its threshold, it is yes when
score ≥ threshold. Only thresholds on the scale are tried, so that a run can use the chosen one.
Therefore 'no to all' cannot be chosen where ≥ decides and the highest score is the highest possible
one, and 'yes to all' cannot be chosen where > decides and the lowest score is the lowest possible
one.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from evaluation.statistics.ceiling import Ceiling, beside_ceilings
from evaluation.statistics.human_auto import BALANCED_ACCURACY, Bools, cells, recalls
from evaluation.statistics.intervals import (
    Floats,
    Indexes,
    Statistic,
    bootstrap_intervals,
    difference_of_shares,
    share_from,
)
from evaluation.statistics.uncertainty import accuracy_statistics

N_FOLDS, N_INNER_FOLDS = 10, 5
FEWEST_DIALOGS = 5
# The size of one array, choices × items. About ten of them are in memory at once.
CHUNK_BYTES = 8 * 2**20
UNIT = (0.0, 1.0)

Scale = tuple[float, float]


class ThresholdChoice(NamedTuple):
    """The number of a candidate, and the threshold for its scores."""

    candidate: int
    threshold: float


UNTUNED = ThresholdChoice(0, 0.5)


class Nested(NamedTuple):
    """The choices that were made, and the labels they give: 1, 0, or NaN without all scores.

    `why` is the reason why nothing could be chosen. Then `recommended` and `flattering` are None,
    `by_fold` and `fitted` are empty, and all labels are NaN.
    """

    # Each item's label by the choice that was made without its dialog. An item without a human
    # label has one too: raters of tied votes count where a metric is compared with a ceiling.
    labels: Floats
    flattering_labels: Floats  # labels by the best choice on the same items
    untuned_labels: Floats  # labels by the choice that uses no human label
    by_fold: tuple[ThresholdChoice, ...]
    n_chosen: tuple[int, ...]  # number of folds in which each candidate was chosen
    recommended: ThresholdChoice | None  # what the same procedure chooses on all dialogs
    flattering: ThresholdChoice | None
    untuned: ThresholdChoice
    fitted: tuple[ThresholdChoice, ...]  # each candidate with the best threshold on all items
    n_dialogs: int  # number of dialogs with an item that is compared
    why: str = ""


def labels_at(scores: Floats, threshold: float | Floats, is_yes_at_threshold: bool) -> Bools:
    """Return which scores are a yes."""
    says_yes: Bools = scores >= threshold if is_yes_at_threshold else scores > threshold
    return says_yes


def best_threshold(
    scores: Floats,
    human: Floats,
    scale: Scale = UNIT,
    *,
    is_yes_at_threshold: bool = False,
) -> float:
    """Return the threshold with the highest accuracy; NaN without an item with score and label.

    The midpoints between distinct neighbouring scores are tried, and one threshold beyond each end,
    halfway to the end of the scale. Of equally good thresholds the one nearest to the middle of the
    scale is returned, and of two equally near ones the lower.
    """
    both = ~np.isnan(scores) & ~np.isnan(human)
    if not both.any():
        return math.nan
    column = _Column(scores[both], human[both] == 1, scale, is_yes_at_threshold)
    return float(column.thresholds(np.ones((1, int(both.sum())), bool))[0])


def nested(
    scores: Floats,
    human: Floats,
    dialogs: Indexes,
    *,
    seed: int,
    untuned: ThresholdChoice = UNTUNED,
    scale: Scale = UNIT,
    is_yes_at_threshold: bool = False,
    n_folds: int = N_FOLDS,
    n_inner_folds: int = N_INNER_FOLDS,
) -> Nested:
    """Choose candidate and threshold for each fold of dialogs, using all other dialogs.

    The chosen candidate is the one with the most right labels in an inner cross-validation on the
    other dialogs, where each inner fold is labelled by the threshold from the other inner folds. Of
    equally good candidates the first is chosen. Its threshold is the best one on all the other
    dialogs. Only items with a human label and a score of every candidate take part.

    Args:
        scores: scores of all candidates, (n_candidates, n_items); NaN: none.
        human: human labels: 1, 0 or NaN (none).
        dialogs: the dialog of each item, as numbers from 0; a fold is made of whole dialogs.
        seed: seed of the folds.
        untuned: the choice that would be used without looking at a human label.
        scale: lowest and highest possible score.
        is_yes_at_threshold: whether a score equal to the threshold is a yes as well.
        n_folds: number of folds; at most one per dialog is made.
        n_inner_folds: number of inner folds, with the same limit.
    """
    is_scored = ~np.isnan(scores).any(axis=0)
    is_compared = ~np.isnan(human) & is_scored
    here, yes = scores[:, is_compared], human[is_compared] == 1
    names, place = np.unique(dialogs[is_compared], return_inverse=True)
    if why := _why_not(yes, len(names)):
        nothing = np.full(len(human), math.nan)
        none_chosen = (0,) * len(scores)
        return Nested(
            nothing, nothing, nothing, (), none_chosen, None, None, untuned, (), len(names), why
        )
    columns = [_Column(row, yes, scale, is_yes_at_threshold) for row in here]
    random = np.random.default_rng(seed)
    n_folds = min(n_folds, len(names))
    fold = _folds(random, np.arange(len(names)), n_folds)[place]

    # The last row leaves no dialog out: its choice is the recommended one.
    is_training = np.vstack([fold != number for number in range(n_folds)] + [fold >= 0])
    chosen = _chosen(columns, yes, place, is_training, random, n_inner_folds)
    choices = [
        ThresholdChoice(
            candidate, float(columns[candidate].thresholds(is_training[row : row + 1])[0])
        )
        for row, candidate in enumerate(chosen)
    ]
    *by_fold, recommended = choices
    everything = is_training[-1:]
    fitted = [
        ThresholdChoice(n, float(each.thresholds(everything)[0])) for n, each in enumerate(columns)
    ]
    n_right = [int((columns[n].says(threshold) == yes).sum()) for n, threshold in fitted]
    flattering = fitted[int(np.argmax(n_right))]
    # The recommended choice is made without the dialogs that have no human label.
    fold_of = np.full(dialogs.max() + 1, n_folds)
    fold_of[dialogs[is_compared]] = fold
    own = np.array(choices)[fold_of[dialogs]]
    honest = scores[own[:, 0].astype(np.int64), np.arange(len(human))]

    def labels(given: Floats, cuts: float | Floats) -> Floats:
        is_yes = labels_at(given, cuts, is_yes_at_threshold)
        return np.where(is_scored, is_yes, math.nan)

    return Nested(
        labels(honest, own[:, 1]),
        labels(scores[flattering.candidate], flattering.threshold),
        labels(scores[untuned.candidate], untuned.threshold),
        tuple(by_fold),
        tuple(sum(c.candidate == n for c in by_fold) for n in range(len(scores))),
        recommended,
        flattering,
        untuned,
        tuple(fitted),
        len(names),
    )


def figures_of_choice(
    found: Nested,
    human: Floats,
    dialogs: Indexes,
    n_dialogs: int,
    *,
    seed: int,
    n_resamples: int = 1000,
    ceilings: Mapping[str, Ceiling] = {},
) -> dict[str, float]:
    """Return the figures of a threshold choice, each x with its x_low and x_high.

    `accuracy` and `balanced_accuracy` belong to choices that are reported on other dialogs. With
    the prefix `flattering_`, they are chosen and reported on the same dialogs; with `untuned_`,
    nothing is chosen. `optimism` is flattering accuracy − accuracy, and `gain` is accuracy −
    untuned accuracy. `baseline` is the share of the more frequent human label. The intervals
    resample the dialogs but keep the choices as they were made.

    Args:
        found: the choices and labels that `nested` returned.
        human: human labels: 1, 0 or NaN (none).
        dialogs: the dialog of each item, 0 .. n_dialogs - 1.
        n_dialogs: how many dialogs there are.
        seed: seed of the resamples.
        n_resamples: number of resamples.
        ceilings: name → ceiling of the items. Each adds the figures of `beside_ceilings`.
    """
    is_compared = ~np.isnan(found.labels) & ~np.isnan(human)
    truth, own = human[is_compared], dialogs[is_compared]
    summed: dict[str, Statistic] = {}
    for prefix in ("", "flattering_", "untuned_"):
        labels = getattr(found, f"{prefix}labels")[is_compared]
        statistics = accuracy_statistics(truth, labels)
        summed[f"{prefix}accuracy"] = Statistic(statistics, own, share_from)
        summed[f"{prefix}balanced_accuracy"] = Statistic(
            recalls(cells(truth == 1, labels == 1)), own, BALANCED_ACCURACY
        )
    summed["optimism"] = difference_of_shares(summed["flattering_accuracy"], summed["accuracy"])
    summed["gain"] = difference_of_shares(summed["accuracy"], summed["untuned_accuracy"])
    is_yes_frequent = 2 * np.count_nonzero(truth) >= len(truth)
    always = np.full(len(truth), float(is_yes_frequent))
    summed["baseline"] = Statistic(accuracy_statistics(truth, always), own, share_from)
    summed |= beside_ceilings(found.labels, dialogs, ceilings)
    ends = bootstrap_intervals(list(summed.values()), n_dialogs, seed=seed, n_resamples=n_resamples)
    rows: dict[str, float] = {}
    for (name, figure), interval in zip(summed.items(), ends, strict=True):
        rows[name] = float(figure.measure(figure.statistics.sum(axis=0)))
        rows[f"{name}_low"], rows[f"{name}_high"] = interval
    return rows


# --- thresholds of many training sets at once -----------------------------------------------


class _Column:
    """The scores of one candidate. They are sorted once, for many training sets."""

    def __init__(self, scores: Floats, yes: Bools, scale: Scale, is_yes_at_threshold: bool) -> None:
        self._order = np.argsort(scores, kind="stable")
        self._scores = scores[self._order]
        self._yes = yes[self._order]
        self._middle = sum(scale) / 2
        self._low = min(scale[0], float(self._scores[0]))
        self._high = max(scale[1], float(self._scores[-1]))
        self._is_yes_at_threshold = is_yes_at_threshold
        self._given = scores

    def says(self, threshold: float) -> Bools:
        """Return which items are a yes, in the order they were given in."""
        return labels_at(self._given, threshold, self._is_yes_at_threshold)

    def thresholds(self, is_training: Bools) -> Floats:
        """Return the best threshold of each training set; (n_sets, n_items) to (n_sets,).

        Each set holds at least one item.
        """
        return np.concatenate([self._some(is_training[part]) for part in _parts(is_training)])

    def _some(self, is_training: Bools) -> Floats:
        inside = is_training[:, self._order]
        n_yes = (inside & self._yes).sum(axis=1)[:, np.newaxis]
        # With a cut just above an item, the noes up to it and the yeses after it are right.
        gained = np.where(inside, np.where(self._yes, -1, 1), 0)
        n_right = n_yes + np.cumsum(gained, axis=1)
        there = np.where(inside, self._scores, math.inf)
        from_here = np.minimum.accumulate(there[:, ::-1], axis=1)[:, ::-1]
        lowest = from_here[:, :1]
        following = np.full_like(there, math.inf)
        following[:, :-1] = from_here[:, 1:]
        is_cut = inside & (following > self._scores)  # no cut may separate equal scores
        below, above = self._scores, np.where(np.isinf(following), self._high, following)
        cuts = (below + above) / 2
        first = (self._low + lowest) / 2
        # Where no float is between two neighbours, the cut is the neighbour that separates them.
        if self._is_yes_at_threshold:
            cuts = np.where(cuts > below, cuts, above)
            is_cut &= above > below  # above the highest possible score there is no threshold
            has_first = np.ones_like(first, dtype=bool)
        else:
            cuts = np.where(cuts < above, cuts, below)
            first = np.where(first < lowest, first, self._low)
            has_first = first < lowest
        right = np.hstack([np.where(has_first, n_yes, -1), np.where(is_cut, n_right, -1)])
        return self._nearest(np.hstack([first, cuts]), right == right.max(axis=1, keepdims=True))

    def _nearest(self, cuts: Floats, is_best: Bools) -> Floats:
        """Return the best cut of each row: the one nearest to the middle, and of two the lower."""
        # The distances are rounded, so that .4 and .6 are equally far from .5.
        from_middle = np.abs(cuts - self._middle).round(12)
        distance = np.where(is_best, from_middle, math.inf)
        is_nearest = distance == distance.min(axis=1, keepdims=True)
        lowest: Floats = np.where(is_nearest, cuts, math.inf).min(axis=1)
        return lowest


def _chosen(
    columns: list[_Column],
    yes: Bools,
    place: Indexes,
    is_training: Bools,
    random: np.random.Generator,
    n_inner_folds: int,
) -> list[int]:
    """Return the candidate that an inner cross-validation chooses on each training set."""
    if len(columns) == 1:
        return [0] * len(is_training)
    inner = np.full(is_training.shape, -1)  # the inner fold of each item
    for row, inside in enumerate(is_training):
        names = np.unique(place[inside])
        folds = np.full(place.max() + 1, -1)
        folds[names] = _folds(random, names, min(n_inner_folds, len(names)))
        inner[row] = folds[place]
    n_right = np.zeros((len(columns), len(is_training)), np.int64)
    for number in range(inner.max() + 1):
        is_held_out = inner == number
        some = np.flatnonzero(is_held_out.any(axis=1))
        learning = (inner >= 0) & ~is_held_out
        for candidate, column in enumerate(columns):
            cuts = column.thresholds(learning[some])
            for row, cut in zip(some.tolist(), cuts.tolist(), strict=True):
                is_right = column.says(cut) == yes
                n_right[candidate, row] += int((is_right & is_held_out[row]).sum())
    return [int(candidate) for candidate in n_right.argmax(axis=0)]


def _folds(random: np.random.Generator, dialogs: Indexes, n_folds: int) -> Indexes:
    """Return the fold of each dialog, 0 .. n_folds - 1, assigned in random order."""
    folds = np.empty(len(dialogs), np.int64)
    folds[random.permutation(len(dialogs))] = np.arange(len(dialogs)) % n_folds
    return folds


def _why_not(yes: Bools, n_dialogs: int) -> str:
    """Return why nothing can be chosen and tried on other dialogs; empty when it is possible."""
    if not len(yes):
        return "no response has a human label and a score of every candidate"
    if n_dialogs < FEWEST_DIALOGS:
        return f"only {n_dialogs} dialog{'s'[: n_dialogs > 1]}, expected {FEWEST_DIALOGS} or more"
    if yes.all() or not yes.any():
        return f"people said {'yes' if yes.all() else 'no'} to all: nothing to tell apart"
    return ""


def _parts(sets: Bools) -> Iterator[slice]:
    """Yield slices of the training sets, each small enough to be computed at once."""
    size = max(1, CHUNK_BYTES // (8 * max(1, sets.shape[1])))
    for start in range(0, len(sets), size):
        yield slice(start, start + size)
