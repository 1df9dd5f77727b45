"""The contents of votes and scores, by which a repeat of a stored row is told from a change."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from generation.records import RaterRecord, Record, VoteRecord

IMPLIED = "implied"  # how the content of an implied vote begins


def vote_content(
    answer: int | None,
    is_implied: bool,
    position: int | None,
    seconds: float | None,
    at: datetime | None,
) -> str:
    """Return what distinguishes a repeat of a vote from a change."""
    said = repr((answer, position, seconds, at and at.astimezone(UTC)))
    return f"{IMPLIED} {said}" if is_implied else said


def answer_in(content: bytes) -> int | None:
    """Return the answer in the content of a vote. None: it has none."""
    found = re.match(rf"(?:{IMPLIED} )?\((\d+),", content.decode())
    return int(found[1]) if found else None


def may_change(row: Record, stored: str | bytes) -> bool:
    """Return whether a row may change what is stored: facts of raters, a no that was implied."""
    if isinstance(row, VoteRecord):
        is_implied = isinstance(stored, bytes) and stored.startswith(IMPLIED.encode())
        return is_implied and not row.is_implied
    return isinstance(row, RaterRecord)


def score_content(
    score: float | None,
    is_assumed: bool,
    problem: str,
    n_truncated: int,
    details: Mapping[str, Any],
) -> str:
    """Return what distinguishes a repeat of a score from a change."""
    said = json.dumps(details, sort_keys=True)  # databases order keys differently
    return repr((score, is_assumed, problem, n_truncated, said))
