"""The form of a new metric run: responses, metric, model, and every choice of the metric."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django import forms

from accounts.listing import on_offer
from accounts.models import User
from annotation.models import Study
from evaluation.metrics.auto_ssa import SsaPrompt
from evaluation.metrics.base import AutoMetric, Option
from evaluation.metrics.registry import METRICS
from evaluation.runs.budget import Budget
from evaluation.runs.choices import (
    PROMPT,
    USUAL_CONTROLS,
    RunChoices,
    knows_questions_of,
    model_called,
    models_for,
    plan_of,
    precisions_of,
    sample_of,
)
from evaluation.runs.model_checks import is_on_hub
from evaluation.runs.plan import RunPlan, responses_of_study
from evaluation.runs.prompts import prompts_for
from generation.backends.registry import LANGUAGE_MODELS
from generation.choices.declaration import ChoiceError, made
from generation.choices.folded_fields import Fold, FoldingForm, Told
from generation.choices.forms import posted_fields
from generation.dataset_menus import datasets_with_responses, usual_dataset
from generation.evidence import EvidenceChoice
from generation.forms.material_field import MaterialField
from generation.model_specs import USUAL_CURRENCY
from generation.models import Dataset

FIRST = next(iter(METRICS))
PRECISIONS = {"fp32": "fp32, the reference", "bf16": "bf16, quicker on most machines"}
BUDGET = {
    "most_calls": Told("{} calls"),
    "most_tokens": Told("{} tokens"),
    "most_cost": Told(f"{{}} {USUAL_CURRENCY}"),
}
OF_EVERY_METRIC = ("over", "evidence")  # choices that are kept when another metric is chosen


class NewRunForm(FoldingForm):
    """A new run. The chosen metric and the chosen model decide which fields it has."""

    over = MaterialField(label="Responses", lacks="no responses to score")
    metric = forms.ChoiceField(label="Metric")
    shown = forms.CharField(required=False, widget=forms.HiddenInput)  # metric of these choices

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        chosen = data.get("metric")
        self.kind: type[AutoMetric] = METRICS[chosen if chosen in METRICS else FIRST]
        over = str(data.get("over", ""))
        self.fields["over"].offer(  # type: ignore[attr-defined]
            _what_can_be_scored(), over, _named(over)
        )
        self.fields["metric"].choices = [  # type: ignore[attr-defined]
            (key, kind.title) for key, kind in METRICS.items()
        ]
        self.models = models_for(self.kind.key)
        self.fields["model"] = forms.ChoiceField(label="Model", choices=self.models)
        self._add_precision(data)
        for option in self.kind.options_for(self._backend(data)):
            self.fields[option.name] = _field_of(option)
        prompts = prompts_for(self.kind.key)
        if len(prompts) > 1:
            self.fields[PROMPT] = _prompt(prompts)
        self.fields |= posted_fields(RunChoices)
        self.fields["threshold"] = _threshold(self.kind)
        if self._backend(data) not in LANGUAGE_MODELS:
            for name in Budget._fields:
                del self.fields[name]
        self.fields["evidence"].required = True
        if not self.kind.needs_evidence:
            del self.fields["evidence"]
        if not self.kind.controls:
            del self.fields["controls"]

    def all_folds(self) -> dict[str, Fold]:
        """Return the folds. If no number of responses is given, the metric's usual one is said."""
        words, usual = "{} responses of each model", self.kind.usual_sample
        said = {"0": "all responses", "": "all responses"}
        if usual is not None:
            said[""] = words.replace("{}", str(usual))
        sample = {"sample": Told(words, said), "seed": Told("seed {}")}
        return {
            "precision": Fold("Precision", {"precision": Told("{}")}),
            "sample": Fold("Sample", sample),
            "controls": Fold("Controls", {"controls": Told("{} responses", {"0": "none"})}),
            "budget": Fold("Budget", BUDGET, "no limit"),
        }

    def _add_precision(self, data: Mapping[str, Any]) -> None:
        """Add the field of the precision if there are several, or if the one sent is wrong."""
        backend = self._backend(data)
        offered = precisions_of(backend) if backend else ("fp32",)
        if len(offered) > 1 or data.get("precision", "") not in ("", offered[0]):
            self.fields["precision"] = forms.ChoiceField(
                label="Precision",
                required=False,
                choices=[(key, PRECISIONS.get(key, key)) for key in offered],
                help_text="The page of a bf16 or fp32 run can measure how many labels bf16 flips.",
            )

    def _backend(self, data: Mapping[str, Any]) -> str:
        """Return the backend of the model that was sent; "" if there is no such model."""
        spec = model_called(data["model"]) if data.get("model") in dict(self.models) else None
        return spec.backend if spec else ""

    @property
    def is_on_hub(self) -> bool:
        """Whether the chosen model is named as on the Hugging Face hub, so it may be downloaded."""
        name = self.data.get("model")
        spec = model_called(str(name)) if name in dict(self.models) else None
        return spec is not None and is_on_hub(spec)

    @property
    def shows_another_metric(self) -> bool:
        """Whether the choices that were sent belong to another metric than the chosen one."""
        return self.data.get("shown", "") not in ("", self.kind.key)

    @property
    def can_score(self) -> bool:
        """Whether there are any responses to score."""
        return bool(self.fields["over"].has_any)  # type: ignore[attr-defined]

    def of_metric(self) -> Iterator[forms.BoundField]:
        """Yield the fields of the metric: its options, its prompt, the evidence, the threshold."""
        for option in self.kind.options:
            if option.name in self.fields:
                yield self[option.name]
        if "prompt" in self.fields:
            yield self["prompt"]
        if self.kind.needs_evidence:
            yield self["evidence"]
        yield self["threshold"]

    def clean(self) -> dict[str, Any]:
        """Read the responses that `over` names, and make a plan of the other choices."""
        cleaned = super().clean() or {}
        kind, _, slug = cleaned.get("over", "").partition(":")
        if kind == "study":
            study = Study.objects.select_related("dataset").get(slug=slug)
            cleaned |= {"dataset": study.dataset, "responses": responses_of_study(study)}
        elif kind == "dataset":
            dataset = Dataset.objects.get(slug=slug)
            cleaned |= {"dataset": dataset, "responses": dataset.responses.of_benchmark()}
        if not self.errors:
            try:
                cleaned["plan"] = self._plan(cleaned)
            except ChoiceError as error:
                self.add_error(error.field if error.field in self.fields else "metric", str(error))
        return cleaned

    def _plan(self, cleaned: Mapping[str, Any]) -> RunPlan:
        options = [*(option.name for option in self.kind.options), PROMPT]
        return plan_of(
            self.kind.key,
            model_called(cleaned["model"]),
            options={name: cleaned[name] for name in options if name in cleaned},
            precision=cleaned.get("precision", ""),
            evidence=cleaned.get("evidence", ""),
            threshold=cleaned["threshold"],
            n_sampled=sample_of(self.kind.key, cleaned["sample"]),
            seed=cleaned["seed"],
            n_controls=cleaned.get("controls", 0),
            budget=made(Budget, cleaned),
        )


