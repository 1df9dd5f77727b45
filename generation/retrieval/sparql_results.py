"""Answers of SPARQL endpoints in JSON (SPARQL 1.1 Query Results JSON Format), read strictly."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from generation.importers.errors import excerpt
from generation.importers.json_text import JSONTrouble, parse_json

_DEEPEST = 10  # levels of brackets in an answer


class Term(NamedTuple):
    """The value of a variable in an answer."""

    kind: str  # 'uri', 'literal' or 'bnode'
    value: str
    datatype: str = ""
    language: str = ""


Row = Mapping[str, Term]  # keys are variables; one without a value is missing


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
