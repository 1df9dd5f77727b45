"""Entries from which questions about two people are made (KaLMA, 2.2).

An entry is a short paragraph and a triple found in it: <William Shakespeare, spouse, Anne
Hathaway>. A file holds `paragraph`, `name_1`, `relation` and `name_2`. It is CSV or plain TSV with
these columns, or has one JSON object per line.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from generation.importers.errors import DatasetError
from generation.importers.fields import Row
from generation.importers.limits import Limits
from generation.importers.sources import DATA_SUFFIXES, Source, plain_name
from generation.importers.tables import csv_rows, json_rows, tsv_rows
from generation.limits import LONGEST_ENTITY_NAME
from generation.records import Problem, Where

COLUMNS = ("paragraph", "name_1", "relation", "name_2")
LIMITS = Limits(max_bytes=256 * 1024**2, max_line_bytes=1024**2, max_rows=20_000)
LONGEST_PARAGRAPH = 10_000  # characters; a model also reads two sub-graphs
LONGEST_RELATION = 300

_ONE_FILE = "one CSV, TSV or JSON Lines file"


class EntryRecord(NamedTuple):
    """One entry. White space in its texts is reduced to single spaces."""

    where: Where
    paragraph: str
    name_1: str
    # The relation of name 1 to name 2: 'spouse' means that name 2 is the spouse of name 1.
    relation: str
    name_2: str


def read_entries(
    source: Source, unknown: Callable[[str], None] = lambda column: None
) -> Iterator[EntryRecord | Problem]:
    """Yield the entries of a file in its order. For a row that cannot be read, yield a problem.

    Args:
        unknown: a function that is called with each further column of a table. It is not read.

    Raises:
        DatasetError: there is no such file, there are too many rows, or there is no row.
    """
    name = source.only_data_file()
    if name is None:
        raise DatasetError(str(source.path), f"{len(source.sizes):,} files", _ONE_FILE)
    n_rows = 0
    for row in _rows(source, name, unknown):
        n_rows += 1
        if isinstance(row, Problem):
            yield row
            continue
        entry = _entry(row)
        if row.problems:
            yield from row.problems
        else:
            yield entry
    if not n_rows:
        raise DatasetError(name, "no entries", "one or more rows with " + ", ".join(COLUMNS))


def is_complete_name(name: str) -> bool:
    """Return whether a name has at least two words with a letter in each.

    KaLMA: 'we consider a name complete if it has at least a family name and a surname'. We
    read this as two words.
    """
    return sum(any(map(str.isalpha, word)) for word in name.split()) >= 2


def _rows(source: Source, name: str, unknown: Callable[[str], None]) -> Iterator[Row | Problem]:
    plain = plain_name(name)
    if plain.endswith(".csv"):
        return csv_rows(source, name, COLUMNS, frozenset(COLUMNS), unknown)
    if plain.endswith(".tsv"):
        return tsv_rows(source, name, COLUMNS, unknown)
    if plain.endswith((".jsonl", ".json")):
        return json_rows(source, name)
    suffix = next((each for each in DATA_SUFFIXES if plain.endswith(each)), "another file")
    raise DatasetError(name, suffix, _ONE_FILE)


def _entry(row: Row) -> EntryRecord:
    return EntryRecord(
        row.where,
        _one_line(row.filled_text("paragraph", LONGEST_PARAGRAPH)),
        _one_line(row.filled_text("name_1", LONGEST_ENTITY_NAME)),
        _one_line(row.filled_text("relation", LONGEST_RELATION)),
        _one_line(row.filled_text("name_2", LONGEST_ENTITY_NAME)),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
