"""What a researcher chooses on the figure of the trade-off; all of it stands in the address."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.functional import cached_property

from evaluation.charts.tradeoff_frame import EDGE, SMALLEST_WINDOW
from evaluation.reports.retrieval import MOST_K
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.behind import Behind
from evaluation.tradeoffs.dots import Dot
from evaluation.tradeoffs.material import Material
from evaluation.tradeoffs.view import (
    FIGURES,
    NONE,
    Figure,
    View,
    function_key,
    largest,
    model_key,
    models_of,
    prompt_key,
    shown,
    smallest,
    temperature_key,
    zoomed,
)

SCORE = "score"  # of `measure`
SWITCHES = {
    "intervals": "Intervals",
    "labels": "Labels",
    "clusters": "Clusters",
    "lines": "Retrieval lines",
}
ZOOM = ("x_from", "x_to", "y_from", "y_to")
# What both axes may say about a response.
CORNERS = [
    ("", "all"),
    ("both", "attributable and sensible"),
    ("attributable", "attributable, not sensible"),
    ("sensible", "sensible, not attributable"),
    ("neither", "neither"),
    ("unknown", "not by both axes"),
]


class Filter(NamedTuple):
    """One group of boxes of the legend."""

    name: str  # in addresses
    field: str  # of `View`
    key: Callable[[Dot], str]
    is_of: Callable[[Dot], bool]  # the marks it filters


FILTERS = (
    Filter("model", "models", model_key, lambda dot: True),
    Filter("temperature", "temperatures", temperature_key, lambda dot: True),
    Filter("prompt", "prompts", prompt_key, lambda dot: not dot.is_aggregate),
    Filter("aggregate", "aggregates", function_key, lambda dot: dot.is_aggregate),
)


# Everything that an address of the page may say.
NAMES = frozenset(
    (
        *("figure", "measure", "large", "small", "k", "own", *ZOOM, *SWITCHES),
        *(filter_.name for filter_ in FILTERS),
        *Axes._fields,
    )
)


class Box(NamedTuple):
    """A box of the legend."""

    key: str
    dots: Sequence[Dot]  # the marks that it lets through
    is_on: bool


class TradeoffForm(forms.Form):
    """Figure, filters, switches and zoom. What is not said is as the figure has it.

    With `own`, as the page's form sends it, a box or switch that is not said is off. Values that
    are wrong, or not there any more, are errors of their field; the figure's own are taken.
    """

    figure = forms.TypedChoiceField(
        choices=[(number, figure.title) for number, figure in FIGURES.items()],
        coerce=int,
        empty_value=None,
        required=False,
    )
    measure = forms.ChoiceField(
        choices=[("label", "Share labelled yes"), (SCORE, "Mean score")],
        label="Each axis shows",
        required=False,
    )
    large = forms.ChoiceField(label="Large model", required=False)
    small = forms.ChoiceField(label="Small model", required=False)
    k = forms.IntegerField(
        label="Passages the lines retrieve", min_value=1, max_value=MOST_K, required=False
    )
    x_from = forms.FloatField(label="Attribution from", min_value=0, max_value=1, required=False)
    x_to = forms.FloatField(label="Attribution to", min_value=0, max_value=1, required=False)
    y_from = forms.FloatField(label="Sensibleness from", min_value=0, max_value=1, required=False)
    y_to = forms.FloatField(label="Sensibleness to", min_value=0, max_value=1, required=False)

    def __init__(self, data: QueryDict, *, material: Material) -> None:
        super().__init__(data)
        self.material = material
        self.given = data
        for name in ("large", "small"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(model, model) for model in models_of(material)]
        self.unknown = {
            filter_.name: _unique(set(data.getlist(filter_.name)) - {"", *self._keys(filter_)})
            for filter_ in FILTERS
        }

    def clean(self) -> dict[str, Any]:
        """Refuse a zoom that is too narrow to draw, with the figure's own where an end is not said.

        That is also one that ends before it begins.
        """
        said = self.cleaned_data
        for side in "xy":
            names = f"{side}_from", f"{side}_to"
            if any(name in self.errors for name in names):
                continue
            low, high = (
                said.get(name) if name in self.given else getattr(self.usual, name)
                for name in names
            )
            low, high = 0.0 if low is None else low, 1.0 if high is None else high
            if high - low >= SMALLEST_WINDOW - EDGE:
                continue
            if said.get(names[1]) is None and high - SMALLEST_WINDOW >= 0:
                self.add_error(names[0], f"Expected at most {high - SMALLEST_WINDOW:g}.")
            elif low + SMALLEST_WINDOW <= 1:
                self.add_error(names[1], f"Expected at least {low + SMALLEST_WINDOW:g}.")
            else:
                self.add_error(names[0], f"Expected at most {1 - SMALLEST_WINDOW:g}.")
        return said

    # --- what is chosen -----------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The number of the figure that is started from."""
        self.is_valid()
        return self.cleaned_data.get("figure") or 1

    @property
    def started_from(self) -> Figure:
        """The figure that is started from."""
        return FIGURES[self.number]

    @property
    def models(self) -> tuple[str, str]:
        """The models that figures show as large and small."""
        figure = self.started_from
        return (
            self.cleaned_data.get("large") or largest(self.material, figure),
            self.cleaned_data.get("small") or smallest(self.material, figure),
        )

    @cached_property
    def usual(self) -> View:
        """The view of the figure, before filters, switches and zoom of the address."""
        view = self.started_from.view(self.material, *self.models)
        if self.cleaned_data.get("measure") != SCORE:
            return view
        by_score = view._replace(by_score=True)
        return zoomed(self.material, by_score) if view.x_from is not None else by_score

    @cached_property
    def chosen(self) -> View:
        """The view; the figure's own choice for each that is missing or wrong."""
        return self.usual._replace(**self._said())

    @property
    def places(self) -> list[int]:
        """The places of the marks in view."""
        return shown(self.material, self.chosen)

    @property
    def is_own(self) -> bool:
        """Whether something differs from the figure that is started from."""
        return self.chosen != self.usual

    def _said(self) -> dict[str, Any]:
        """Return the fields of the view that the address says otherwise."""
        self.is_valid()
        has_all = "own" in self.given
        said: dict[str, Any] = {
            filter_.field: self._kept(filter_)
            for filter_ in FILTERS
            if self._keys(filter_) and (has_all or filter_.name in self.given)
            if not self._is_only_wrong(filter_)
        }
        for name in SWITCHES:
            if has_all or name in self.given:
                said[name] = self.given.get(name, "") not in ("", "0")
        if self.cleaned_data.get("k"):
            said["k"] = self.cleaned_data["k"]
        if not any(name in self.errors for name in ZOOM):
            said |= {name: self.cleaned_data.get(name) for name in ZOOM if name in self.given}
        return said

    def _kept(self, filter_: Filter) -> tuple[str, ...]:
        keys = self._keys(filter_)
        kept = _unique(set(self.given.getlist(filter_.name)) & set(keys))
        return () if len(kept) == len(keys) else kept or NONE

    def _is_only_wrong(self, filter_: Filter) -> bool:
        """Whether a filter names things, and none of them is there."""
        given = set(self.given.getlist(filter_.name))
        return bool(self.unknown[filter_.name]) and not given & set(self._keys(filter_))

    # --- how it is shown ----------------------------------------------------------------------

    def boxes(self, name: str) -> list[Box]:
        """Return the boxes of one group of the legend, by their keys."""
        filter_ = next(each for each in FILTERS if each.name == name)
        kept, dots = getattr(self.chosen, filter_.field), self._dots(filter_)
        return [
            Box(key, [dot for dot in dots if filter_.key(dot) == key], _on(key, kept))
            for key in self._keys(filter_)
        ]

    @property
    def zoom(self) -> list[tuple[forms.BoundField, float | None]]:
        """The fields of the zoom, with what is chosen."""
        view = self.chosen
        return [(self[name], getattr(view, name)) for name in ZOOM]

    @property
    def switches(self) -> list[tuple[str, str, bool]]:
        """The switches that make a difference here: name, title, whether it is on."""
        view = self.chosen
        has_lines = any(self.material.dots[place].is_restricted for place in self.places)
        return [
            (name, title, getattr(view, name))
            for name, title in SWITCHES.items()
            if name != "lines" or has_lines
        ]

    @property
    def problems(self) -> list[tuple[str, str]]:
        """What was wrong with the address: names of fields, and what is said about each."""
        self.is_valid()
        of_fields = [
            (name, f"{self.fields[name].label or name.capitalize()}: {' '.join(map(str, errors))}")
            for name, errors in self.errors.items()
        ]
        gone = [(name, keys) for name, keys in self.unknown.items() if keys]
        return of_fields + [
            (name, f"Not among what {name} may be: {', '.join(keys)}.") for name, keys in gone
        ]

    def figure_pairs(self, number: int | None = None) -> list[tuple[str, str]]:
        """Return a figure, models and measure as names and values; none for what is usual.

        Args:
            number: of the figure; None: the one that is started from.
        """
        number = number or self.number
        chosen = [("figure", str(number))] if number != 1 else []
        said = ((name, self.cleaned_data.get(name)) for name in ("large", "small", "measure"))
        return chosen + [(name, value) for name, value in said if value and value != "label"]

    @property
    def own_pairs(self) -> list[tuple[str, str]]:
        """Filters, switches and zoom that differ from the figure's own, as names and values."""
        return self._pairs_of(self.chosen)

    @property
    def whole_pairs(self) -> list[tuple[str, str]]:
        """The same without a zoom."""
        return self._pairs_of(self.chosen._replace(x_from=None, x_to=None, y_from=None, y_to=None))

    def _pairs_of(self, view: View) -> list[tuple[str, str]]:
        usual = self.usual
        pairs: list[tuple[str, str]] = []
        for filter_ in FILTERS:
            kept = getattr(view, filter_.field)
            if kept != getattr(usual, filter_.field):
                keys = [key for key in self._keys(filter_) if _on(key, kept)]
                pairs += [(filter_.name, key) for key in keys or [""]]
        for name in SWITCHES:
            if getattr(view, name) != getattr(usual, name):
                pairs.append((name, str(int(getattr(view, name)))))
        if view.k != usual.k:
            pairs.append(("k", str(view.k)))
        ends = [(name, getattr(view, name)) for name in ZOOM]
        if ends != [(name, getattr(usual, name)) for name in ZOOM]:
            pairs += [(name, "" if end is None else f"{end:g}") for name, end in ends]
        return pairs

    @property
    def address(self) -> str:
        """These choices as an address has them; "" for figure 1 as it is."""
        return urlencode([*self.figure_pairs(), *self.own_pairs])

    def _dots(self, filter_: Filter) -> list[Dot]:
        return [dot for dot in self.material.dots if filter_.is_of(dot)]

    def _keys(self, filter_: Filter) -> list[str]:
        """Return what a group of boxes offers."""
        return list(Counter(map(filter_.key, self._dots(filter_))))


class ResponseFilter(forms.Form):
    """Which of the responses behind a mark to list."""

    said = forms.ChoiceField(label="Labelled", choices=CORNERS, required=False)

    @property
    def said_chosen(self) -> str:
        """What is chosen; '' for all."""
        self.is_valid()
        said: str = self.cleaned_data.get("said", "")
        return said

    def kept(self, rows: Iterable[Behind]) -> list[Behind]:
        """Return the rows to list."""
        return [row for row in rows if self.said_chosen in ("", row.said)]

    def corners(self, counts: Counter[str]) -> list[tuple[str, str, int]]:
        """Return the choices with how many responses each lists."""
        return [(key, title, counts[key] if key else counts.total()) for key, title in CORNERS]


def _on(key: str, kept: tuple[str, ...]) -> bool:
    return not kept or key in kept


def _unique(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(keys)))
