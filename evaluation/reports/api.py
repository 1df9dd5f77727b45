"""The API of reports: each declared report has its own address, with its choices as parameters."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from accounts.api import Conflict, refuse_unknown
from annotation.models import Study
from evaluation.reports.downloads import attachment
from evaluation.reports.figures.builders import CONTENT_TYPES
from evaluation.reports.figures.pictures import picture
from evaluation.reports.manifest import Made, manifest_of
from evaluation.reports.registry import CannotReport, NotYet, ReportKind, reports_about
from evaluation.reports.report import columns_of
from generation.choices.declaration import ChoiceError, fields_of
from generation.choices.serializers import given_in, serializer_of
from generation.models import Dataset

T = TypeVar("T")


class ReportSerializer(serializers.Serializer[Any]):
    """Rows of figures: `x` with its 95 % interval `x_low`, `x_high`; null is undefined."""

    study = serializers.CharField()
    report = serializers.CharField()
    rows = serializers.ListField(child=serializers.DictField())
    left_out = serializers.DictField(child=serializers.IntegerField(), help_text="By reason.")
    signature = serializers.CharField(help_text="Every choice that changes the numbers.")


def report_addresses() -> Iterable[URLPattern]:
    """Yield the address of every report, and addresses that list the reports for a wrong key."""
    subjects: dict[str, type[Dataset] | type[Study]] = {"studies": Study, "datasets": Dataset}
    for plural, about in subjects.items():
        kinds = reports_about(about)
        where = f"v1/{plural}/<slug:slug>/reports"
        for kind in kinds:
            view = _view_of(kind, plural)
            yield path(f"{where}/{kind.key}/", view.as_view(), name=f"report-{kind.key}")
            manifest = _view_of(kind, plural, of_manifest=True)
            yield path(
                f"{where}/{kind.key}/manifest/", manifest.as_view(), name=f"manifest-{kind.key}"
            )
            if kind.has_figure:
                figure = _figure_view_of(kind, plural).as_view()
                figure_at = f"{where}/{kind.key}/figure.<slug:format_key>"
                yield path(figure_at, figure, name=f"figure-{kind.key}")
            if kind.former_key:  # The document of the API leaves the former address out.
                hidden, former = view.as_view(schema=None), kind.former_key
                yield path(f"{where}/{former}/", hidden, name=f"report-{former}")
        keys = [kind.key for kind in kinds]
        nothing = _NoSuchReport.as_view(keys=keys)
        yield path(f"{where}/<slug:report>/", nothing, name=f"no-such-report-on-{plural}")


class _Described(NamedTuple):
    """The description of an address in the document of the API."""

    operation: str
    description: str
    answer: Any  # a serializer, or a type of the document


class _Made(NamedTuple, Generic[T]):
    """A result of a request, with the subject and the choices that it was made of."""

    subject: Dataset | Study
    choices: Any
    result: T


class _ReportView(APIView):
    """One report: the output of `manage.py report … --format json`, with the same choices."""

    kind: ReportKind[Any, Any]
    has_manifest = False

    def answer(self, request: Request, slug: str) -> Answer:
        if self.has_manifest:
            _, _, manifest = self._of(request, slug, self._manifest)
            return Answer(manifest)
        _, _, report = self._of(request, slug, self.kind.make)
        return Answer(report.as_json())

    def _manifest(self, subject: Any, choices: Any) -> dict[str, Any]:
        made = Made(self.kind, choices, self.kind.make(subject, choices))
        return manifest_of(subject, [made])

    def figure(self, request: Request, slug: str, format_key: str) -> HttpResponse:
        if format_key not in CONTENT_TYPES:
            formats = ", ".join(CONTENT_TYPES)
            raise NotFound(f"There is no such format. The formats are: {formats}.")
        drawn = partial(picture, self.kind, format_key=format_key)
        _, _, content = self._of(request, slug, drawn)
        name = f"{slug}-{self.kind.key}.{format_key}"
        return attachment(content, CONTENT_TYPES[format_key], name)

    def _of(self, request: Request, slug: str, make: Callable[[Any, Any], T]) -> _Made[T]:
        """Return what is made of the subject and the choices of a request, with these.

        Raises:
            ValidationError, NotFound, Conflict: it cannot be made.
        """
        kind, declared = self.kind, self.kind.choices
        subject = get_object_or_404(kind.about, slug=slug)
        refuse_unknown(request, [field.name for field in fields_of(declared)])
        given = given_in(declared, request.query_params)
        try:
            choices = kind.chosen(subject, given)
            return _Made(subject, choices, make(subject, choices))
        except ChoiceError as error:
            raise ValidationError({error.field: [str(error)]}) from error
        except CannotReport as error:
            raise NotFound(str(error)) from error
        except NotYet as error:
            raise Conflict(str(error)) from error


@extend_schema(exclude=True)
class _NoSuchReport(APIView):
    """The answer to a request for a report that does not exist."""

    keys: list[str] = []

    def get(self, request: Request, slug: str, report: str) -> Answer:
        raise NotFound(f"There is no report {report!r}. The reports are: {', '.join(self.keys)}.")


def _columns_said(declared: ReportKind[Any, Any]) -> str:
    """Return a text with the headings of the columns that tables show, by their names in rows."""
    columns = {name: each for row in declared.rows for name, each in columns_of(row).items()}
    said = ", ".join(f"`{name}` ({column.heading})" for name, column in columns.items())
    return f"Of rows, tables show {said}."


def _view_of(
    declared: ReportKind[Any, Any], plural: str, of_manifest: bool = False
) -> type[APIView]:
    """Return the view of one report or of its manifest, as the document of the API describes it."""
    of = _Described(
        f"{plural}_report_{declared.key}",
        f"{declared.lede} The same as `manage.py report {declared.key}`.\n\n"
        + _columns_said(declared),
        ReportSerializer,
    )
    if of_manifest:
        of = _Described(
            f"{plural}_manifest_{declared.key}",
            f"The manifest of the report {declared.key}. `manage.py reproduce` makes the report "
            "again from it and an export.",
            OpenApiTypes.OBJECT,
        )

    class ReportView(_ReportView):
        kind = declared
        has_manifest = of_manifest

        @extend_schema(
            operation_id=of.operation,
            description=of.description,
            parameters=[serializer_of(declared.choices)] if fields_of(declared.choices) else [],
            responses=of.answer,
        )
        def get(self, request: Request, slug: str) -> Answer:
            return self.answer(request, slug)

    return ReportView


def _figure_view_of(declared: ReportKind[Any, Any], plural: str) -> type[APIView]:
    """Return the view of the figure of one report, as the document of the API describes it."""
    format_key = OpenApiParameter(
        "format_key", str, OpenApiParameter.PATH, enum=list(CONTENT_TYPES), description="Format."
    )
    choices = [serializer_of(declared.choices)] if fields_of(declared.choices) else []

    class FigureView(_ReportView):
        kind = declared

        @extend_schema(
            operation_id=f"{plural}_figure_{declared.key}",
            description=f"The figure of the report {declared.key} as a file. "
            f"The same as `manage.py figure {declared.key}`.",
            parameters=[format_key, *choices],
            responses={(200, each): OpenApiTypes.BINARY for each in CONTENT_TYPES.values()},
        )
        def get(self, request: Request, slug: str, format_key: str) -> HttpResponse:
            return self.figure(request, slug, format_key)

    return FigureView
