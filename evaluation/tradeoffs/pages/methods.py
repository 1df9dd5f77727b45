"""The methods paragraph of a figure on the trade-off, for a paper. This module only reads."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from django.conf import settings

from evaluation.reports.estimates import N_RESAMPLES, USUAL_SEED
from evaluation.statistics.intervals import METHOD
from evaluation.tradeoffs.axes import Axis
from evaluation.tradeoffs.chart_view import View, model_key, visible_marks
from evaluation.tradeoffs.dots import Dot
from evaluation.tradeoffs.figures.tradeoff.figure import TradeoffFigure
from evaluation.tradeoffs.material import NO_RESPONSE, TradeoffMaterial
from evaluation.tradeoffs.recalls import Recalls
from evaluation.tradeoffs.reports.tradeoff import aggregate_title
from evaluation.tradeoffs.selection_bias import (
    FLATTERED,
    SAME_METRIC,
    chosen_by,
    marks_of,
    sides_marked,
)
from generation.grids.cells import decoding_of
from generation.grids.prompt_choices import PromptError, choices_of
from generation.model_sizes import by_size
from generation.models import Setup
from generation.text.temperatures import temperature_text

MOST_FILES = 3  # files of a model that are named with their hashes
RUN_OF_NUMBERS = 3  # least number of successive numbers that are written 'first to last'


def methods_paragraph(
    material: TradeoffMaterial,
    view: View,
    figure: TradeoffFigure | None = None,
    recalls: Recalls | None = None,
) -> str:
    """Return a paragraph that states every choice behind what a view shows, and what is left out.

    This makes no queries: everything is in the material.

    Args:
        figure: the figure that shows the view; None: the paragraph does not say which part is
            shown.
        recalls: the recalls of the lines in it; None: it has no lines, or nothing measures them.
    """
    places = visible_marks(material, view)
    in_view = material.of_dots(places)
    dots = in_view.dots
    single = [dot for dot in dots if not dot.is_aggregate]
    sentences = [
        _of_data(in_view),
        *_of_axes(material, view),
        _of_assumed(in_view),
        _of_parts(in_view),
        f"Intervals are 95 %: {METHOD} ({N_RESAMPLES:,} resamples, seed {USUAL_SEED}).",
        *_of_models(single),
        *_of_prompts(single),
        *_of_decoding([dot.setup for dot in single if dot.setup.made_with]),
        *(_of_aggregate(dot, material) for dot in dots if dot.is_aggregate),
        _of_lines(figure, recalls),
        _of_part(figure),
        _of_left_out(in_view, len(material.dots) - len(dots)),
        f"Data {material.data_hash}, Attest {settings.VERSION}.",
    ]
    return " ".join(filter(None, sentences))


def _of_data(in_view: TradeoffMaterial) -> str:
    there = in_view.responses != NO_RESPONSE
    is_answered = there.any(axis=0)
    n_dialogs = len(set(in_view.dialogs[is_answered].tolist()))
    return (
        f"{_count(len(in_view.dots), 'setup')} answered "
        f"{_count(int(is_answered.sum()), 'example')} from {_count(n_dialogs, 'dialog')} of the "
        f"dataset {in_view.dataset.name}, {_count(int(there.sum()), 'response')} in all."
    )


def _of_lines(figure: TradeoffFigure | None, recalls: Recalls | None) -> str:
    """Return the recalls that simulated retrieval is drawn for; "" for a figure without lines."""
    if figure is None or not figure.lines:
        return ""
    said = recalls.signature_part if recalls else "recall not known"
    return f"Lines of simulated retrieval: {said}."


def _of_part(figure: TradeoffFigure | None) -> str:
    """Return the part of the unit square that a figure shows, and how many setups are outside."""
    if figure is None:
        return ""
    window = figure.window
    beyond = f"; {_count(figure.n_outside, 'setup')} outside it" if figure.n_outside else ""
    return (
        f"The figure shows attribution from {window.x_from:g} to {window.x_to:g} and sensibleness "
        f"from {window.y_from:g} to {window.y_to:g}{beyond}."
    )


def _of_axes(material: TradeoffMaterial, view: View) -> Iterator[str]:
    words = (("Attribution", "attributable"), ("Sensibleness", "sensible"))
    for (name, adjective), axis in zip(words, material.axes, strict=True):
        of_labels = "the mean" if axis.mean_of else f"the share of examples labelled {adjective}"
        what = "the mean score" if view.by_score else of_labels
        yield f"{name} is {what} by {axis.said}{_of_run(axis)}."
    figures = "means" if view.by_score else "shares"
    yield (
        "Both use the examples for which the two are known. F1 = 2SA/(S + A) is computed from the "
        f"two {figures}. Sensibleness is judged in the full dialog."
    )


def _of_assumed(in_view: TradeoffMaterial) -> str:
    """Return how many responses have a no that is assumed and was not asked for; "" without any."""
    counts = zip(in_view.axes._fields, in_view.is_assumed.sum(axis=(1, 2)).tolist(), strict=True)
    said = [f"{_count(n, 'response')} for {name}" for name, n in counts if n]
    return f"Assumed to be a no, as nothing was shown or said: {', '.join(said)}." if said else ""


def _of_parts(in_view: TradeoffMaterial) -> str:
    """Return of how many setups raters have answered only a part of the examples; "" for none."""
    n = sum(dot.is_rated_in_part for dot in in_view.dots)
    said = f"Raters have answered only a part of the examples of {_count(n, 'setup')}"
    return f"{said}, which is hollow in the figure." if n else ""


def _of_run(axis: Axis) -> str:
    """Return what the signature of a run does not say: its threshold and the files of its model."""
    run = axis.run
    if run is None:
        return ""
    above = "of at least" if run.is_yes_at_threshold else "above"
    said = ["without a threshold, so no response has a label"]
    if run.threshold is not None:
        said = [f"a score {above} {run.threshold:g} is a yes"]
    if evidence := run.parameters.get("evidence"):
        said.append(f"{evidence} evidence")
    if run.model_files:
        said.append(_files(run.model_files))
    if run.is_imported:
        said.append("imported")
    return f" ({'; '.join(said)})"


def _of_models(dots: Sequence[Dot]) -> Iterator[str]:
    names = by_size((model_key(dot), dot.setup.n_parameters) for dot in dots)
    made = {
        name: _unique(_made_with(dot.setup) for dot in dots if model_key(dot) == name)
        for name in names
    }
    said = [f"{name} ({'; '.join(how)})" if any(how) else name for name, how in made.items()]
    if said:
        yield f"Models: {', '.join(said)}."


def _made_with(setup: Setup) -> str:
    """Return what the responses of a setup were made with; "" where that is not known."""
    made = setup.made_with
    if not made:
        return ""
    parts = [made.get("signature") or made.get("backend", "")]
    if revision := made.get("revision"):
        parts.append(f"revision {revision}")
    if files := made.get("files"):
        parts.append(_files(files))
    return ", ".join(filter(None, parts))


def _files(files: Any) -> str:
    """Return the names and hashes of a model's files; beyond the first few they are counted."""
    if not isinstance(files, dict):
        return f"files {files}"
    named = [f"{name} {str(digest)[:12]}" for name, digest in sorted(files.items())]
    more = f" and {len(named) - MOST_FILES} more" if len(named) > MOST_FILES else ""
    return f"SHA-256 {', '.join(named[:MOST_FILES])}{more}"


