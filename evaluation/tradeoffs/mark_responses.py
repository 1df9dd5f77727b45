"""The responses behind one mark of the trade-off. This module only reads."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.dots import Dot, dot_of
from evaluation.tradeoffs.material import NO_RESPONSE
from evaluation.tradeoffs.material_cache import cached_material
from generation.models import Dataset, Response, Setup


class Behind(NamedTuple):
    """One response, and what both axes say about it; None where they say nothing."""

    response_id: int
    example: str  # key
    is_attributable: bool | None = None
    is_sensible: bool | None = None
    attribution: float | None = None  # score in [0, 1]
    sensibleness: float | None = None

    @property
    def corner(self) -> str:
        """The corner that it is in: both, attributable, sensible, neither; or unknown."""
        if self.is_attributable is None or self.is_sensible is None:
            return "unknown"
        if self.is_attributable:
            return "both" if self.is_sensible else "attributable"
        return "sensible" if self.is_sensible else "neither"


class BehindMark(NamedTuple):
    """All responses of one setup, by the keys of their examples."""

    dot: Dot
    rows: Sequence[Behind]

    @property
    def counts(self) -> Counter[str]:
        """The number of responses in each corner."""
        return Counter(row.corner for row in self.rows)

    def with_texts(self, rows: Sequence[Behind]) -> list[tuple[Behind, Response]]:
        """Return some rows with their responses, and the setups these were chosen from."""
        found = Response.objects.select_related("example", "chosen_from__setup").prefetch_related(
            "example__turns"
        )
        by_id = found.in_bulk([row.response_id for row in rows])
        return [(row, by_id[row.response_id]) for row in rows]


def behind_mark(dataset: Dataset, setup: Setup, axes: Axes | None) -> BehindMark:
    """Return the responses of a setup as its mark counts them."""
    if axes is None:
        found = setup.responses.of_benchmark().order_by("example__key", "key")
        return BehindMark(
            dot_of(setup), [Behind(pk, key) for pk, key in found.values_list("pk", "example__key")]
        )
    material = cached_material(dataset, axes)
    here = next((n for n, dot in enumerate(material.dots) if dot.setup.pk == setup.pk), None)
    if here is None:
        return BehindMark(dot_of(setup), [])
    rows = [
        Behind(
            int(material.responses[here, place]),
            key,
            *(_bool(label) for label in material.labels[:, here, place].tolist()),
            *(_figure(score) for score in material.scores[:, here, place].tolist()),
        )
        for place, key in enumerate(material.examples)
        if material.responses[here, place] != NO_RESPONSE
    ]
    return BehindMark(material.dots[here], rows)


def _bool(label: float) -> bool | None:
    return None if math.isnan(label) else bool(label)


def _figure(score: float) -> float | None:
    return None if math.isnan(score) else score
