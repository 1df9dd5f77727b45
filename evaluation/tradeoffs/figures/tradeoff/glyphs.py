"""The marks of the trade-off: shape by prompt type, colour by model, light by temperature.

Colours are classes (`m1` to `m5`, `m0`; `a1` to `a3` for aggregates; `t0` solid, `t7` light), so
that one figure serves light pages, dark pages and files. An
aggregate has the colour of its function. If a view has aggregates of several models, each also has
a ring in the colour of its model. The mark of a setup of which raters have answered only a part of
the examples is hollow, whatever its temperature.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from evaluation.tradeoffs.reports.tradeoff import DotColumns
from generation.model_sizes import by_size
from generation.text.prompt_types import PromptType, prompt_type
from generation.text.temperatures import temperature_text

# Unit shapes around (0, 0), about 12 px wide and of equal visual weight.
SHAPES = {
    "circle": "M-5.2 0a5.2 5.2 0 1 0 10.4 0a5.2 5.2 0 1 0-10.4 0z",
    "small": "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    "small-diamond": "M0-4.8L4.8 0 0 4.8-4.8 0z",
    "square": "M-4.7-4.7H4.7V4.7H-4.7z",
    "diamond": "M0-6.4L6.4 0 0 6.4-6.4 0z",
    "up": "M0-6L5.9 4.6H-5.9z",
    "right": "M6 0L-4.6 5.9V-5.9z",
    "down": "M0 6L-5.9-4.6H5.9z",
    "left": "M-6 0L4.6-5.9V5.9z",
    "plus": "M-1.9-6H1.9V-1.9H6V1.9H1.9V6H-1.9V1.9H-6V-1.9H-1.9z",
    "cross": (
        "M2.9-5.59L5.59-2.9 2.69 0 5.59 2.9 2.9 5.59 0 2.69-2.9 5.59-5.59 2.9-2.69 0"
        "-5.59-2.9-2.9-5.59 0-2.69z"
    ),
    "hourglass": "M-5.2-5.6H5.2L-5.2 5.6H5.2z",
    "pentagon": "M0-6L5.7-1.9 3.5 4.9H-3.5L-5.7-1.9z",
    "hexagon": "M-5.8 0L-2.9-5H2.9L5.8 0 2.9 5H-2.9z",
    "star": "M0-9L2.3-3 8.6-2.8 3.7 1.1 5.3 7.3 0 3.8-5.3 7.3-3.7 1.1-8.6-2.8-2.3-3z",
}
HOLLOW = "hollow"  # class of a mark over a part of its setup's examples
MOST_MODELS = 5  # models with a colour of their own; the others share one
FUNCTION_COLOURS = {"max-attribution": "a1", "sensible-first": "a2"}


class Glyph(NamedTuple):
    """One mark: its outline around (0, 0), its classes, and whether a dot is in its centre."""

    path: str
    classes: str = ""
    has_instructions: bool = False
    ring: str = ""  # class of a ring around it; "" for none


class Palette(NamedTuple):
    """The meaning of colours and fills, which is the same for all figures of a dataset."""

    models: tuple[str, ...]  # models with a colour of their own, from small to large
    other_models: tuple[str, ...]
    solid: float | None  # the lowest temperature
    light: tuple[float, ...]  # all others, from low to high
    has_rings: bool = False  # whether aggregates have rings in the colour of their model


class LegendEntry(NamedTuple):
    """One line of a legend."""

    keys: tuple[str, ...]  # keys in a view's filter; keys that look alike share a line
    title: str
    glyph: Glyph
    n: int  # setups


class Legend(NamedTuple):
    """The meaning of the marks of some rows; groups without entries are empty."""

    models: tuple[LegendEntry, ...]
    temperatures: tuple[LegendEntry, ...]
    prompts: tuple[LegendEntry, ...]
    functions: tuple[LegendEntry, ...]
    has_instructions: bool = False


def palette_of(rows: Sequence[DotColumns]) -> Palette:
    """Return the meaning of colours and fills, from the report's rows on a dataset's setups."""
    models = by_size((row.model, row.n_parameters or math.nan) for row in rows)
    temperatures = sorted({row.temperature for row in rows if row.temperature is not None})
    return Palette(
        models=tuple(models[-MOST_MODELS:]),
        other_models=tuple(models[:-MOST_MODELS]),
        solid=temperatures[0] if temperatures else None,
        light=tuple(temperatures[1:]),
    )


def with_rings(palette: Palette, rows: Sequence[DotColumns]) -> Palette:
    """Return a palette that distinguishes the models of aggregates, if a view has several."""
    models = {row.model for row in rows if row.is_aggregate}
    return palette._replace(has_rings=len(models) > 1)


def glyph_of(row: DotColumns, palette: Palette) -> Glyph:
    """Return the mark of a setup."""
    kind = kind_of(row)
    fill = "t7" if row.temperature in palette.light else "t0"
    fill = f"{fill} {HOLLOW}" if row.is_rated_in_part else fill
    if row.is_aggregate:
        ring = model_colour(row.model, palette) if palette.has_rings else ""
        return Glyph(SHAPES["star"], f"{_function_colour(row.function)} {fill}", ring=ring)
    has_instructions = kind is not None and kind.has_instructions
    return Glyph(_shape(kind), f"{model_colour(row.model, palette)} {fill}", has_instructions)


def model_colour(model: str, palette: Palette) -> str:
    """Return the class of a model: m1 is the smallest; m0 is shared by models without their own."""
    return f"m{palette.models.index(model) + 1}" if model in palette.models else "m0"


def legend_of(rows: Sequence[DotColumns], palette: Palette) -> Legend:
    """Return the meaning of these rows' marks, in the order of sizes, temperatures and types."""
    single = [row for row in rows if not row.is_aggregate]
    return Legend(
        models=_models(rows if palette.has_rings else single, palette),
        temperatures=_temperatures(single, palette),
        prompts=_prompts(single, palette),
        functions=_functions([row for row in rows if row.is_aggregate], palette),
        has_instructions=any(glyph_of(row, palette).has_instructions for row in single),
    )


