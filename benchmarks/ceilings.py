"""Check ceilings on simulated studies of which only some votes have arrived.

Every study has dialogs with four items that are alike, five raters, and a metric. Raters are right
more often on the one half of the items than on the other. Some votes have not arrived, whatever
they say. A ceiling should then have the same mean as with all votes, at the same number of votes an
item, and its 95 % interval should hold the true ceiling. Beside it stands the rule by majorities of
five: items without one drop out, and so do tied groups of votes. The exit status is 1 if a mean is
off by more than one point, or a coverage is below 93 % less two Monte-Carlo errors.

    .venv/bin/python benchmarks/ceilings.py --runs 500
"""

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.few_labels import N_SETUPS, Random, labels
from evaluation.statistics.ceiling import (
    Ceiling,
    arms_ceiling,
    beside_ceilings,
    halves_ceiling,
    rest_ceiling,
)
from evaluation.statistics.intervals import Floats, Statistic, bootstrap_intervals
from evaluation.statistics.rater_answers import majority_label

N_RATERS = 5
N_DIALOGS = 100
N_LARGE = 20_000  # dialogs of the study whose ceilings are taken as the true ones
SHARE = 0.6  # share of items whose true answer is yes
RIGHT = (0.95, 0.7)  # how often a rater is right on each half of the items
METRIC = 0.85  # how often the metric is right
ARRIVED = {"2 to 5": (2, 6), "3 to 5": (3, 6), "all": (5, 6)}  # votes of an item
WAYS = ("merged", "halves", "rest")
MOST_OFF = 0.01
LEAST = 0.93


class Votes(NamedTuple):
    """The votes of one study: counts of no and yes (n_items, 2), of two arms and of all raters."""

    separate: Floats
    merged: Floats
    all_separate: Floats
    all_merged: Floats
    metric: Floats  # labels 1 and 0
    dialogs: np.ndarray


class Row(NamedTuple):
    """The ceilings of one way over many studies."""

    arrived: str
    way: str
    n_votes: int
    true_value: float
    mean: float
    mean_of_all_votes: float  # the mean with all votes, at the same number of votes an item
    by_majorities: float  # the mean by the rule of majorities of five
    coverage: float  # share of studies whose interval holds the true ceiling
    coverage_of_difference: float  # the same for metric − ceiling
    is_outside: bool


def label_of(counts: Floats) -> Floats:
    return majority_label(counts, counts.sum(axis=1))


def study(random: Random, n_dialogs: int, arrived: tuple[int, int]) -> Votes:
    truth = labels(random, np.full(N_SETUPS, SHARE), n_dialogs).ravel()
    right = np.where(random.random(len(truth)) < 0.5, *RIGHT)

    def votes() -> tuple[Floats, Floats]:
        is_right = random.random((len(truth), N_RATERS)) < right[:, np.newaxis]
        said = np.where(is_right, truth[:, np.newaxis], 1 - truth[:, np.newaxis])
        n_there = random.integers(*arrived, size=(len(truth), 1))
        is_there = np.arange(N_RATERS) < n_there
        return counted(said, is_there), counted(said, np.ones_like(is_there))

    separate, all_separate = votes()
    merged, all_merged = votes()
    is_right = random.random(len(truth)) < METRIC
    metric = np.where(is_right, truth, 1 - truth)
    dialogs = np.repeat(np.arange(n_dialogs), N_SETUPS)
    return Votes(separate, merged, all_separate, all_merged, metric, dialogs)


def counted(said: Floats, is_there: np.ndarray) -> Floats:
    return np.column_stack([((1 - said) * is_there).sum(axis=1), (said * is_there).sum(axis=1)])


def ceilings(
    separate: Floats, merged: Floats, n_votes: Mapping[str, int] | None = None
) -> dict[str, Ceiling]:
    """Return the ceiling of each way, at these numbers of votes an item if they are given."""
    wanted = n_votes or dict.fromkeys(WAYS)
    return {
        "merged": arms_ceiling(separate, merged, label_of, wanted["merged"]),
        "halves": halves_ceiling(separate, label_of, wanted["halves"]),
        "rest": rest_ceiling(separate, label_of, wanted["rest"]),
    }


