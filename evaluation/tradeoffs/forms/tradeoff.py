"""The form of the figure of the trade-off; all choices are in the address."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.functional import cached_property

from evaluation.retrieval.ranked_examples import MOST_K
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.chart_view import FIGURES, View, largest, models_of, smallest, view_of
from evaluation.tradeoffs.figure_choice import FILTERS, SWITCHES, ZOOM, FigureChoice
from evaluation.tradeoffs.figures.tradeoff.frame import EDGE, SMALLEST_WINDOW
from evaluation.tradeoffs.forms.axes import LABEL, MEASURES, SCORE
from evaluation.tradeoffs.material import TradeoffMaterial

# What both axes may say about a response.
CORNERS = [
    ("", "all"),
    ("both", "attributable and sensible"),
    ("attributable", "attributable, not sensible"),
    ("sensible", "sensible, not attributable"),
    ("neither", "neither"),
    ("unknown", "not labelled on both axes"),
]


class TradeoffForm(forms.Form):
    """Figure, filters, switches and zoom. What is not given is as the figure has it.

    With `own`, which the page's form sends, a box or switch that is not given is off. Values that
    are wrong, or do not exist any more, are errors of their field; the figure's own values are
    taken.
    """

    figure = forms.TypedChoiceField(
        choices=[(number, figure.title) for number, figure in FIGURES.items()],
        coerce=int,
        empty_value=None,
        required=False,
    )
    measure = forms.ChoiceField(
        label="Each axis shows", choices=list(MEASURES.items()), required=False
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

    def __init__(self, data: QueryDict, *, material: TradeoffMaterial) -> None:
        super().__init__(data)
        self.material = material
        self.given = data
        for name in ("large", "small"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(model, model) for model in models_of(material)]
        self.unknown = {
            each.name: sorted(set(data.getlist(each.name)) - {"", *each.marks(material)})
            for each in FILTERS
        }

    def clean(self) -> dict[str, Any]:
        """Refuse a zoom that is too narrow to draw, or that ends before it begins.

        If one end is not given, it is that of the figure.
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
            has_end = said.get(names[1]) is not None
            for end, problem in _narrow_window(low or 0.0, 1.0 if high is None else high, has_end):
                self.add_error(f"{side}_{end}", problem)
        return said

    @cached_property
    def choice(self) -> FigureChoice:
        """The figure and its view; the figure's own values replace what is missing or wrong."""
        self.is_valid()
        said = ((name, self.cleaned_data.get(name)) for name in ("large", "small", "measure"))
        return FigureChoice(
            figure=FIGURES[self._number],
            models=self._models,
            said=tuple((name, value) for name, value in said if value and value != LABEL),
            usual=self.usual,
            view=self.usual._replace(**self._changes()),
        )

    @cached_property
    def usual(self) -> View:
        """The view of the figure, before filters, switches and zoom of the address."""
        self.is_valid()
        by_score = self.measure_chosen == SCORE
        return view_of(self.material, FIGURES[self._number], self._models, by_score=by_score)

    @property
    def measure_chosen(self) -> str:
        """The measure that each axis shows, as addresses have it."""
        return self.cleaned_data.get("measure") or LABEL

    @property
    def problems(self) -> list[tuple[str, str]]:
        """The problems of the address: names of fields, and a message for each."""
        of_fields = [
            (name, f"{self.fields[name].label or name.capitalize()}: {' '.join(map(str, errors))}")
            for name, errors in self.errors.items()
        ]
        gone = [(name, keys) for name, keys in self.unknown.items() if keys]
        return of_fields + [
            (name, f"Not among what {name} may be: {', '.join(keys)}.") for name, keys in gone
        ]

    @property
    def _number(self) -> int:
        return self.cleaned_data.get("figure") or 1

    @property
    def _models(self) -> tuple[str, str]:
        figure, said = FIGURES[self._number], self.cleaned_data
        return (
            said.get("large") or largest(self.material, figure),
            said.get("small") or smallest(self.material, figure),
        )

    def _changes(self) -> dict[str, Any]:
        """Return the fields of the view that the address changes."""
        has_all, said = "own" in self.given, self.cleaned_data
        changes: dict[str, Any] = self._filters(has_all)
        for name in SWITCHES:
            if has_all or name in self.given:
                changes[name] = self.given.get(name, "") not in ("", "0")
        if said.get("k"):
            changes["k"] = said["k"]
        if not any(name in self.errors for name in ZOOM):
            changes |= {name: said.get(name) for name in ZOOM if name in self.given}
        return changes

    def _filters(self, has_all: bool) -> dict[str, Any]:
        """Return what filters keep; a filter that names only unknown values is left out."""
        kept: dict[str, Any] = {}
        for each in FILTERS:
            wanted, there = set(self.given.getlist(each.name)), each.marks(self.material).keys()
            is_only_wrong = self.unknown[each.name] and not wanted & there
            if there and (has_all or each.name in self.given) and not is_only_wrong:
                kept[each.field] = each.narrowed_to(self.material, wanted)
        return kept


def _narrow_window(low: float, high: float, has_end: bool) -> Iterator[tuple[str, str]]:
    """Yield the end of a zoom that makes it too narrow to draw, and what is expected of it.

    Args:
        has_end: whether the reader gave its end; if not, its beginning is what is wrong.
    """
    if high - low >= SMALLEST_WINDOW - EDGE:
        return
    if not has_end and high - SMALLEST_WINDOW >= 0:
        yield "from", f"Expected at most {high - SMALLEST_WINDOW:g}."
    elif low + SMALLEST_WINDOW <= 1:
        yield "to", f"Expected at least {low + SMALLEST_WINDOW:g}."
    else:
        yield "from", f"Expected at most {1 - SMALLEST_WINDOW:g}."


# All names that an address of the page may have.
NAMES = frozenset(
    (
        *TradeoffForm.base_fields,
        *SWITCHES,
        *(each.name for each in FILTERS),
        *Axes._fields,
        "own",
    )
)


class ResponseFilter(forms.Form):
    """The filter of the responses behind a mark, by their labels."""

    said = forms.ChoiceField(label="Labelled", choices=CORNERS, required=False)

    @property
    def said_chosen(self) -> str:
        """The corner that is chosen; '' for all."""
        self.is_valid()
        said: str = self.cleaned_data.get("said", "")
        return said
