"""The material of all trade-off figures: the two axes' values as arrays. This module only reads."""

import hashlib
import json
import math
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from django.db.models.functions import Collate
from numpy.typing import NDArray

from evaluation.measures.tradeoff import statistics_of
from evaluation.reports.estimates import N_RESAMPLES, USUAL_SEED, signature_of
from evaluation.reports.report import LeftOut
from evaluation.statistics.intervals import (
    Floats,
    Interval,
    Measure,
    intervals_of_measures,
)
from evaluation.tradeoffs.axes import (
    CHUNK,
    NOT_ASKED,
    REASONS,
    UNKNOWN,
    WAITING,
    Axes,
    Values,
    values_of,
)
from evaluation.tradeoffs.axis_floors import Floors, axis_floors
from evaluation.tradeoffs.dots import Dot, dot_of
from evaluation.tradeoffs.rated_examples import (
    AxisAnswers,
    RatedPlan,
    made_of_assumed,
    plan_of,
    rated_parts,
)
from evaluation.votes.counts import Ints
from generation.models import Dataset, Response
from generation.retrieval.dataset_index import BY_BYTES
from generation.services.aggregates import IS_TIE
from generation.text.restricted_context import Shares

NOT_RATED = "setups_without_ratings"  # in what is left out, if an axis is of raters
NO_RESPONSE = 0  # the id in `responses` where there is none


class _ResponseFacts(NamedTuple):
    """The facts that one response states; NaN where it does not state them."""

    n_tokens: float
    dialog_share: float
    evidence_share: float
    off_budget: float
    is_tie: bool


class TradeoffMaterial(NamedTuple):
    """Setups × examples of a dataset, with the values of both axes; NaN where an axis has none.

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
    labels: Floats  # (2, n_dots, n_examples): attribution, sensibleness; 1 yes, 0 no
    scores: Floats  # same shape; in [0, 1]
    is_assumed: NDArray[np.bool_]  # same shape; a no that is assumed and was not asked for
    left_out: LeftOut
    data_hash: str
    floors: Floors = (None, None)

    @property
    def n_examples(self) -> int:
        return len(self.examples)

    def place(self, setup: str) -> int:
        """Return the place of a setup among the dots, by its name.

        Raises:
            LookupError: there is no such setup.
        """
        for place, dot in enumerate(self.dots):
            if dot.setup.name == setup:
                return place
        raise LookupError(f"There is no setup {setup!r} among the {len(self.dots):,} setups.")

    def statistics(self, dot: int, *, by_score: bool = False) -> Floats:
        """Return the statistics of one setup, see `evaluation.measures.tradeoff`: (n_examples, 3).

        Args:
            by_score: whether scores count instead of labels.
        """
        attribution, sensibleness = (self.scores if by_score else self.labels)[:, dot]
        return statistics_of(attribution, sensibleness)

    def intervals_of_measures(
        self, statistics: Sequence[Floats], measures: Sequence[Measure]
    ) -> list[list[Interval]]:
        """Return the 95 % intervals of each measure for each of many statistics.

        All of them resample the same dialogs. To compare setups in pairs, put their statistics side
        by side in a row.
        """
        return intervals_of_measures(
            statistics,
            self.dialogs,
            self.n_dialogs,
            measures,
            seed=USUAL_SEED,
            n_resamples=N_RESAMPLES,
        )

    def signature(self, report: str, *said: str) -> str:
        """Return every choice that changes a report's numbers, with a hash of the data."""
        floors = [f" {floor.in_signature}" if floor else "" for floor in self.floors]
        sides = zip(self.axes._asdict().items(), floors, strict=True)
        axes = [f"{side} {axis.said}{floor}" for (side, axis), floor in sides]
        return signature_of(report, *said, *axes, data=self.data_hash)

    def of_dots(self, dots: Sequence[int]) -> "TradeoffMaterial":
        """Return the material of some setups only, given by their places."""
        kept = list(dots)
        return self._replace(
            dots=tuple(self.dots[place] for place in kept),
            responses=self.responses[kept],
            labels=self.labels[:, kept],
            scores=self.scores[:, kept],
            is_assumed=self.is_assumed[:, kept],
        )


