"""WiCE: claims of Wikipedia with the sentences of a cited page (claim level, JSON Lines).

A claim is a response. The page's sentences together are its evidence, and the sentences that
support it (the first set of them) are its golden evidence. The label is the vote of the rater
`published`: yes only for `supported`. It stays in `meta` as `published_label`.
"""

from collections.abc import Iterator
from typing import Any

from generation.importers.fields import Row
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source
from generation.importers.tables import json_rows
from generation.records import Problem

_KEYS = (b'"supporting_sentences"', b'"claim"', b'"evidence"')


def recognises(source: Source, name: str) -> bool:
    """Return whether this is a file of claims with their supporting sentences."""
    first = source.head(name, 1 << 20).partition(b"\n")[0]
    return all(key in first for key in _KEYS)


def rows(source: Source, name: str, left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each claim."""
    for row in json_rows(source, name):
        if isinstance(row, Problem):
            yield row
            continue
        sentences = row.required_list("evidence", "sentences")
        if not all(isinstance(each, str) for each in sentences):
            row.refuse("evidence", "something other than texts", "a list of sentences")
        support = _first_set(row, len(sentences))
        if row.problems:
            yield from row.problems
            continue
        meta = row.values.get("meta")
        about = meta if isinstance(meta, dict) else {}
        yield Row(
            row.where,
            {
                "claim": row.values.get("claim"),
                "evidence": "\n".join(sentences),
                "support": "\n".join(sentences[place] for place in support),
                "label": row.values.get("label"),
                "published_label": row.values.get("label"),
                "id": about.get("id"),
                "page": about.get("claim_title"),
                "section": about.get("claim_section"),
            },
        )


def _first_set(row: Row, n_sentences: int) -> list[int]:
    sets = row.optional_list("supporting_sentences", "sets of places") or [[]]
    first: Any = sets[0]
    if isinstance(first, list) and all(
        type(place) is int and 0 <= place < n_sentences for place in first
    ):
        return first
    row.refuse(
        "supporting_sentences",
        repr(first)[:80],
        f"numbers of sentences, from 0 to {n_sentences - 1}",
    )
    return []