def _of_prompts(dots: Sequence[Dot]) -> Iterator[str]:
    asked = (dot.setup.temperature for dot in dots)
    temperatures = {temperature for temperature in asked if temperature is not None}
    if temperatures:
        yield f"Temperature {', '.join(map(temperature_text, sorted(temperatures)))}."
    kinds = {dot.kind for dot in dots if dot.kind and dot.kind.dialog_share is None}
    titles = [kind.title for kind in sorted(kinds, key=lambda k: k.place)]
    if titles:
        yield f"Prompt types: {'; '.join(titles)}."
    restricted = {dot.kind for dot in dots if dot.kind and dot.kind.dialog_share is not None}
    if restricted:
        evidence = sorted({kind.evidence for kind in restricted})
        shares = {kind.dialog_share for kind in restricted}
        yield (
            f"Restricted context: {' and '.join(evidence)} evidence, dialog shares "
            f"{_listed(shares)}, the rest of the context for the first sentences of the evidence."
        )
    if n := sum(dot.is_of_earlier_rule for dot in dots):
        yield f"Of {_count(n, 'setup')} the evidence is the rest of the share asked for."
    unknown = _unique(dot.setup.prompt for dot in dots if not dot.kind and dot.setup.prompt)
    if unknown:
        yield f"Other prompts: {', '.join(unknown)}."


