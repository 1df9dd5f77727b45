"""What a run may be: plain values in, a plan or one error out. The same for page, API and command.

    spec = model_called("entailment-minilm")            # or "lexical", or "" for the metric's own
    plan = plan_of("auto_ais", spec, options={"flavor": "v1", "window": 0}, evidence="golden")

A `ChoiceError` names the field that it is about: `metric`, `model`, `precision`, `evidence`,
`threshold`, `sample`, `seed`, or an option of the metric (`options_of`). Forms show it beside that
field, the API under its name, the command behind `--`.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from evaluation.backends.registry import BACKENDS
from evaluation.metrics.auto_ssa import SsaPrompt
from evaluation.metrics.base import AutoMetric, Option
from evaluation.metrics.registry import METRICS
from evaluation.runs.plan import RunPlan
from evaluation.runs.prompts import PROMPTED, prompts_for
from generation.choices.declaration import Choice, ChoiceError
from generation.evidence import EvidenceChoice
from generation.limits import LARGEST_SEED, MOST_SAMPLED
from generation.model_specs import ModelSpec
from generation.models import Checkpoint

PROMPT = "prompt"  # the option of metrics that searches build prompts for


class RunChoices(NamedTuple):
    """What is chosen about a run of any metric, beside its model and the metric's own options."""

    evidence: Annotated[
        str,
        Choice(
            "Evidence",
            {
                EvidenceChoice.SHOWN.value: "Shown: what the model was given",
                EvidenceChoice.GOLDEN.value: "Golden: whatever it was given",
                EvidenceChoice.RETRIEVED.value: "Retrieved: what a search finds",
            },
            help="Of a metric that looks at evidence.",
            usual="the study's choice, or shown",
        ),
    ] = ""
    threshold: Annotated[
        float | None, Choice("Threshold", help="Which score is a yes.", usual="the metric's own")
    ] = None
    sample: Annotated[
        int | None,
        Choice(
            "Responses of each model",
            help="Drawn by the seed; 0: all.",
            low=0,
            high=MOST_SAMPLED,
            usual="as usual for the metric, mostly all",
        ),
    ] = None
    seed: Annotated[
        int,
        Choice(
            "Seed of the draw",
            help="Of the responses that are drawn.",
            low=0,
            high=LARGEST_SEED,
        ),
    ] = 0


class SharedOption(NamedTuple):
    """An option under its name, whichever metrics have it; two may offer different values."""

    name: str
    values: list[str]  # that it may have; none: a whole number, or text
    is_number: bool
    help: str


def options_of(metric: str) -> list[Option]:
    """Return the options of a metric; among them its prompt, where there is one to choose."""
    options = list(METRICS[metric].options)
    if prompts := prompts_for(metric):
        named = [(prompt.name, _said_of(prompt)) for prompt in prompts]
        options.append(Option(PROMPT, "Prompt", named, help="Asked of language models only."))
    return options


def all_options() -> list[SharedOption]:
    """Return the options of all metrics, for whoever offers them before a metric is chosen."""
    found: dict[str, list[tuple[str, Option]]] = {}
    for metric, kind in METRICS.items():
        for option in kind.options:
            found.setdefault(option.name, []).append((metric, option))
    shared = [_shared(name, having) for name, having in found.items()]
    said = f"Of {', '.join(PROMPTED)}: the prompt, the usual one or one that a search has found."
    return [*shared, SharedOption(PROMPT, [], False, said)]


def _shared(name: str, having: list[tuple[str, Option]]) -> SharedOption:
    values = dict.fromkeys(key for _, option in having for key, _ in option.choices)
    first = having[0][1]
    said = f"Of {', '.join(metric for metric, _ in having)}: {first.help or first.label}"
    return SharedOption(name, list(values), not values, said)


def _said_of(prompt: SsaPrompt) -> str:
    return f"{prompt.name}, built on {prompt.built_on}" if prompt.built_on else prompt.name


def models_for(metric: str) -> list[tuple[str, str]]:
    """Return the models that may answer a metric: what `model_called` takes, and a title.

    First the backends that need no model, then the listed checkpoints.
    """
    kinds = METRICS[metric].backends
    alone = [(key, BACKENDS[key].title) for key in kinds if not _needs_model(key)]
    listed = Checkpoint.objects.filter(backend__in=kinds).order_by("name")
    return alone + [
        (found.name, f"{found.name} ({BACKENDS[found.backend].title})")
        for found in listed
        if found.backend in BACKENDS
    ]


def precisions_of(backend: str) -> tuple[str, ...]:
    """Return the precisions that a backend computes in, its usual one first."""
    return BACKENDS[backend].precisions


def model_called(name: str) -> ModelSpec | None:
    """Return how a model is opened: a backend that needs none, or a checkpoint; None for "".

    Raises:
        ChoiceError: nothing is called so.
    """
    if not name:
        return None
    if name in BACKENDS and not _needs_model(name):
        return ModelSpec(name)
    checkpoint = Checkpoint.objects.filter(name=name).first()
    if checkpoint is None:
        alone = [key for key in BACKENDS if not _needs_model(key)]
        known = ", ".join([*alone, *Checkpoint.objects.values_list("name", flat=True)])
        raise ChoiceError("model", f"There is no model {name!r}; there are: {known}.")
    return checkpoint.spec()