def material_of(
    dataset: Dataset,
    axes: Axes,
    setups: Collection[int] | None = None,
    examples: Collection[int] | None = None,
) -> TradeoffMaterial:
    """Return the material of a dataset, with a fixed number of queries.

    If a setup has answered an example more than once, the first response by key counts.

    Args:
        setups: ids; None for all that have a response.
        examples: ids; None for all that have a response.
    """
    reader = _Reader(dataset, axes, setups, examples)
    values = [values_of(axis, setups) for axis in axes]
    rows = reader.rows(setups)
    while some := list(islice(rows, CHUNK)):
        reader.take(some, values)
    return reader.material()


class _Reader:
    """A reader of responses, with the arrays of a material for all setups × all examples."""

    def __init__(
        self,
        dataset: Dataset,
        axes: Axes,
        setups: Collection[int] | None,
        examples: Collection[int] | None,
    ) -> None:
        """Take the setups and examples that are asked for, before any response is known."""
        self.dataset, self.axes = dataset, axes
        asked = dataset.setups.with_listed_size().with_debris()
        asked = asked if setups is None else asked.filter(pk__in=setups)
        self.setups = sorted(asked, key=lambda setup: setup.name)
        some = None if examples is None else set(examples)
        found = dataset.examples.of_benchmark().order_by().values_list("key", "pk", "dialog")
        self.examples = sorted(
            row for row in found.iterator(chunk_size=CHUNK) if some is None or row[1] in some
        )
        self.setup_place = {setup.pk: place for place, setup in enumerate(self.setups)}
        self.example_place = {pk: place for place, (_, pk, _) in enumerate(self.examples)}
        shape = len(self.setups), len(self.examples)
        self.responses = np.full(shape, NO_RESPONSE, np.int64)
        self.labels, self.scores = np.full((2, 2, *shape), math.nan)
        self.is_assumed, self.is_known, self.is_asked = np.zeros((3, 2, *shape), bool)
        # What the study of each axis of raters asks about; None for a metric.
        self.plans = [plan_of(axis.arm.study) if axis.arm else None for axis in axes]
        # For each setup: sums of tokens, of both shares and of their distance from a whole; and how
        # many responses state them.
        self.sums, self.n_said = np.zeros((2, len(self.setups), len(_ResponseFacts._fields) - 1))
        self.n_ties = np.zeros(len(self.setups), np.int64)
        self.left_out = _none_left_out(axes)
        self.digest = hashlib.sha256()

    def rows(self, setups: Collection[int] | None) -> Iterator[tuple[Any, ...]]:
        """Yield id, key, example, setup, source and meta of the responses, by key.

        The order is that of the characters in every database, whatever its collation. `meta` is
        read whole, because databases differ in how they return a part of it that is a text.
        """
        found = Response.objects.filter(dataset=self.dataset)
        if setups is not None:
            found = found.filter(setup__in=setups)
        by_key = found.order_by(Collate("key", BY_BYTES[connection.vendor]))
        columns = "pk", "key", "example", "setup", "chosen_from", "meta"
        return by_key.values_list(*columns).iterator(chunk_size=CHUNK)

    def take(self, rows: Sequence[tuple[Any, ...]], values: Sequence[Values]) -> None:
        """Put some responses, and what both axes say about them, in their places."""
        places, ids, sources, keys, said = [], [], [], [], []
        for pk, key, example, setup, chosen_from, meta in rows:
            if example not in self.example_place:
                continue
            here = self.setup_place[setup], self.example_place[example]
            if self.responses[here] != NO_RESPONSE:
                self.left_out["repeated_responses"] += 1
                continue
            self.responses[here] = pk
            places.append(here)
            ids.append(pk)
            sources.append(chosen_from or NO_RESPONSE)
            keys.append(key)
            said.append(_said_in(meta, is_chosen=chosen_from is not None))
        if not places:
            return
        of_setup, of_example = np.array(places).T
        there = of_setup, of_example
        example_ids = np.array([self.examples[place][1] for place in of_example.tolist()])
        for side, (of_axis, plan) in enumerate(zip(values, self.plans, strict=True)):
            self._put(side, of_axis, there, np.array(ids), np.array(sources))
            if plan is not None:
                is_asked = plan.is_asked(np.array(ids), np.array(sources), example_ids)
                self.is_asked[side][there] = is_asked
        figures = np.array([each[:-1] for each in said])
        is_said = ~np.isnan(figures)
        np.add.at(self.sums, of_setup, np.where(is_said, figures, 0))
        np.add.at(self.n_said, of_setup, is_said)
        np.add.at(self.n_ties, of_setup, [each.is_tie for each in said])
        self._hash(places, keys, said)

    def _put(
        self, side: int, of_axis: Values, here: tuple[Ints, Ints], ids: Ints, sources: Ints
    ) -> None:
        """Store the values of responses; a chosen one without its own has those of its source."""
        own = of_axis.places(ids)
        found = np.where(own == NOT_ASKED, of_axis.places(sources), own)
        known = found != NOT_ASKED
        labels, scores = np.full((2, len(ids)), math.nan)
        labels[known] = of_axis.labels[found[known]]
        scores[known] = of_axis.scores[found[known]]
        self.labels[side][here], self.scores[side][here] = labels, scores
        is_assumed = np.zeros(len(ids), bool)
        is_assumed[known] = of_axis.is_assumed[found[known]]
        self.is_assumed[side][here] = is_assumed
        reasons = np.zeros(len(ids), np.int64)
        reasons[known] = of_axis.reasons[found[known]]
        self.is_known[side][here] = known & (reasons != REASONS.index(WAITING))
        counts = np.bincount(reasons[np.isnan(labels)], minlength=len(REASONS))
        for reason, n in zip(REASONS, counts.tolist(), strict=True):
            if n:
                self.left_out[f"{self.axes._fields[side]}_{reason}"] += n

    def _hash(
        self, places: Sequence[tuple[int, int]], keys: Sequence[str], said: Sequence[_ResponseFacts]
    ) -> None:
        """Add to the hash all facts about responses from which figures are made."""
        of_setup, of_example = np.array(places).T
        values = np.concatenate(
            [each[:, of_setup, of_example] for each in (self.labels, self.scores)]
        )
        for here, key, of_meta, row in zip(places, keys, said, values.T.tolist(), strict=True):
            example, _, dialog = self.examples[here[1]]
            name = self.setups[here[0]].name
            self.digest.update(json.dumps([dialog, example, name, key, *row, *of_meta]).encode())

    def material(self) -> TradeoffMaterial:
        """Return what was read, with only the setups and examples that have a response.

        Answers that are assumed make no mark alone: they are left out, see `made_of_assumed`.
        """
        there = self.responses != NO_RESPONSE
        self._leave_out_assumed_alone()
        rated = rated_parts(self._answers(), there)
        dots, kept = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
        if there.shape != (len(dots), len(kept)):
            cut = np.ix_(dots, kept)
            self.responses = self.responses[cut]
            self.labels, self.scores, self.is_assumed = (
                np.stack([side[cut] for side in both])
                for both in (self.labels, self.scores, self.is_assumed)
            )
        marks = tuple(self._dot(place)._replace(rated=rated[place]) for place in dots.tolist())
        if any(self.plans):
            self.left_out[NOT_RATED] = sum(dot.is_not_rated for dot in marks)
        examples = [self.examples[place] for place in kept]
        names = sorted({dialog for _, _, dialog in examples})
        dialog_place = {name: place for place, name in enumerate(names)}
        example_ids = np.array([pk for _, pk, _ in examples], np.int64)
        dialogs = np.array([dialog_place[dialog] for _, _, dialog in examples], np.int64)
        return TradeoffMaterial(
            dataset=self.dataset,
            axes=self.axes,
            dots=marks,
            examples=tuple(key for key, _, _ in examples),
            example_ids=example_ids,
            dialogs=dialogs,
            n_dialogs=len(names),
            responses=self.responses,
            labels=self.labels,
            scores=self.scores,
            is_assumed=self.is_assumed,
            left_out=dict(self.left_out),
            data_hash=self.digest.hexdigest()[:8],
            floors=axis_floors(self.axes, example_ids, dialogs, len(names)),
        )

    def _leave_out_assumed_alone(self) -> None:
        """Leave out the answers of an axis of raters that are assumed, and would be a mark alone.

        Labels and scores are looked at one after the other, as some answers have no score.
        """
        if not any(self.plans):
            return
        answers = self._answers()
        for what, values in (("labels", self.labels), ("scores", self.scores)):
            alone = [made_of_assumed(values, answers, side) for side in range(len(answers))]
            for side, is_alone in enumerate(alone):
                here = is_alone[:, np.newaxis] & self.is_assumed[side]
                values[side][here] = math.nan
                if what == "labels":
                    self.left_out[f"{self.axes._fields[side]}_{UNKNOWN}"] += int(here.sum())
                names = [self.setups[place].name for place in np.flatnonzero(is_alone).tolist()]
                if names:
                    self.digest.update(json.dumps([what, side, *names]).encode())
        is_without = np.isnan(self.labels) & np.isnan(self.scores)
        self.is_known &= ~(self.is_assumed & is_without)
        self.is_assumed &= ~is_without

    def _answers(self) -> list[AxisAnswers | None]:
        """Return the answers on both axes; None for a metric."""
        return [self._answers_on(side, plan) for side, plan in enumerate(self.plans)]

    def _answers_on(self, side: int, plan: RatedPlan | None) -> AxisAnswers | None:
        if plan is None:
            return None
        is_in_plan = np.array([setup.pk in plan.setups for setup in self.setups], bool)
        of_axis = self.is_asked[side], self.is_known[side], self.is_assumed[side]
        return AxisAnswers(*of_axis, is_in_plan)

    def _dot(self, place: int) -> Dot:
        """Return the mark of a setup, with the means of what its responses state."""
        context_tokens, dialog_share, evidence_share, off_budget = (
            total / n if n else math.nan
            for total, n in zip(self.sums[place].tolist(), self.n_said[place].tolist(), strict=True)
        )
        return dot_of(self.setups[place])._replace(
            context_tokens=context_tokens,
            dialog_share=dialog_share,
            evidence_share=evidence_share,
            off_budget=off_budget,
            n_ties=int(self.n_ties[place]),
        )


def _said_in(meta: Any, *, is_chosen: bool) -> _ResponseFacts:
    """Return the facts in a response's meta, which an import may fill with anything."""
    meta = meta if isinstance(meta, dict) else {}
    tokens, shares = (
        part if isinstance(part, dict) else {} for part in (meta.get("tokens"), meta.get("shares"))
    )
    kept = Shares(_number(shares.get("dialog"), 1), _number(shares.get("evidence"), 1))
    if math.isnan(kept.off_budget):  # the two shares count only together
        kept = Shares(math.nan, math.nan)
    n_tokens = _number(tokens.get("total"), sys.float_info.max)
    is_tie = is_chosen and meta.get(IS_TIE) is True
    return _ResponseFacts(n_tokens, *kept, kept.off_budget, is_tie)


def _number(value: Any, most: float) -> float:
    """Return a number from 0 to `most`; NaN for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= most else math.nan


def _none_left_out(axes: Axes) -> LeftOut:
    """Return the counts of a figure that leaves nothing out; other reasons start from 0 too."""
    left_out: LeftOut = defaultdict(int)
    left_out["repeated_responses"] = 0
    for side in axes._fields:
        left_out[f"{side}_{UNKNOWN}"] = 0
    return left_out
