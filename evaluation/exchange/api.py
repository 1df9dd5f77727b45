"""The API of imports: a file is uploaded and checked, then stored."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from accounts.access import may_import
from accounts.api import Conflict, StrictSerializer, who
from evaluation.exchange.forms import ImportForm
from evaluation.exchange.import_process import IMPORTS
from evaluation.exchange.place_choices import PlaceChoices
from evaluation.exchange.storing_choices import StoringChoices
from evaluation.exchange.uploads import ChoiceNeeded, request_import, request_storing
from generation.choices.declaration import made
from generation.choices.serializers import given_in, serializer_fields
from generation.importers import ENCODINGS, READERS
from generation.models import Import

# The choice that a file needs → why.
NEEDED = {
    "skip_bad": "Rows of this file are bad. Correct the file",
    "accept": "Something of this file would be lost (losses). Send a mapping of its columns",
}


class NewImportSerializer(StrictSerializer):
    """A file to import, sent as a form (multipart/form-data)."""

    file = serializers.FileField(help_text="The file.")
    name = serializers.CharField(
        required=False,
        help_text="A new dataset, or one to add to. Default: the name of the file.",
    )
    study = serializers.CharField(
        required=False, help_text="The study of the votes in the file. Default: as in the file."
    )
    format = serializers.ChoiceField(
        list(READERS), required=False, help_text="Default: it is recognised."
    )
    encoding = serializers.ChoiceField(
        list(ENCODINGS), required=False, help_text="The encoding of the text. Default: UTF-8."
    )
    saved_mapping = serializers.CharField(
        required=False, help_text="The name of a saved mapping of a table's columns."
    )
    mapping_file = serializers.FileField(
        required=False, help_text="A TOML file that says what each column of a table is."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with the choice of a table in the file."""
        return super().get_fields() | serializer_fields(PlaceChoices)


class StoreSerializer(StrictSerializer):
    """The choices when a checked file is stored."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields of all choices."""
        return super().get_fields() | serializer_fields(StoringChoices)


class ImportProblemSerializer(serializers.Serializer[Any]):
    """A row that cannot be read: where, what was found, and what was expected."""

    file = serializers.CharField()
    line = serializers.IntegerField()
    field = serializers.CharField()
    found = serializers.CharField()
    expected = serializers.CharField()


class ImportSerializer(serializers.Serializer[Import]):
    """An import: how far it is, and what the check found."""

    id = serializers.IntegerField(source="pk")
    file_name = serializers.CharField()
    name = serializers.CharField(help_text="The name of the dataset.")
    state = serializers.CharField(help_text="queued, running, checked, cancelled, failed or done.")
    is_storing = serializers.BooleanField(help_text="Whether it is being stored, or was.")
    error = serializers.CharField(help_text="Why it failed.")
    counts = serializers.DictField(
        source="report.counts",
        default=dict,
        help_text="The numbers of new, unchanged and bad rows of each kind, and for votes how many "
        "noes closed gates imply (implied). Empty: the file is not checked, or a mapping has to "
        "say what its columns are.",
    )
    n_problems = serializers.IntegerField(source="report.n_problems", default=0)
    problems = ImportProblemSerializer(
        source="report.problems", many=True, default=list, help_text="The first of them."
    )
    losses = serializers.SerializerMethodField(
        help_text="What would be lost, and how often. Storing it then needs accept."
    )
    dataset = serializers.CharField(
        source="dataset.slug", default=None, allow_null=True, help_text="Its slug, once stored."
    )
    study = serializers.CharField(
        source="report.study_slug", default="", help_text="The slug of the study with its votes."
    )
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    def get_losses(self, upload: Import) -> dict[str, int]:
        """Return what is lost → how often."""
        return dict(upload.report.get("losses", ()))


class MayImport(BasePermission):
    """The right to import: of admins, and of researchers where an admin allows it."""

    message = "Only admins may import data on this site."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return may_import(request.user)


class _OfImporters(APIView):
    def get_permissions(self) -> list[Any]:
        """Return the permissions of every address, and the right to import."""
        return [*super().get_permissions(), MayImport()]


class Imports(_OfImporters):
    """The address to which files are sent."""

    parser_classes = (MultiPartParser,)

    @extend_schema(request=NewImportSerializer, responses={202: ImportSerializer})
    def post(self, request: Request) -> Answer:
        """Have a file checked. Nothing is stored before you ask for that.

        The choices are those of the page, and are sent as a form with the file. Sheet and line
        of a table are chosen here too: the page offers them after the check.
        """
        NewImportSerializer().refuse_unknown(request.data)
        form = ImportForm(request.data, request.FILES)
        if not form.is_valid():
            raise ValidationError({field: [*errors] for field, errors in form.errors.items()})
        place = made(PlaceChoices, given_in(PlaceChoices, request.data))
        choices = form.choices()
        choices["mapping"] = place.in_text(choices["mapping"])
        upload = request_import(**choices, user=who(request))
        IMPORTS.send_waiting(pk=upload.pk)
        answer = Answer(ImportSerializer(upload).data, status=status.HTTP_202_ACCEPTED)
        answer["Location"] = reverse("api:import", [upload.pk], request=request)
        return answer


class OneImport(_OfImporters):
    """One import."""

    @extend_schema(responses=ImportSerializer)
    def get(self, request: Request, pk: int) -> Answer:
        """Read how far an import is, and what the check found."""
        return Answer(ImportSerializer(_import(pk)).data)


class StoreImport(_OfImporters):
    """The address at which a checked file is stored."""

    @extend_schema(request=StoreSerializer, responses={202: ImportSerializer})
    def post(self, request: Request, pk: int) -> Answer:
        """Store a file that was checked.

        Bad rows and implied noes are left out, and losses are accepted, only if you say so.
        """
        asked = StoreSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        upload, choices = _import(pk), made(StoringChoices, asked.validated_data)
        try:
            is_queued = request_storing(upload, **choices._asdict())
        except ChoiceNeeded as needed:
            raise Conflict(f"{NEEDED[str(needed)]}, or send {needed}.") from needed
        if not is_queued:
            raise Conflict(
                "This import cannot be stored. Only one whose rows were checked can; a table may "
                "need a mapping of its columns first."
            )
        IMPORTS.send_waiting(pk=pk)
        return Answer(ImportSerializer(_import(pk)).data, status=status.HTTP_202_ACCEPTED)


def _import(pk: int) -> Import:
    return get_object_or_404(Import.objects.select_related("dataset"), pk=pk)
