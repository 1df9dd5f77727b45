"""The request to the API that starts a metric run."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from accounts.api import NameField
from annotation.models import Study
from evaluation.metrics.registry import METRICS
from evaluation.runs.budget import Budget
from evaluation.runs.choices import (
    RunChoices,
    all_options,
    knows_questions_of,
    model_called,
    plan_of,
    sample_of,
)
from evaluation.runs.model_checks import why_unusable
from evaluation.runs.plan import RunPlan, responses_of_study
from generation.asking_serializer import AskingSerializer
from generation.choices.declaration import ChoiceError, made
from generation.choices.serializers import serializer_fields
from generation.evidence import EvidenceChoice
from generation.models import Dataset, Response


class NewRunSerializer(AskingSerializer):
    """The choices of a new run: responses (of a study or a whole dataset), model, and the rest."""

    study = NameField(Study, required=False)
    dataset = NameField(Dataset, required=False)
    model = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="A backend without a model (lexical), or a checkpoint's name. Default: what the "
        "metric asks first, if that needs no model.",
    )
    precision = serializers.CharField(
        default="", allow_blank=True, help_text="fp32 or bf16. Default: the backend's first."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields: also the metric, the choices of any metric, and all options."""
        fields = super().get_fields() | serializer_fields(RunChoices)
        metric = serializers.ChoiceField(list(METRICS), default=next(iter(METRICS)))
        fields = {
            "study": fields.pop("study"),
            "dataset": fields.pop("dataset"),
            "metric": metric,
        } | fields
        for option in all_options():
            fields[option.name] = (
                serializers.ChoiceField(option.values, required=False, help_text=option.help)
                if option.values
                else serializers.IntegerField(required=False, help_text=option.help)
                if option.is_number
                else serializers.CharField(required=False, help_text=option.help)
            )
        return fields

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Check the choices together, because metric and model decide which ones are possible."""
        if ("study" in asked) == ("dataset" in asked):
            raise ValidationError({"study": ["Name a study or a dataset, but not both."]})
        try:
            asked["plan"] = _plan(asked)
        except ChoiceError as error:
            raise ValidationError({error.field: [str(error)]}) from error
        if problem := why_unusable(asked["plan"].spec, asked["metric"]):
            raise ValidationError({"model": [problem]})
        return asked

    @property
    def responses(self) -> QuerySet[Response]:
        """The responses to score."""
        study: Study | None = self.validated_data.get("study")
        if study:
            return responses_of_study(study)
        return Response.objects.of_benchmark().filter(dataset=self.of_dataset)

    @property
    def of_dataset(self) -> Dataset:
        asked = self.validated_data
        dataset: Dataset = asked["study"].dataset if "study" in asked else asked["dataset"]
        return dataset


def _plan(asked: dict[str, Any]) -> RunPlan:
    """Return the plan of the requested choices. A missing choice has its usual value.

    Raises:
        ChoiceError: no run is possible with one of the choices.
    """
    study: Study | None = asked.get("study")
    names = [option.name for option in all_options()]
    return plan_of(
        asked["metric"],
        model_called(asked["model"]),
        options={name: asked[name] for name in names if name in asked},
        precision=asked["precision"],
        evidence=asked.get("evidence", ""),
        usual_evidence=study.evidence_choice if study else EvidenceChoice.SHOWN,
        threshold=asked.get("threshold"),
        n_sampled=sample_of(asked["metric"], asked.get("sample")),
        seed=asked["seed"],
        n_controls=asked["controls"],
        budget=made(Budget, asked),
        knows_questions=knows_questions_of(asked["study"].dataset if study else asked["dataset"]),
    )
