"""Sizes of models, read from their names. The functions are pure."""

import math
import re
from collections.abc import Iterable

_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[ -]?([mbt])(?![a-z])", re.IGNORECASE)
_FACTORS = {"m": 1e6, "b": 1e9, "t": 1e12}


def n_parameters(model: str) -> float:
    """Return the size in a model's name ('PaLM 62B', 'qwen-0.5b'), or NaN if the name has none."""
    found = _SIZE.findall(model)
    if not found:
        return math.nan
    number, unit = found[-1]
    return float(number) * _FACTORS[unit.lower()]


def by_size(models: Iterable[str]) -> list[str]:
    """Return models from small to large by the size in their names. Those without come first."""

    def order(model: str) -> tuple[float, str]:
        size = n_parameters(model)
        return (-1.0 if math.isnan(size) else size), model

    return sorted(models, key=order)


def largest_named(models: Iterable[str]) -> str | None:
    """Return the largest of the models whose names contain a size. None: there is none."""
    sized = [model for model in models if not math.isnan(n_parameters(model))]
    return by_size(sized)[-1] if sized else None
