"""The clear moves between comparable setups as the page draws them."""

import math
from collections.abc import Iterator, Sequence

from evaluation.reports.columns import Format
from evaluation.tradeoffs.chart_view import point_of
from evaluation.tradeoffs.figures.tradeoff.moves import Move
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.reports.comparable_setups import MOVE_TITLES, ComparableRow


def clear_moves(material: TradeoffMaterial, rows: Sequence[ComparableRow]) -> Iterator[Move]:
    """Yield the clear moves of the report, each from the mark of one setup to that of the other."""
    points = {dot.setup.name: point_of(material, place) for place, dot in enumerate(material.dots)}
    for row in rows:
        start, end = points[row.from_setup], points[row.to_setup]
        if row.move in MOVE_TITLES and not any(map(math.isnan, (*start, *end))):
            yield Move(start, end, str(row.move), _said(row))


def _said(row: ComparableRow) -> str:
    difference = row.f1_difference
    f1 = f"{Format.SIGNED.write(difference.value)} ({Format.SIGNED.interval(difference)})"
    return f"{row.name}, {row.of_setups}: {row.move_title}, F1 difference {f1}"
