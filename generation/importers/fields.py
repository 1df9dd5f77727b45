"""One row of a file, read field by field. All problems of the row are collected."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple

from generation.importers.cell_meanings import IN_RANGE, LARGEST_SCORE
from generation.importers.errors import excerpt
from generation.importers.json_text import JSONTrouble, parse_row
from generation.importers.messages import scalar_text
from generation.records import Problem, Record, Where

NOTHING = "nothing"
LONGEST_KEY = 200  # characters of an id in the database
LARGEST_COUNT = 32_767  # the largest in the database
MOST_PROBLEMS = 100  # problems of one row; the first tell most
LONGEST_LABEL = 300  # characters of a field's name in a problem; a key may have any length

_UNIX_SECONDS = re.compile(r"\d{9,}(\.\d+)?|\d{1,7}(\.\d+)?|\d+\.\d+")  # 8 digits: a date
_YES_NO = {
    **dict.fromkeys(("yes", "true", "1"), True),
    **dict.fromkeys(("no", "false", "0", ""), False),
}


class Row:
    """The fields of one row (or of one object inside it), each read as what it has to be.

    A method returns the field's value. If there is a problem, it notes the problem and returns a
    stand-in; a record with stand-ins is not used, because `problems` is not empty. CSV cells are
    read from text. JSON values must have the right type; where text is wanted, a number, true and
    false are texts too. `notes` has the name of each fact about the row that is counted.
    """

    __slots__ = ("is_csv", "max_nesting", "notes", "prefix", "problems", "values", "where")

    def __init__(
        self,
        where: Where,
        values: Mapping[str, Any],
        *,
        is_csv: bool = False,
        max_nesting: int = 32,
        prefix: str = "",
        problems: list[Problem] | None = None,
        notes: list[str] | None = None,
    ) -> None:
        self.where = where
        self.values = values
        self.is_csv = is_csv
        self.max_nesting = max_nesting
        self.prefix = prefix
        self.problems: list[Problem] = [] if problems is None else problems
        self.notes: list[str] = [] if notes is None else notes

    def refuse(self, name: str, found: str, expected: str) -> None:
        """Note a problem of this row, unless it has very many."""
        label = (self.prefix + name)[:LONGEST_LABEL]
        self.adopt([Problem(self.where, label, found, expected)])

    def adopt(self, problems: Iterable[Problem]) -> None:
        """Note problems that belong to this row, unless it has very many."""
        self.problems.extend(islice(problems, max(0, MOST_PROBLEMS - len(self.problems))))

    def is_empty(self, name: str) -> bool:
        """Return whether a cell is there and holds nothing. Rows of CSV leave such cells out."""
        value = self.values.get(name)
        is_blank = value is None or (isinstance(value, str) and not value.strip())
        return is_blank and (self.is_csv or name in self.values)

    def key(self, name: str, default: str | None = None, longest: int = LONGEST_KEY) -> str:
        """Return an id or a name without surrounding space. Whole numbers count as text."""
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        if type(value) is int:
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            self._refuse_value(name, value, "text that is not empty")
            return ""
        return self._fitting(name, value.strip(), longest)

    def text(self, name: str, default: str | None = None, longest: int | None = None) -> str:
        """Return a text unchanged. It may be empty."""
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        text = scalar_text(value)
        if text is None:
            self._refuse_value(name, value, "text")
            return ""
        return text if longest is None else self._fitting(name, text, longest)

    def optional_text(self, name: str) -> str | None:
        return None if self.values.get(name) is None else self.text(name)

    def filled_text(self, name: str, longest: int | None = None) -> str:
        """Return a text unchanged. It must not be blank."""
        value = self.values.get(name)
        text = scalar_text(value)
        if text is None or not text.strip():
            self._refuse_value(name, value, "text that is not empty")
            return ""
        return text if longest is None else self._fitting(name, text, longest)

    def word(self, name: str) -> str:
        """Return a value as text. JSON's true, false and numbers become yes, no and digits."""
        value = self.values.get(name)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int | float):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            self._refuse_value(name, value, "an answer")
            return ""
        return self._fitting(name, value.strip(), LONGEST_KEY)

    def optional_number(self, name: str) -> float | None:
        """Return a finite number. None: there is none."""
        value = self.values.get(name)
        if value is None:
            return None
        try:
            if isinstance(value, bool) or (isinstance(value, str) and not self.is_csv):
                raise TypeError
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            self._refuse_value(name, value, "a finite number")
            return None
        return number

    def score(self, name: str) -> float:
        """Return a number that sums and squares of scores can hold."""
        number = self.number(name)
        if abs(number) > LARGEST_SCORE:
            self._refuse_value(name, self.values[name], IN_RANGE)
        return number

    def share(self, name: str) -> float | None:
        """Return a number from 0 to 1. None: there is none."""
        number = self.optional_number(name)
        if number is not None and not 0 <= number <= 1:
            self._refuse_value(name, self.values[name], "a number from 0 to 1")
        return number

    def number(self, name: str) -> float:
        """Return a finite number that has to be there."""
        if self.values.get(name) is None:
            self._refuse_value(name, None, "a finite number")
            return 0.0
        return self.optional_number(name) or 0.0

    def duration(self, name: str) -> float | None:
        """Return seconds, 0 or more. None: there are none."""
        seconds = self.optional_number(name)
        if seconds is not None and seconds < 0:
            self._refuse_value(name, self.values[name], "seconds, 0 or more")
        return seconds

    def whole(self, name: str, lowest: int, highest: int) -> int | None:
        """Return a whole number from `lowest` to `highest`. None: there is none."""
        value = self.values.get(name)
        if value is None:
            return None
        found = value
        if self.is_csv and isinstance(value, str):
            digits = value.strip().removeprefix("-")
            if digits.isascii() and digits.isdigit() and len(digits) < 20:
                found = int(value)
        if type(found) is not int or not lowest <= found <= highest:
            self._refuse_value(name, value, f"a whole number from {lowest} to {highest}")
            return None
        return found

    def ordinal_number(self, name: str) -> int | None:
        """Return a whole number from 1. None: there is none."""
        return None if self.values.get(name) is None else self.whole(name, 1, LARGEST_COUNT)

    def yes_no(self, name: str) -> bool:
        """Return a yes/no. If it is missing, it is no."""
        value = self.values.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        answer = _YES_NO.get(str(value).strip().lower())
        if answer is None or not isinstance(value, str | int):
            self._refuse_value(name, value, "true, false, yes, no, 1 or 0")
            return False
        return answer

    def optional_yes_no(self, name: str) -> bool | None:
        """Return a yes/no. None: it is missing."""
        return None if self.values.get(name) is None else self.yes_no(name)

    def moment(self, name: str) -> datetime | None:
        """Return a moment in UTC from ISO 8601 (no zone: UTC) or Unix seconds. None: no value."""
        value = self.values.get(name)
        if value is None:
            return None
        try:
            return _moment(value)
        except (ValueError, OverflowError, OSError, TypeError):
            self._refuse_value(name, value, "a date and time in ISO 8601, or Unix seconds")
            return None

    def choice(self, name: str, legal: tuple[str, ...], default: str) -> str:
        """Return one of the `legal` words, or the default if it is missing."""
        value = self.values.get(name)
        if value is None:
            return default
        word = value.strip() if isinstance(value, str) else value
        if word not in legal:
            self._refuse_value(name, value, " or ".join(legal))
            return default
        return str(word)

    def nested(self, name: str) -> Any:
        """Return a JSON value, which is parsed from a CSV cell. None: there is none."""
        value = self.values.get(name)
        if not self.is_csv or not isinstance(value, str):
            return value
        try:
            return parse_row(value, self.max_nesting)
        except JSONTrouble as trouble:
            self.refuse(name, trouble.found, trouble.expected)
            return None

    def optional_list(self, name: str, of: str, most: int = LARGEST_COUNT + 1) -> list[Any] | None:
        """Return a list. None: there is none. `of` names its entries in the message."""
        n_problems = len(self.problems)
        value = self.nested(name)
        if isinstance(value, list) and len(value) > most:
            self.refuse(name, f"{len(value):,} entries", f"at most {most:,}")
            return value[:most]
        if value is None or isinstance(value, list):
            return value
        if len(self.problems) == n_problems:
            self._refuse_value(name, value, f"a list of {of}")
        return None

    def required_list(self, name: str, of: str, most: int = LARGEST_COUNT + 1) -> list[Any]:
        """Return a list that has to be there."""
        n_problems = len(self.problems)
        value = self.optional_list(name, of, most)
        if value is None and len(self.problems) == n_problems:
            self._refuse_value(name, None, f"a list of {of}")
        return value or []

    def optional_object(self, name: str) -> dict[str, Any]:
        """Return an object. It is empty if there is none."""
        n_problems = len(self.problems)
        value = self.nested(name)
        if isinstance(value, dict):
            return value
        if value is not None and len(self.problems) == n_problems:
            self._refuse_value(name, value, "an object")
        return {}

    def objects(self, name: str, items: list[Any]) -> Iterator["Row"]:
        """Yield the items of a list as rows of their own. Their problems are noted here."""
        for number, item in enumerate(items, start=1):
            label = f"{name}[{number}]"
            if isinstance(item, dict):
                yield Row(
                    self.where,
                    item,
                    prefix=f"{self.prefix}{label}.",
                    problems=self.problems,
                    notes=self.notes,
                )
            else:
                self._refuse_item(label, item, "an object")

    def keys(self, name: str, items: list[Any], longest: int = LONGEST_KEY) -> tuple[str, ...]:
        """Return the items of a list of ids."""
        keys = []
        for number, item in enumerate(items, start=1):
            label = f"{name}[{number}]"
            row = Row(self.where, {label: item}, prefix=self.prefix, problems=self.problems)
            keys.append(row.key(label, longest=longest))
        return tuple(keys)

    def unknown(self, known: Collection[str]) -> dict[str, Any]:
        """Return the fields that are not among the `known` ones."""
        return {name: value for name, value in self.values.items() if name not in known}

    def _fitting(self, name: str, text: str, longest: int) -> str:
        if len(text) > longest:
            found = f"{len(text):,} characters ({excerpt(text)})"
            self.refuse(name, found, f"at most {longest}")
        return text

    def _refuse_value(self, name: str, value: object, expected: str) -> None:
        self.refuse(name, NOTHING if value is None else excerpt(value), expected)

    def _refuse_item(self, label: str, value: object, expected: str) -> None:
        self.refuse(label, excerpt(value), expected)


class RowKind(NamedTuple):
    """A kind of rows: its fields, and the function that reads one row."""

    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    read: Callable[[Row], Record]
    keeps_unknown: bool = False  # stored in `meta`

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(self.required + self.optional)


def outcome(row: Row, record: Record) -> Sequence[Record | Problem]:
    """Return the problems of a row that was read, or its record if it has none."""
    return row.problems or [record]


def read_rows(
    rows: Iterator[Row | Problem], read: Callable[[Row], Record]
) -> Iterator[Record | Problem]:
    """Yield each row's record or its problems. A bad row never stops the others."""
    for row in rows:
        if isinstance(row, Problem):
            yield row
            continue
        record = read(row)
        yield from outcome(row, record)


def _moment(value: object) -> datetime:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(value)
    if not isinstance(value, str):
        return datetime.fromtimestamp(value, UTC)
    text = value.strip()
    if _UNIX_SECONDS.fullmatch(text):
        return datetime.fromtimestamp(float(text), UTC)
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
