"""The columns that tell responses apart, judged by the first rows of a table."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from generation.importers.mapped.roles import PERHAPS_SETUPS, plain_name

LONGEST_SETUP = 100  # characters
# The roles that say what a response is, apart from ids.
TELL_APART = ("question", "history", "messages", "response", "setup", "shown")


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
    texts = [cells[c] for c, role in roles.items() if role in TELL_APART and c in cells]
    said = [repr(values) for values in zip(*texts, strict=True)]
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
