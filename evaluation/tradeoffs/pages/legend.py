"""The legend of a trade-off: boxes that name marks, and filter them."""

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.tradeoffs.chart_view import NOT_SAID, View, prompt_key, prompt_title
from evaluation.tradeoffs.dots import Dot, short_title
from evaluation.tradeoffs.figure_choice import FILTERS, Filter
from evaluation.tradeoffs.figures.tradeoff.glyphs import Glyph, LegendEntry, Palette, legend_of
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.reports.tradeoff import dot_columns
from generation.text.temperatures import temperature_text

TITLES = {  # titles of the groups, by what they filter
    "model": "Model",
    "temperature": "Temperature",
    "prompt": "Prompt type",
    "aggregate": "Re-ranked",
}


PLURALS = {"model": "models", "temperature": "temperatures"}
PLURALS |= {"prompt": "prompt types", "aggregate": "re-rankings"}


class LegendBox(NamedTuple):
    """A box of the legend: it explains a mark and filters the marks of its kind."""

    key: str
    title: str
    glyph: Glyph
    n: int  # setups that it filters
    is_on: bool


class LegendGroup(NamedTuple):
    """A group of boxes."""

    name: str  # in addresses
    title: str
    boxes: Sequence[LegendBox]


def legend_groups(material: TradeoffMaterial, view: View, palette: Palette) -> list[LegendGroup]:
    """Return the groups that have boxes; marks that are not shown have boxes as well."""
    legend = legend_of([dot_columns(dot) for dot in material.dots], palette)
    entries = (legend.models, legend.temperatures, legend.prompts, legend.functions)
    groups = [
        LegendGroup(each.name, TITLES[each.name], _boxes(each, material, view, of_kind))
        for each, of_kind in zip(FILTERS, entries, strict=True)
    ]
    return [group for group in groups if group.boxes]


def counted(groups: Sequence[LegendGroup]) -> list[str]:
    """Return in words what the boxes of each group let through: 'both models', 'T 0.0'."""
    return [_counted(group) for group in groups]


def _counted(group: LegendGroup) -> str:
    on, n, things = [box for box in group.boxes if box.is_on], len(group.boxes), PLURALS[group.name]
    if not on:
        return f"no {things}"
    if len(on) == 1:
        return on[0].title
    if len(on) == n:
        return f"{'both' if n == 2 else f'all {n}'} {things}"
    return f"{len(on)} of {n} {things}"


def _boxes(
    of: Filter, material: TradeoffMaterial, view: View, entries: Sequence[LegendEntry]
) -> list[LegendBox]:
    """Return the boxes of a group in the order of the legend."""
    places = {key: place for place, entry in enumerate(entries) for key in entry.keys}
    made = []
    for key, dots in of.marks(material).items():
        place = places.get(_key(of.name, dots[0], key), len(entries))
        entry = entries[place] if place < len(entries) else None
        is_family = of.name == "prompt" and prompt_key(dots[0]) != dots[0].setup.prompt
        if is_family or (of.name == "prompt" and entry is None):
            title = prompt_title(dots[0])
        else:
            title = _alone(of.name, key) if entry is None else entry.title
        glyph = entry.glyph if entry else Glyph("")
        box = LegendBox(key, short_title(title), glyph, len(dots), of.let_through(view, key))
        made.append((place, title, box))
    return [box for _, _, box in sorted(made, key=lambda each: each[:2])]


def _alone(name: str, key: str) -> str:
    """Return the title of a model or temperature that only aggregates have."""
    is_temperature = name == "temperature" and key != NOT_SAID
    return f"T {temperature_text(float(key))}" if is_temperature else key


def _key(name: str, dot: Dot, key: str) -> str:
    return (dot.setup.prompt or NOT_SAID) if name == "prompt" else key


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return names of models without the words that all of them begin with."""
    words = {name: name.split(" ") for name in names}
    n = 0
    while len(words) > 1 and all(len(each) > n + 1 for each in words.values()):
        if len({each[n] for each in words.values()}) > 1:
            break
        n += 1
    return {name: " ".join(each[n:]) for name, each in words.items()}
