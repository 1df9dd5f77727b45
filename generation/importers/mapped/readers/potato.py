"""Potato: what its annotators answered, as `annotated_instances` (version 1) or its export (2).

A row is one annotator's answers about one item. `scheme: {label: value}` is an answer to `scheme`:
the label that was chosen (several with ` + ` between them), or the value, where the values of one
label differ (a number, or the rating of an option, which is asked as `scheme.label`). CSV and TSV
have a column for each label, `scheme:::label` or `scheme.label`. Texts that annotators wrote and
marks of a part of a text are no votes.

An item's text is the response, unless a second table of the items says more: it has a column of
their ids, and the columns of any table. Version 2 writes no texts, so it needs that table.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from generation.importers.cell_meanings import whole_number
from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.importers.mapped.cells import SEVERAL, nested
from generation.importers.mapped.mapping import ColumnMapping
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.readers.rated_items import (
    items_by_key,
    keys_of_item,
    rater_of_file,
    text_of_item,
)
from generation.importers.mapped.table_files import TableFile, table_in
from generation.importers.sources import Source
from generation.records import Problem

WRITTEN = "texts that annotators wrote, which are no votes"
MARKS = "marks of a part of a text, which are no votes"
BAD_TEXT = "answers that a text cannot be rated, which are no votes"
_IDS = ("id", "instance_id")
_RATERS = ("user", "user_id")
_ANSWERS = ("label_annotations", "labels")
_MARKS = ("span_annotations", "spans")
_SHOWN = "displayed_text"
_OF_ALL = ("annotated_instances", "annotations")  # names of files that name no annotator
_BETWEEN = (":::", ".")  # a scheme and a label in the name of a column
_OF_MARKS = ("span_annotation", "_spans")
_POINT = "scale_"  # before the number of a point of a scale, in version 1
_SLIDER = "slider"  # in version 1 it stands in place of the scheme
_VALUES = {"text_box", "select-one", "slider", "number"}  # labels of which the value is the answer
_REMARK, _BAD_TEXT = "free_response", "bad_text"

_SPENT = re.compile(r"(\d{1,4})d (\d{1,4})h (\d{1,4})m (\d{1,4})s")

Answers = dict[str, dict[str, Any]]  # scheme → label → value


class _Files(NamedTuple):
    """The files of answers, and the table of the items."""

    answers: tuple[str, ...]
    items: str | None


def files(source: Source) -> tuple[str, ...]:
    """Return the files of answers, and then that of the items. Empty: these are others."""
    found = _files(source)
    return (*found.answers, *filter(None, [found.items])) if found else ()


def rows(source: Source, names: tuple[str, ...], left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each annotator of each item."""
    found = _files(source)
    if found is None:
        return
    counted: Counter[str] = Counter()
    answered = [row for name in found.answers for row in _rows_of(source, name)]
    said = [(row, _answers(row, counted)) for row in answered if isinstance(row, Row)]
    of_values = _labels_with_values(answers for _, answers in said)
    items: Mapping[str, Row] = {}
    if found.items:
        items = items_by_key(source, found.items, {_id(row) for row, _ in said})
    yield from (row for row in answered if isinstance(row, Problem))
    for row, answers in said:
        key = _id(row)
        item = items.get(key)
        if not key or (items and item is None):
            expected = f"the id of an item of {found.items}" if items else "the id of an item"
            yield Problem(row.where, "id", excerpt(key), expected)
            continue
        about = dict(item.values) if item else {}
        about |= keys_of_item(key, about)
        about |= text_of_item(_SHOWN, row.values[_SHOWN], about) if _SHOWN in row.values else {}
        rater = next((row.values[name] for name in _RATERS if name in row.values), None)
        rater = rater or rater_of_file(_folder_or_file(source, row.where.file), _OF_ALL)
        votes = _votes(answers, of_values, counted)
        yield Row(row.where, {**about, "annotator": rater, **votes, **_seconds(row)})
    without = items.keys() - {_id(row) for row, _ in said}
    yield from (_unrated(key, items[key]) for key in items if key in without)
    left_out |= +counted


def _unrated(key: str, item: Row) -> Row:
    return Row(item.where, {**item.values, **keys_of_item(key, item.values)})


def _files(source: Source) -> _Files | None:
    names = source.data_files()
    try:
        answers = [name for name in names if _is_of_answers(source, name)]
    except DatasetError:  # these are files of another kind
        return None
    others = [name for name in names if name not in answers]
    has_texts = answers and all(_has_texts(source, name) for name in answers)
    if not answers or len(others) > 1 or not (others or has_texts):
        return None
    return _Files(tuple(answers), others[0] if others else None)


