"""The API of long work: each kind is listed, read, cancelled, resumed and deleted alike."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from accounts.api import Conflict, Pages, refuse_unknown, who
from work.kinds import WorkKind, WorkRefused, changeable, kind_named, kinds_for
from work.pages import STATES, WorkFilter, listed, newest_first, one_of

KIND = OpenApiParameter("kind", str, OpenApiParameter.PATH, description="metric-run, grid, …")
FILTERS = (
    OpenApiParameter("kind", str, description="Only this kind: metric-run, grid, sample, …"),
    OpenApiParameter("state", str, enum=list(STATES), description="Only work in this state."),
    OpenApiParameter("dataset", str, description="Only work on this dataset, by its slug."),
    OpenApiParameter("mine", bool, description="Only work that the user of the token asked for."),
)


class WorkSerializer(serializers.Serializer[Any]):
    """One piece of long work, whatever its kind."""

    kind = serializers.CharField(source="kind.key", help_text="metric-run, grid, sample, …")
    id = serializers.IntegerField(source="row.pk")
    name = serializers.CharField(source="row.name")
    dataset = serializers.CharField(source="row.dataset", help_text="Empty: it has none.")
    state = serializers.CharField(source="row.outcome", help_text="queued, running, done, …")
    n_done = serializers.IntegerField(
        source="row.n_done", help_text="Steps or chunks that are done, of `n_total` at most."
    )
    n_total = serializers.IntegerField(source="row.n_total", help_text="0: it is not known.")
    per_second = serializers.FloatField(
        source="row.per_second",
        allow_null=True,
        help_text="What was done in a second; null: not known, as of runs and grids, which say it.",
    )
    seconds_left = serializers.FloatField(
        source="row.seconds_left", allow_null=True, help_text="At this speed, at most."
    )
    error = serializers.CharField(source="row.error", help_text="Why it stopped.")
    created_at = serializers.DateTimeField(source="row.began_at")
    finished_at = serializers.DateTimeField(source="row.ended_at", allow_null=True)
    goes_on = serializers.BooleanField(help_text="Whether it waits for a worker or has one.")
    page = serializers.CharField(source="url", help_text="The path of its page.")


class AllWork(APIView):
    """All long work that the user may see."""

    @extend_schema(responses=WorkSerializer(many=True), parameters=list(FILTERS))
    def get(self, request: Request) -> Answer:
        """List long work of every kind, newest first."""
        refuse_unknown(request, (*(each.name for each in FILTERS), *Pages.parameters))
        user = who(request)
        kinds = kinds_for(user)
        wanted = WorkFilter(
            kind=_chosen(request, "kind", kinds),
            state=_chosen(request, "state", STATES),
            only_of=user.pk if _chosen(request, "mine", ("true", "false")) == "true" else None,
            dataset=request.query_params.get("dataset", ""),
        )
        pages = Pages()
        keys = pages.paginate_queryset(newest_first(kinds, wanted), request, self) or []
        shown = WorkSerializer(listed(keys, kinds, user), many=True)
        return pages.get_paginated_response(shown.data)


class OneWork(APIView):
    """One piece of long work."""

    @extend_schema(responses=WorkSerializer, parameters=[KIND])
    def get(self, request: Request, kind: str, pk: int) -> Answer:
        """Read one piece of work."""
        return _answer(kind_named(kind, who(request)), pk, request)

    @extend_schema(request=None, responses={204: None}, parameters=[KIND])
    def delete(self, request: Request, kind: str, pk: int) -> Answer:
        """Delete work that has ended."""
        of_kind, work = changeable(kind, pk, who(request))
        try:
            of_kind.delete(work, who(request))
        except WorkRefused as error:
            raise Conflict(str(error)) from error
        return Answer(status=status.HTTP_204_NO_CONTENT)


class CancelWork(APIView):
    """The address at which work is cancelled."""

    @extend_schema(request=None, responses=WorkSerializer, parameters=[KIND])
    def post(self, request: Request, kind: str, pk: int) -> Answer:
        """Stop work that goes on. What it has found is kept."""
        of_kind, work = changeable(kind, pk, who(request))
        if not of_kind.cancel(work, who(request)):
            raise Conflict("This work cannot be cancelled, because it has ended.")
        return _answer(of_kind, pk, request)


class ResumeWork(APIView):
    """The address at which work is resumed."""

    @extend_schema(request=None, responses={202: WorkSerializer}, parameters=[KIND])
    def post(self, request: Request, kind: str, pk: int) -> Answer:
        """Continue work that was cancelled or failed, after what it has found."""
        of_kind, work = changeable(kind, pk, who(request))
        if not of_kind.resume(work, who(request)):
            raise Conflict("This work cannot go on. Only work that was cancelled or failed can.")
        return _answer(of_kind, pk, request, status.HTTP_202_ACCEPTED)


def _chosen(request: Request, name: str, known: Any) -> str:
    """Return a parameter of the address, which must be one of the known values.

    Raises:
        ValidationError: it is not.
    """
    said: str = request.query_params.get(name, "")
    if said and said not in known:
        raise ValidationError({name: [f"Found {said!r}; expected one of {', '.join(known)}."]})
    return said


def _answer(kind: WorkKind[Any], pk: int, request: Request, code: int = 200) -> Answer:
    found = one_of(kind, pk, who(request))
    if found is None:
        raise Http404
    return Answer(WorkSerializer(found).data, code)
