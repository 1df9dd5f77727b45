"""The setups of a grid, and the model, prompts and decoding that a setup stands for."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from generation.backends.base import Decoding
from generation.backends.registry import LANGUAGE_MODELS
from generation.grids.grid_file import (
    GridChoices,
    GridError,
    GridModel,
    Precision,
    usual_max_tokens,
)
from generation.grids.prompt_choices import PromptChoices, draws, form_of, settings_of, what_matters
from generation.grids.question_graphs import graph_marks
from generation.grids.taken_forms import forms_taken
from generation.importers.errors import excerpt
from generation.importers.setups import setup_content, setup_name
from generation.model_sizes import largest_sized, size_in_name
from generation.model_specs import ModelSpec
from generation.models import Checkpoint, Dataset, Setup
from generation.records import SetupRecord
from generation.text.dialog_forms import STOPS, Form
from generation.text.graph_prompts import STOPS as GRAPH_STOPS
from generation.text.prompt_types import is_about_graph, prompt_type

USUAL_PRECISION: Precision = "fp32"
USUAL_SETTINGS: Mapping[str, Any] = {
    "precision": USUAL_PRECISION,
    "top_p": 1.0,
    "top_k": 0,
    "seed": 0,
}


class GridCell(NamedTuple):
    """One setup of a grid: the model to ask, the choices of its prompts, and its decoding."""

    setup: SetupRecord
    spec: ModelSpec
    choices: PromptChoices
    decoding: Decoding


def cells(grid: GridChoices) -> list[GridCell]:
    """Return the different setups of a grid, model by model, with one query.

    Setups that cannot differ are one: seeds, top-p and top-k at temperature 0 (unless the prompt
    itself is drawn), the position of evidence if there is none, and so on. The graph that is shown
    is not part of them; `cells_about` adds it.

    Raises:
        GridError: a model is not available, or not in that precision.
    """
    listed = {
        checkpoint.name: checkpoint
        for checkpoint in Checkpoint.objects.filter(name__in=[model.name for model in grid.models])
    }
    specs = [
        _spec(model, listed.get(model.name), f"models.{number}")
        for number, model in enumerate(grid.models, start=1)
    ]
    by_name: dict[str, GridCell] = {}
    forms = [_forms(grid, spec, listed.get(spec.name)) for spec in specs]
    for (spec, of_spec), choices, decoding in product(
        zip(specs, forms, strict=True), _choices(grid), _decodings(grid)
    ):
        for form in of_spec:
            cell = _cell(spec, choices._replace(form=form), decoding)
            by_name.setdefault(cell.setup.name, cell)
    return list(by_name.values())


def cells_about(dataset: Dataset, grid: GridChoices) -> list[GridCell]:
    """Return the different setups of a grid over a dataset, as it is now.

    Setups that show a knowledge graph have a setting `graph`, which identifies the graph and how it
    is searched. When the graph has changed, they are other setups. Reading a graph for the first
    time may take long.

    Raises:
        GridError: as in `cells`.
    """
    found = cells(grid)
    marks = graph_marks(dataset.pk, (cell.choices.type for cell in found))
    return [
        _renamed(cell, {"graph": mark}) if (mark := marks.get(cell.choices.type)) else cell
        for cell in found
    ]


def check_setups(dataset: Dataset, cells: Iterable[GridCell]) -> None:
    """Check that setups of the dataset with the names of cells have the same content; one query.

    An imported setup may have any name.

    Raises:
        GridError: a setup of the dataset has other content.
    """
    asked = {cell.setup.name: setup_content(cell.setup) for cell in cells}
    for setup in dataset.setups.filter(name__in=asked):
        stored = setup_content(setup)
        for part, value in asked[setup.name].items():
            if stored[part] != value:
                there = f"{part} {_shown(getattr(setup, part))}"
                raise GridError(
                    f"setup “{setup.name}”",
                    f"a setup of that name in {dataset.name} with {there}",
                    f"{_shown(value)}. Give the model another name, so that responses do not mix",
                )


def _shown(value: object) -> str:
    return "nothing" if value in (None, "", {}) else excerpt(value)


def decoding_of(setup: Setup | SetupRecord) -> Decoding:
    """Return the decoding of a setup's completions."""
    said = {**_usual(setup.prompt), **setup.settings}
    return _what_matters(
        Decoding(
            temperature=setup.temperature or 0.0,
            top_p=said["top_p"],
            top_k=said["top_k"],
            max_tokens=said["max_tokens"],
            stop=_stop(setup.prompt, form_of(setup)),
            seed=said["seed"],
        )
    )


def spec_of(setup: Setup) -> ModelSpec:
    """Return the model that is asked under a setup, as it is listed now.

    Raises:
        GridError: the model is not available any more, or not in that precision.
    """
    return spec_named(setup.model, setup.settings.get("precision", USUAL_PRECISION))


def spec_named(name: str, precision: Precision = USUAL_PRECISION) -> ModelSpec:
    """Return the model with a name, as it is listed now.

    Raises:
        GridError: there is no such model, or not in that precision.
    """
    listed = Checkpoint.objects.filter(name=name).first()
    return _spec(GridModel(name, precision), listed, "model")


