"""Shared parts of the API: pages, filters, and additions to its OpenAPI document."""

from collections.abc import Collection, Iterable
from typing import Any, cast

from django.db.models import Model, QuerySet
from django.forms import IntegerField
from django.http import Http404, HttpRequest
from django_filters import rest_framework as filters
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.pagination import CursorPagination, LimitOffsetPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler
from rest_framework.viewsets import GenericViewSet

from accounts.authentication import SCHEME, BearerAuthentication
from accounts.models import User

ROWS_PER_PAGE = 100
MOST_ROWS = 500
LONGEST_ID = 20  # digits; ids are shorter
MOST_OFFSET = 1_000_000


def who(request: Request) -> User:
    """Return the person who asks."""
    return cast(User, request.user)  # `IsResearcher` has checked that it is a `User`


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The description of tokens in the OpenAPI document."""

    target_class = BearerAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": SCHEME.lower()}


class Pages(LimitOffsetPagination):
    """Pages of a short list: an answer states the list's length, and may begin at any place."""

    default_limit = ROWS_PER_PAGE
    max_limit = MOST_ROWS
    parameters = ("limit", "offset")

    def get_offset(self, request: Request) -> int:
        return min(super().get_offset(request), MOST_OFFSET)


class LongPages(CursorPagination):
    """Pages of a long list: each costs the same, wherever it is. Follow `next` for all rows."""

    page_size = ROWS_PER_PAGE
    page_size_query_param = "limit"
    max_page_size = MOST_ROWS
    ordering = "pk"
    parameters = ("limit", "cursor")
    invalid_cursor_message = "There is no such cursor. Take it from `next` of an earlier answer."

    def decode_cursor(self, request: Request) -> Any:
        cursor = super().decode_cursor(request)
        if cursor and cursor.position is not None and not _is_id(str(cursor.position)):
            raise NotFound(self.invalid_cursor_message)
        return cursor


def _is_id(text: str) -> bool:
    return text.isdecimal() and len(text) < LONGEST_ID


class KnownFilters(filters.DjangoFilterBackend):  # type: ignore[misc] # no types
    """The filters of a list. A parameter that no filter knows is an error: it is not ignored."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: Any) -> Any:
        filterset_class = self.get_filterset_class(view, queryset)
        filters_here = filterset_class.base_filters if filterset_class else ()
        refuse_unknown(request, [*filters_here, *view.page_parameters])
        return super().filter_queryset(request, queryset, view)


class _OfNamed:
    """A filter that keeps the rows of a named object. An unknown name is an error, not 'no rows'.

    Args:
        field_name: the field by which a row refers to the object.
        model: the model of the object.
        by: the field of this model that holds the name.
    """

    def __init__(self, field_name: str, model: type[Model], by: str = "pk", **more: Any) -> None:
        super().__init__(field_name=field_name, **more)  # type: ignore[call-arg]
        self.field_name, self.named, self.by = field_name, model, by

    def filter(self, rows: QuerySet[Any], value: str | int | None) -> QuerySet[Any]:
        if value in (None, ""):
            return rows
        # With ids instead of a subquery, the database knows how few they are.
        named = self.named._default_manager.filter(**{self.by: value})
        found = list(named.order_by().values_list("pk", flat=True))
        if not found:
            raise ValidationError({self._parameter: [f"There is no {self._what} {value!r}."]})
        return rows.filter(**{f"{self.field_name}__in": found})

    @property
    def _what(self) -> str:
        return str(self.named._meta.verbose_name)

    @property
    def _parameter(self) -> str:
        filters_here: dict[str, object] = self.parent.filters  # type: ignore[attr-defined]
        return next(name for name, each in filters_here.items() if each is self)


class NameFilter(_OfNamed, filters.CharFilter):  # type: ignore[misc] # no types
    """A filter by a name, slug or key."""


class IdFilter(_OfNamed, filters.NumberFilter):  # type: ignore[misc] # no types
    """A filter by an id."""

    field_class = IntegerField


class StrictSerializer(serializers.Serializer[Any]):
    """A serializer that refuses unknown fields, so that a misspelt choice is not ignored."""

    def to_internal_value(self, data: Any) -> Any:
        if type(data) is dict:
            self.refuse_unknown(data)
        return super().to_internal_value(data)

    def refuse_unknown(self, names: Iterable[str]) -> None:
        """Raise a ValidationError if one of these names is no field."""
        unknown = [name for name in names if name not in self.fields]
        if unknown:
            message = f"There is no such field. The fields are: {', '.join(self.fields)}."
            raise ValidationError({name: [message] for name in unknown})


class NameField(serializers.SlugRelatedField[Any]):
    """A field that names an object by its slug, such as a study or a dataset.

    Args:
        model: the model of the object.
        by: the field of this model that holds the name.
    """

    def __init__(self, model: type[Model], by: str = "slug", **more: Any) -> None:
        what = model._meta.verbose_name
        usual = {
            "queryset": model._default_manager.all(),
            "help_text": f"{by.capitalize()} of a {what}.",
            "error_messages": {"does_not_exist": f"There is no {what} {{value!r}}."},
        }
        super().__init__(slug_field=by, **{**usual, **more})


class Listed(ListModelMixin, GenericViewSet[Any]):
    """A list that is read page by page."""

    filter_backends = [KnownFilters]
    pagination_class: type[Pages | LongPages] = Pages

    @property
    def page_parameters(self) -> tuple[str, ...]:
        return self.pagination_class.parameters


class Readable(RetrieveModelMixin, Listed):
    """A list that is read page by page, or one row at a time."""


class Conflict(APIException):
    """A request that conflicts with the current state of an object."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class NoSuchAddress(APIView):
    """The answer for unknown addresses of the API: JSON, like every refusal."""

    schema = None

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        raise NotFound("There is no such address. Addresses end in a slash; /api/ lists them.")


def refused_as_json(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer a refusal with JSON, whatever format the view's other answers have."""
    request = context["request"]
    request.accepted_renderer = JSONRenderer()
    request.accepted_media_type = JSONRenderer.media_type
    if isinstance(error, Http404):  # its own text names a class of the code
        error = NotFound("There is nothing at this address. Check its names and numbers.")
    return exception_handler(error, context)


def refuse_unknown(request: Request, known: Collection[str]) -> None:
    """Refuse unknown parameters: the caller expects an effect, and they would have none."""
    there = f"The parameters are: {', '.join(known)}." if known else "There are none here."
    unknown = {
        name: [f"There is no such parameter. {there}"]
        for name in request.query_params
        if name not in known
    }
    if unknown:
        raise ValidationError(unknown)


def document_errors(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Add the form of a refusal to every operation of the OpenAPI document."""
    refusal = {
        "description": "Refused: `detail` says why, or each parameter or field what is wrong.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
    for path in result["paths"].values():
        for operation in path.values():
            operation["responses"]["4XX"] = refusal
    return result
