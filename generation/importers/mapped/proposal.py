"""A first look at a table: its columns and their likely roles, by recipe, name or content."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from generation.importers.cell_meanings import score_in
from generation.importers.encodings import UTF_8
from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.importers.mapped.cells import answer_in, nested, system_messages_in
from generation.importers.mapped.column_names import OF_RUNS
from generation.importers.mapped.likely_headers import PlaceError, TablePlace
from generation.importers.mapped.likely_ids import (
    goes_with_raters,
    likely_item,
    likely_setup,
    role_of_items,
)
from generation.importers.mapped.likely_votes import LONGEST_LABEL, Guess, likely_votes
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.only_table import open_table
from generation.importers.mapped.recipes import RECIPES
from generation.importers.mapped.roles import (
    ENTRY,
    HOLD_VOTES,
    OF_MESSAGES,
    OF_VOTES,
    is_of_ratings,
    is_of_rows,
    named_columns,
    plain_name,
    roles_by_name,
)
from generation.importers.mapped.table_files import TableFile, value_at
from generation.importers.mapped.votes_in_cells import likely_votes_in_cells
from generation.importers.messages import last_speaker
from generation.importers.rater_codes import without_addresses
from generation.importers.sources import Source
from generation.records import Problem

MOST_SAMPLES = 3
WHICH_COLUMNS = "which columns are the question and the response"
MOST_ANSWERS = 12
MOST_SURE = 1_000  # more than any number of columns, as a reader knows its files
OF_A_PASSAGE = 40  # characters at least, on average; tags and names are shorter
# The last words of names of numbers that say what an answer took, and not how good it is.
OF_USE = {"cost", "count", "duration", "latency", "ms", "price", "seconds", "time", "timings"}
OF_USE |= {"hours", "minutes", "tokens", "usage"}
IDS = ("example", "dialog", "response_id")  # roles of ids that a name alone may tell
QUESTION_MARKS = ("?", "\uff1f", "\u061f")  # Latin, full-width, Arabic


class ColumnLook(NamedTuple):
    """A column as a page shows it. If `role` is "", the column stays in `meta`.

    `answers` are the different answers in a column of votes, among the rows looked at.
    """

    name: str
    role: str
    samples: tuple[str, ...]
    answers: tuple[str, ...] = ()


class Look(NamedTuple):
    """A table at first sight.

    Attributes:
        kind: the kind of file, in words.
        recipe: the title of the recipe that knows these columns. "": there is none.
        is_told: whether the columns are known, from a mapping, from a recipe or from their names.
        guessed: the columns that were taken for votes because they look like some.
        has_system_messages: whether one of the rows looked at has some, which may be evidence.
        asks: what is not known, in words, where `is_told` is false.
        place: where the table is in its file. None: nothing else can be chosen.
        unread: the columns of cells that look like votes of raters whom nothing names.
        passed_over: the columns whose cells may be votes and were not taken for some.
    """

    file: str
    kind: str
    columns: tuple[ColumnLook, ...]
    mapping: ColumnMapping
    recipe: str
    is_told: bool
    guessed: tuple[str, ...] = ()
    has_system_messages: bool = False
    asks: str = WHICH_COLUMNS
    place: TablePlace | None = None
    unread: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()


class UnmappedError(DatasetError):
    """It is not known yet which columns of a table hold its questions, responses or votes."""

    def __init__(self, look: Look, expected: str) -> None:
        found = f"the columns {excerpt([column.name for column in look.columns])}"
        if look.asks != WHICH_COLUMNS:
            expected = f"a mapping that says {look.asks}"
        super().__init__(look.file, found, expected)
        self.look = look


def look_at(source: Source, mapping: ColumnMapping | None = None) -> Look | None:
    """Return a first look at a table, by a mapping or by a proposal. None: there is no table.

    Raises:
        DatasetError: it has too many columns, or a mapping names some that it does not have.
    """
    table = open_table(source, mapping)
    first = table.first_rows() if table else []
    place = mapping if mapping and mapping.is_place else None
    is_given = mapping is not None and place is None
    if mapping is None or place:
        recipes = [each for each in RECIPES if not (place and each.reader)]
        table, first, mapping = _by_a_recipe(source, table, first, recipes)
    if table is None:
        return None
    columns = table.columns(first)
    if not columns:
        problem = None if table.is_json else next(table.rows(), None)
        if isinstance(problem, Problem) and table.place:  # a problem of its header
            raise PlaceError(str(problem), kind=table.kind, place=table.place)
        return None
    recipe = mapping.title if not is_given or mapping in RECIPES else ""
    there = {
        name: _are_scores_in(name, first)
        for name in dict.fromkeys((*columns, *mapping.columns))
        if _is_there(name, columns, first)
    }
    missing = [name for name in mapping.needed if name not in there]
    if missing:
        found = f"the columns {excerpt(columns)}"
        raise DatasetError(table.name, found, f"a column {' or '.join(missing)}")
    mapping, recipe_columns = mapping.of_table(there), mapping.columns
    guess = Guess()
    if not is_given:
        mapping, guess = _proposed(columns, first, mapping, recipe_columns)
    if source.encoding != UTF_8:
        mapping = mapping._replace(encoding=source.encoding)
    if table.place and not table.place.is_first:
        at = table.place
        mapping = mapping._replace(sheet=at.sheet, header_line=at.header_line)
    if place:
        mapping = mapping._replace(delimiter=place.delimiter, decimal=place.decimal)
    is_known = mapping.is_complete and (
        is_given or bool(recipe) or any(mapping.one(role) for role in ("question", "messages"))
    )
    guessed = tuple(column for column, role in guess.columns.items() if role in HOLD_VOTES)
    asks = guess.asks
    if undecided := () if is_given else _answers_in_ratings(columns, first, mapping):
        guessed += undecided
        asks = f"which of the columns {named_columns(guessed)} hold votes of its raters"
    named = dict.fromkeys((*columns, *mapping.columns))
    looks = tuple(_look_of(name, mapping.columns.get(name, ""), first) for name in named)
    has_system = any(_says_something_as_the_system(row, mapping) for row in first)
    look = Look(table.name, table.kind, looks, mapping, recipe, is_known, guessed, has_system)
    free = [name for name in columns if name not in mapping.columns]
    unread = () if is_given else likely_votes_in_cells(free, first)
    look = look._replace(place=table.place, unread=unread, passed_over=tuple(guess.passed_over))
    if not is_known:
        return look._replace(guessed=())
    return look._replace(is_told=False, asks=asks) if asks else look


def _says_something_as_the_system(row: Row, mapping: ColumnMapping) -> bool:
    columns = [column for role in OF_MESSAGES for column in mapping.of(role)]
    cells = {column: value_at(row.values, column) for column in columns}
    return bool(system_messages_in(Row(row.where, cells), columns))


def _look_of(name: str, role: str, first: list[Row]) -> ColumnLook:
    answers: dict[str, None] = {}
    for row in first if role in HOLD_VOTES else ():
        value = value_of_vote(row, name)
        if value not in (None, ""):
            answers[Row(row.where, {name: value}, is_csv=row.is_csv).word(name)] = None
    return ColumnLook(name, role, _samples(name, first), tuple(answers)[:MOST_ANSWERS])


def _by_a_recipe(
    source: Source, table: TableFile | None, first: list[Row], recipes: Iterable[ColumnMapping]
) -> tuple[TableFile | None, list[Row], ColumnMapping]:
    """Return the table, its first rows and its mapping, by the recipe that needs most columns.

    Without a recipe, the mapping only tells where the rows are.
    """
    found: list[tuple[int, TableFile, list[Row], ColumnMapping]] = []
    for recipe in recipes:
        by_recipe, rows = table, first
        if table and not recipe.reader:
            recipe = recipe.spelt_as(table.columns(first))._replace(rows=table.path)
        if recipe.reader:
            by_recipe = open_table(source, recipe)
            rows = by_recipe.first_rows() if by_recipe else []
        if by_recipe is None or not rows:
            continue
        columns = by_recipe.columns(rows)
        if all(_is_there(name, columns, rows) for name in recipe.needs or ()):
            n_sure = len(recipe.needs or ()) + (MOST_SURE if recipe.reader else 0)
            found.append((n_sure, by_recipe, rows, recipe))
    if not found:
        return table, first, ColumnMapping(rows=table.path if table else "")
    return max(found, key=lambda each: each[0])[1:]


def _are_scores_in(column: str, first: list[Row]) -> bool:
    """Return whether a column has numbers, or words for none, and they may be scores."""
    if _is_of_use(column) or is_of_rows(column) or _is_in_ratings(column):
        return False
    if plain_name(column) in OF_RUNS:
        return False
    values = [value for row in first if (value := value_at(row.values, column)) not in (None, "")]
    said = [value for value in values if not score_in(value).is_empty]
    numbers = [value for value in said if not _is_infinite(value)]
    return bool(numbers) and all(map(_is_number, numbers))


def _answers_in_ratings(
    columns: Sequence[str], first: list[Row], mapping: ColumnMapping
) -> tuple[str, ...]:
    """Return the columns in objects of ratings that are numbers or short words without a role."""
    return tuple(
        column
        for column in columns
        if column not in mapping.columns
        and _is_in_ratings(column)
        and all(_may_be_an_answer(value_at(row.values, column)) for row in first)
    )


def _may_be_an_answer(value: Any) -> bool:
    is_short = isinstance(value, str) and len(value) <= LONGEST_LABEL
    return is_short or isinstance(value, int | float | None)


def _is_of_use(name: str) -> bool:
    """Return whether numbers of this name say what an answer took: `usage`, `totalTokens`."""
    parts = (re.findall(r"[A-Z]?[a-z]+|[A-Z]+", part) for part in name.split("."))
    return any(words[-1].lower() in OF_USE for words in parts if words)


def _is_in_ratings(column: str) -> bool:
    """Return whether a column is a field of an object of ratings: `votes.anna`."""
    return is_of_ratings(column.rpartition(".")[0])


def _is_number(value: Any) -> bool:
    is_word = isinstance(value, str) and value.strip().isalpha()  # true, false
    return not is_word and score_in(value).score is not None


def _is_infinite(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lstrip("+-").lower() in ("inf", "infinity")


def _is_there(column: str, columns: Sequence[str], first: list[Row]) -> bool:
    return column in columns or any(value_at(row.values, column) is not None for row in first)


def _proposed(
    columns: Sequence[str], first: list[Row], mapping: ColumnMapping, said: Mapping[str, str]
) -> tuple[ColumnMapping, Guess]:
    """Return a mapping with all roles, and what of it is guessed.

    A role is known, or else told by the column's name, or else by its content.

    Args:
        said: the columns that a recipe names. Those that only its pattern of scores has found may
            be raters or votes.
    """
    known = {c: role for c, role in mapping.columns.items() if c in said or role != "score"}
    found = _by_name_or_content(columns, first, mapping.columns)
    guess = Guess()
    cells = {c: [value_at(row.values, c) for row in first] for c in (*columns, *found)}
    if not mapping.reader and not {column.lower() for column in columns} >= OF_VOTES:
        free = [
            c
            for c in columns
            if (c not in found or (c in mapping.columns and c not in known))
            and not (_is_of_use(c) or is_of_rows(c))
        ]
        firm = {column: role for column, role in found.items() if column not in free}
        if "setup" not in firm.values() and (setup := likely_setup(cells, free, firm)):
            free.remove(setup)
            firm[setup] = found[setup] = "setup"
        item = None if "example" in firm.values() else likely_item(cells, free, firm)
        if item:
            free.remove(item)
            firm[item] = found[item] = "example"
        are_several = "rater" in known.values()  # a recipe names the raters, and no votes
        guess = likely_votes(cells, free, firm, are_several=are_several)
        for column in [c for c, role in firm.items() if role in IDS and c not in mapping.columns]:
            others = {c: role for c, role in firm.items() if c != column}
            again = likely_votes(cells, free, others, are_several=are_several)
            roles = {**others, **again.columns}
            rater = next((c for c, role in roles.items() if role == "rater"), None)
            is_apart = not (rater and goes_with_raters(column, rater, cells, roles))
            if is_apart and column == item:
                role = role_of_items(column, cells, {**others, **guess.columns})
                found |= {column: role} if role else {}
                is_apart = bool(role)
            if not is_apart:
                firm, guess = others, again
                del found[column]
    found |= guess.columns
    order = {column: number for number, column in enumerate(columns)}
    mapping = mapping._replace(
        columns=dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order)))),
        names={**mapping.names, **guess.names},
        raters={**mapping.raters, **guess.raters},
    )
    return mapping, guess


def _by_name_or_content(
    columns: Sequence[str], first: list[Row], known: Mapping[str, str]
) -> dict[str, str]:
    """Return column → role: as known, else by its name (apart from raters), else by its content."""
    by_name = roles_by_name([column for column in columns if column not in known])
    told = {c: role for c, role in by_name.items() if role not in (*known.values(), "rater")}
    found = {**known, **told}
    if {column.lower() for column in columns} >= OF_VOTES:
        return found
    for role, is_it in BY_CONTENT.items():
        if role in found.values() or (role == "question" and "messages" in found.values()):
            continue
        for column in columns:
            values = [
                value for row in first if (value := _value(row, column)) not in (None, "", [])
            ]
            is_free = (
                column not in found
                and ENTRY not in column
                and not (role == "scores" and _is_of_use(column))
            )
            if is_free and values and all(map(is_it, values)):
                found[column] = role
                break
    return found


def _is_question(value: Any) -> bool:
    return isinstance(value, str) and value.rstrip().endswith(QUESTION_MARKS)


def _ends_with_the_user(value: Any) -> bool:
    return last_speaker(value) == "user"


def _ends_with_an_answer(value: Any) -> bool:
    return last_speaker(value) == "assistant"


def _are_passages(value: Any) -> bool:
    is_texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return is_texts and sum(map(len, value)) >= OF_A_PASSAGE * len(value)


def _are_scores(value: Any) -> bool:
    """Return whether a value is an object of numbers of which none says what an answer took."""
    return isinstance(value, dict) and all(
        isinstance(each, int | float) and not _is_of_use(name) for name, each in value.items()
    )


BY_CONTENT: dict[str, Callable[[Any], bool]] = {
    "messages": _ends_with_an_answer,
    "question": lambda value: _ends_with_the_user(value) or _is_question(value),
    "shown": _are_passages,
    "scores": _are_scores,
}


def value_of_vote(row: Row, column: str) -> Any:
    """Return a rater's answer in a cell, also if it is in the form of a tool."""
    value = value_at(row.values, column)
    told = answer_in(value)
    return value if told is None else told


def _value(row: Row, column: str) -> Any:
    return nested(Row(row.where, {column: value_at(row.values, column)}, is_csv=row.is_csv), column)


def _samples(column: str, first: list[Row]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for row in first:
        value = value_at(row.values, column)
        if value not in (None, ""):
            said = excerpt(value).strip('"') if isinstance(value, str) else excerpt(value)
            found[without_addresses(said)] = None
        if len(found) == MOST_SAMPLES:
            break
    return tuple(found)
