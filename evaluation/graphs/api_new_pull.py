"""The request to the API that starts a pull from a SPARQL endpoint."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from evaluation.graphs.services.graph_pull import (
    MOST_NAMES,
    MOST_NAMESAKES,
    PullPlan,
    request_pull,
)
from evaluation.graphs.services.pull_calls import pull_asking
from evaluation.jobs.api import JobSerializer
from evaluation.jobs.api_new_job import NewJobSerializer, StartJob
from evaluation.models import Job
from generation.choices.serializers import serializer_fields


class NewPullSerializer(NewJobSerializer):
    """The choices of a new pull: the graph to add to, the names, and the endpoint."""

    dataset = serializers.CharField(
        help_text="The name or the slug of a dataset to add to, or a new name. Existing entities "
        "stay as they are."
    )
    names = serializers.ListField(
        child=serializers.CharField(allow_blank=True),
        default=[],
        help_text=f"Labels, aliases or qids (Q42, <E12>), at most {MOST_NAMES:,}. Spell them as "
        "the endpoint does. Each name fetches all entities that have it, up to "
        f"{MOST_NAMESAKES}.",
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with one for every choice about a pull."""
        return super().get_fields() | serializer_fields(PullPlan)

    def plan(self) -> PullPlan:
        said = self.validated_data
        return PullPlan(**{**said, "names": tuple(said["names"])})


class StartPull(StartJob):
    """The request for a pull."""

    kind = Job.Kind.GRAPH_PULL

    @extend_schema(request=NewPullSerializer, responses={202: JobSerializer})
    def post(self, request: Request) -> Answer:
        """Pull entities from a SPARQL endpoint into the graph of a dataset. Only admins may.

        The same request again answers with the same pull until it is done. A pull that was stopped
        goes on.
        """
        return self.start(NewPullSerializer, pull_asking, request_pull)