def first_choices(given: Mapping[str, str], user: User) -> dict[str, Any]:
    """Return the choices of a new form: those that an address names, and the usual ones otherwise.

    Choices that were made for another metric than the named one are left out.
    """
    kind = METRICS.get(given.get("metric", ""), METRICS[FIRST])
    kept = dict(given)
    if given.get("shown", kind.key) != kind.key:
        kept = {name: kept[name] for name in (*OF_EVERY_METRIC, "model") if name in kept}
    over, evidence = _first_responses(given, user)
    models = dict(models_for(kind.key))
    dataset = _dataset_of(kept.get("over", over))
    knows_questions = dataset is None or knows_questions_of(dataset)
    usual = {
        "over": over,
        "model": next(iter(models), ""),
        "evidence": evidence,
        "threshold": kind.threshold,
        "sample": "" if kind.usual_sample is None else kind.usual_sample,
        "seed": 0,
        "controls": USUAL_CONTROLS,
        **kind.made(kind.usual_choices(knows_questions=knows_questions)).parameters,
    }
    chosen = usual | kept | {"metric": kind.key, "shown": kind.key}
    if chosen["model"] not in models:
        chosen["model"] = usual["model"]
    spec = model_called(chosen["model"]) if chosen["model"] else None
    offered = precisions_of(spec.backend) if spec else ("fp32",)
    if chosen.get("precision") not in offered:
        chosen["precision"] = offered[0]
    return chosen


def _first_responses(given: Mapping[str, str], user: User) -> tuple[str, str]:
    """Return the first choice of the responses, and the usual evidence choice for them.

    The responses are those that an address names, be they there or not. If it names none, they are
    those of the newest study of the usual dataset, or all of that dataset.
    """
    shown = EvidenceChoice.SHOWN.value
    if slug := given.get("study"):
        study = Study.objects.filter(slug=slug).first()
        return f"study:{slug}", study.evidence_choice if study else shown
    if slug := given.get("dataset"):
        return f"dataset:{slug}", shown
    dataset = usual_dataset(datasets_with_responses(), user)
    if study := Study.objects.filter(on_offer(), dataset=dataset).first():
        return f"study:{study.slug}", study.evidence_choice
    return (f"dataset:{dataset.slug}" if dataset else ""), shown


def _dataset_of(over: str) -> Dataset | None:
    """Return the dataset whose responses are scored; None: there is none yet."""
    named = _named(over)
    return named.dataset if isinstance(named, Study) else named


def _named(over: str) -> Dataset | Study | None:
    """Return the dataset or the study that a value of `over` names; None: there is none."""
    kind, _, slug = over.partition(":")
    named: type[Dataset | Study] = Study if kind == "study" else Dataset
    return named.objects.filter(slug=slug).first()


def _what_can_be_scored() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the studies and datasets that are not archived."""
    studies = Study.objects.filter(on_offer())
    datasets = datasets_with_responses().filter(on_offer())
    of_studies = studies.order_by("name").values_list("slug", "name")
    named = datasets.values_list("slug", "name")
    return [
        ("Of a study", [(f"study:{slug}", name) for slug, name in of_studies]),
        ("All of a dataset", [(f"dataset:{slug}", name) for slug, name in named]),
    ]


def _field_of(option: Option) -> forms.Field:
    """Return the field for one option of a metric: a choice of its values, or a whole number."""
    if option.choices:
        return forms.ChoiceField(
            label=option.label, choices=list(option.choices), help_text=option.help
        )
    return forms.IntegerField(
        label=option.label, min_value=option.low, max_value=option.high, help_text=option.help
    )


def _prompt(prompts: Iterable[SsaPrompt]) -> forms.ChoiceField:
    def named(prompt: SsaPrompt) -> str:
        return f"{prompt.name}, built on {prompt.built_on}" if prompt.built_on else prompt.name

    return forms.ChoiceField(
        label="Prompt",
        choices=[(prompt.name, named(prompt)) for prompt in prompts],
        help_text="Only language models are given this prompt.",
    )


def _threshold(kind: type[AutoMetric]) -> forms.FloatField:
    low, high = kind.scale
    counts = "This score or a higher one" if kind.is_yes_at_threshold else "A higher score"
    return forms.FloatField(
        label="Threshold",
        min_value=low,
        max_value=high,
        help_text=f"{counts} counts as yes. Scores go from {low:g} to {high:g}.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
