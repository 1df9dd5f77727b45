"""What all figures on the trade-off are made of: the two axes' values as arrays. Reads only."""

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.conf import settings

from evaluation.metrics.intervals import METHOD, Figure, Floats, Interval, bootstrap_intervals
from evaluation.metrics.tradeoff import statistics_of
from evaluation.reports.base import LeftOut
from evaluation.tradeoffs.axes import Axes, Values, values_of
from evaluation.tradeoffs.dots import Dot, dot_of
from evaluation.vote_counts import Ints
from generation.models import Dataset, Response

NO_RESPONSE = 0  # in `responses`
N_RESAMPLES, SEED = 1000, 0


class Material(NamedTuple):
    """Setups × examples of a dataset, with what both axes say; NaN where an axis says nothing.

    Examples are in the order of their keys and setups in that of their names, so that an exported
    and imported dataset gives the same figures to the last digit.
    """

    dataset: Dataset
    axes: Axes
    dots: tuple[Dot, ...]
    examples: tuple[str, ...]  # keys
    example_ids: Ints  # (n_examples,)
    dialogs: Ints  # (n_examples,) 0 .. n_dialogs - 1
    n_dialogs: int
    responses: Ints  # (n_dots, n_examples) ids; `NO_RESPONSE` where there is none
    labels: Floats  # (2, n_dots, n_examples): attribution, sensibleness; 1, 0
    scores: Floats  # the same; in [0, 1]
    left_out: LeftOut
    data_hash: str

    @property
    def n_examples(self) -> int:
        return len(self.examples)

    def place(self, setup: str) -> int:
        """Return the place of the setup of a name among the dots.

        Raises:
            LookupError: it is not among them.
        """
        for place, dot in enumerate(self.dots):
            if dot.setup.name == setup:
                return place
        raise LookupError(f"no setup {setup!r} among the {len(self.dots):,} there are")

    def statistics(self, dot: int, *, by_score: bool = False) -> Floats:
        """Return the statistics of one setup, see `evaluation.metrics.tradeoff`: (n_examples, 3).

        Args:
            by_score: of the scores instead of the labels.
        """
        attribution, sensibleness = (self.scores if by_score else self.labels)[:, dot]
        return statistics_of(attribution, sensibleness)

    def intervals(self, figures: Sequence[Figure]) -> list[Interval]:
        """Return the 95 % interval of each figure; all resample the same dialogs.

        Put the statistics of several setups side by side in a row to compare them in pairs.
        """
        return bootstrap_intervals(figures, self.n_dialogs, seed=SEED, n_resamples=N_RESAMPLES)

    def signature(self, report: str, *said: str) -> str:
        """Return every choice that changes a report's numbers, with a hash of the data."""
        parts = [
            report,
            *said,
            f"attribution {self.axes.attribution.said}",
            f"sensibleness {self.axes.sensibleness.said}",
            f"{METHOD}, {N_RESAMPLES} resamples, seed {SEED}",
            f"data {self.data_hash}",
            f"attest {settings.VERSION}",
        ]
        return " ".join(" | ".join(parts).split())

    def of_dots(self, dots: Sequence[int]) -> "Material":
        """Return the material of some setups alone, by their places."""
        kept = list(dots)
        return self._replace(
            dots=tuple(self.dots[place] for place in kept),
            responses=self.responses[kept],
            labels=self.labels[:, kept],
            scores=self.scores[:, kept],
        )


class _Row(NamedTuple):
    """One response as it is read."""

    id: int
    key: str
    example: int
    setup: int
    chosen_from: int | None
    n_tokens: float | None
    shares: dict[str, float] | None


