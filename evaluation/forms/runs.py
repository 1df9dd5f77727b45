"""What somebody may choose about metric runs, and about the models they use."""

from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Study
from evaluation.auto_metrics.auto_ais import AutoAisMetric
from evaluation.metrics.entailment import AutoAis
from evaluation.models import AutoScore, Checkpoint, MetricRun
from evaluation.services.runs import RunPlan, responses_of_study, spec_of_checkpoint
from generation.backends.base import ModelSpec
from generation.evidence import EvidenceChoice
from generation.models import Dataset, Response

LEXICAL = "lexical"
MOST_SENTENCES = 50  # in one window
STATE = MetricRun.State
HAS_FAILED = Q(state=STATE.FAILED) | Q(state=STATE.DONE, has_failed_scores=True)
TABS: dict[str, tuple[str, Q]] = {
    "": ("All", Q()),
    "running": ("Running", Q(state=STATE.RUNNING)),
    "cancelled": ("Cancelled", Q(state=STATE.CANCELLED)),
    "failed": ("Failed", HAS_FAILED),
    "done": ("Done", Q(state=STATE.DONE) & ~HAS_FAILED),
}


class RunFilterForm(forms.Form):
    """Which runs are listed."""

    state = forms.ChoiceField(
        choices=[(key, label) for key, (label, _) in TABS.items()], required=False
    )
    dataset = forms.ModelChoiceField(Dataset.objects.all(), to_field_name="slug", required=False)

    def found(self) -> QuerySet[MetricRun]:
        """Return the runs of the chosen tab, newest first."""
        chosen = self.cleaned_data.get("state", "") if self.is_valid() else ""
        return self._all().filter(TABS[chosen][1]).order_by("-pk")

    def tabs(self) -> list[tuple[str, str, int]]:
        """Return key, label and number of runs of each tab."""
        named = {f"n_{key}": Count("pk", filter=condition) for key, (_, condition) in TABS.items()}
        counts = self._all().aggregate(**named)
        return [(key, label, counts[f"n_{key}"]) for key, (label, _) in TABS.items()]

    def _all(self) -> QuerySet[MetricRun]:
        failed = AutoScore.objects.filter(run=OuterRef("pk"), score=None)
        runs = MetricRun.objects.annotate(has_failed_scores=Exists(failed))
        dataset = self.cleaned_data.get("dataset") if self.is_valid() else None
        return runs.filter(dataset=dataset) if dataset else runs


class NewRunForm(forms.Form):
    """A new run of Auto-AIS: over what, by which model, and every choice that changes a score."""

    over = forms.ChoiceField(label="Responses")
    backend = forms.ChoiceField(label="Backend")
    flavor = forms.ChoiceField(
        label="Flavor",
        choices=[
            ("v1", "v1: evidence + question ⇒ response"),
            ("v2", "v2: evidence ⇒ question + response"),
            ("v3", "v3: evidence + question ⇒ question + response"),
        ],
    )
    window = forms.IntegerField(
        label="Window K",
        min_value=0,
        max_value=MOST_SENTENCES,
        help_text="Sentences per window; 0 means the whole evidence.",
    )
    hypothesis = forms.ChoiceField(
        label="Hypothesis",
        choices=[
            ("whole", "The whole response"),
            ("mean", "Its sentences: their mean"),
            ("min", "Its sentences: the lowest"),
        ],
    )
    evidence = forms.ChoiceField(
        label="Evidence",
        choices=[
            (EvidenceChoice.SHOWN.value, "Shown: what the model was given"),
            (EvidenceChoice.GOLDEN.value, "Golden: whatever it was given"),
            (EvidenceChoice.RETRIEVED.value, "Retrieved: what a search finds"),
        ],
    )
    threshold = forms.FloatField(
        label="Threshold",
        min_value=0,
        max_value=1,
        help_text="A higher score counts as yes.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        studies = Study.objects.order_by("name").values_list("slug", "name")
        datasets = Dataset.objects.filter(setups__responses__isnull=False).distinct()
        self.fields["over"].choices = [  # type: ignore[attr-defined]
            ("Of a study", [(f"study:{slug}", name) for slug, name in studies]),
            (
                "All of a dataset",
                [(f"dataset:{slug}", name) for slug, name in datasets.values_list("slug", "name")],
            ),
        ]
        self.checkpoints = {f"model:{found.pk}": found for found in Checkpoint.objects.all()}
        self.fields["backend"].choices = [  # type: ignore[attr-defined]
            (LEXICAL, "Lexical overlap (no download, a baseline)"),
            *((key, found.name) for key, found in self.checkpoints.items()),
        ]

    def clean(self) -> dict[str, Any]:
        """Read what `over` names."""
        cleaned = super().clean() or {}
        kind, _, slug = cleaned.get("over", "").partition(":")
        if kind == "study":
            study = Study.objects.select_related("dataset").get(slug=slug)
            cleaned |= {"dataset": study.dataset, "responses": responses_of_study(study)}
        elif kind == "dataset":
            dataset = Dataset.objects.get(slug=slug)
            cleaned |= {"dataset": dataset, "responses": dataset.responses.all()}
        return cleaned

    def plan(self) -> RunPlan:
        """Return what a valid form says."""
        chosen = self.cleaned_data
        model = self.checkpoints.get(chosen["backend"])
        return RunPlan(
            spec=spec_of_checkpoint(model) if model else ModelSpec(LEXICAL),
            metric=AutoAisMetric(AutoAis(chosen["flavor"], chosen["window"], chosen["hypothesis"])),
            evidence=chosen["evidence"],
            threshold=chosen["threshold"],
        )

    def n_without_score(self) -> int:
        """Return how many responses have none yet under the choices of a valid form."""
        scored = AutoScore.objects.filter(
            run__dataset=self.cleaned_data["dataset"],
            run__metric=self.plan().metric.key,
            run__signature=self.plan().signature,
            run__is_imported=False,
            target__citation=None,
        )
        responses: QuerySet[Response] = self.cleaned_data["responses"]
        return responses.exclude(pk__in=scored.values("target__response")).count()


def first_choices(study: Study | None, dataset: Dataset | None) -> dict[str, Any]:
    """Return what the form of a new run begins with; without either, the newest study."""
    choices = AutoAis()._asdict() | {"backend": LEXICAL, "threshold": 0.5}
    if dataset and not study:
        shown = EvidenceChoice.SHOWN.value
        return choices | {"over": f"dataset:{dataset.slug}", "evidence": shown}
    study = study or Study.objects.first()
    if study:
        return choices | {"over": f"study:{study.slug}", "evidence": study.evidence_choice}
    newest = Dataset.objects.filter(responses__isnull=False).order_by("-pk").first()
    return first_choices(None, newest) if newest else choices


class CheckpointForm(forms.Form):
    """A model that runs may use."""

    name = forms.CharField(
        label="Name",
        max_length=100,
        help_text="What runs and signatures call it: letters, digits, dots, _ and -.",
        validators=[
            RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z", "Use letters, digits and . _ - only.")
        ],
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"}),
    )
    location = forms.CharField(
        label="Location",
        max_length=500,
        help_text="A folder on the server, or a name on the Hugging Face hub.",
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"}),
    )
    entailment_index = forms.IntegerField(
        label="Index of entailment",
        required=False,
        min_value=0,
        max_value=99,
        help_text="Only for a model whose labels have no names: which output means entailment.",
    )

    def clean_name(self) -> str:
        """Refuse the name of the backend that needs no model."""
        name: str = self.cleaned_data["name"]
        if name.lower() == LEXICAL:
            raise forms.ValidationError("This is what the backend without a model is called.")
        return name