def _models(rows: Sequence[DotColumns], palette: Palette) -> tuple[LegendEntry, ...]:
    entries = []
    for model in (*palette.models, *palette.other_models):
        n = sum(row.model == model for row in rows)
        if n:
            glyph = Glyph(SHAPES["circle"], model_colour(model, palette))
            entries.append(LegendEntry((model,), model, glyph, n))
    return tuple(entries)


def _temperatures(rows: Sequence[DotColumns], palette: Palette) -> tuple[LegendEntry, ...]:
    entries = []
    there = {row.temperature for row in rows}
    colour = f"m{len(palette.models)}"  # colour of the largest model
    for temperature in sorted(there, key=lambda each: -1.0 if each is None else each):
        n = sum(row.temperature == temperature for row in rows)
        is_light = temperature in palette.light
        classes = f"{colour} {'t7' if is_light else 't0'}"
        glyph = Glyph(SHAPES["circle"], classes)
        fill = "light" if is_light else "solid"
        key, title = "none", "Not known"
        if temperature is not None:
            key, title = f"{temperature:g}", f"T {temperature_text(temperature)}, {fill}"
        entries.append(LegendEntry((key,), title, glyph, n))
    return tuple(entries)


def _prompts(rows: Sequence[DotColumns], palette: Palette) -> tuple[LegendEntry, ...]:
    """Return a line for each type; restricted ones share a line by evidence, parts by recipe."""
    found: dict[tuple[int, str], list[DotColumns]] = {}
    for row in rows:
        kind = kind_of(row)
        found.setdefault((kind.place if kind else 99, _family_title(row, kind)), []).append(row)
    entries = []
    for (_, title), alike in sorted(found.items()):
        glyph = glyph_of(alike[0], palette)
        keys = tuple(dict.fromkeys(row.prompt or "none" for row in alike))
        plain = glyph._replace(classes="")
        entries.append(LegendEntry(tuple(sorted(keys)), title, plain, len(alike)))
    return tuple(entries)


def _family_title(row: DotColumns, kind: PromptType | None) -> str:
    """Return the title that a prompt shares with those that a filter treats as one with it."""
    if kind is not None and kind.dialog_share is not None:
        return f"Restricted, {kind.evidence}{' non-evidence' * (kind.evidence != 'golden')}"
    if kind is not None and kind.part:
        return f"Parts of the first {kind.of}"
    return row.prompt_title


def _functions(rows: Sequence[DotColumns], palette: Palette) -> tuple[LegendEntry, ...]:
    found: dict[str, list[DotColumns]] = {}
    for row in sorted(rows, key=lambda row: row.function):
        found.setdefault(row.function, []).append(row)
    return tuple(
        LegendEntry(
            (function,),
            alike[0].function_title,
            Glyph(SHAPES["star"], f"{_function_colour(function)} t0"),
            len(alike),
        )
        for function, alike in found.items()
    )


def _function_colour(function: str) -> str:
    """Return the class of a function; those without their own, such as weighted sums, share a3."""
    return FUNCTION_COLOURS.get(function.removeprefix("recipe-"), "a3")


def kind_of(row: DotColumns) -> PromptType | None:
    """Return the prompt type of a setup; None if its prompt is of no known type."""
    try:
        return prompt_type(row.prompt)
    except ValueError:
        return None


def _shape(kind: PromptType | None) -> str:
    if kind is None:
        return SHAPES["hexagon"]
    if kind.dialog_share is not None:
        return SHAPES["small-diamond" if kind.evidence == "golden" else "small"]
    if kind.is_one_shot:
        return SHAPES["square"]
    if not kind.has_history:
        return SHAPES["plus" if kind.needs_golden else "cross"]
    if kind.evidence == "retrieved":
        return SHAPES["up" if kind.k < 3 else "right"]
    names = {
        "none": "circle",
        "golden": "diamond",
        "random": "down",
        "next-best": "left",
        "top": "hourglass",
        "graph": "pentagon",
    }
    return SHAPES[names[kind.evidence]]
