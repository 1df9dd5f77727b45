"""The replies of a language model, as a score keeps them."""

from collections.abc import Sequence
from typing import Any

LONGEST_REPLY = 500  # characters of a reply that are stored
LONGEST_REASONING = 5_000  # characters of what a model thought before it


def storable_reply(text: str, longest: int = LONGEST_REPLY) -> str:
    """Return a reply as it is stored."""
    return text.replace("\0", "")[:longest]  # PostgreSQL stores no NUL


def replies_said(replies: Sequence[str], reasoning: Sequence[str]) -> dict[str, Any]:
    """Return replies for the details of a score, with what the model thought, if it did."""
    thoughts = [storable_reply(each, LONGEST_REASONING) for each in reasoning]
    return {"replies": list(replies), **({"reasoning": thoughts} if any(thoughts) else {})}
