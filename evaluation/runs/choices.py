"""The choices of a run: plain values in, a plan or one error out, for page, API and command.

    spec = model_called("entailment-minilm")            # or "lexical", or "" for the metric's own
    plan = plan_of("auto_ais", spec, options={"flavor": "v1", "window": 0}, evidence="golden")

A `ChoiceError` names the field that is wrong: `metric`, `model`, `precision`, `evidence`,
`threshold`, `sample`, `seed`, `controls`, or an option of the metric (`options_of`). Forms show the
error beside that field, the API shows it under the field's name, and the command after `--` and the
name.
"""

import math
from collections.abc import Collection, Mapping
from typing import Annotated, Any, NamedTuple

from evaluation.backends.registry import BACKENDS
from evaluation.metrics.auto_ssa import SsaPrompt
from evaluation.metrics.base import AutoMetric, Option
from evaluation.metrics.registry import METRICS
from evaluation.runs.budget import NO_BUDGET, Budget
from evaluation.runs.plan import RunPlan
from evaluation.runs.prompts import PROMPTED, prompts_for
from generation.backends.registry import LANGUAGE_MODELS
from generation.choices.declaration import Choice, ChoiceError, unusual
from generation.evidence import EvidenceChoice
from generation.limits import LARGEST_SEED, MOST_SAMPLED
from generation.model_specs import ModelSpec
from generation.models import Checkpoint, Dataset, Turn

USUAL_CONTROLS, MOST_CONTROLS = 200, 1000  # drawn targets of one run
PROMPT = "prompt"  # the option of metrics for which prompt searches build prompts


class RunChoices(NamedTuple):
    """The choices about a run of any metric, beside its model and the metric's own options."""

    evidence: Annotated[
        str,
        Choice(
            "Evidence",
            {
                EvidenceChoice.SHOWN.value: "Shown: what the model was given",
                EvidenceChoice.GOLDEN.value: "Golden: what the dataset says is right",
                EvidenceChoice.RETRIEVED.value: "Retrieved: what a search finds",
            },
            help="Only for a metric that looks at evidence.",
            usual="the study's choice, or shown",
        ),
    ] = ""
    threshold: Annotated[
        float | None,
        Choice(
            "Threshold",
            help="The score that separates yes from no.",
            usual="the threshold of the metric",
        ),
    ] = None
    sample: Annotated[
        int | None,
        Choice(
            "Responses of each model",
            help="The number of responses that the seed draws. 0: all.",
            low=0,
            high=MOST_SAMPLED,
            usual="the usual number of the metric, which is all for most metrics",
        ),
    ] = None
    seed: Annotated[
        int,
        Choice(
            "Seed of the draw",
            help="The seed that draws the responses.",
            low=0,
            high=LARGEST_SEED,
        ),
    ] = 0
    controls: Annotated[
        int,
        Choice(
            "Controls",
            help="The number of responses that are also judged where the right label is known: "
            "with wrong evidence, with nothing said. 0: none.",
            low=0,
            high=MOST_CONTROLS,
        ),
    ] = USUAL_CONTROLS
    budget: Budget = Budget()


class SharedOption(NamedTuple):
    """An option of one metric or several. Metrics may offer different values of it."""

    name: str
    values: list[str]  # the values that it may have; empty: a whole number, or text
    is_number: bool
    help: str


def options_of(metric: str) -> list[Option]:
    """Return the options of a metric. They include its prompt if it has prompts to choose from."""
    options = list(METRICS[metric].options)
    if prompts := prompts_for(metric):
        named = [(prompt.name, _said_of(prompt)) for prompt in prompts]
        options.append(
            Option(PROMPT, "Prompt", named, help="Only language models are given a prompt.")
        )
    return options


def all_options() -> list[SharedOption]:
    """Return the options of all metrics, for callers that offer them before a metric is chosen."""
    found: dict[str, list[tuple[str, Option]]] = {}
    for metric, kind in METRICS.items():
        for option in kind.options:
            found.setdefault(option.name, []).append((metric, option))
    shared = [_shared(name, having) for name, having in found.items()]
    said = f"For {', '.join(PROMPTED)}: the usual prompt, or one that a prompt search has found."
    return [*shared, SharedOption(PROMPT, [], False, said)]


