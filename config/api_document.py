"""The document of the API (OpenAPI), and the subjects under which its page lists the addresses."""

import json
import re
from collections.abc import Iterator
from functools import cache, reduce
from itertools import groupby
from operator import or_
from typing import Any, NamedTuple

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from drf_spectacular.generators import SchemaGenerator
from markdown_it import MarkdownIt

PREFIX = "/api/v1/"
METHODS = ("get", "post", "patch", "put", "delete")

_MARKDOWN = MarkdownIt("commonmark", {"html": False})


class Input(NamedTuple):
    """A parameter of an address, or a field of what is sent to it."""

    name: str
    place: str  # path, query or body
    is_needed: bool
    about: SafeString
    choices: list[Any]
    default: str


class Operation(NamedTuple):
    """An operation: a method at an address. `sentence` and `more` describe it in HTML."""

    method: str
    address: str
    sentence: SafeString
    more: SafeString
    inputs: list[Input]


class Subject(NamedTuple):
    title: str
    operations: list[Operation]

    @property
    def anchor(self) -> str:
        return slugify(self.title)


class Document(SchemaGenerator):
    """The document, made once in each process: that takes seconds, and it never changes."""

    def get_schema(self, request: object = None, public: bool = True) -> dict[str, Any]:
        return _document()


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    return document


@cache
def subjects() -> list[Subject]:
    """Return every operation of the API by subject, in the order of their titles."""
    operations = sorted(_operations(_document()), key=lambda each: _subject_of(each.address))
    return [
        Subject(title, list(of_subject))
        for title, of_subject in groupby(operations, lambda each: _subject_of(each.address))
    ]


def _subject_of(address: str) -> str:
    """Return the title of a subject. Reports stand apart from their owner, and files from them."""
    owner, *rest = address.removeprefix(PREFIX).strip("/").split("/")
    if "reports" not in rest:
        return owner.capitalize()
    return f"Reports of {owner}" if len(rest) == 3 else f"Reports of {owner}: files"


def _operations(document: dict[str, Any]) -> Iterator[Operation]:
    for address, methods in document["paths"].items():
        for method in METHODS:
            if operation := methods.get(method):
                sentence, *more = re.split(r"(?<=[.!?])\s+", operation["description"], maxsplit=1)
                yield Operation(
                    method=method.upper(),
                    address=address,
                    sentence=mark_safe(_MARKDOWN.renderInline(sentence)),
                    more=mark_safe(_MARKDOWN.render("".join(more))),
                    inputs=[*_parameters(operation), *_fields(operation, document)],
                )


def _parameters(operation: dict[str, Any]) -> Iterator[Input]:
    for each in operation.get("parameters", []):
        is_needed = each.get("required", False)
        yield _input(each["name"], each["in"], is_needed, {**each["schema"], **each})


def _fields(operation: dict[str, Any], document: dict[str, Any]) -> Iterator[Input]:
    """Yield the fields of a request's body."""
    for content in operation.get("requestBody", {}).get("content", {}).values():
        body = _named(content["schema"], document)
        for name, field in body["properties"].items():
            kinds = [_named(kind, document) for kind in field.get("allOf", [])]
            schema = reduce(or_, [*kinds, field])
            yield _input(name, "body", name in body.get("required", []), schema)


def _named(reference: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that a reference names."""
    name = reference["$ref"].rpartition("/")[2]
    return document["components"]["schemas"][name]  # type: ignore[no-any-return]


def _input(name: str, place: str, is_needed: bool, schema: dict[str, Any]) -> Input:
    """Return an input. The list of choices that ends its description is left out of the text."""
    about = schema.get("description", "").partition("* `")[0].strip()
    default = schema.get("default", "")
    return Input(
        name=name,
        place=place,
        is_needed=is_needed,
        about=mark_safe(_MARKDOWN.renderInline(about)),
        choices=[each for each in schema.get("enum", []) if each not in ("", None)],
        default=default if isinstance(default, str) else json.dumps(default),
    )