def models_there() -> dict[str, float]:
    """Return the models that a grid may ask, by name with their sizes.

    Those always available come first, then the listed ones. A size is NaN if it is not known.
    """
    always = [key for key, kind in LANGUAGE_MODELS.items() if not kind.needs_model]
    kinds = [key for key, kind in LANGUAGE_MODELS.items() if kind.needs_model]
    listed = Checkpoint.objects.filter(backend__in=kinds).exclude(name__in=always)
    sizes = dict.fromkeys(always, math.nan)
    for name, n_parameters in listed.values_list("name", "n_parameters"):
        sizes[name] = n_parameters or size_in_name(name)
    return sizes


def largest_answering(dataset: Dataset, there: Collection[str]) -> str | None:
    """Return the largest model with responses in a dataset.

    Return None if no size is known, or if that model is not there.

    Args:
        dataset: the dataset.
        there: the models that can be asked here.
    """
    answered = dataset.setups.answered().with_listed_size()
    largest = largest_sized((setup.model, setup.n_parameters) for setup in answered if setup.model)
    return largest if largest in there else None


def _spec(model: GridModel, listed: Checkpoint | None, where: str) -> ModelSpec:
    kind = LANGUAGE_MODELS.get(model.name)
    if kind is not None and not kind.needs_model:
        spec = ModelSpec(model.name, model.name, precision=model.precision)
    elif listed is None or listed.backend not in LANGUAGE_MODELS:
        expected = ", ".join(list(models_there())[:20])
        raise GridError(f"{where}.name", repr(model.name), f"one of {expected}")
    else:
        kind, spec = LANGUAGE_MODELS[listed.backend], listed.spec(model.precision)
    if model.precision not in kind.precisions:
        expected = " or ".join(kind.precisions)
        raise GridError(f"{where}.precision", repr(model.precision), f"{expected} of {model.name}")
    return spec


def _forms(grid: GridChoices, spec: ModelSpec, listed: Checkpoint | None) -> Sequence[Form]:
    """Return the forms in which a grid asks a model: those it names, else the model's usual one.

    Raises:
        GridError: the model does not take one of them.
    """
    taken = forms_taken(spec, listed.is_chat if listed else None)
    for form in grid.form:
        if form not in taken:
            raise GridError("form", repr(form), f"one that {spec.name} takes: {', '.join(taken)}")
    return grid.form or taken[:1]


def _choices(grid: GridChoices) -> Iterator[PromptChoices]:
    for key, position in product(grid.prompts, grid.positions):
        yield PromptChoices(
            prompt_type(key),
            position=position,
            budget=grid.budget,
            ranking=grid.retrieval.ranking,
            query=grid.retrieval.query,
            bm25=grid.retrieval.bm25,
            one_shot=grid.one_shot,
        )


def _decodings(grid: GridChoices) -> Iterator[Decoding]:
    settings = product(grid.temperatures, grid.top_p, grid.top_k, grid.max_tokens, grid.seeds)
    for temperature, top_p, top_k, max_tokens, seed in settings:
        yield Decoding(temperature, top_p, top_k, max_tokens, seed=seed)


def _cell(spec: ModelSpec, choices: PromptChoices, asked: Decoding) -> GridCell:
    """Return a cell; its seed is used for its prompts and for its decoding."""
    choices = what_matters(choices._replace(seed=asked.seed))
    decoding = _what_matters(asked._replace(stop=_stop(choices.type.key, choices.form)))
    usual = _usual(choices.type.key)
    settings = {
        "precision": spec.precision,
        "max_tokens": decoding.max_tokens,
        "top_p": decoding.top_p,
        "top_k": decoding.top_k,
        "seed": asked.seed if draws(choices) else decoding.seed,
    }
    unusual = {name: value for name, value in settings.items() if value != usual[name]}
    setup = SetupRecord(
        "", spec.name, decoding.temperature, choices.type.key, "", settings_of(choices) | unusual
    )
    return GridCell(setup._replace(name=setup_name(setup)), spec, choices, decoding)


def _renamed(cell: GridCell, more: Mapping[str, Any]) -> GridCell:
    """Return a cell whose setup has more settings, and a name that includes them."""
    setup = cell.setup._replace(settings={**cell.setup.settings, **more})
    return cell._replace(setup=setup._replace(name=setup_name(setup)))


def _usual(prompt: str) -> dict[str, Any]:
    """Return the usual settings for prompts of a type, which setups do not store."""
    return {**USUAL_SETTINGS, "max_tokens": usual_max_tokens([prompt])}


def _stop(prompt: str, form: Form) -> tuple[str, ...]:
    """Return the strings at which completions of prompts of a type end."""
    return GRAPH_STOPS if is_about_graph(prompt) else STOPS[form]


def _what_matters(decoding: Decoding) -> Decoding:
    """Return decoding without the settings that change nothing at temperature 0."""
    if decoding.temperature:
        return decoding
    usual = Decoding()
    return decoding._replace(top_p=usual.top_p, top_k=usual.top_k, seed=usual.seed)
