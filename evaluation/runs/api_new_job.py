"""The requests to the API that start prompt searches and distillations."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from accounts.api import NameField
from annotation.models import Study
from evaluation.jobs.api import JobSerializer
from evaluation.jobs.api_new_job import NewJobSerializer, StartJob
from evaluation.models import Job, MetricRun
from evaluation.runs.job_pages import encoders
from evaluation.runs.prompts import PROMPTED
from evaluation.runs.services.distillation import DistillationPlan, request_distillation
from evaluation.runs.services.job_calls import distillation_asking, search_asking
from evaluation.runs.services.prompt_search import SearchPlan, request_prompt_search
from generation.choices.serializers import serializer_fields
from generation.models import Checkpoint


class NewPromptSearchSerializer(NewJobSerializer):
    """The choices of a new prompt search: the slice to learn from, the model, and the examples."""

    study = NameField(Study)
    setup = serializers.CharField(
        help_text="The name of a setup of the study. The search learns from the votes on it."
    )
    metric = serializers.ChoiceField(
        PROMPTED, help_text="The metric that the prompt is for. The study asks its question."
    )
    model = NameField(Checkpoint, by="name", help_text="The name of a listed language model.")
    name = serializers.CharField(
        help_text="The name of the prompt. Runs and signatures show this name."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with one for every choice about a search."""
        return super().get_fields() | serializer_fields(SearchPlan)

    def plan(self) -> SearchPlan:
        said = dict(self.validated_data)
        return SearchPlan(spec=said.pop("model").spec(), **said)


class StartPromptSearch(StartJob):
    """The request for a prompt search."""

    kind = Job.Kind.PROMPT_SEARCH

    @extend_schema(request=NewPromptSearchSerializer, responses={202: JobSerializer})
    def post(self, request: Request) -> Answer:
        """Search for demonstrations that make a language model rate as the raters of a setup do.

        The same request again answers with the same search. A search that was stopped goes on.
        """
        return self.start(NewPromptSearchSerializer, search_asking, request_prompt_search)


class NewDistillationSerializer(NewJobSerializer):
    """The choices of a new distillation: the run to learn from, the encoder, and the training."""

    run = serializers.PrimaryKeyRelatedField(
        queryset=MetricRun.objects.select_related("dataset"),
        pk_field=serializers.IntegerField(),
        help_text="The id of a run by a language model. The small model learns its scores.",
        error_messages={"does_not_exist": "There is no run {pk_value}."},
    )
    base = NameField(
        Checkpoint,
        by="name",
        queryset=encoders(),
        help_text="The name of a listed encoder to start from. Its output is replaced by a new "
        "one.",
        error_messages={"does_not_exist": "There is no encoder {value!r} here."},
    )
    name = serializers.CharField(
        help_text="The name of the new model. Runs and signatures show this name."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with one for every choice about the training."""
        return super().get_fields() | serializer_fields(DistillationPlan)

    def plan(self) -> DistillationPlan:
        said = dict(self.validated_data)
        return DistillationPlan(base=said.pop("base").spec(), **said)


class StartDistillation(StartJob):
    """The request for a distillation."""

    kind = Job.Kind.DISTILLATION

    @extend_schema(request=NewDistillationSerializer, responses={202: JobSerializer})
    def post(self, request: Request) -> Answer:
        """Teach a small model the scores that a language model gave to responses without votes.

        The same request again answers with the same distillation until it is done. One that was
        stopped goes on.
        """
        return self.start(NewDistillationSerializer, distillation_asking, request_distillation)
