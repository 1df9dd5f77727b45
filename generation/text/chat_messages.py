"""Messages of a chat: what they are, and the forms in which they are stored and sent."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Role = Literal["system", "user", "assistant"]
BETWEEN = "\n\n"  # between the texts that one message holds


class Message(NamedTuple):
    """One message of a chat."""

    role: Role
    text: str


def joined(messages: Iterable[Message]) -> list[Message]:
    """Return messages of which no two in a row have one role."""
    kept: list[Message] = []
    for message in messages:
        if kept and kept[-1].role == message.role:
            texts = filter(None, [kept.pop().text, message.text])
            message = Message(message.role, BETWEEN.join(texts))
        kept.append(message)
    return kept


def alternating(messages: Sequence[Message]) -> list[Message]:
    """Return messages that begin with the user's and then take turns, after a system message.

    A chat that begins with the assistant's message gets an empty one of the user before it.
    """
    system = [message for message in messages if message.role == "system"]
    turns = joined(message for message in messages if message.role != "system")
    if turns and turns[0].role == "assistant":
        turns.insert(0, Message("user", ""))
    return [*system, *turns]


def without_system(messages: Sequence[Message]) -> list[Message]:
    """Return messages whose system message opens the first message of the user instead.

    Where the assistant's message comes first, the system's text is a user's message before it.
    """
    if not messages or messages[0].role != "system":
        return list(messages)
    system, *others = messages
    if others and others[0].role == "user":
        opened = BETWEEN.join([system.text, others.pop(0).text])
        return [Message("user", opened), *others]
    return [Message("user", system.text), *others]


def as_protocol(messages: Iterable[Message]) -> list[dict[str, str]]:
    """Return messages as chat templates and servers take them."""
    return [{"role": message.role, "content": message.text} for message in messages]


def as_json(messages: Iterable[Message]) -> str:
    """Return messages as calls store them: the reverse of `read_messages`."""
    return json.dumps(as_protocol(messages), ensure_ascii=False)


def read_messages(text: str) -> tuple[Message, ...] | None:
    """Return the messages that a prompt's text holds; None if it is no chat."""
    if not text.startswith('[{"role"'):
        return None
    try:
        found: Sequence[Mapping[str, Any]] = json.loads(text)
        return tuple(Message(each["role"], str(each["content"])) for each in found)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
