"""The input or output of a traced call, as text or JSON: messages, a text, documents."""

import json
from typing import Any

from generation.importers.json_text import JSONTrouble, parse_row
from generation.importers.limits import Limits
from generation.importers.mapped.cells import TEXTS

EMPTY: tuple[Any, ...] = (None, "", [], {})

Message = dict[str, Any]


def question_in(payload: str) -> str | list[Message]:
    """Return the messages or the text of an input. It is empty if the input says nothing."""
    said = _said(payload)
    return said if isinstance(said, list) else _text(said)


def answer_in(payload: str) -> str:
    """Return the text of an output, or of its last message. "": it says nothing."""
    said = _said(payload)
    return said[-1]["content"] if isinstance(said, list) else _text(said)


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
    text = next((value[name] for name in (*TEXTS, "pageContent") if name in value), None)
    return {"text": text, "title": value.get("title")} if text and isinstance(text, str) else None


def _said(payload: str) -> Any:
    """Return a list of messages, or the other content.

    An object or a list with only one thing in it counts as that thing.
    """
    value = _parsed(payload)
    while True:
        if isinstance(value, dict) and _are_messages(value.get("messages")):
            value = value["messages"]
        if _are_messages(value) or _are_messages([value]):
            messages = value if isinstance(value, list) else [value]
            return [
                {"role": each.get("role", each.get("type")), "content": _content(each["content"])}
                for each in messages
            ]
        inside = list(value.values()) if isinstance(value, dict) else value
        filled = [each for each in inside if each not in EMPTY] if isinstance(inside, list) else []
        if len(filled) != 1:
            return value
        value = filled[0]


def _are_messages(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(each, dict) and "content" in each and {"role", "type"} & each.keys()
            for each in value
        )
    )


def _content(content: Any) -> str:
    """Return the text of a message. If it has parts, those that are texts are joined."""
    if not isinstance(content, list):
        return _text(content)
    texts = [each.get("text") if isinstance(each, dict) else each for each in content]
    return "\n".join(text for text in texts if isinstance(text, str))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value if value.strip() else ""
    return "" if value in EMPTY else json.dumps(value, ensure_ascii=False)


def _parsed(payload: str) -> Any:
    if payload.lstrip()[:1] not in ("{", "["):
        return payload
    try:
        return parse_row(payload, Limits().max_nesting)
    except JSONTrouble:
        return payload
