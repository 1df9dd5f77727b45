"""The sources of imported responses that were chosen from other responses.

A source is a response to the same example with the same text. Its scores and votes also count for
the chosen response, so anything else would give a false figure.
"""

from collections.abc import Iterable, Mapping

from generation.importers.errors import excerpt
from generation.importers.seen_keys import SeenKeys, is_content
from generation.models import Dataset
from generation.records import Problem, Record, ResponseRecord
from generation.services.record_keys import digest, in_lots

NO_SOURCE = ""  # content of rows that cannot be a source


def source_of(row: Record) -> str:
    """Return a row's example and text as a source; a response that was chosen itself is none."""
    if isinstance(row, ResponseRecord) and not row.chosen_from:
        return _content(row.example, row.text)
    return NO_SOURCE


def known_sources(
    dataset: Dataset | None, seen: SeenKeys, rows: Iterable[Record]
) -> dict[str, str | bytes]:
    """Return the sources that a batch names, by key: those that are stored or came earlier."""
    keys = {row.chosen_from for row in rows if isinstance(row, ResponseRecord) and row.chosen_from}
    met = seen.contents(f"response\0{key}" for key in keys)
    known: dict[str, str | bytes] = {key.split("\0", 1)[1]: found for key, found in met.items()}
    if dataset is None:
        return known
    for some in in_lots(keys - known.keys()):
        stored = dataset.responses.filter(key__in=some, chosen_from=None)
        columns = stored.values_list("key", "example__key", "text")
        known |= {key: _content(example, text) for key, example, text in columns}
    return known


def unknown_source(row: Record, sources: Mapping[str, str | bytes]) -> Problem | None:
    """Return the problem of a response whose source is unknown, or does not match it."""
    if not isinstance(row, ResponseRecord) or not row.chosen_from:
        return None
    found = sources.get(row.chosen_from)
    content = _content(row.example, row.text)
    if found == content or (isinstance(found, bytes) and is_content(found, content)):
        return None
    expected = (
        "the id of a response to the same example with the same text, stored or standing before "
        "this one, and not chosen itself"
    )
    return Problem(row.where, "chosen_from", excerpt(row.chosen_from), expected)


def _content(example: str, text: str) -> str:
    return digest([example, text])
