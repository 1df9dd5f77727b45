"""Sizes of models as their names say them. Pure functions over names."""

import math
import re
from collections.abc import Iterable

_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[ -]?([mbt])(?![a-z])", re.IGNORECASE)
_FACTORS = {"m": 1e6, "b": 1e9, "t": 1e12}


def n_parameters(model: str) -> float:
    """Return the size that a model's name says ('PaLM 62B', 'qwen-0.5b'); NaN where none does."""
    found = _SIZE.findall(model)
    if not found:
        return math.nan
    number, unit = found[-1]
    return float(number) * _FACTORS[unit.lower()]


def by_size(models: Iterable[str]) -> list[str]:
    """Return models from small to large as their names say it; the others come first, by name."""

    def order(model: str) -> tuple[float, str]:
        size = n_parameters(model)
        return (-1.0 if math.isnan(size) else size), model

    return sorted(models, key=order)


def largest_named(models: Iterable[str]) -> str | None:
    """Return the largest of the models whose names say a size; None where none does."""
    sized = [model for model in models if not math.isnan(n_parameters(model))]
    return by_size(sized)[-1] if sized else None
