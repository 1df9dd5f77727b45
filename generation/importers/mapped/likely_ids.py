"""The columns that tell responses apart, judged by the first rows of a table."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from generation.importers.mapped.roles import PERHAPS_EXAMPLES, PERHAPS_SETUPS, plain_name

LONGEST_SETUP = 100  # characters
# The roles that say what a response is, apart from ids.
TELL_APART = ("question", "history", "messages", "response", "setup", "shown")
ASKED = ("question", "history", "dialog")  # the roles that say what an example is
NOTHING = ("None", "''")  # a cell that is empty, as `repr` writes it


def goes_with_raters(
    column: str, rater: str, cells: Mapping[str, Sequence[Any]], roles: Mapping[str, str]
) -> bool:
    """Return whether an id belongs to raters, or to rows, and parts what several of them rated.

    Then no value of it is shared by two raters, and the texts it parts are at least half of the
    rows or each rater has one value.

    Args:
        cells: column → its cells in the first rows.
        roles: column → role.
    """
    said = _together(cells, roles, TELL_APART)
    values = [repr(value) for value in cells[column]]
    raters = [repr(value) for value in cells[rater]]
    raters_of_value: dict[str, set[str]] = defaultdict(set)
    values_of_rater: dict[str, set[str]] = defaultdict(set)
    raters_of_text: dict[str, list[str]] = defaultdict(list)
    for text, value, who in zip(said, values, raters, strict=True):
        raters_of_value[value].add(who)
        values_of_rater[who].add(value)
        raters_of_text[text].append(who)
    if any(len(several) > 1 for several in raters_of_value.values()):
        return False
    n_parted = sum(len(each) for each in raters_of_text.values() if len({*each}) > 1)
    is_one_each = all(len(each) == 1 for each in values_of_rater.values())
    return n_parted > 0 and (2 * n_parted >= len(said) or is_one_each)


def likely_item(
    cells: Mapping[str, Sequence[Any]], free: Sequence[str], roles: Mapping[str, str]
) -> str | None:
    """Return the first column with a usual name of items of which each has one question."""
    asked = _together(cells, roles, ASKED)
    there = {plain_name(column): column for column in reversed(free)}
    for column in (there[name] for name in PERHAPS_EXAMPLES if name in there):
        items = [repr(value) for value in cells[column]]
        is_one = len({*zip(items, asked, strict=True)}) == len({*items})
        if items and is_one and not {*items} & {*NOTHING}:
            return column
    return None


def role_of_items(
    column: str, cells: Mapping[str, Sequence[Any]], roles: Mapping[str, str]
) -> str | None:
    """Return what the items in a column are. None: they need not be told apart.

    They are the examples where each has a question of its own, or where they part rows of a rater
    that say the same. If they part the responses to one question, they are the responses.

    Args:
        cells: column → its cells in the first rows.
        roles: column → role of the other columns.
    """
    items = [repr(value) for value in cells[column]]
    asked, said = _together(cells, roles, ASKED), _together(cells, roles, TELL_APART)
    if len({*asked}) == len({*items}):
        return "example"
    by_rater = _together(cells, roles, (*TELL_APART, "rater", "asked"))
    if len({*zip(by_rater, items, strict=True)}) == len({*by_rater}):
        return None
    is_one_each = len({*zip(items, said, strict=True)}) == len({*items})
    has_several = len({*zip(asked, said, strict=True)}) > len({*asked})
    may_be = [*roles.values()].count("response") == 1 and "response_id" not in roles.values()
    return "response_id" if may_be and is_one_each and has_several else "example"


def _together(
    cells: Mapping[str, Sequence[Any]], roles: Mapping[str, str], of_roles: Sequence[str]
) -> list[str]:
    """Return what each row says in the columns of some roles, as one text."""
    columns = [cells[column] for column, role in roles.items() if role in of_roles]
    n_rows = max(map(len, cells.values()), default=0)
    return [repr(values) for values in zip(*columns, strict=True)] if columns else [""] * n_rows


def likely_setup(
    cells: Mapping[str, Sequence[Any]], free: Sequence[str], roles: Mapping[str, str]
) -> str | None:
    """Return the first column that has a usual name and parts the responses to one question."""
    asked = [cells[c] for c, role in roles.items() if role in ("question", "example", "dialog")]
    if not asked or [*roles.values()].count("response") != 1:
        return None
    questions = [repr(values) for values in zip(*asked, strict=True)]
    for column in free:
        setups = cells[column]
        if plain_name(column) not in PERHAPS_SETUPS or not all(map(_may_be_a_setup, setups)):
            continue
        of_question: dict[str, set[str]] = defaultdict(set)
        for question, setup in zip(questions, setups, strict=True):
            of_question[question].add(setup.strip())
        if any(len(several) > 1 for several in of_question.values()):
            return column
    return None


def _may_be_a_setup(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value.strip()) <= LONGEST_SETUP