def material_of(dataset: Dataset, axes: Axes, setups: Collection[int] | None = None) -> Material:
    """Return the material of a dataset; a fixed number of queries.

    An example that a setup has answered more than once counts with its first response, by key.

    Args:
        setups: ids; None for all that have a response.
    """
    rows = _rows(dataset, setups)
    dots = _dots(dataset, rows)
    examples = _examples(dataset, rows)
    values = [values_of(axis) for axis in axes]

    shape = len(dots), len(examples)
    responses = np.full(shape, NO_RESPONSE, np.int64)
    labels, scores = np.full((2, *shape), math.nan), np.full((2, *shape), math.nan)
    setup_place = {dot.setup.pk: place for place, dot in enumerate(dots)}
    example_place = {pk: place for place, (_, pk, _) in enumerate(examples)}
    left_out = _none_left_out(axes)
    digest = hashlib.sha256()
    for row in rows:
        here = setup_place[row.setup], example_place[row.example]
        if responses[here] != NO_RESPONSE:
            left_out["repeated_responses"] += 1
            continue
        responses[here] = row.id
        for side, of_axis in enumerate(values):
            source = _said_about(of_axis, row)
            reason = of_axis.problems.get(source, "")
            labels[side, *here] = of_axis.labels.get(source, math.nan)
            scores[side, *here] = of_axis.scores.get(source, math.nan)
            if math.isnan(labels[side, *here]):
                left_out[f"{axes._fields[side]}_{reason or 'unknown'}"] += 1
        said = [row.key, *map(str, labels[:, *here]), *map(str, scores[:, *here])]
        digest.update(json.dumps(said).encode())

    names = sorted({dialog for _, _, dialog in examples})
    dialog_place = {name: place for place, name in enumerate(names)}
    return Material(
        dataset=dataset,
        axes=axes,
        dots=tuple(dots),
        examples=tuple(key for key, _, _ in examples),
        example_ids=np.array([pk for _, pk, _ in examples], np.int64),
        dialogs=np.array([dialog_place[dialog] for _, _, dialog in examples], np.int64),
        n_dialogs=len(names),
        responses=responses,
        labels=labels,
        scores=scores,
        left_out=dict(left_out),
        data_hash=digest.hexdigest()[:8],
    )


def _rows(dataset: Dataset, setups: Collection[int] | None) -> list[_Row]:
    found = Response.objects.filter(dataset=dataset).order_by("key")
    if setups is not None:
        found = found.filter(setup__in=setups)
    columns: Sequence[Any] = (
        "pk",
        "key",
        "example",
        "setup",
        "chosen_from",
        "meta__tokens__total",
        "meta__shares",
    )
    return [_Row(*row) for row in found.values_list(*columns).iterator(chunk_size=20_000)]


def _dots(dataset: Dataset, rows: Sequence[_Row]) -> list[Dot]:
    """Return the marks of the setups that have a response, by name, with what theirs say."""
    tokens: dict[int, list[float]] = defaultdict(list)
    dialog: dict[int, list[float]] = defaultdict(list)
    evidence: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        if row.n_tokens is not None:
            tokens[row.setup].append(row.n_tokens)
        if row.shares:
            dialog[row.setup].append(row.shares["dialog"])
            evidence[row.setup].append(row.shares["evidence"])
    there = {row.setup for row in rows}
    return [
        dot_of(setup)._replace(
            context_tokens=_mean(tokens[setup.pk]),
            dialog_share=_mean(dialog[setup.pk]),
            evidence_share=_mean(evidence[setup.pk]),
        )
        for setup in sorted(dataset.setups.all(), key=lambda setup: setup.name)
        if setup.pk in there
    ]


def _examples(dataset: Dataset, rows: Sequence[_Row]) -> list[tuple[str, int, str]]:
    """Return key, id and dialog of the examples that have a response, by key."""
    there = {row.example for row in rows}
    found = dataset.examples.values_list("key", "pk", "dialog").iterator(chunk_size=20_000)
    return sorted(row for row in found if row[1] in there)


def _said_about(values: Values, row: _Row) -> int:
    """Return the response to look up: the source of a chosen one that has no value of its own."""
    known = (values.labels, values.scores, values.problems)
    if row.chosen_from is None or any(row.id in each for each in known):
        return row.id
    return row.chosen_from


def _none_left_out(axes: Axes) -> LeftOut:
    """Return the counts of a figure that leaves nothing out; other reasons count from 0 too."""
    left_out: LeftOut = defaultdict(int)
    left_out["repeated_responses"] = 0
    for side in axes._fields:
        left_out[f"{side}_unknown"] = 0
    return left_out


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