def _shared(name: str, having: list[tuple[str, Option]]) -> SharedOption:
    values = dict.fromkeys(key for _, option in having for key, _ in option.choices)
    first = having[0][1]
    said = f"For {', '.join(metric for metric, _ in having)}: {first.help or f'{first.label}.'}"
    return SharedOption(name, list(values), not values, said)


def _said_of(prompt: SsaPrompt) -> str:
    return f"{prompt.name}, built on {prompt.built_on}" if prompt.built_on else prompt.name


def models_for(metric: str) -> list[tuple[str, str]]:
    """Return the models that may answer a metric: a name for `model_called`, and a title.

    The backends that need no model come first, then the listed checkpoints.
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
    """Return the precisions that a backend can compute in, its usual one first."""
    return BACKENDS[backend].precisions


def model_called(name: str) -> ModelSpec | None:
    """Return the specification of a model: a backend that needs none, or a checkpoint.

    Return None for "".

    Raises:
        ChoiceError: no backend without a model and no checkpoint has this name.
    """
    if not name:
        return None
    if name in BACKENDS and not _needs_model(name):
        return ModelSpec(name)
    checkpoint = Checkpoint.objects.filter(name=name).first()
    if checkpoint is None:
        alone = [key for key in BACKENDS if not _needs_model(key)]
        known = ", ".join([*alone, *Checkpoint.objects.values_list("name", flat=True)])
        raise ChoiceError("model", f"There is no model {name!r}. There are: {known}.")
    return checkpoint.spec()


def usual_model(metric: str, options: Collection[str] = ()) -> ModelSpec:
    """Return the model that answers a metric when none is chosen.

    It is the metric's first backend to which the options apply that were chosen.

    Raises:
        ChoiceError: this backend needs a model.
    """
    kind = METRICS[metric]
    applying = (each for each in kind.backends if not _not_applying(kind, options, each))
    backend = next(applying, kind.backends[0])
    if _needs_model(backend):
        raise ChoiceError("model", f"{kind.title} needs a model. Name one.")
    return ModelSpec(backend)


def sample_of(metric: str, asked: int | None) -> int | None:
    """Return how many responses of each model are scored; None: all.

    Args:
        metric: the metric's key.
        asked: the number that was chosen; None: the metric's usual number; 0: all.
    """
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
    n_controls: int = USUAL_CONTROLS,
    budget: Budget = NO_BUDGET,
    chosen_by_votes_of: str = "",
    knows_questions: bool = True,
) -> RunPlan:
    """Return the plan that these choices make. A choice that is missing has its usual value.

    Args:
        metric: a key of METRICS.
        spec: the model, from `model_called`; None: the metric's usual model.
        options: the metric's options, by name. Whole numbers may be text.
        precision: "": the backend's first precision.
        evidence: the evidence choice, only for a metric that uses evidence; "": the usual one.
        usual_evidence: the study's choice, if the run is over a study.
        threshold: None: the metric's own threshold.
        n_sampled: the number of responses of each model; None: all.
        seed: the seed of the sample.
        n_controls: the number of targets of which controls are made, if the metric has any.
        budget: what the run may spend, only for a language model.
        chosen_by_votes_of: the slug of the study whose votes made the choices.
        knows_questions: whether any question of the dataset is known, from `knows_questions_of`.

    Raises:
        ChoiceError: a choice is not possible with the metric or with the model.
    """
    if metric not in METRICS:
        there = _listed(METRICS)
        raise ChoiceError("metric", f"There is no metric {metric!r}. The metrics are: {there}.")
    kind = METRICS[metric]
    given = options or {}
    made = _with_options(kind, given, kind.usual_choices(knows_questions=knows_questions))
    answering = _answering(kind, spec or usual_model(metric, given), precision)
    _check_they_apply(kind, given, answering.backend)
    _check_budget(budget, answering)
    return RunPlan(
        spec=answering,
        metric=made.asked_of(answering.backend),
        evidence=_evidence(kind, evidence) or usual_evidence,
        threshold=_on_scale(kind, threshold),
        n_sampled=_whole("sample", n_sampled, 1, MOST_SAMPLED),
        seed=_whole("seed", seed, 0, LARGEST_SEED) or 0,
        n_controls=(_whole("controls", n_controls, 0, MOST_CONTROLS) or 0) if kind.controls else 0,
        budget=budget,
        chosen_by_votes_of=chosen_by_votes_of,
    )


def knows_questions_of(dataset: Dataset) -> bool:
    """Return whether the dataset has a dialog. Claims and summaries have none."""
    return Turn.objects.filter(example__dataset=dataset).exists()


def _with_options(
    kind: type[AutoMetric], given: Mapping[str, Any], usual: Mapping[str, Any]
) -> AutoMetric:
    known = {option.name: option for option in options_of(kind.key)}
    for name in given:
        if name not in known:
            has = _listed(known) or "none"
            raise ChoiceError(name, f"{kind.title} has no option {name}. Its options are: {has}.")
    chosen = {name: _chosen(known[name], value) for name, value in given.items()}
    if name := chosen.pop(PROMPT, ""):
        [prompt] = [each for each in prompts_for(kind.key) if each.name == name]
        chosen |= prompt.parameters
    try:
        return kind.made({**usual, **chosen})
    except ValueError as error:  # two options that are not possible together
        raise ChoiceError(next(iter(given), "metric"), str(error)) from error


def _not_applying(kind: type[AutoMetric], options: Collection[str], backend: str) -> list[str]:
    """Return the options among those given that do not apply to a kind of backend."""
    applying = {option.name for option in kind.options_for(backend)}
    return [
        option.name
        for option in kind.options
        if option.name in options and option.name not in applying
    ]


def _check_they_apply(kind: type[AutoMetric], options: Collection[str], backend: str) -> None:
    for name in _not_applying(kind, options, backend):
        title = BACKENDS[backend].title if backend in BACKENDS else backend
        raise ChoiceError(name, f"{kind.title} by {title} has no option {name}. Leave it out.")


def _check_budget(budget: Budget, spec: ModelSpec) -> None:
    if budget != NO_BUDGET and spec.backend not in LANGUAGE_MODELS:
        field = next(iter(unusual(budget)))
        raise ChoiceError(field, "Only a language model has a budget. Leave this choice out.")
    budget.stored(spec.name)


def _chosen(option: Option, value: Any) -> Any:
    """Return a value of an option, if the option may have it.

    Raises:
        ChoiceError: the option may not have this value.
    """
    if not option.choices:
        return _whole(option.name, value, option.low, option.high)
    allowed = [key for key, _ in option.choices]
    if value not in allowed:
        raise ChoiceError(option.name, f"Found {value!r}; expected one of {_listed(allowed)}.")
    return value


def _answering(kind: type[AutoMetric], spec: ModelSpec, precision: str) -> ModelSpec:
    """Return the model with its precision, if it can answer the metric.

    Raises:
        ChoiceError: the metric cannot ask the model, or the model has no such precision.
    """
    title = BACKENDS[spec.backend].title if spec.backend in BACKENDS else spec.backend
    if spec.backend not in kind.backends:
        can = "; ".join(BACKENDS[key].title for key in kind.backends if key in BACKENDS)
        name = f"{spec.name} ({title})" if spec.name else title
        raise ChoiceError("model", f"{kind.title} cannot use {name}. It can use: {can}.")
    offered = precisions_of(spec.backend)
    if precision and precision not in offered:
        raise ChoiceError(
            "precision", f"Found {precision!r}; expected {' or '.join(offered)} for {title}."
        )
    return spec._replace(precision=precision or offered[0])


def _evidence(kind: type[AutoMetric], evidence: str) -> str:
    if evidence and not kind.needs_evidence:
        raise ChoiceError("evidence", f"{kind.title} looks at no evidence. Leave this choice out.")
    if evidence and evidence not in EvidenceChoice.values:
        expected = _listed(EvidenceChoice.values)
        raise ChoiceError("evidence", f"Found {evidence!r}; expected one of {expected}.")
    return evidence


def _on_scale(kind: type[AutoMetric], threshold: float | None) -> float | None:
    low, high = kind.scale
    if threshold is not None and not (math.isfinite(threshold) and low <= threshold <= high):
        raise ChoiceError(
            "threshold", f"Found {threshold:g}; expected a number from {low:g} to {high:g}."
        )
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
        raise ChoiceError(name, f"Found {value}; expected a whole number from {low:,} to {high:,}.")
    return number


def _needs_model(backend: str) -> bool:
    return backend not in BACKENDS or BACKENDS[backend].needs_model


def _listed(names: Any) -> str:
    return ", ".join(names)
