"""The choices on a trade-off: a figure, its models and measure, and what is changed in it."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from evaluation.tradeoffs.chart_view import (
    NONE,
    PaperFigure,
    View,
    function_key,
    model_key,
    prompt_key,
    temperature_key,
)
from evaluation.tradeoffs.dots import Dot
from evaluation.tradeoffs.material import TradeoffMaterial

SWITCHES = {
    "intervals": "Intervals",
    "labels": "Labels",
    "clusters": "Clusters",
    "lines": "Retrieval lines",
}
ZOOM = ("x_from", "x_to", "y_from", "y_to")


class Filter(NamedTuple):
    """One group of boxes of the legend."""

    name: str  # in addresses
    field: str  # the name of a field of `View`
    key: Callable[[Dot], str]
    is_of: Callable[[Dot], bool]  # whether it filters a mark

    def marks(self, material: TradeoffMaterial) -> dict[str, list[Dot]]:
        """Return the marks that it filters, by their keys, which are what its boxes offer."""
        found: dict[str, list[Dot]] = {}
        for dot in filter(self.is_of, material.dots):
            found.setdefault(self.key(dot), []).append(dot)
        return found

    def let_through(self, view: View, key: str) -> bool:
        """Whether a view shows the marks with a key."""
        kept = getattr(view, self.field)
        return not kept or key in kept

    def narrowed_to(self, material: TradeoffMaterial, wanted: Collection[str]) -> tuple[str, ...]:
        """Return those of the wanted keys that exist, as a field of `View`."""
        there = self.marks(material)
        kept = tuple(sorted(there.keys() & set(wanted)))
        return () if len(kept) == len(there) else kept or NONE


FILTERS = (
    Filter("model", "models", model_key, lambda dot: True),
    Filter("temperature", "temperatures", temperature_key, lambda dot: True),
    Filter("prompt", "prompts", prompt_key, lambda dot: not dot.is_aggregate),
    Filter("aggregate", "aggregates", function_key, lambda dot: dot.is_aggregate),
)


class FigureChoice(NamedTuple):
    """A figure to start from, and the view that a reader made of it."""

    figure: PaperFigure
    models: tuple[str, str]  # the large and the small model that it shows
    said: tuple[tuple[str, str], ...]  # (name, value) of models and measure where unusual
    usual: View  # the figure with these models and this measure
    view: View  # the same with the reader's filters, switches and zoom

    @property
    def is_own(self) -> bool:
        """Whether something differs from the figure that the reader started from."""
        return self.view != self.usual

    def is_about_nothing(self, material: TradeoffMaterial) -> bool:
        """Whether the dataset has nothing of what the figure is about."""
        large, small = self.models
        model = {"large": large, "small": small}.get(self.figure.size or "")
        return not any(
            self.figure.is_about(dot) and model in (None, model_key(dot)) for dot in material.dots
        )

    def repeats_large(self, material: TradeoffMaterial) -> bool:
        """Whether it is of a small model that is the large one too, though the reader named none.

        Another figure shows it then.
        """
        is_of_one = self.figure.size == "small" and len(set(self.models)) == 1
        is_named = "small" in dict(self.said)
        return is_of_one and not is_named and not self.is_about_nothing(material)

    def why_not_drawn(self, material: TradeoffMaterial) -> str:
        """Return why there is nothing to draw, for an error; "" if there is something."""
        named = f"figure {self.figure.number}, {self.figure.title}"
        if self.is_about_nothing(material):
            return f"This dataset has nothing for {named}."
        if self.repeats_large(material):
            return (
                f"There is nothing to draw for {named}: the large and the small model are both "
                f"{self.models[0]}, which the figure of the large model shows."
            )
        return ""
