"""The differences of a passage that comes again, in words that can be found in the file."""

import hashlib

from generation.importers.errors import excerpt
from generation.importers.fields import NOTHING
from generation.models import Passage
from generation.records import CollectionPassageRecord, PassageRecord

FIELDS = ("text", "title", "url")
_N_HASH = 8  # bytes for each field
_N_BEFORE = 20  # characters that are shown before the first difference

AnyPassage = Passage | PassageRecord | CollectionPassageRecord


def passage_content(passage: AnyPassage) -> bytes:
    """Return a hash per field, which shows whether a passage has changed, and in which field."""
    return b"".join(
        hashlib.blake2b(getattr(passage, field).encode(), digest_size=_N_HASH).digest()
        for field in FIELDS
    )


def said_of_passage(
    content_before: bytes, passage: AnyPassage, before: Passage | None
) -> tuple[str, str]:
    """Return the new values of the fields that have changed, and their values before.

    Args:
        before: the passage as it is stored; None when an earlier row brought it, because then only
            its hashes are known.
    """
    content = passage_content(passage)
    changed = [
        field
        for place, field in enumerate(FIELDS)
        if _of_field(content, place) != _of_field(content_before, place)
    ]
    if before is None:
        found = [f"{field} {_shown(getattr(passage, field))}" for field in changed]
        return ", ".join(found), f"the {' and '.join(changed)} that an earlier row has for this id"
    found, expected = [], []
    for field in changed:
        now, then = getattr(passage, field), getattr(before, field)
        begin = max(0, _n_alike(now, then) - _N_BEFORE)
        found.append(f"{field} {_shown(now, begin)}")
        expected.append(f"{field} {_shown(then, begin)}")
    return ", ".join(found), f"{', '.join(expected)}, as stored"


def _of_field(content: bytes, place: int) -> bytes:
    return content[place * _N_HASH : (place + 1) * _N_HASH]


def _n_alike(text: str, other: str) -> int:
    """Return the number of characters with which both texts begin."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((n for n, (one, another) in pairs if one != another), min(len(text), len(other)))


def _shown(text: str, begin: int = 0) -> str:
    if not text:
        return NOTHING
    return excerpt(f"…{text[begin:]}" if begin else text)
