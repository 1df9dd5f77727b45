"""Rows of the report on a trade-off, in the form that the figure takes."""

from dataclasses import replace
from typing import Any

from evaluation.reports.columns import UNKNOWN, Estimate
from evaluation.tradeoffs.dots import dot_of
from evaluation.tradeoffs.reports.tradeoff import ChosenColumns, TradeoffRow, dot_columns
from evaluation.tradeoffs.selection_bias import Marks
from generation.models import RERANKED, Setup


def row(x: float | None, y: float | None, **more: Any) -> TradeoffRow:
    """Return the row of a setup: by default a golden prompt of a model at temperature 0.

    Args:
        more: fields of the setup: model, temperature, prompt, settings.
    """
    of_setup = {"model": "PaLM 8B", "temperature": 0.0, "prompt": "golden", "settings": {}} | more
    name = " ".join(str(of_setup[key]) for key in ("model", "temperature", "prompt"))
    f1 = None if x is None or y is None or x + y == 0 else 2 * x * y / (x + y)
    return TradeoffRow(
        of=dot_columns(dot_of(Setup(name=name, **of_setup))),
        n=100,
        n_examples=100,
        n_not_rated=0,
        n_left_out=0,
        attribution_assumed=0,
        sensibleness_assumed=0,
        attribution=_around(x),
        sensibleness=_around(y),
        f1=_around(f1),
        attribution_score=x,
        sensibleness_score=y,
        attribution_over_floor=UNKNOWN,
        sensibleness_over_floor=UNKNOWN,
        above_floor="",
        chosen=ChosenColumns(pool_size=None, chosen_by="", chosen_by_title="", marks=_UNMARKED),
    )


def aggregate(x: float, y: float, function: str = "sensible-first", **more: Any) -> TradeoffRow:
    """Return the row of an aggregate that re-ranking made."""
    settings = {"function": function, "pool": ["a", "b"]}
    made = row(x, y, prompt=RERANKED, **{"settings": settings} | more)
    return replace(made, chosen=replace(made.chosen, pool_size=2, chosen_by_title="auto_ais"))


_UNMARKED = Marks(
    is_flattered_x=False, is_flattered_y=False, is_same_metric_x=False, is_same_metric_y=False
)


def _around(value: float | None) -> Estimate:
    """Return a figure with an interval that reaches 0.05 to both sides, within 0 and 1."""
    if value is None:
        return UNKNOWN
    return Estimate(value, max(0.0, value - 0.05), min(1.0, value + 0.05))
