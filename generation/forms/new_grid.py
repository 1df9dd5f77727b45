"""The form of a new grid: examples, models, prompt types, all choices of decoding and retrieval."""

import re
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

from django import forms
from django.db.models import QuerySet
from django.forms.boundfield import BoundWidget
from django.http import QueryDict
from django.urls import reverse_lazy
from django.utils.text import capfirst

from accounts.listing import on_offer
from accounts.models import User
from generation.choices.folded_fields import Fold, Told
from generation.dataset_menus import datasets_with_examples, usual_dataset
from generation.forms.material_field import MaterialField
from generation.forms.model_fields import ModelsForm
from generation.forms.number_lists import numbers, whole_numbers
from generation.forms.offered_models import offered_models
from generation.grids.dataset_material import DatasetMaterial, material_of
from generation.grids.grid_file import (
    HIGHEST_TEMPERATURE,
    LONGEST_CURRENCY,
    QUERIES,
    GridChoices,
    GridError,
    of_data,
    usual_max_tokens,
)
from generation.limits import LONGEST_NAME
from generation.models import IS_ASKED, Dataset, Grid, Sample
from generation.retrieval.bm25 import IDF_RULES
from generation.text.dialog_forms import FORMS
from generation.text.dialog_prompts import POSITIONS
from generation.text.prompt_types import (
    GRAPHS,
    LACKING,
    TWELVE,
    PromptType,
    is_about_graph,
    prompt_type,
)

PLACES = {
    "before-dialog": "Before the dialog",
    "before-last-turn": "Just before the last turn",
}
RANKINGS = [("bm25", "BM25, the nearest first"), ("random", "At random, by the seed")]
RETRIEVAL = ("ranking", "query", "idf", "k1", "b")
_PLAIN = {"autocapitalize": "none", "autocomplete": "off"}
_ANY = {"step": "any", "min": "0"}
NO_EXAMPLES = "no examples to ask about"
_FIELDS = {"sample": "over"}  # key of a grid → name of its field, if that is another


FOLDS = {
    "others": Fold("Add prompt types by key", {"more_prompts": Told("{}", {"": "none"})}),
    "form": Fold(
        "Form of the prompts",
        {
            "form": Told("{}", {"[]": "the usual form of each model"}),
            "positions": Told("evidence {}"),
            "budget": Told("{} tokens at most", {"": "no limit of tokens"}),
            "one_shot": Told("one-shot by {}", {"": "one-shot example of the paper"}),
        },
    ),
    "retrieval": Fold(
        "Retrieval",
        {
            "ranking": Told("{}"),
            "query": Told("searched by {}"),
            "idf": Told("idf {}"),
            "k1": Told("k1 {}"),
            "b": Told("b {}"),
        },
    ),
    "decoding": Fold(
        "Seeds, cut-offs and length",
        {
            "seeds": Told("seed {}"),
            "top_p": Told("top-p {}"),
            "top_k": Told("top-k {}", {"0": "top-k off"}),
            "max_tokens": Told("{} new tokens at most"),
        },
    ),
}


class PromptGroup(NamedTuple):
    """Prompt types that the form shows together."""

    options: list[BoundWidget]
    is_chosen: bool  # a type of the group is chosen, so that the page must not fold it away
    title: str = ""  # "": the group is not folded away
    note: str = ""  # why it is folded away


def _group(options: Iterable[BoundWidget], title: str = "", note: str = "") -> PromptGroup:
    there = list(options)
    return PromptGroup(there, any(each.data["selected"] for each in there), title, note)


def _about_graphs() -> list[tuple[str, str]]:
    """Return the types about a graph. Not every question has each of them."""
    return [(kind.key, _of_sub_graphs(kind)) for kind in (*GRAPHS, *LACKING)]


