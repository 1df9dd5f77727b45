"""Sizes of models: numbers of parameters as people write them, and orders by size. It is pure."""

import math
import re
from collections.abc import Iterable

_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[ -]?([mbt])(?![a-z])", re.IGNORECASE)
_FACTORS = {"m": 1e6, "b": 1e9, "t": 1e12}
MOST_PARAMETERS = 10**15
SizedModel = tuple[str, float]  # a model and its number of parameters; NaN: not known


def size_in_name(model: str) -> float:
    """Return the size in a model's name ('PaLM 62B', 'qwen-0.5b'), or NaN if the name has none."""
    found = _SIZE.findall(model)
    if not found:
        return math.nan
    number, unit = found[-1]
    return float(number) * _FACTORS[unit.lower()]


def size_typed(text: str) -> int | None:
    """Return the number in a typed size ('7B', '135M', '134515008'); None: it is no size."""
    plain = text.strip().replace(",", "")
    size = float(plain) if plain.isascii() and plain.isdigit() else math.nan
    if _SIZE.fullmatch(plain):
        size = size_in_name(plain)
    return round(size) if 1 <= size <= MOST_PARAMETERS else None


def size_text(n_parameters: float) -> str:
    """Return a size as people write it: 134515008 → '134.5M', 7e9 → '7B'."""
    for unit, factor in reversed(_FACTORS.items()):
        if n_parameters >= factor:
            return f"{round(n_parameters / factor, 1):g}{unit.upper()}"
    return f"{n_parameters:,.0f}"


def by_size(models: Iterable[SizedModel]) -> list[str]:
    """Return models from small to large, each once. Those without a size come first.

    If a model comes with several sizes, the largest counts.
    """
    sizes: dict[str, float] = {}
    for model, size in models:
        known = -1.0 if math.isnan(size) else size
        sizes[model] = max(known, sizes.get(model, known))
    return sorted(sizes, key=lambda model: (sizes[model], model))


def largest_sized(models: Iterable[SizedModel]) -> str | None:
    """Return the largest of the models with a size. None: there is none."""
    sized = [(model, size) for model, size in models if not math.isnan(size)]
    return by_size(sized)[-1] if sized else None
