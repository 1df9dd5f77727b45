"""Helpers to store rows of any kind: the digests of records, and the keys that exist already."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet

from generation.batches import lots
from generation.models import Dataset, Example, Response
from generation.records import (
    EntityRecord,
    ExampleRecord,
    KGQuestionRecord,
    ResponseRecord,
    SetupRecord,
)

MOST_KEYS = 10_000  # keys in one statement; SQLite accepts 32,766 by default
Keyed = TypeVar("Keyed", ExampleRecord, ResponseRecord, KGQuestionRecord)


def digest(content: object) -> str:
    """Return a short hash of a record's content, wherever the record was in its file."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def record_digest(record: ExampleRecord | ResponseRecord | EntityRecord | KGQuestionRecord) -> str:
    """Return the digest of a record without its place in the file (the first field)."""
    # What a setup was made with becomes known when it is used, and may be missing in a file.
    parts = [part[:-1] if isinstance(part, SetupRecord) else part for part in record[1:]]
    if isinstance(record, ResponseRecord) and not record.chosen_from:
        parts.pop()  # not part of the digest of a response that was not chosen
    if isinstance(record, KGQuestionRecord):
        parts.pop()  # whether it is ad hoc is not part of its content
        if not record.is_minimum_made_up:
            parts.pop()  # part of the digest only if the set is made up
    return digest(parts)


def ids_by_key(rows: QuerySet[Any], keys: Iterable[str]) -> dict[str, int]:
    """Return the ids of those rows that exist, by their keys."""
    found: dict[str, int] = {}
    for some in in_lots(keys):
        found |= rows.filter(key__in=some).values_list("key", "pk")
    return found


def in_lots(keys: Iterable[str]) -> Iterator[list[str]]:
    """Return different keys in lots of `MOST_KEYS`.

    One batch may name hundreds of thousands of passages, which is more than one statement can ask
    for.
    """
    return lots(sorted(set(keys)), MOST_KEYS)


def missing(
    model: type[Example] | type[Response], dataset: Dataset, records: Sequence[Keyed]
) -> list[Keyed]:
    """Return the records whose key the dataset does not have."""
    keys = [record.key for record in records]
    known = set(model.objects.filter(dataset=dataset, key__in=keys).values_list("key", flat=True))
    return [record for record in records if record.key not in known]
