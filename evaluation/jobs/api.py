"""The API of jobs of every kind: searches, distillations, pulls, constructions."""

from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from accounts.access import Role, roles_of
from accounts.api import NameFilter, Readable, who
from annotation.models import Study
from evaluation.jobs.private_endpoints import error_for, parameters_for
from evaluation.models import Job
from generation.models import Dataset

# Parameters that are no choices: the data of the job, and the locations and keys of models.
NOT_SHOWN = frozenset({"data", "location", "base_location", "key_variable", "key_over_http"})


class JobSerializer(serializers.ModelSerializer[Job]):
    """One job: its choices, its progress, and what it has found."""

    study = serializers.CharField(
        source="study.slug",
        default=None,
        allow_null=True,
        help_text="The study whose votes the job uses.",
    )
    dataset = serializers.CharField(
        source="dataset.slug",
        default=None,
        allow_null=True,
        help_text="The dataset whose graph the job adds to.",
    )
    parameters = serializers.SerializerMethodField(
        help_text="Every choice that changes the result."
    )
    error = serializers.SerializerMethodField(
        help_text="Why the job stopped. Empty: it did not stop."
    )
    kind = serializers.CharField(
        help_text="prompt_search, distillation, graph_pull or construction."
    )
    state = serializers.CharField(help_text="queued, running, cancelled, failed or done.")
    n_done = serializers.IntegerField(
        help_text="The number of steps that are done, of `n_total` at most."
    )

    class Meta:
        model = Job
        fields = (
            "id",
            "kind",
            "name",
            "study",
            "dataset",
            "parameters",
            "state",
            "n_done",
            "n_total",
            "result",
            "error",
            "created_at",
            "finished_at",
        )
        read_only_fields = fields

    def get_parameters(self, job: Job) -> dict[str, Any]:
        said = parameters_for(job, self._is_for_admin)
        return {name: value for name, value in said.items() if name not in NOT_SHOWN}

    def get_error(self, job: Job) -> str:
        return error_for(job, self._is_for_admin)

    @cached_property
    def _is_for_admin(self) -> bool:
        return Role.ADMIN in roles_of(who(self.context["request"]))


class JobFilters(filters.FilterSet):  # type: ignore[misc] # no types
    kind = filters.ChoiceFilter(choices=Job.Kind.choices)
    state = filters.ChoiceFilter(choices=Job.State.choices)
    study = NameFilter("study", Study, "slug", help_text="Slug of a study.")
    dataset = NameFilter("dataset", Dataset, "slug", help_text="Slug of a dataset.")


class Jobs(Readable):
    """Jobs, newest first: long work that is no metric run. Each kind has an address to start it."""

    serializer_class = JobSerializer
    filterset_class = JobFilters
    lookup_value_converter = "int"
    queryset: QuerySet[Job] = Job.objects.select_related("study", "dataset").order_by("-pk")