def _of_sub_graphs(kind: PromptType) -> str:
    """Return what a prompt type shows of a graph."""
    if kind.n_removed:
        return f"Gold sub-graph without {kind.n_removed} of the minimum set"
    if kind.lacks_knowledge:
        return f"{kind.accuracy} % right sub-graphs, {100 - kind.accuracy} % wrong ones"
    return {"retrieved": "Sub-graph retrieved here", "imported": "Sub-graph as imported"}.get(
        kind.graph or "", "Gold sub-graph"
    )


class NewGridForm(ModelsForm):
    """The form of a new grid. Models that may cost something have fields for their prices."""

    folds_declared = FOLDS

    name = forms.CharField(
        label="Name", max_length=LONGEST_NAME, widget=forms.TextInput(attrs=_PLAIN)
    )
    over = MaterialField(
        label="Examples",
        lacks=NO_EXAMPLES,
        # Other examples may have other prompt types: those about a knowledge graph.
        widget=forms.Select(
            attrs={
                "hx-get": reverse_lazy("grids:new"),
                "hx-include": "closest form",
                "hx-select": "#id_prompts",
                "hx-target": "#id_prompts",
                "hx-select-oob": "#to-ask,#id_max_tokens,#id_decoding_said",
                "hx-trigger": "change consume",
            }
        ),
    )
    models = forms.MultipleChoiceField(label="Models", widget=forms.CheckboxSelectMultiple)
    currency = forms.CharField(
        label="Currency of the prices",
        max_length=LONGEST_CURRENCY,
        widget=forms.TextInput(attrs=_PLAIN),
    )
    prompts = forms.MultipleChoiceField(
        label="Prompt types",
        required=False,
        choices=[(kind.key, kind.title) for kind in TWELVE],
        widget=forms.CheckboxSelectMultiple,
    )
    more_prompts = forms.CharField(
        label="Other prompt types",
        required=False,
        max_length=3_000,
        widget=forms.TextInput(attrs=_PLAIN),
        help_text="Comma-separated, such as top-3, retrieved-5-instructions, "
        "restricted-golden-0.5, top-2-of-5-part-3.",
    )
    temperatures = numbers(
        "Temperatures",
        f"Comma-separated, each from 0 to {HIGHEST_TEMPERATURE:g}. 0: the model always takes the "
        "most likely token.",
    )
    seeds = whole_numbers("Seeds", "Comma-separated. At temperature 0, one seed is enough.")
    top_p = numbers("Top-p", "Comma-separated. 1: no cut-off.")
    top_k = whole_numbers("Top-k", "Comma-separated. 0: no cut-off.")
    max_tokens = whole_numbers("New tokens at most", "Comma-separated. Each is for one completion.")
    form = forms.MultipleChoiceField(
        label="Form of the dialog",
        required=False,
        choices=list(FORMS.items()),
        widget=forms.CheckboxSelectMultiple,
        help_text=(
            "None: messages for chat models, plain lines for others. The papers used the native "
            "form, which PaLM was trained on. Models of today were not."
        ),
    )
    positions = forms.MultipleChoiceField(
        label="Position of the evidence",
        choices=[(key, PLACES[key]) for key in POSITIONS],
        widget=forms.CheckboxSelectMultiple,
    )
    budget = forms.IntegerField(
        label="Tokens of a prompt at most",
        required=False,
        min_value=1,
        help_text=(
            "If a prompt is longer, whole sentences of evidence are left out first, then the "
            "oldest turns. Empty: no limit."
        ),
    )
    one_shot = forms.CharField(
        label="Example in the one-shot prompt",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs=_PLAIN),
        help_text=(
            "The key of an example. The one-shot prompt shows it, so no call asks about it. "
            "Empty: the example of the paper."
        ),
    )
    ranking = forms.ChoiceField(label="Retrieved passages", choices=RANKINGS)
    query = forms.ChoiceField(
        label="Searched by", choices=[(key, capfirst(title)) for key, title in QUERIES.items()]
    )
    idf = forms.ChoiceField(label="Weight of words", choices=list(IDF_RULES.items()))
    k1 = forms.FloatField(label="k1", widget=forms.NumberInput(attrs=_ANY))
    b = forms.FloatField(label="b", widget=forms.NumberInput(attrs=_ANY))

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        over = str(data.get("over", ""))
        self.fields["over"].offer(  # type: ignore[attr-defined]
            _what_can_be_asked(over), over, _dataset_named(over).first()
        )
        self._material = _material_of(over)
        if self._material.about_graph:
            self.fields["prompts"].choices += _about_graphs()  # type: ignore[attr-defined]
        self.add_models()

    @property
    def can_ask(self) -> bool:
        """Whether there are examples to ask about."""
        return bool(self.fields["over"].has_any)  # type: ignore[attr-defined]

    def forget_errors(self) -> None:
        """Forget the errors of a form that was not sent, unless its address names what is not."""
        for name in self.errors.keys() - {"over"}:
            del self.errors[name]

    @property
    def prompt_groups(self) -> list[PromptGroup]:
        """The prompt types that fit the examples, and the others, which the page folds away."""
        options = {str(each.data["value"]): each for each in self["prompts"].subwidgets}
        there = self._material
        if there.about_graph:
            twelve = [options.pop(kind.key) for kind in TWELVE]
            lacks = "" if there.has_passages else ", for which this dataset has no passages"
            note = f"{len(twelve)} without a graph{lacks}"
            return [
                _group(options.values()),
                _group(twelve, "More prompt types", note),
            ]
        lacking = [options.pop(kind.key) for kind in TWELVE if not there.allows(kind)]
        found = [_group(options.values())]
        if lacking:
            what = "golden evidence" if there.has_passages else "passages"
            note = f"{len(lacking)} that need {what}; this dataset has none"
            found.append(_group(lacking, "More prompt types", note))
        return found

    def clean_more_prompts(self) -> list[str]:
        """Return the keys of the other prompt types."""
        found = [part.strip() for part in self.cleaned_data["more_prompts"].split(",")]
        try:
            return [prompt_type(part).key for part in found if part]
        except ValueError as exc:
            raise forms.ValidationError(f"Found {exc}.") from exc

    def clean(self) -> dict[str, Any]:
        """Read the examples that `over` names, and make a grid of the other fields."""
        cleaned = super().clean() or {}
        self.check_prices(cleaned)
        if "over" in cleaned:
            cleaned |= _examples_named(cleaned["over"])
        if not set(self.errors) - {"name"}:
            try:
                # The calls of a grid can be counted before it has a name.
                cleaned["grid"] = of_data(self._data({"name": "?"} | cleaned))
            except GridError as error:
                self.add_error(*_said(error, self.fields))
        return cleaned

    def _data(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """Return a grid in the form that a grid file has."""
        same = "temperatures seeds top_p top_k max_tokens positions budget one_shot currency"
        types = [*cleaned["prompts"], *cleaned["more_prompts"]]
        return {
            "name": cleaned["name"],
            "sample": cleaned["sample"].name if cleaned["sample"] else "",
            "models": list(self.models_data(cleaned)),
            "prompts": list(dict.fromkeys(types)),
            "form": cleaned["form"] or None,  # None: the usual one of each model
            "retrieval": {key: cleaned[key] for key in RETRIEVAL},
        } | {key: cleaned[key] for key in same.split()}

    def grid_so_far(self) -> GridChoices | None:
        """Return the grid that is chosen so far, perhaps without a name. None: it is no grid."""
        self.is_valid()
        return self.cleaned_data.get("grid")


def first_choices(given: Mapping[str, str], user: User) -> dict[str, Any]:
    """Return the first values of a new grid's form: those in the address, else the usual ones."""
    usual, over = GridChoices("", ()), _first_examples(given, user)
    if prompts := _material_of(over).usual_prompts:
        usual = usual._replace(prompts=prompts, max_tokens=(usual_max_tokens(prompts),))
    slugs = _dataset_named(over).values_list("slug", flat=True)
    return {
        "name": _free_name(slugs.first() or ""),
        "over": over,
        "models": [model.name for model in offered_models()[:1]],
        "currency": usual.currency,
        "prompts": list(usual.prompts),
        "positions": list(usual.positions),
        "form": list(usual.form),
        "one_shot": usual.one_shot,
        **{
            key: ", ".join(f"{number:g}" for number in getattr(usual, key))
            for key in ("temperatures", "seeds", "top_p", "top_k", "max_tokens")
        },
        **usual.retrieval._asdict(),
    }


def with_fitting_prompts(given: QueryDict) -> QueryDict:
    """Return a half-filled form, with the usual prompts of its examples if its own do not fit.

    They do not fit if they are about a knowledge graph and the examples are not, or the other way
    round.
    """
    there = _material_of(given.get("over", ""))
    if bool(there.about_graph) == any(map(is_about_graph, given.getlist("prompts"))):
        return given
    prompts = there.usual_prompts
    fitting = given.copy()
    fitting.setlist("prompts", list(prompts))
    fitting["max_tokens"] = str(usual_max_tokens(prompts))
    return fitting


def _material_of(over: str) -> DatasetMaterial:
    """Return the material of the dataset of some examples.

    Args:
        over: the value of `NewGridForm.over`. It may be anything.
    """
    return material_of(_dataset_named(over))


def _dataset_named(over: str) -> QuerySet[Dataset]:
    """Return the dataset of the chosen examples, or nothing."""
    kind, _, named = over.partition(":")
    if kind == "sample":
        is_number = named.isdecimal() and len(named) < 10
        return Dataset.objects.filter(samples=int(named) if is_number else 0)
    return Dataset.objects.filter(slug=named)


def _first_examples(given: Mapping[str, str], user: User) -> str:
    """Return the examples that an address names, be they there or not, or else the usual ones."""
    for kind in ("sample", "dataset"):
        if key := given.get(kind):
            return f"{kind}:{key}"
    usual = usual_dataset(datasets_with_examples(), user)
    return f"dataset:{usual.slug}" if usual else ""


def _free_name(slug: str) -> str:
    """Return a name that no grid has yet: 'mill-1', 'mill-2'."""
    stem = slug[: LONGEST_NAME - 6] or "grid"
    taken = set(Grid.objects.filter(name__startswith=stem).values_list("name", flat=True))
    return next(name for name in (f"{stem}-{n}" for n in count(1)) if name not in taken)


def _what_can_be_asked(over: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the choices of examples: for each dataset, all examples and each sample that is ready.

    A sample of one question that was asked on a page is left out, unless it is chosen now. So are
    archived datasets.
    """
    datasets = datasets_with_examples().filter(on_offer())
    groups = {
        pk: (name, [(f"dataset:{slug}", f"All of {name}")])
        for pk, slug, name in datasets.order_by("name").values_list("pk", "slug", "name")
    }
    ready = Sample.objects.filter(state=Sample.State.DONE, dataset__in=groups).order_by("name")
    for pk, dataset, name in ready.values_list("pk", "dataset", "name"):
        if over == (key := f"sample:{pk}") or not re.match(IS_ASKED, name):
            groups[dataset][1].append((key, f"Sample {name}"))
    return list(groups.values())


def _examples_named(over: str) -> dict[str, Any]:
    """Return the dataset and the sample that a choice names."""
    kind, _, named = over.partition(":")
    if kind == "dataset":
        return {"dataset": Dataset.objects.get(slug=named), "sample": None}
    sample = Sample.objects.select_related("dataset").get(pk=named)
    return {"dataset": sample.dataset, "sample": sample}


def _said(error: GridError, fields: Mapping[str, forms.Field]) -> tuple[str | None, str]:
    """Return the field that an error in a grid is about (None: all), and what is wrong there."""
    top, _, rest = error.where.partition(".")
    named = rest if top == "retrieval" else _FIELDS.get(top, top)
    words = f"Found {error.found}; expected {error.expected}."
    return (named, words) if named in fields else (None, f"{error.where}: {words}")


def refuse(form: NewGridForm, error: GridError) -> None:
    """Show an error that the service found in a grid beside its field."""
    form.add_error(*_said(error, form.fields))
