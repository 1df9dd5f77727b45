"""The input or output of a traced call, as text or JSON: messages, a text, documents."""

import json
from collections.abc import Mapping
from typing import Any

from generation.importers.mapped.cells import TEXTS
from generation.importers.mapped.encoded_texts import as_json
from generation.importers.messages import (
    CONTENTS,
    are_messages,
    content_in,
    field,
    role_of,
    text_in,
    unwrapped,
)

EMPTY: tuple[Any, ...] = (None, "", [], {})

Message = dict[str, Any]


def question_in(payload: str) -> str | list[Message]:
    """Return the messages or the text of an input. It is empty if the input says nothing."""
    said = _said(payload)
    return said if isinstance(said, list) else _text(said)


def answer_in(payload: str) -> str | Message:
    """Return the text of an output, or its last message. "": it says nothing."""
    said = _said(payload)
    if not isinstance(said, list):
        return _text(said)
    return said[-1] if text_in(said[-1], lambda what: None) else ""


def documents_in(payload: str) -> tuple[list[str | Message], int]:
    """Return the documents that an output lists, and how many of its items have no text."""
    found = _parsed(payload) if payload.strip() else []
    if isinstance(found, dict) and isinstance(found.get("documents"), list):
        found = found["documents"]
    listed = found if isinstance(found, list) else [found]
    documents = [document for each in listed if (document := _document(each))]
    return documents, len(listed) - len(documents)


def _document(value: Any) -> str | Message | None:
    """Return a text, or an object with `text` and perhaps `title`. None: there is no text."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) and value.strip() else None
    text = text_in(field(value, *TEXTS), lambda what: None)
    return {"text": text, "title": value.get("title")} if text and text.strip() else None


def _said(payload: str) -> Any:
    """Return a list of messages, or the other content.

    An object or a list with only one thing in it counts as that thing.
    """
    value = _parsed(payload)
    while True:
        if isinstance(value, dict) and are_messages(value.get("messages")):
            value = value["messages"]
        messages = value if isinstance(value, list) else [value]
        if are_messages(messages):
            return [_message(unwrapped(each)) for each in messages]
        inside = list(value.values()) if isinstance(value, dict) else value
        filled = [each for each in inside if each not in EMPTY] if isinstance(inside, list) else []
        if len(filled) != 1:
            return value
        value = filled[0]


def _message(message: Mapping[str, Any]) -> Message:
    """Return a message. A content of no known shape is shown as JSON."""
    content = field(message, *CONTENTS)
    is_known = content_in(content, lambda what: None) is not None
    return {"role": role_of(message), "content": content if is_known else _text(content)}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value if value.strip() else ""
    return "" if value in EMPTY else json.dumps(value, ensure_ascii=False)


def _parsed(payload: str) -> Any:
    if payload.strip() == "null":
        return None
    value = as_json(payload) if payload.lstrip()[:1] in ("{", "[") else None
    return payload if value is None else value