def by_majorities(votes: Votes) -> dict[str, float]:
    """Return the ceilings by majorities of five: without one an item drops out, and so do ties."""
    first, second = (majority_label(each, N_RATERS) for each in (votes.separate, votes.merged))
    same = np.where(np.isnan(first + second), math.nan, first == second)
    found = {"merged": mean_of(same)}
    rows, n_items = np.unique(votes.separate[~np.isnan(first)], axis=0, return_counts=True)
    for way in ("halves", "rest"):
        shares = [_agreeing_and_decided(row, way) for row in rows]
        agreeing, decided = n_items @ np.array(shares)
        found[way] = float(agreeing / decided)
    return found


def _agreeing_and_decided(row: Floats, way: str) -> tuple[float, float]:
    """Return how much of one item's votes agrees with its others, and how much is decided."""
    given = np.repeat([0.0, 1.0], row.astype(int))
    size = 1 if way == "rest" else len(given) // 2
    chosen = list(combinations(range(len(given)), size))
    sides = np.array([(given[list(c)].mean(), np.delete(given, c).mean()) for c in chosen])
    is_decided = (sides != 0.5).all(axis=1)
    agrees = is_decided & ((sides[:, 0] > 0.5) == (sides[:, 1] > 0.5))
    weight = len(given) if way == "rest" else 1  # each vote counts, or each item
    return weight * float(agrees.mean()), weight * float(is_decided.mean())


def mean_of(values: Floats) -> float:
    return float(np.nanmean(values))


def rows(n_runs: int, seed: int) -> Iterator[Row]:
    error = 2 * math.sqrt(0.95 * 0.05 / n_runs)
    for arrived, limits in ARRIVED.items():
        random = np.random.default_rng([seed, *limits])
        large = study(random, N_LARGE, limits)
        usual = {way: c.n_votes for way, c in ceilings(large.separate, large.merged).items()}
        true = ceilings(large.all_separate, large.all_merged, usual)
        truth = {way: mean_of(each.agreement) for way, each in true.items()}
        of_metric = beside_ceilings(large.metric, large.dialogs, true)
        difference = {way: _value(of_metric[f"minus_ceiling_{way}"]) for way in WAYS}
        means: dict[str, list[tuple[float, ...]]] = {way: [] for way in WAYS}
        for _ in range(n_runs):
            votes = study(random, N_DIALOGS, limits)
            found = ceilings(votes.separate, votes.merged)
            whole = ceilings(votes.all_separate, votes.all_merged, usual)
            old = by_majorities(votes)
            figures = beside_ceilings(votes.metric, votes.dialogs, found)
            ends = dict(
                zip(
                    figures,
                    bootstrap_intervals([*figures.values()], N_DIALOGS, seed=1),
                    strict=True,
                )
            )
            for way in WAYS:
                own, minus = ends[f"ceiling_{way}"], ends[f"minus_ceiling_{way}"]
                means[way].append(
                    (
                        mean_of(found[way].agreement),
                        mean_of(whole[way].agreement),
                        old[way],
                        own.low <= truth[way] <= own.high,
                        minus.low <= difference[way] <= minus.high,
                    )
                )
        for way in WAYS:
            mean, of_all, old_mean, held, held_difference = np.mean(means[way], axis=0).tolist()
            is_outside = abs(mean - of_all) > MOST_OFF or min(held, held_difference) < LEAST - error
            yield Row(
                *(arrived, way, usual[way], truth[way], mean, of_all, old_mean),
                *(held, held_difference, is_outside),
            )


def _value(figure: Statistic) -> float:
    return float(figure.measure(figure.statistics.sum(axis=0)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500, help="simulated studies for each line")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    names = ("votes", "way", "m", "true", "mean", "all votes", "majorities", "holds", "− metric")
    write = sys.stdout.write
    write("".join(f"{name:>11}" for name in names) + "\n")
    found = []
    for row in rows(options.runs, options.seed):
        *shown, is_outside = row
        cells = (f"{each:.3f}" if isinstance(each, float) else str(each) for each in shown)
        write("".join(f"{cell:>11}" for cell in cells) + ("  outside" if is_outside else "") + "\n")
        sys.stdout.flush()
        found.append(row._asdict())
    if options.json:
        write(json.dumps({"runs": options.runs, "seed": options.seed, "rows": found}) + "\n")
    sys.exit(1 if any(row["is_outside"] for row in found) else 0)


if __name__ == "__main__":
    main()