def _folder_or_file(source: Source, name: str) -> str:
    """Return what is called as the annotator: the file, or the folder in which it is alone."""
    is_alone = source.path.is_dir() and len(source.data_files()) == 1
    return source.path.name if is_alone and rater_of_file(name, _OF_ALL) is None else name


def _table(source: Source, name: str) -> TableFile | None:
    return table_in(source, name, ColumnMapping())  # no search for a list inside an object


def _rows_of(source: Source, name: str) -> Iterator[Row | Problem]:
    table = _table(source, name)
    for n, row in enumerate(table.rows() if table else (), 1):
        source.refuse_more_in_memory(name, n)
        yield row


def _columns(source: Source, name: str) -> list[str]:
    table = _table(source, name)
    first = table.first_rows() if table else []
    if table is None or not first:
        return []
    return table.header() if table.header else [*first[0].values]


def _has_texts(source: Source, name: str) -> bool:
    return _SHOWN in _columns(source, name)


def _is_of_answers(source: Source, name: str) -> bool:
    columns = {*_columns(source, name)}
    has_id = bool(columns.intersection(_IDS))
    if has_id and any(answers in columns for answers in _ANSWERS):
        return bool(columns.intersection(_MARKS))
    is_flat = "instance_id" in columns and bool(columns.intersection(_RATERS))
    return is_flat and any(_scheme_and_label(column) for column in columns)


def _id(row: Row) -> str:
    value = next((row.values[name] for name in _IDS[::-1] if name in row.values), None)
    return "" if value is None else str(value).strip()


def _seconds(row: Row) -> dict[str, float]:
    """Return the time that version 1 notes: `Time spent: 0d 0h 1m 12s`."""
    behaviour = row.values.get("behavioral_data")
    said = behaviour.get("time_string") if isinstance(behaviour, dict) else None
    spent = _SPENT.search(str(said))
    if spent is None:
        return {}
    time = zip(("days", "hours", "minutes", "seconds"), map(int, spent.groups()), strict=True)
    return {"seconds": timedelta(**dict(time)).total_seconds()}


def _scheme_and_label(column: str) -> tuple[str, str] | None:
    for between in _BETWEEN:
        scheme, is_one, label = column.partition(between)
        if is_one and scheme and label:
            return scheme, label
    return None


def _answers(row: Row, counted: Counter[str]) -> Answers:
    """Return the answers of a row, from an object or from columns, without empty ones."""
    found: Answers = defaultdict(dict)
    for name in _ANSWERS:
        value = nested(row, name)
        for scheme, labels in value.items() if isinstance(value, dict) else ():
            labels = labels if isinstance(labels, dict) else {_SLIDER: labels}
            found[scheme] |= {label: each for label, each in labels.items() if _is_said(each)}
    marks = [len(value) for name in _MARKS if isinstance(value := nested(row, name), list | dict)]
    counted[MARKS] += sum(marks)
    for column, value in row.values.items() if row.is_csv else ():
        parts = _scheme_and_label(column)
        if (parts and column.startswith(_OF_MARKS[0])) or column.endswith(_OF_MARKS[1]):
            marks = nested(row, column)
            counted[MARKS] += len(marks) if isinstance(marks, list) else 0
        elif parts and _is_said(value):
            found[parts[0]][parts[1]] = value
    return found


def _is_said(value: Any) -> bool:
    return value not in (None, "", False) and str(value).lower() != "false"


def _labels_with_values(answers: Iterable[Answers]) -> set[tuple[str, str]]:
    """Return the labels of which the value is the answer: they have several values."""
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in answers:
        for scheme, labels in each.items():
            for label, value in labels.items():
                values[scheme, label].add(str(value))
    several = {scheme for (scheme, _), found in values.items() if len(found) > 1}
    return {(scheme, label) for scheme, label in values if scheme in several or label in _VALUES}


def _votes(
    answers: Answers, of_values: set[tuple[str, str]], counted: Counter[str]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for scheme, labels in answers.items():
        counted[WRITTEN] += _REMARK in labels
        counted[BAD_TEXT] += _BAD_TEXT in labels
        chosen: list[str] = []
        for label, value in labels.items():
            if label in (_REMARK, _BAD_TEXT):
                continue
            if label == "text_box" and whole_number(str(value)) is None:
                counted[WRITTEN] += 1
            elif scheme == _SLIDER:
                found[f"asked.{label}"] = value
            elif (scheme, label) in of_values and not label.startswith(_POINT):
                found[f"asked.{scheme if label in _VALUES else f'{scheme}.{label}'}"] = value
            else:
                chosen.append(label.removeprefix(_POINT))
        if chosen:
            found[f"asked.{scheme}"] = SEVERAL.join(chosen)
    return found
