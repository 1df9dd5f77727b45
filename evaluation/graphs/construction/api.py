"""The request to the API that starts a construction."""

import json
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from evaluation.graphs.construction.services.call_plan import construction_asking
from evaluation.graphs.construction.services.constructions import (
    ConstructionPlan,
    request_construction,
)
from evaluation.graphs.construction.services.entries_check import (
    MOST_PROBLEMS,
    EntriesCheck,
    Upload,
    checked,
)
from evaluation.jobs.api import JobSerializer
from evaluation.jobs.api_new_job import NewJobSerializer, StartJob
from evaluation.models import Job
from generation.choices.serializers import serializer_fields
from generation.importers.errors import DatasetError
from generation.retrieval.relations import read_relations

# The body of a request is read as files are. Errors begin with these names.
FILE = "entries.jsonl"
BODY = "body"
NOTHING_TO_LOOK_UP = (
    "No entry can be looked up. Expected one with two full names and a relation whose properties "
    "are known."
)


class NewConstructionSerializer(NewJobSerializer):
    """The choices of a new construction: its entries, the model, the endpoint, and the decoding."""

    name = serializers.CharField(help_text="The name of the construction.")
    model = serializers.CharField(
        help_text="The name of a listed language model. It writes the paragraphs and the questions."
    )
    entries = serializers.ListField(
        child=serializers.DictField(),
        allow_empty=False,
        help_text="As in a file of entries: [{paragraph, name_1, relation, name_2}].",
    )
    relations = serializers.DictField(
        child=serializers.DictField(),
        required=False,
        help_text="The properties of each relation: {relation: {properties, inverse, also}}. "
        "Default: the usual properties of Wikidata.",
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with one for every choice about a construction."""
        return super().get_fields() | serializer_fields(ConstructionPlan)

    def validate_relations(self, relations: dict[str, Any]) -> str:
        """Return the text of a file with these relations."""
        text = _as_json({"relations": relations})
        try:
            read_relations(text, BODY)
        except DatasetError as error:
            raise ValidationError(f"{error}.") from error
        return text

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Check the entries with the reader of files. What it found becomes `check`."""
        lines = "".join(f"{_as_json(row)}\n" for row in asked.pop("entries"))
        upload = Upload(FILE, lines.encode())
        if "relations" in asked:
            upload = upload._replace(relations_file=BODY, relations_text=asked.pop("relations"))
        try:
            check = checked(upload)
        except DatasetError as error:
            raise ValidationError({"entries": [f"{error}."]}) from error
        if not check.may_start:
            problems = [f"{problem}." for problem in check.problems[:MOST_PROBLEMS]]
            raise ValidationError({"entries": problems or [NOTHING_TO_LOOK_UP]})
        return {**asked, "check": check}

    def plan(self) -> ConstructionPlan:
        choices = dict(self.validated_data)
        check: EntriesCheck = choices.pop("check")
        return check.plan(**choices)


class StartConstruction(StartJob):
    """The request for a construction."""

    kind = Job.Kind.CONSTRUCTION

    @extend_schema(request=NewConstructionSerializer, responses={202: JobSerializer})
    def post(self, request: Request) -> Answer:
        """Make questions about a knowledge graph from entries. Only admins may.

        The same request again answers with the same job. One that was stopped goes on. In a
        construction that is done, entries that failed get one more attempt each.
        """
        return self.start(NewConstructionSerializer, construction_asking, request_construction)


def _as_json(value: Any) -> str:
    """Return a value as one line of JSON, which is the same for any order of keys."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
