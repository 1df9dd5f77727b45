"""The lines of restricted context in a view, with the recalls that they are drawn for."""

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.tradeoffs.chart_view import View, is_shown
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.material_cache import cached_recalls
from evaluation.tradeoffs.recall_lines import (
    RecallLine,
    RestrictedPair,
    curves_of,
    lines_of,
    restricted_pairs,
)
from evaluation.tradeoffs.recalls import Recalls, unknown_recalls


class RestrictedLines(NamedTuple):
    """Lines of restricted context, and the recalls for which they are drawn."""

    lines: Sequence[RecallLine] = ()
    recalls: Recalls | None = None  # None: nothing measures them
    pair: RestrictedPair | None = None  # the setups for which they are drawn


def lines_in_view(material: TradeoffMaterial, view: View) -> RestrictedLines:
    """Return the lines of the restricted context that a view shows, for one model at most."""
    if not view.lines:
        return RestrictedLines()
    marks = [dot for dot in material.dots if dot.is_restricted and is_shown(dot, view)]
    there = {
        (dot.setup.model, dot.setup.temperature, dot.kind and dot.kind.evidence) for dot in marks
    }
    for pair in restricted_pairs(material):
        if (pair.model, pair.temperature, pair.non_evidence) not in there:
            continue
        curves = curves_of(material, *pair, by_score=view.by_score)
        if curves is None:
            continue
        recalls = cached_recalls(material, curves, view.k)
        drawn = lines_of(
            material,
            curves,
            recalls or unknown_recalls(view.k),
            view.k > 1 and recalls is not None,
            by_score=view.by_score,
        )
        return RestrictedLines(drawn, recalls, curves.pair)
    return RestrictedLines()