def usual_model(metric: str) -> ModelSpec:
    """Return what answers a metric unless somebody chooses: the first backend that it names.

    Raises:
        ChoiceError: that one needs a model.
    """
    kind = METRICS[metric].backends[0]
    if _needs_model(kind):
        raise ChoiceError("model", f"{METRICS[metric].title} needs a model: name one.")
    return ModelSpec(kind)


def sample_of(metric: str, asked: int | None) -> int | None:
    """Return how many responses of each model are scored. Asked None: as usual; 0: all, None."""
    usual = METRICS[metric].usual_sample if metric in METRICS else None
    return (usual if asked is None else asked) or None


def plan_of(
    metric: str,
    spec: ModelSpec | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    precision: str = "",
    evidence: str = "",
    usual_evidence: str = EvidenceChoice.SHOWN,
    threshold: float | None = None,
    n_sampled: int | None = None,
    seed: int = 0,
    chosen_by_votes_of: str = "",
) -> RunPlan:
    """Return the plan that these choices make; what is not chosen is as usual.

    Args:
        metric: a key of METRICS.
        spec: how its model is opened, from `model_called`; None: the metric's usual one.
        options: of the metric, by name; whole numbers may be text.
        precision: "" is the backend's first.
        evidence: "" is the usual one, of a metric that looks at evidence.
        usual_evidence: the study's choice, where the run is over a study.
        threshold: None is the metric's own.
        n_sampled: responses of each model; None: all.
        chosen_by_votes_of: slug of the study whose votes made the choices.

    Raises:
        ChoiceError: a choice does not go with the metric, or with the model.
    """
    if metric not in METRICS:
        there = _listed(METRICS)
        raise ChoiceError("metric", f"There is no metric {metric!r}; there are: {there}.")
    kind = METRICS[metric]
    made = _with_options(kind, options or {})
    answering = _answering(kind, spec or usual_model(metric), precision)
    return RunPlan(
        spec=answering,
        metric=made.asked_of(answering.backend),
        evidence=_evidence(kind, evidence) or usual_evidence,
        threshold=_on_scale(kind, threshold),
        n_sampled=_whole("sample", n_sampled, 1, MOST_SAMPLED),
        seed=_whole("seed", seed, 0, LARGEST_SEED) or 0,
        chosen_by_votes_of=chosen_by_votes_of,
    )


def _with_options(kind: type[AutoMetric], given: Mapping[str, Any]) -> AutoMetric:
    known = {option.name: option for option in options_of(kind.key)}
    for name in given:
        if name not in known:
            has = _listed(known) or "none"
            raise ChoiceError(name, f"{kind.title} has no {name}; its options: {has}.")
    chosen = {name: _chosen(known[name], value) for name, value in given.items()}
    if name := chosen.pop(PROMPT, ""):
        [prompt] = [each for each in prompts_for(kind.key) if each.name == name]
        chosen |= prompt.parameters
    try:
        return kind.made(chosen)
    except ValueError as error:  # two options that do not go together
        raise ChoiceError(next(iter(given), "metric"), str(error)) from error


def _chosen(option: Option, value: Any) -> Any:
    """Return an option's value, if it may have it."""
    if not option.choices:
        return _whole(option.name, value, option.low, option.high)
    allowed = [key for key, _ in option.choices]
    if value not in allowed:
        raise ChoiceError(option.name, f"{value!r}: expected one of {_listed(allowed)}.")
    return value


def _answering(kind: type[AutoMetric], spec: ModelSpec, precision: str) -> ModelSpec:
    """Return the model in its precision, if it can answer the metric."""
    title = BACKENDS[spec.backend].title if spec.backend in BACKENDS else spec.backend
    if spec.backend not in kind.backends:
        can = ", ".join(BACKENDS[key].title for key in kind.backends if key in BACKENDS)
        name = f"{spec.name} ({title})" if spec.name else title
        raise ChoiceError("model", f"{kind.title} cannot ask {name}; it can ask: {can}.")
    offered = precisions_of(spec.backend)
    if precision and precision not in offered:
        raise ChoiceError(
            "precision", f"{precision!r}: {title} computes in {' or '.join(offered)}."
        )
    return spec._replace(precision=precision or offered[0])


def _evidence(kind: type[AutoMetric], evidence: str) -> str:
    if evidence and not kind.needs_evidence:
        raise ChoiceError("evidence", f"{kind.title} looks at no evidence: leave it out.")
    if evidence and evidence not in EvidenceChoice.values:
        expected = _listed(EvidenceChoice.values)
        raise ChoiceError("evidence", f"{evidence!r}: expected one of {expected}.")
    return evidence


def _on_scale(kind: type[AutoMetric], threshold: float | None) -> float | None:
    low, high = kind.scale
    if threshold is not None and not (math.isfinite(threshold) and low <= threshold <= high):
        raise ChoiceError("threshold", f"{threshold:g}: expected {low:g} to {high:g}.")
    return threshold


def _whole(name: str, value: Any, low: int, high: int) -> int | None:
    if value is None:
        return None
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = low - 1
    if isinstance(value, float) and number != value:
        number = low - 1
    if not low <= number <= high:
        raise ChoiceError(name, f"{value}: expected a whole number from {low:,} to {high:,}.")
    return number


def _needs_model(backend: str) -> bool:
    return backend not in BACKENDS or BACKENDS[backend].needs_model


def _listed(names: Any) -> str:
    return ", ".join(names)
