"""Answers of SPARQL endpoints in JSON (SPARQL 1.1 Query Results JSON Format), read strictly."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from generation.importers.errors import excerpt
from generation.importers.json_text import JSONTrouble, parse_json

_DEEPEST = 10  # levels of brackets in an answer
_PARTIAL = 206  # status of a part of an answer
_CUT = "S1TAT"  # the state in which Virtuoso answers with the rows that it has found in time
_PAGE = (b"<!doctype html", b"<html")


class Term(NamedTuple):
    """The value of a variable in an answer."""

    kind: str  # 'uri', 'literal' or 'bnode'
    value: str
    datatype: str = ""
    language: str = ""


Row = Mapping[str, Term]  # keys are variables; one without a value is missing


def cut_by(status: int, headers: Mapping[str, str]) -> str:
    """Return why an answer with this status and these headers lacks rows; "" if it is whole."""
    is_cut = headers.get("X-SQL-State", "").strip().upper() == _CUT
    if not is_cut and status != _PARTIAL:
        return ""
    said = headers.get("X-SQL-Message", "").strip()
    return f"it answered with a part of the rows{': ' * bool(said)}{said and excerpt(said)}"


def most_rows_by(headers: Mapping[str, str]) -> int | None:
    """Return the number of rows at which an endpoint cuts its answers; None if it names none."""
    said = headers.get("X-SPARQL-MaxRows", "").strip()
    return int(said[:18]) if said.isdecimal() else None


def is_page(beginning: bytes) -> bool:
    """Return whether an answer that begins so is a web page."""
    return beginning.lstrip().lower().startswith(_PAGE)


def rows_of(body: bytes, variables: Collection[str]) -> list[Row]:
    """Return the rows of an answer to a SELECT query.

    Raises:
        JSONTrouble: it is no such answer, or a row lacks a variable; the message says where.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise JSONTrouble(
            f"bytes that are not UTF-8, at byte {error.start + 1:,}", "JSON"
        ) from error
    if text.lstrip()[:1] == "<":
        raise JSONTrouble(f"a page: {excerpt(text)}", "JSON. Is this the address of an endpoint?")
    answer = parse_json(text, _DEEPEST)
    results = answer.get("results") if isinstance(answer, dict) else None
    bindings = results.get("bindings") if isinstance(results, dict) else None
    if not isinstance(bindings, list):
        found = excerpt(answer)
        raise JSONTrouble(found, "results of a SELECT: {'results': {'bindings': […]}}")
    return [_row(binding, variables, n) for n, binding in enumerate(bindings)]


def _row(binding: object, variables: Collection[str], number: int) -> Row:
    where = f"results.bindings[{number}]"
    if not isinstance(binding, dict):
        raise JSONTrouble(f"{excerpt(binding)} at {where}", "an object")
    if lacking := [variable for variable in variables if variable not in binding]:
        raise JSONTrouble(f"no ?{lacking[0]} at {where}", "one in each row")
    return {name: _term(term, f"{where}.{name}") for name, term in binding.items()}


def _term(term: object, where: str) -> Term:
    parts = term if isinstance(term, dict) else {}
    kind, value = parts.get("type"), parts.get("value")
    kind = "literal" if kind == "typed-literal" else kind
    datatype, language = parts.get("datatype", ""), parts.get("xml:lang", "")
    are_texts = all(isinstance(part, str) for part in (value, datatype, language))
    if kind not in ("uri", "literal", "bnode") or not are_texts:
        found = f"{excerpt(term)} at {where}"
        raise JSONTrouble(found, "{'type': 'uri', 'literal' or 'bnode', 'value': a text}")
    return Term(str(kind), str(value), datatype, language)
