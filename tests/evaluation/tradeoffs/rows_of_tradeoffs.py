"""Rows of the report on a trade-off, as the figure takes them."""

from typing import Any

from evaluation.reports.base import Row
from evaluation.tradeoffs.dots import dot_of
from evaluation.tradeoffs.reports.tradeoff import setup_row
from generation.models import RERANKED, Setup


def row(x: float | None, y: float | None, **more: Any) -> Row:
    """Return the row of a golden prompt of a model at temperature 0, unless told otherwise.

    Args:
        more: of the setup: model, temperature, prompt, settings; and figures.
    """
    usual = {"model": "PaLM 8B", "temperature": 0.0, "prompt": "golden", "settings": {}}
    of_setup = {name: more.pop(name, value) for name, value in usual.items()}
    name = " ".join(str(of_setup[key]) for key in ("model", "temperature", "prompt"))
    f1 = None if x is None or y is None or x + y == 0 else 2 * x * y / (x + y)
    ends = {"attribution": x, "sensibleness": y, "f1": f1}
    figures: Row = {"n": 100, "n_left_out": 0} | ends
    for figure, value in ends.items():
        figures[f"{figure}_low"] = None if value is None else max(0.0, value - 0.05)
        figures[f"{figure}_high"] = None if value is None else min(1.0, value + 0.05)
    return setup_row(dot_of(Setup(name=name, **of_setup))) | figures | more


def aggregate(x: float, y: float, function: str = "sensible-first", **more: Any) -> Row:
    """Return the row of an aggregate."""
    settings = {"function": function, "pool": ["a", "b"]}
    more = {"settings": settings, "pool_size": 2, "chosen_by_title": "auto_ais"} | more
    return row(x, y, prompt=RERANKED, **more)
