"""The text that a value says, by one rule for every reader.

A text may also be a number or yes/no of JSON, the parts of a content, a message, or the whole
answer of a model, as OpenAI, Anthropic, Gemini, LangChain and ShareGPT write them. What in them is
no text is named, so that it can be counted: images, thoughts, calls of tools.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from generation.importers.mapped.roles import plain_name

Note = Callable[[str], None]

SPEAKERS = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "gpt"), "assistant"),
}
OF_THE_SYSTEM = ("system", "developer")
NOT_SAID = (*OF_THE_SYSTEM, "tool", "function")  # messages that raters do not see
CONTENTS = ("content", "parts", "value", "text", "refusal")  # names of what a message says
PARTS = "parts of messages that are no text, as images"
THOUGHTS = "parts of messages in which a model thinks"
TOOLS = "calls of tools and their answers, in messages"
CHOICES = "further answers of a model to one request, of which the first counts"
LEFT_OUT = (PARTS, THOUGHTS, TOOLS, CHOICES)
_OF_A_TEXT = {*CONTENTS, "choices", "candidates", "message", "role", "from", "type", "lc", "kwargs"}
_THINKS = ("thinking", "redacted_thinking", "reasoning", "thought")
_CALLS = ("tool", "function", "executable_code", "code_execution", "server_tool")
_ENDS_OF_CALLS = ("_call", "_result", "_output", "_response")
_WITHOUT_A_TYPE = {
    **dict.fromkeys(("inline_data", "file_data"), PARTS),
    **dict.fromkeys(("function_call", "function_response"), TOOLS),
    **dict.fromkeys(("executable_code", "code_execution_result"), TOOLS),
}
_LONGEST_NAME = 40  # characters of a field's name that is compared


def field(value: Mapping[str, Any], *names: str) -> Any:
    """Return what the first of some fields holds, in any spelling: `pageContent`. None: nothing."""
    for name in names:
        if value.get(name) is not None:
            return value[name]
    for name in names:
        for key, each in value.items():
            if each is not None and len(key) <= _LONGEST_NAME and _spelt(key) == name:
                return each
    return None


@lru_cache(maxsize=4096)
def _spelt(short_name: str) -> str:
    return plain_name(short_name)


def scalar_text(value: Any) -> str | None:
    """Return a text, or a number or yes/no as JSON writes it. None: it is something else."""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return value if isinstance(value, str) else None


def text_in(value: Any, note: Note) -> str | None:
    """Return the text that a value says. None: it has no known shape.

    Several texts in a list are no text, as they may be different answers.

    Args:
        note: called with the name of each thing that is no text, one of `LEFT_OUT`.
    """
    if isinstance(value, list):
        if value and all(map(_is_choice, value)):
            return _first(value, note)
        is_plain = len(value) > 1 and any(not isinstance(each, dict) for each in value)
        return None if is_plain or not value else _joined(value, note)
    return _text_of(value, note) if isinstance(value, dict) else scalar_text(value)


def content_in(value: Any, note: Note) -> str | None:
    """Return the text of the content of a message, "" if there is none. None: no known shape."""
    if value is None:
        return ""
    return _joined(value, note) if isinstance(value, list) else text_in(value, note)


def role_of(message: Mapping[str, Any]) -> Any:
    """Return who speaks in a message, in small letters. None: it does not say."""
    role = field(message, "role", "from")
    if role is None:
        role = field(message, "type")
    return role.lower() if isinstance(role, str) else role


def is_message(value: Any) -> bool:
    """Return whether a value is an object that names a speaker and what is said."""
    if not isinstance(value, dict):
        return False
    message = unwrapped(value)
    role = role_of(message)
    if isinstance(role, str) and role in (*SPEAKERS, *NOT_SAID):
        return True
    is_told = field(message, "role", "from") is not None
    return is_told and field(message, *CONTENTS) is not None


def are_messages(value: Any) -> bool:
    """Return whether a value is a list of messages."""
    return isinstance(value, list) and bool(value) and all(map(is_message, value))


def last_speaker(value: Any) -> str | None:
    """Return who speaks last in a list of messages: `user` or `assistant`. None: another."""
    role = role_of(unwrapped(value[-1])) if are_messages(value) else None
    return SPEAKERS.get(role) if isinstance(role, str) else None


def unwrapped(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message without what LangChain puts around it."""
    inside = message.get("kwargs" if "lc" in message else "data")
    if not isinstance(inside, dict):
        return message
    names = message.get("id")
    kind = names[-1] if isinstance(names, list) and names else message.get("type")
    kind = str(kind).removesuffix("Chunk").removesuffix("Message").lower()
    return {"type": kind, **inside} if kind in (*SPEAKERS, *NOT_SAID) else message


def unsaid(value: Any) -> dict[str, Any]:
    """Return the fields of an object beside its text, as the number of tokens that it took."""
    if not isinstance(value, dict):
        return {}
    return {name: each for name, each in value.items() if name not in _OF_A_TEXT}


def _text_of(value: Mapping[str, Any], note: Note) -> str | None:
    """Return the text of an object: a message, a part of one, or a model's answer to a request."""
    for several in ("choices", "candidates"):
        answers = value.get(several)
        if isinstance(answers, list) and answers:
            return _first(answers, note)
    if isinstance(value.get("output"), list) and value.get("object") == "response":
        return _joined(value["output"], note)
    if isinstance(value.get("message"), dict):
        return _text_of(value["message"], note)
    value = unwrapped(value)
    if isinstance(value.get("value"), str) and field(value, "from", "annotations") is not None:
        return str(value["value"])
    if (content := field(value, "content", "parts")) is not None:
        return content_in(content, note)
    if (text := field(value, "text", "refusal")) is not None:
        return text_in(text, note)
    return "" if is_message(value) else None


def _is_choice(value: Any) -> bool:
    """Return whether a value is one of the answers that a model gave to one request."""
    return isinstance(value, dict) and (
        isinstance(value.get("message"), dict) or "finish_reason" in value
    )


def _first(answers: list[Any], note: Note) -> str | None:
    for _ in answers[1:]:
        note(CHOICES)
    return content_in(answers[0], note)


def _joined(parts: list[Any], note: Note) -> str | None:
    """Return the texts of the parts of a content, with line breaks between them."""
    texts: list[str] = []
    for part in parts:
        text = _part(part, note)
        if text is None:
            return None
        texts.append(text)
    return "\n".join(filter(None, texts))


def _part(part: Any, note: Note) -> str | None:
    """Return the text of one part. "": it is no text, which is noted. None: no known shape."""
    if not isinstance(part, dict):
        return scalar_text(part)
    kind = part.get("type")
    kind = _spelt(kind[:_LONGEST_NAME]) if isinstance(kind, str) else ""
    if kind in _THINKS or part.get("thought") is True:
        note(THOUGHTS)
        return ""
    if kind.startswith(_CALLS) or kind.endswith(_ENDS_OF_CALLS):
        note(TOOLS)
        return ""
    if (text := _text_of(part, note)) is not None:
        return text
    names = (_spelt(key) for key in part if len(key) <= _LONGEST_NAME)
    what = next((_WITHOUT_A_TYPE[name] for name in names if name in _WITHOUT_A_TYPE), None)
    if what is None and kind:
        what = PARTS
    if what is None:
        return None
    note(what)
    return ""
