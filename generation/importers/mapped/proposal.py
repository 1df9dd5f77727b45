"""A first look at a table: its columns, and what each seems to be, by a recipe, name or content."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.importers.mapped.cells import nested
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.recipes import RECIPES
from generation.importers.mapped.roles import OF_VOTES, ROLES, roles_by_name
from generation.importers.mapped.table_files import TableFile, open_table, value_at
from generation.importers.sources import Source
from generation.records import Problem

MOST_SAMPLES = 3
OF_A_PASSAGE = 40  # characters at least, on average: tags and names are shorter
QUESTION_MARKS = ("?", "\uff1f", "\u061f")  # Latin, full-width, Arabic


class ColumnLook(NamedTuple):
    """A column as a page shows it; `role` is "" where it stays in `meta`."""

    name: str
    role: str
    samples: tuple[str, ...]


class Look(NamedTuple):
    """A table at first sight.

    Attributes:
        kind: of file, in words.
        recipe: the title of the recipe that knows these columns; "": there is none.
    """

    file: str
    kind: str
    columns: tuple[ColumnLook, ...]
    mapping: ColumnMapping
    recipe: str = ""


class UnmappedError(DatasetError):
    """A table of which nobody has said yet where its questions and responses are."""

    def __init__(self, look: Look, expected: str) -> None:
        found = f"the columns {excerpt([column.name for column in look.columns])}"
        super().__init__(look.file, found, expected)
        self.look = look


def look_at(source: Source, mapping: ColumnMapping | None = None) -> Look | None:
    """Return what a table looks like, read by a mapping or by what is proposed; None: no table.

    Raises:
        DatasetError: it has too many columns, or a mapping names some that it does not have.
    """
    table = open_table(source, mapping)
    if table is None:
        return None
    first = table.first_rows()
    if mapping is None:
        table, first, mapping = _by_a_recipe(source, table, first)
    columns = table.columns(first)
    if not columns:
        problem = None if table.is_json else next(table.rows(), None)
        if isinstance(problem, Problem):  # of its header
            raise DatasetError(str(problem))
        return None
    recipe = mapping.title if mapping in RECIPES else ""
    if not mapping.columns:
        mapping = mapping._replace(columns=_proposed(columns, first))
    missing = [name for name in _needed(mapping) if not _is_there(name, columns, first)]
    if missing:
        raise DatasetError(table.name, f"no column {' or '.join(missing)}", excerpt(columns))
    mapping = mapping.with_what(
        [name for name in mapping.columns if _is_there(name, columns, first)]
    )
    named = dict.fromkeys((*columns, *mapping.columns))
    looks = (
        ColumnLook(name, mapping.columns.get(name, ""), _samples(name, first)) for name in named
    )
    return Look(table.name, table.kind, tuple(looks), mapping, recipe)


def _by_a_recipe(
    source: Source, table: TableFile, first: list[Row]
) -> tuple[TableFile, list[Row], ColumnMapping]:
    """Return the table, its first rows and mapping by the recipe that asks for most of its columns.

    Without one the mapping says no more than where the rows are.
    """
    found: list[tuple[int, TableFile, list[Row], ColumnMapping]] = []
    for recipe in RECIPES:
        by_recipe, rows = table, first
        if recipe.rows:
            if recipe.rows.partition(".")[0] not in _beginning(source, table):
                continue
            by_recipe = open_table(source, recipe) or table
            try:
                rows = by_recipe.first_rows()
            except DatasetError:  # no list there
                continue
        columns = by_recipe.columns(rows)
        if rows and all(_is_there(name, columns, rows) for name in recipe.needs or ()):
            found.append((len(recipe.needs or ()), by_recipe, rows, recipe))
    if not found:
        return table, first, ColumnMapping(rows=table.path)
    return max(found, key=lambda each: each[0])[1:]


def _beginning(source: Source, table: TableFile) -> str:
    """Return how a file that is one object of JSON begins; "" of others."""
    return source.head(table.name, 1 << 16).decode("utf-8", "replace") if table.path else ""


def _needed(mapping: ColumnMapping) -> Iterable[str]:
    return mapping.columns if mapping.needs is None else mapping.needs


def _is_there(column: str, columns: Sequence[str], first: list[Row]) -> bool:
    return column in columns or any(value_at(row.values, column) is not None for row in first)


def _proposed(columns: Sequence[str], first: list[Row]) -> dict[str, str]:
    """Return column → role: by its name, else, where no name says it, by what is in it."""
    found = roles_by_name(columns)
    if {column.lower() for column in columns} >= OF_VOTES:
        return found
    for role, is_it in BY_CONTENT.items():
        if role in found.values() and not ROLES[role].is_many:
            continue
        for column in columns:
            values = [value for row in first if (value := _value(row, column)) not in (None, "")]
            if column not in found and values and all(map(is_it, values)):
                found[column] = role
                break
    order = {column: number for number, column in enumerate(columns)}
    return dict(sorted(found.items(), key=lambda item: order[item[0]]))


def _is_question(value: Any) -> bool:
    return isinstance(value, str) and value.rstrip().endswith(QUESTION_MARKS)


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and "content" in each and each.keys() & {"role", "type"}
        for each in value
    )


def _are_passages(value: Any) -> bool:
    is_texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return is_texts and sum(map(len, value)) >= OF_A_PASSAGE * len(value)


def _are_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, int | float) for each in value.values())


BY_CONTENT: dict[str, Callable[[Any], bool]] = {
    "question": lambda value: _is_messages(value) or _is_question(value),
    "shown": _are_passages,
    "scores": _are_numbers,
}


def _value(row: Row, column: str) -> Any:
    return nested(Row(row.where, {column: value_at(row.values, column)}, is_csv=row.is_csv), column)


def _samples(column: str, first: list[Row]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for row in first:
        value = value_at(row.values, column)
        if value not in (None, ""):
            found[excerpt(value).strip('"') if isinstance(value, str) else excerpt(value)] = None
        if len(found) == MOST_SAMPLES:
            break
    return tuple(found)
