"""The names of a report's rows in its tables: no two rows of a table have the same one.

A row is named by its first columns of text, or by the columns that its type declares. Rows of one
name get what tells them apart beside it: the texts of other fields in which they differ, or else
numbers.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from evaluation.reports.columns import Column, Format
from evaluation.reports.report import Record, ReportRow, columns_of, record

_IN_NAMES = (Format.TEXT, Format.TEMPERATURE)  # formats of columns that name rows


def naming_columns(row_type: type[ReportRow]) -> tuple[str, ...]:
    """Return the columns that name the rows of a type."""
    first = takewhile(lambda each: each[1].format in _IN_NAMES, columns_of(row_type).items())
    return row_type.named_by or tuple(name for name, _ in first)


def with_distinct_names(
    rows: Sequence[ReportRow], columns: Mapping[str, Column], texts: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Return the texts of rows, changed so that no two rows have the same name.

    Args:
        rows: the rows.
        columns: the columns of the table, by name.
        texts: the texts of each row, one for each column.
    """
    places = {name: place for place, name in enumerate(columns)}
    names = [[places[n] for n in naming_columns(type(row)) if n in places] or [0] for row in rows]
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, (row, of_row) in enumerate(zip(texts, names, strict=True)):
        alike[tuple(row[column] for column in of_row)].append(place)
    made = [list(row) for row in texts]
    for group in alike.values():
        if len(group) > 1:
            told = _told_apart([_others(rows[place], columns) for place in group])
            for place, words in zip(group, told, strict=True):
                made[place][names[place][0]] += f" ({words})"
    return made


def _others(row: ReportRow, shown: Mapping[str, Column]) -> Record:
    """Return the texts of a row that its table does not show; fields with a column come first."""
    found = {name: value for name, value in record(row).items() if name not in shown}
    return {name: found[name] for name in columns_of(type(row)) if name in found} | found


def _told_apart(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return different words for rows, of the first fields of text in which they differ."""
    words = [""] * len(rows)
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        if len(set(words)) == len(rows):
            break
        if any(isinstance(value, str) for value in values):
            more = _own_parts([str(value or "") for value in values])
            if len(set(zip(words, more, strict=True))) > len(set(words)):
                words = [", ".join(filter(None, pair)) for pair in zip(words, more, strict=True)]
    return _numbered(words)


def _own_parts(texts: Sequence[str]) -> list[str]:
    """Return texts such as signatures without the parts that all of them share."""
    parts = [[part.strip() for part in text.split("|")] for text in texts]
    shared = set.intersection(*map(set, parts))
    return [", ".join(part for part in of_text if part not in shared) for of_text in parts]


def _numbered(words: Sequence[str]) -> list[str]:
    """Return words, with a number where there are none or others are equal."""
    seen: dict[str, int] = defaultdict(int)
    made = []
    for each in words:
        seen[each] += 1
        is_alone = each and words.count(each) == 1
        made.append(each if is_alone else ", ".join(filter(None, (each, str(seen[each])))))
    return made