def _of_decoding(setups: Sequence[Setup]) -> Iterator[str]:
    """Yield how completions were decoded, and how passages and prompts were chosen."""
    if not setups:
        return
    decodings = [decoding_of(setup) for setup in setups]
    said = [
        f"{title} {_listed({getattr(decoding, name) for decoding in decodings})}"
        for name, title in (
            ("top_p", "top-p"),
            ("top_k", "top-k"),
            ("max_tokens", "new tokens at most"),
            ("seed", "seed"),
        )
    ]
    yield f"Decoding: {', '.join(said)}."
    found: dict[str, set[Any]] = {}
    for setup in setups:
        for name, value in _prompt_settings(setup):
            found.setdefault(name, set()).add(value)
    if found:
        listed = [f"{name.replace('_', ' ')} {_listed(values)}" for name, values in found.items()]
        yield f"Prompts: {', '.join(listed)}."
    if retrieval := _unique(setup.made_with.get("retrieval", "") for setup in setups):
        yield f"Passages: {'; '.join(retrieval)}."


def _prompt_settings(setup: Setup) -> Iterator[tuple[str, Any]]:
    """Yield every choice of a setup's prompts except their type."""
    try:
        choices = choices_of(setup)
    except PromptError:
        return
    for name, value in choices._asdict().items():
        if name not in ("type", "bm25") and value not in (None, ""):
            yield name, value


def _of_aggregate(dot: Dot, material: TradeoffMaterial) -> str:
    title = aggregate_title(dot)
    said = "; ".join(dict.fromkeys(chosen_by(dot).values())) or "what is not known"
    marks = marks_of(chosen_by(dot).values(), material.axes)
    flattered, same = sides_marked(marks, FLATTERED), sides_marked(marks, SAME_METRIC)
    warning = (
        f", which makes its {' and '.join(flattered)} too optimistic here" if flattered else ""
    )
    if same:
        warning += f"; the same metric with another model judges its {' and '.join(same)} here"
    return (
        f"{dot.setup.name}: {title} among {_count(len(dot.pool), 'setup')} for each example, "
        f"{_count(dot.n_calls, 'call')} each; chosen by {said}{warning}."
    )


def _of_left_out(in_view: TradeoffMaterial, n_not_shown: int) -> str:
    """Return what has no figure among the setups in view; repeated responses are the dataset's."""
    there = in_view.responses != NO_RESPONSE
    said = [f"{_count(n_not_shown, 'setup')} not shown"] if n_not_shown else []
    if n_not_rated := sum(dot.is_not_rated for dot in in_view.dots):
        said.append(f"{_count(n_not_rated, 'setup')} without answers by raters on an axis")
    for name, labels in zip(in_view.axes._fields, in_view.labels, strict=True):
        n = int((there & np.isnan(labels)).sum())
        said += [f"{_count(n, 'response')} in view without a label for {name}"] if n else []
    n = in_view.left_out.get("repeated_responses", 0)
    said += [f"{_count(n, 'repeated response')} of the whole dataset"] if n else []
    return f"Left out: {', '.join(said)}." if said else "Nothing is left out."


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _unique(values: Iterable[str]) -> list[str]:
    return sorted(set(filter(None, values)))


def _listed(values: Iterable[Any]) -> str:
    """Return values in order; successive whole numbers are given as the first and the last."""
    in_order = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    is_run = len(in_order) >= RUN_OF_NUMBERS and all(isinstance(v, int) for v in in_order)
    if is_run and all(second - first == 1 for first, second in pairwise(in_order)):
        return f"{in_order[0]} to {in_order[-1]}"
    return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in in_order)
