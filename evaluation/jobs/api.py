"""The API of jobs of every kind: searches, distillations, pulls, constructions."""

from functools import cached_property
from typing import Any, cast

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from accounts.access import Role, roles_of
from accounts.api import Conflict, NameFilter, Readable
from accounts.models import User
from annotation.models import Study
from evaluation.jobs import services
from evaluation.jobs.kinds import kind_of
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
        return Role.ADMIN in roles_of(_who(self.context["request"]))


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

    @extend_schema(request=None, responses=JobSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: int) -> Answer:
        """Stop a job; what it has found is kept. Only admins may stop pulls and constructions."""
        job = self._changeable()
        if not services.cancel_job(job, _who(request)):
            raise Conflict("This job cannot be cancelled, because it has ended.")
        return self._answer(job)

    @extend_schema(request=None, responses={202: JobSerializer})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: int) -> Answer:
        """Continue a job that was cancelled or failed, after what it has found.

        In a construction that is done, entries that failed get one more attempt each.
        """
        job = self._changeable()
        if not kind_of(job).resume(job, _who(request)):
            raise Conflict("This job cannot go on. Only a job that was cancelled or failed can.")
        return self._answer(job, status.HTTP_202_ACCEPTED)

    def _changeable(self) -> Job:
        """Return the job of the address.

        Raises:
            PermissionDenied: this user may not change it.
        """
        job: Job = self.get_object()
        if not kind_of(job).may_change(_who(self.request)):
            raise PermissionDenied("Only admins may change pulls and constructions.")
        return job

    def _answer(self, job: Job, code: int = status.HTTP_200_OK) -> Answer:
        job.refresh_from_db()
        return Answer(self.get_serializer(job).data, status=code)


def _who(request: Request) -> User:
    return cast(User, request.user)  # `IsResearcher` has checked that it is a `User`
