"""Intervals and signatures of all reports, which resample dialogs and name them in the same way."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from django.conf import settings

from evaluation.reports.columns import Estimate
from evaluation.reports.report import ReportRow, number
from evaluation.statistics.intervals import (
    METHOD,
    Floats,
    Interval,
    Statistic,
    bootstrap_intervals,
)

N_RESAMPLES = 1000
USUAL_SEED = 0  # seed of resamples; a study has its own seed
BATCH_BYTES = 64 * 2**20  # size of the figures that may wait for their intervals

R = TypeVar("R", bound=ReportRow)


class Planned(NamedTuple, Generic[R]):
    """A row that has no estimates yet: their statistics by field, and the maker of the row.

    `make` takes the estimates by name: a `functools.partial` of the row's type with all other
    fields. A figure in `ties_half` has a field `<figure>_ties_half` beside its own.
    """

    make: Callable[..., R]
    figures: Mapping[str, Statistic]
    # Figure → the same statistics from labels with halves (`statistics.tied_labels`).
    ties_half: Mapping[str, Floats] = {}

    @property
    def figures_with_halves(self) -> dict[str, float | None]:
        """The figures as they would be if ties counted half, by the names of their fields."""
        return {
            f"{name}_ties_half": number(self.figures[name].measure(statistics.sum(axis=0)))
            for name, statistics in self.ties_half.items()
        }


def with_estimates(
    planned: Iterable[Planned[R]],
    n_dialogs: int,
    *,
    seed: int = USUAL_SEED,
) -> Iterator[R]:
    """Yield the rows with their estimates.

    Many rows at a time share the resampled dialogs, because drawing them is most of the work.

    Args:
        planned: the rows.
        n_dialogs: how many dialogs the figures' `dialogs` number.
        seed: seed of the resamples.
    """
    batch: list[Planned[R]] = []
    n_bytes = 0

    def made() -> Iterator[R]:
        figures = [figure for row in batch for figure in row.figures.values()]
        estimates = iter(estimates_of(figures, n_dialogs, seed=seed))
        for row in batch:
            found = {name: next(estimates) for name in row.figures}
            yield row.make(**found, **row.figures_with_halves)

    for row in planned:
        batch.append(row)
        n_bytes += sum(map(_n_bytes, row.figures.values()))
        if n_bytes > BATCH_BYTES:
            yield from made()
            batch, n_bytes = [], 0
    yield from made()


def _n_bytes(figure: Statistic) -> int:
    """Return the bytes that a figure needs for its statistics, or for its resamples if larger."""
    n_items, n_statistics = figure.statistics.shape
    n_bytes: int = 8 * n_statistics * max(n_items, N_RESAMPLES)
    return n_bytes


def estimates_of(
    figures: Sequence[Statistic],
    n_dialogs: int,
    *,
    seed: int = USUAL_SEED,
) -> list[Estimate]:
    """Return each figure with its interval. All figures share the same resamples."""
    if not figures:
        return []
    intervals = bootstrap_intervals(figures, n_dialogs, seed=seed, n_resamples=N_RESAMPLES)
    return [
        estimate(figure.measure(figure.statistics.sum(axis=0)), interval)
        for figure, interval in zip(figures, intervals, strict=True)
    ]


def estimate(value: Any, interval: Interval) -> Estimate:
    """Return a figure and its interval in the form used in rows."""
    return Estimate(number(value), number(interval.low), number(interval.high))


def estimates_in(figures: Mapping[str, float]) -> dict[str, Estimate]:
    """Return estimates by name, from a mapping in which each x has its x_low and x_high."""
    return {
        name: Estimate(number(value), number(figures[low]), number(figures[f"{name}_high"]))
        for name, value in figures.items()
        if (low := f"{name}_low") in figures
    }


def signature_of(
    report: str, *said: str, data: str, method: str = METHOD, seed: int = USUAL_SEED
) -> str:
    """Return every choice that changes a report's numbers, with a hash of the data, in one line."""
    parts = [
        report,
        *said,
        f"{method}, {N_RESAMPLES} resamples, seed {seed}",
        f"data {data}",
        f"attest {settings.VERSION}",
    ]
    return " ".join(" | ".join(filter(None, parts)).split())


def data_hash(rows: Collection[Any]) -> str:
    """Return a hash of what figures are made from: 8 hexadecimal digits, whatever the order.

    A named tuple has the hash of its values: a class that is renamed changes no hash.
    """
    plain = (tuple(row) if isinstance(row, tuple) else row for row in rows)
    content = json.dumps(sorted(map(repr, plain)), ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:8]
