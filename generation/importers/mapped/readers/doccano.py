"""The labels of a project of doccano as JSON Lines, JSON or CSV, one file for each annotator.

An example of doccano is a response. Its text is the response unless a column that was uploaded with
it is (`answer`, `response`). The labels are one vote on `label`, with ` + ` between several. Each
file has the name of its annotator. A file `all`, of a project whose annotators work together, does
not say who gave a label. Marks of a part of a text (entities, relations) are no votes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from generation.importers.errors import DatasetError
from generation.importers.fields import Row
from generation.importers.mapped.cells import SEVERAL
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.readers.rated_items import (
    keys_of_item,
    rater_of_file,
    text_of_item,
)
from generation.importers.mapped.table_files import TableFile, table_in
from generation.importers.sources import Source
from generation.records import Problem

MARKS = "marks of a part of a text, which are no votes"
TOGETHER = (
    "texts with several labels of annotators who are not named: they count as one vote, and meta "
    "has each of them"
)
_ALL = ("all",)
_TEXTS = ("text", "data")  # `data` in versions before 1.6
_LABELS = ("label", "cats")
_MARKS = ("entities", "relations")
_COMMENTS = "Comments"
_BETWEEN = "#"  # labels in CSV


def files(source: Source) -> tuple[str, ...]:
    """Return the files of doccano. Empty: there are others among the data files."""
    names = source.data_files()
    try:
        return names if names and all(_is_export(_table(source, name)) for name in names) else ()
    except DatasetError:  # this is a file of another kind
        return ()


def rows(source: Source, names: tuple[str, ...], left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each example of each file."""
    counted: Counter[str] = Counter()
    for name in names:
        table = _table(source, name)
        rater = rater_of_file(name, _ALL)
        columns = table.columns(table.first_rows()) if table else []
        for row in table.rows() if table else ():
            if isinstance(row, Problem):
                yield row
                continue
            key = row.key("id")
            said = _labels_in(row, counted)
            if row.problems:
                yield from row.problems
                continue
            vote: dict[str, Any] = {}
            if said:
                vote = {"annotator": rater, "label": SEVERAL.join(dict.fromkeys(said))}
            if rater is None and len(said) > 1:
                counted[TOGETHER] += 1
                vote["labels"] = said
            yield Row(row.where, {**_about(row.values), **_item(key, row.values, columns), **vote})
    left_out |= +counted


def _table(source: Source, name: str) -> TableFile | None:
    return table_in(source, name, ColumnMapping())  # no search for a list inside an object


def _is_export(table: TableFile | None) -> bool:
    """Return whether a table has the columns of doccano, in this version or an earlier one."""
    first = table.first_rows() if table else []
    if table is None or not first:
        return False
    columns = {*(table.header() if table.header else first[0].values)}
    has_labels = "id" in columns and bool(columns.intersection((*_LABELS, *_MARKS)))
    is_earlier = "data" in columns and isinstance(first[0].values.get("label"), list)
    return has_labels and (is_earlier or columns.issuperset(("text", _COMMENTS)))


def _labels_in(row: Row, counted: Counter[str]) -> list[str]:
    found: list[str] = []
    for name in _LABELS:
        value = row.values.get(name)
        if row.is_csv and isinstance(value, str):
            value = value.split(_BETWEEN)
        elif isinstance(value, str) or not isinstance(value, list | None):
            row.refuse(name, repr(value)[:80], "a list of labels")
        entries = value if isinstance(value, list) else []
        found += [each for each in entries if isinstance(each, str)]
        counted[MARKS] += sum(not isinstance(each, str) for each in entries)
    marks = (row.values.get(name) for name in _MARKS)
    counted[MARKS] += sum(len(each) for each in marks if isinstance(each, list))
    return found


def _about(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that were uploaded with an example, and the comments on it."""
    named = ("id", *_TEXTS, *_LABELS, *_MARKS)
    rest = {name: value for name, value in values.items() if name not in named}
    return {name: value for name, value in rest.items() if value or name != _COMMENTS}


def _item(key: str, values: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    name = next(name for name in _TEXTS if name in columns)
    return keys_of_item(key, columns) | text_of_item(name, values.get(name), columns)
