"""Tables that are one JSON value: the forms in which pandas' `to_json` writes a frame, and others.

`records` is a list of objects, which `json_items` reads. The others are told by their shape:

- `columns` (pandas' default): `{"question": {"0": "Who?"}, "answer": {"0": "She."}}`
- `index`: `{"0": {"question": "Who?", "answer": "She."}}`, also with other names for the rows
- `split`: `{"columns": ["question", "answer"], "index": [0], "data": [["Who?", "She."]]}`
- `table`: `{"schema": {"fields": […]}, "data": [{"index": 0, "question": "Who?", …}]}`
- `values`: `[["Who?", "She."]]`, whose columns are called by their numbers, from 1
- Hugging Face's viewer: `{"features": […], "rows": [{"row_idx": 0, "row": {…}}]}`
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from generation.importers.errors import excerpt
from generation.importers.fields import Row
from generation.importers.json_items import JsonEntry, json_entries
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.roles import NEEDED, roles_by_name
from generation.importers.sources import Source
from generation.records import Problem, Where

CUT = "ends of cells that the viewer of Hugging Face has cut off"
INDEX = "index"  # the column with pandas' names of rows. If they only count the rows: none
MOST_FIELDS = 8  # A text that is an object has fewer; a frame may have more rows.
_NUMBERED = re.compile(r"(\D*)-?\d+")  # names of rows: 0, 17, q3, row-2
_SPLIT = {"columns", "data"}
_ALSO_SPLIT = {"index", "name", "index_names", "column_names"}

Items = list[tuple[str, Any]]  # name and content of each row


class JsonForm(NamedTuple):
    """A form of a table: its name, and the function that returns its rows. None: another form."""

    name: str
    items: Callable[[dict[str, Any]], Items | None]


def form_of(value: Any) -> JsonForm | None:
    """Return the form of the table that a JSON value is. None: it has no known one."""
    if not isinstance(value, dict):
        return None
    return next((form for form in _FORMS if form.items(value) is not None), None)


def formed_rows(
    source: Source, name: str, form: JsonForm, left_out: LeftOut
) -> Iterator[Row | Problem]:
    """Yield the rows of a table in a JSON file, which is read as a whole."""
    source.begin_rows(name)
    value = source.whole_json(name)
    items = form.items(value) or []
    left_out |= _cut_cells(value)
    is_counted = [key for key, _ in items] == [str(n) for n in range(len(items))]
    for number, (key, values) in enumerate(items, 1):
        source.count_row(name)
        where = Where(name, number)
        if isinstance(values, dict):
            yield Row(where, values if is_counted or not key else {INDEX: key, **values})
        else:
            yield Problem(where, "", excerpt(values), "an object, or a cell for each column")


def one_row(source: Source, name: str) -> Iterator[Row | Problem]:
    """Yield the object that a JSON file is, as a row."""
    source.begin_rows(name)
    source.count_row(name)
    yield Row(Where(name, 1), source.whole_json(name))


def numbered_rows(source: Source, name: str) -> Iterator[Row | Problem]:
    """Yield a row for each list in a list. Its columns are called by their numbers, from 1."""
    for entry in json_entries(source, name):
        if isinstance(entry, Problem):
            yield entry
        elif isinstance(entry.value, list):
            yield Row(entry.where, {str(n): cell for n, cell in enumerate(entry.value, 1)})
        else:
            yield Problem(entry.where, "", excerpt(entry.value), "a list of cells, as before")


def are_lists(source: Source, name: str) -> bool:
    """Return whether the first entry of a JSON list is a list of cells."""
    first = next(json_entries(source, name), None)
    return isinstance(first, JsonEntry) and isinstance(first.value, list)


def _of_split(value: dict[str, Any]) -> Items | None:
    columns, data = value.get("columns"), value.get("data")
    if not value.keys() >= _SPLIT or value.keys() - _SPLIT - _ALSO_SPLIT:
        return None
    if not isinstance(columns, list) or not isinstance(data, list):
        return None
    if not all(isinstance(column, str) for column in columns) or len({*columns}) < len(columns):
        return None
    index = value.get("index")
    is_named = isinstance(index, list) and len(index) == len(data)
    names = map(str, index) if is_named and index else [""] * len(data)
    return [
        (row_name, dict(zip(columns, cells, strict=True)) if _fits(cells, columns) else cells)
        for row_name, cells in zip(names, data, strict=True)
    ]


def _fits(cells: Any, columns: list[str]) -> bool:
    return isinstance(cells, list) and len(cells) == len(columns)


def _of_table(value: dict[str, Any]) -> Items | None:
    schema, data = value.get("schema"), value.get("data")
    is_one = isinstance(schema, dict) and isinstance(schema.get("fields"), list)
    if not is_one or not isinstance(data, list):
        return None
    are_named = all(isinstance(row, dict) and type(row.get(INDEX)) in (int, str) for row in data)
    return [(str(row.pop(INDEX)) if are_named else "", row) for row in data]


def _of_viewer(value: dict[str, Any]) -> Items | None:
    rows = value.get("rows")
    is_one = isinstance(rows, list) and all(isinstance(e, dict) and "row_idx" in e for e in rows)
    return [("", row.get("row")) for row in rows] if rows and is_one else None


def _cut_cells(value: dict[str, Any]) -> LeftOut:
    """Return how many cells the viewer of Hugging Face has cut. Empty: none."""
    rows = value.get("rows")
    viewed = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    cells = [row.get("truncated_cells") for row in viewed]
    n_cut = sum(len(each) for each in cells if isinstance(each, list))
    return {CUT: n_cut} if n_cut else {}


def _of_columns(value: dict[str, Any]) -> Items | None:
    rows = _alike(value)
    if rows is None:
        return None
    if not _are_of_rows(rows) and not (_are_known(value) and len(rows) > MOST_FIELDS):
        return None
    return [(row, {column: cells[row] for column, cells in value.items()}) for row in rows]


def _of_index(value: dict[str, Any]) -> Items | None:
    columns = _alike(value)
    if columns is None:
        return None
    return [*value.items()] if _are_known(columns) or _are_of_rows(value) else None


def _are_known(columns: Mapping[str, Any]) -> bool:
    return {*roles_by_name(columns).values()} >= {*NEEDED}


def _alike(value: dict[str, Any]) -> Mapping[str, Any] | None:
    """Return the first of the objects in an object. None: not all of them have the same keys."""
    first = next(iter(value.values()), None)
    if not isinstance(first, dict) or not first:
        return None
    are_alike = all(isinstance(e, dict) and e.keys() == first.keys() for e in value.values())
    return first if are_alike else None


def _are_of_rows(names: Mapping[str, Any]) -> bool:
    """Return whether names are those of rows: the same word, or none, with a number behind it."""
    numbered = [_NUMBERED.fullmatch(name) for name in names]
    return all(numbered) and len({each and each[1] for each in numbered}) == 1


_FORMS = (
    JsonForm("pandas, split", _of_split),
    JsonForm("pandas, table", _of_table),
    JsonForm("rows of Hugging Face's viewer", _of_viewer),
    JsonForm("pandas, columns", _of_columns),
    JsonForm("pandas, index", _of_index),
)
