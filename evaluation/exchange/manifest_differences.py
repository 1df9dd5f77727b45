"""The differences between a manifest and the same reports made again, in sentences."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Content = Mapping[str, Any]  # left_out, signature and rows of a report
Row = Mapping[str, Any]

LONGEST_VALUE = 80  # characters of a value that names a row
MOST_NAMED = 4  # values that name a row
MOST_COLUMNS = 4  # columns of a row whose values are given
NAMING = ("question", "arm", "setup", "kind", "title", "label")  # the columns that say most


def report_differences(before: Content, after: Content) -> list[str]:
    """Return how a report differs from the one in the manifest; [] if both are equal."""
    found = list(_left_out(before["left_out"], after["left_out"]))
    old, new = before["rows"], after["rows"]
    if len(old) == len(new):
        for number, (was, now) in enumerate(zip(old, new, strict=True), start=1):
            found += _of_row(number, was, now)
    else:
        found += _missing_rows(old, new)
    if before["signature"] != after["signature"]:
        found.append(f"signature: {_changed_parts(before['signature'], after['signature'])}")
    return found


def _left_out(was: Mapping[str, int], now: Mapping[str, int]) -> Iterator[str]:
    for reason in {**was, **now}:
        if was.get(reason) != now.get(reason):
            yield f"left out, {reason}: {_pair(was.get(reason), now.get(reason))}"


def _of_row(number: int, was: Row, now: Row) -> Iterator[str]:
    changed = [column for column in {**was, **now} if was.get(column) != now.get(column)]
    if not changed:
        return
    name = _name(was, now)
    said = [
        f"{column} {_pair(was.get(column), now.get(column))}" for column in changed[:MOST_COLUMNS]
    ]
    more = len(changed) - len(said)
    and_more = f"; {more} more column{'s' * (more != 1)}" if more else ""
    yield f"row {number}{f' ({name})' if name else ''}: {'; '.join(said)}{and_more}"


def _name(was: Row, now: Row) -> str:
    """Return the texts that name a row and did not change: its question, arm, setup and so on."""
    same = {
        column: value
        for column, value in was.items()
        if isinstance(value, str) and 0 < len(value) <= LONGEST_VALUE and now.get(column) == value
    }
    in_order = sorted(same, key=lambda column: column not in NAMING)  # stable
    return ", ".join(f"{column} {same[column]}" for column in in_order[:MOST_NAMED])


def _missing_rows(old: Iterable[Row], new: Iterable[Row]) -> Iterator[str]:
    """Yield the rows that only one side has. Rows are told apart by their texts."""
    were = {_texts(row): row for row in old}
    are = {_texts(row): row for row in new}
    for key, row in were.items():
        if key not in are:
            yield f"the row ({_name(row, row)}) is missing now"
    for key, row in are.items():
        if key not in were:
            yield f"the row ({_name(row, row)}) is new"
    for number, (key, row) in enumerate(were.items(), start=1):
        if key in are:
            yield from _of_row(number, row, are[key])


def _texts(row: Row) -> str:
    return json.dumps([[name, value] for name, value in row.items() if isinstance(value, str)])


def _changed_parts(was: str, now: str) -> str:
    old, new = was.split(" | "), now.split(" | ")
    gone = [part for part in old if part not in new]
    come = [part for part in new if part not in old]
    return _pair(" | ".join(gone), " | ".join(come))


def _pair(was: object, now: object) -> str:
    return f"was {_said(was)}, is {_said(now)}"


def _said(value: object) -> str:
    return "—" if value in (None, "") else str(value)
