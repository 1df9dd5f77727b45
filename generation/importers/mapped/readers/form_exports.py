"""Answers to a form (Google Forms, Microsoft Forms), with a second table of the rated items.

A row of the export is one person's answers, and a column is an item: `Supported? [q1]`, or a
question of which the second table has the text. Each cell becomes a row, with the fields of its
item. The names and addresses in the export are of raters. Only a code of them is kept.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from generation.importers.errors import DatasetError
from generation.importers.fields import Row
from generation.importers.mapped.mapping import QUESTION_OF_RATERS, ColumnMapping
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.mapped.readers.rated_items import items_by_key
from generation.importers.mapped.roles import plain_name
from generation.importers.mapped.table_files import TableFile, table_in
from generation.importers.sources import Source
from generation.records import Problem

NO_TIME = "times of answers that are not in ISO 8601"
NO_ITEM = "columns of the form that are no item of the second table"
_TIMES = ("completion_time", "timestamp", "zeitstempel", "horodateur", "start_time")
_RATERS = ("email_address", "email", "e_mail_adresse", "e_mail", "username", "name")
_NOBODY = ("", "anonymous", "anonym")  # Microsoft Forms writes so where it asks for no account.
_IN_BRACKETS = re.compile(r"(.*?)\s*\[([^\[\]]+)\]", re.DOTALL)
_NUMBER = re.compile(r"\s*\d+")

Items = Mapping[str, Row]  # key → row of the second table


class FormColumn(NamedTuple):
    """A column of answers about one item."""

    name: str
    item: str
    question: str


def files(source: Source) -> tuple[str, ...]:
    """Return the export of a form and the table of its items. Empty: these are others."""
    names = source.data_files()
    if len(names) != 2:
        return ()
    try:
        tables = {name: _table(source, name) for name in names}
        forms = [name for name, table in tables.items() if table and _is_form(table)]
        others = tuple(name for name in names if name not in forms)
        is_one = len(forms) == len(others) == 1
        return (forms[0], *others) if is_one and any(_matched(source, forms[0], others[0])) else ()
    except DatasetError:  # these are files of another kind
        return ()


def rows(source: Source, names: tuple[str, ...], left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each cell of an item, and for each item without one."""
    form, table = (_table(source, name) for name in names)
    columns, items = _matched(source, *names)
    if form is None or table is None:
        return
    there = form.columns(form.first_rows())
    rater, at = (_first_named(there, among) for among in (_RATERS, _TIMES))
    known = {*_TIMES, *_RATERS, "id", "last_modified_time"}
    others = [c for c in there if plain_name(c) not in known]
    counted = Counter({NO_ITEM: len(others) - len(columns)})
    yield from (each for each in table.rows() if isinstance(each, Problem))
    for answers in form.rows():
        if isinstance(answers, Problem):
            yield answers
            continue
        line = answers.where.line
        who = str(answers.values.get(rater or "") or "")
        is_somebody = who.strip().lower() not in _NOBODY
        said = {"form.rater": who if is_somebody else f"line {line} of {names[0]}"}
        if at and (moment := answers.values.get(at)):
            said |= {"form.at": moment} if _is_iso(moment) else {}
            counted[NO_TIME] += not _is_iso(moment)
        for column in columns:
            item = items[column.item]
            vote = {"form.asked": column.question, "form.vote": answers.values.get(column.name)}
            yield Row(answers.where, {**item.values, **said, **vote}, is_csv=item.is_csv)
    without = items.keys() - {column.item for column in columns}
    yield from (item for key, item in items.items() if key in without)
    left_out |= {what: n for what, n in counted.items() if n}


def _table(source: Source, name: str) -> TableFile | None:
    return table_in(source, name, ColumnMapping())  # no search for a list inside an object


def _is_form(table: TableFile) -> bool:
    return _first_named(table.columns(table.first_rows()), _TIMES) is not None


def _first_named(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the column with the first of some names that is there."""
    there = {plain_name(column): column for column in reversed(columns)}
    return next((there[name] for name in names if name in there), None)


def _matched(source: Source, form: str, others: str) -> tuple[list[FormColumn], Items]:
    """Return the columns of items and the items, by the column that names most of them."""
    answers = _table(source, form)
    if answers is None:
        return [], {}
    columns = [_form_column(name) for name in answers.columns(answers.first_rows())]
    items = items_by_key(source, others, [column.item for column in columns])
    return [column for column in columns if column.item in items], items


def _form_column(name: str) -> FormColumn:
    """Return the item and the question in a name. Numbers of items are no part of a question."""
    found = _IN_BRACKETS.fullmatch(name.strip())
    if found is None:
        return FormColumn(name, name.strip(), QUESTION_OF_RATERS)
    question = " ".join(_NUMBER.sub("", found[1]).split())
    return FormColumn(name, found[2].strip(), question or QUESTION_OF_RATERS)


def _is_iso(moment: Any) -> bool:
    try:
        return bool(datetime.fromisoformat(str(moment)))
    except ValueError:
        return False
