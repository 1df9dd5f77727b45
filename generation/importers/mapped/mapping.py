"""A mapping: the role of each column of a table. It is a small TOML file, read and written here.

title = "Answers of the pilot"
rows = "results.items"        # JSON: the path to its list of rows
sheet = "Answers"             # Excel: the sheet with the table (else the likely one)
header_line = 3               # Excel and CSV: the line of the header (else the likely one)
encoding = "windows-1252"     # CSV: of its text (else UTF-8); the next two are for CSV as well
delimiter = ";"
decimal = ","
missing = ["unsure"]          # further words that are no vote
system_messages = "shown"     # what they are: evidence (shown or golden). Else they are left out
needs = ["query", "answer"]   # columns that a table must have; if left out, all that are named

[columns]                     # column → role; other columns stay in `meta`
query = "question"
"answer.text" = "response"    # a field inside an object
supported = "vote"
"ratings[].score" = "vote"    # a field of each object in a list, which is a row of its own
"f1_*" = "score"              # all columns that begin with f1_ and have no other role

[names]                       # name of a setup, metric or vote's question, if not the column's
supported = "attributable"

[raters]                      # the rater of a column of one rater's votes, if not the column's name
"Anna M." = "r7"

[values.supported]            # the meanings of a vote's answers
"fully supported" = "yes"
"not supported" = "no"
"None" = "None"               # this word is a label here, and not a missing vote

[scales]                      # of votes that come without a scheme; else it is told by the answers
supported = "yes_no"          # or "1 to 5", or the labels: ["poor", "fair", "good"]

[constants]                   # used if no column holds them
setup = "model-a"
rater = "r1"
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import tomli_w

from generation.importers.encodings import ENCODINGS, UTF_8
from generation.importers.errors import DatasetError, excerpt
from generation.importers.json_text import unstorable_character
from generation.importers.mapped.roles import (
    HOLD_RESPONSES,
    HOLD_VOTES,
    ROLES,
    plain_name,
    question_in,
)
from generation.importers.tables import DELIMITERS
from generation.limits import LONGEST_NAME
from generation.toml_text import TomlTrouble, parse_toml

LONGEST_TEXT = 1 << 18  # characters of a file
MOST_LINES = 1_000_000  # up to a header
ANYTHING = "*"  # the end of a pattern
CONSTANTS = ("setup", "rater")
DECIMALS = (".", ",")
EVIDENCE = ("shown", "golden")  # what messages of the system may be
# The roles that belong to one response of a row, with their names in messages.
OF_ONE_RESPONSE = {
    "response_id": "their ids",
    "setup": "setups",
    "score": "scores",
    "scores": "scores",
    "vote": "votes",
    "rater_votes": "votes",
}
_TEXTS = ("title", "reader", "rows", "sheet", "encoding", "delimiter", "decimal", "system_messages")
_TABLES = ("columns", "names", "raters", "constants")
_LISTS = ("needs", "missing")
_KEYS = (*_TEXTS, "header_line", *_TABLES, *_LISTS, "values", "scales")
_POINTS = re.compile(r"\s*(\d{1,3})\s*(?:to|-|\N{EN DASH})\s*(\d{1,3})\s*")
A_SCALE = ('"yes_no"', '"1 to 5"', "a list of labels")
QUESTION_OF_RATERS = "vote"  # the question of columns of raters that no name tells


class ColumnMapping(NamedTuple):
    """The roles of the columns of a table, by name; see the module's docstring."""

    columns: Mapping[str, str] = {}  # column → role
    names: Mapping[str, str] = {}  # column → setup, metric or question
    raters: Mapping[str, str] = {}  # column of one rater's votes → rater
    values: Mapping[str, Mapping[str, str]] = {}  # column of votes → value → answer
    scales: Mapping[str, str | tuple[str, ...]] = {}  # column of votes → scale, as it is written
    constants: Mapping[str, str] = {}  # setup and rater
    title: str = ""
    reader: str = ""  # for a file that no columns describe: a key of `ROW_READERS`
    rows: str = ""  # path of names to the list of rows; "": the file is that list
    sheet: str = ""  # title of the sheet of a workbook; "": the likely one
    header_line: int = 0  # line of the header in CSV or a workbook; 0: the likely one
    encoding: str = ""  # "": the one chosen for the file, or else UTF-8
    delimiter: str = ""  # "": the one that occurs most in the header
    decimal: str = "."
    needs: tuple[str, ...] | None = None
    system_messages: str = ""  # the evidence that they are; "": they are left out
    missing: tuple[str, ...] = ()  # words that are no vote, besides those that never are

    def of(self, role: str) -> tuple[str, ...]:
        """Return the columns with a role, in the order of the mapping."""
        return tuple(column for column, what in self.columns.items() if what == role)

    def one(self, role: str) -> str | None:
        """Return the first column with a role. None: there is none."""
        return next(iter(self.of(role)), None)

    def name_of(self, column: str) -> str:
        """Return the name of the setup, metric or question of a column."""
        is_a_rater = self.columns.get(column) == "rater_votes"
        return self.names.get(column, QUESTION_OF_RATERS if is_a_rater else question_in(column))

    def rater_of(self, column: str) -> str:
        """Return the rater of a column of votes. "": each row names its own."""
        is_a_rater = self.columns.get(column) == "rater_votes"
        return self.raters.get(column, column) if is_a_rater else ""

    def scale_of(self, question: str) -> object:
        """Return the scale of a question of votes, as scheme.json spells one. None: not stated."""
        for column, scale in self.scales.items():
            if self.one("asked") or self.name_of(column) == question:
                return _spelled(scale)
        return None

    def meanings(self, column: str) -> Mapping[str, str]:
        """Return what words in a column of votes mean. "": no vote."""
        of_column = self.values.get(column, {})
        return {**dict.fromkeys(self.missing, ""), **of_column} if self.missing else of_column

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that a table must have."""
        named = (column for column in self.columns if not column.endswith(ANYTHING))
        return tuple(named) if self.needs is None else self.needs

    @property
    def is_place(self) -> bool:
        """Whether it only says where a table is in its file, and not what its columns are."""
        return bool(self.sheet or self.header_line) and not self.columns

    @property
    def is_complete(self) -> bool:
        """Whether it names a column of responses."""
        return any(self.one(role) for role in HOLD_RESPONSES)

    @property
    def what_is_missing(self) -> list[str]:
        """The columns that a table lacks, and what that costs."""
        there = {*self.columns.values(), *self.constants}
        if len(self.of("response")) > 1:
            there.add("setup")
        return [role.without for key, role in ROLES.items() if role.without and key not in there]

    def of_table(self, there: Mapping[str, bool]) -> "ColumnMapping":
        """Return the mapping for the columns that a table has, without patterns.

        Args:
            there: the columns, each with whether it holds only numbers that may be scores. A
                pattern of scores fits only such columns.
        """
        columns = {column: role for column, role in self.columns.items() if column in there}
        names = {column: name for column, name in self.names.items() if column in there}
        for pattern in (column for column in self.columns if column.endswith(ANYTHING)):
            role, beginning = self.columns[pattern], pattern.removesuffix(ANYTHING)
            for column, are_scores in there.items():
                fits = column.startswith(beginning) and (are_scores or role != "score")
                if column and column not in columns and fits:
                    columns[column] = role
                    if role == "rater_votes":
                        names[column] = self.name_of(pattern)
                    elif beginning:
                        names[column] = column.removeprefix(beginning)
        raters = {column: rater for column, rater in self.raters.items() if column in columns}
        scales = {column: scale for column, scale in self.scales.items() if column in columns}
        return self._replace(columns=columns, names=names, raters=raters, scales=scales)

    def spelt_as(self, columns: Iterable[str]) -> "ColumnMapping":
        """Return the mapping with its columns as a table spells them: `User Input`, `userInput`."""
        there = {plain_name(column): column for column in columns}
        spelt = {
            column: there.get(plain_name(column), column)
            for column in (*self.columns, *(self.needs or ()))
            if column not in there.values() and "." not in column and column != ANYTHING
        }
        return self._replace(
            columns={spelt.get(column, column): role for column, role in self.columns.items()},
            needs=self.needs and tuple(spelt.get(column, column) for column in self.needs),
        )

    def as_toml(self) -> str:
        """Return the file that `read_mapping` reads, without values that are the default."""
        default = ColumnMapping()._asdict()
        said = {
            key: value
            for key, value in self._asdict().items()
            if value != default[key] and (value or key == "needs")
        }
        return tomli_w.dumps(dict(sorted(said.items(), key=lambda item: _KEYS.index(item[0]))))


def read_mapping(text: str, where: str = "mapping", *, is_whole: bool = True) -> ColumnMapping:
    """Return the mapping in a TOML file.

    Args:
        where: the name of the file, for the message.
        is_whole: whether it has to name a column of responses, or to say only where the table is.

    Raises:
        DatasetError: it is no TOML, or no mapping.
    """
    try:
        data = parse_toml(text, LONGEST_TEXT, "a mapping")
    except TomlTrouble as trouble:
        raise DatasetError(where, trouble.found, trouble.expected) from trouble
    _refuse_unless(data.keys() <= set(_KEYS), where, list(data.keys() - set(_KEYS)), _KEYS)
    said: dict[str, Any] = {
        key: _text(data[key], f"{where}, {key}") for key in _TEXTS if key in data
    }
    said |= {key: _texts(data[key], f"{where}, {key}") for key in _TABLES if key in data}
    if "header_line" in data:
        said["header_line"] = _line(data["header_line"], f"{where}, header_line")
    values = data.get("values", {})
    _refuse_unless(isinstance(values, dict), f"{where}, values", values, ["tables of texts"])
    for key, of in zip(_LISTS, ("columns", "words"), strict=True):
        if key in data:
            found = data[key]
            is_list = isinstance(found, list) and all(isinstance(each, str) for each in found)
            _refuse_unless(is_list, f"{where}, {key}", found, [f"a list of {of}"])
            said[key] = tuple(_text(each, f"{where}, {key}") for each in found)
    scales = data.get("scales", {})
    _refuse_unless(isinstance(scales, dict), f"{where}, scales", scales, ["a table of scales"])
    mapping = ColumnMapping()._replace(
        **said,
        scales={key: _scale(each, f"{where}, scales.{key:.40}") for key, each in scales.items()},
        values={key: _texts(each, f"{where}, values.{key}") for key, each in values.items()},
    )
    _check(mapping, where, is_whole)
    return mapping


def _check(mapping: ColumnMapping, where: str, is_whole: bool) -> None:
    for column, role in mapping.columns.items():
        _refuse_unless(role in ROLES, f"{where}, columns.{excerpt(column)}", role, ROLES)
    if is_whole and not mapping.is_complete and not mapping.is_place:
        expected = 'a column with the responses, as in: answer = "response"'
        raise DatasetError(f"{where}, columns", excerpt(dict(mapping.columns)), expected)
    if len(mapping.of("response")) > 1:
        for role, what in OF_ONE_RESPONSE.items():
            if mapping.one(role):
                expected = f"one column of responses, or no column of {what}"
                raise DatasetError(f"{where}, columns", excerpt(mapping.of("response")), expected)
    votes = mapping.of("vote")
    is_one = len(votes) == 1 if votes else bool(mapping.one("rater_votes"))
    if mapping.one("asked") and not is_one:
        found = f"{len(votes)} columns of votes, and a column that names their question"
        raise DatasetError(f"{where}, columns", found, "one column of votes")
    for what in ("names", "values", "raters"):
        others = sorted({*getattr(mapping, what)} - {*mapping.columns})
        _refuse_unless(not others, f"{where}, {what}", others, ["columns of this mapping"])
    of_votes = [column for role in HOLD_VOTES for column in mapping.of(role)]
    others = sorted({*mapping.scales} - {*of_votes})
    _refuse_unless(not others, f"{where}, scales", others, ["columns of votes of this mapping"])
    for key in mapping.constants:
        _refuse_unless(key in CONSTANTS, f"{where}, constants", key, CONSTANTS)
    for what in ("constants", "raters"):
        for key, value in getattr(mapping, what).items():
            is_name = 0 < len(value.strip()) <= LONGEST_NAME
            expected = f"1 to {LONGEST_NAME} characters"
            _refuse_unless(is_name, f"{where}, {what}.{key}", value, [expected])
    _refuse_unless(
        mapping.encoding in ("", *ENCODINGS), f"{where}, encoding", mapping.encoding, ENCODINGS
    )
    is_delimiter = mapping.delimiter in ("", *DELIMITERS)
    _refuse_unless(
        is_delimiter,
        f"{where}, delimiter",
        mapping.delimiter,
        map(excerpt, DELIMITERS),
    )
    said = mapping.system_messages
    _refuse_unless(said in ("", *EVIDENCE), f"{where}, system_messages", said, EVIDENCE)
    is_decimal = mapping.decimal in DECIMALS
    _refuse_unless(is_decimal, f"{where}, decimal", mapping.decimal, map(excerpt, DECIMALS))


def encoding_of(mapping: ColumnMapping | None, chosen: str) -> str:
    """Return the encoding of a file's text: the one in its mapping, or else the chosen one."""
    return (mapping.encoding if mapping else "") or chosen or UTF_8


def _text(value: Any, where: str) -> str:
    _refuse_unless(isinstance(value, str), where, value, ["a text"])
    trouble = unstorable_character(value)
    if trouble:
        raise DatasetError(where, trouble, "text without this character")
    return str(value)


def _scale(value: Any, where: str) -> str | tuple[str, ...]:
    if isinstance(value, list):
        labels = tuple(_text(each, where) for each in value)
        _refuse_unless(len(labels) > 1, where, value, ["at least two labels"])
        return labels
    text = _text(value, where)
    _refuse_unless(_spelled(text) is not None, where, value, [" or ".join(A_SCALE)])
    return text


def _spelled(scale: str | tuple[str, ...]) -> object:
    """Return a scale of a mapping as scheme.json spells it. None: it is none."""
    if isinstance(scale, tuple):
        return {"nominal": [*scale]}
    points = _POINTS.fullmatch(scale)
    if points and int(points[1]) < int(points[2]):
        return {"ordinal": [int(points[1]), int(points[2])]}
    return "yes_no" if scale.strip() == "yes_no" else None


def _line(value: Any, where: str) -> int:
    is_line = type(value) is int and 0 < value <= MOST_LINES
    _refuse_unless(is_line, where, value, [f"a whole number from 1 to {MOST_LINES:,}"])
    return int(value)


def _texts(value: Any, where: str) -> dict[str, str]:
    _refuse_unless(isinstance(value, dict), where, value, ["a table of texts"])
    return {_text(key, where): _text(each, f"{where}.{key:.40}") for key, each in value.items()}


def _refuse_unless(is_right: bool, where: str, found: Any, expected: Any) -> None:
    if not is_right:
        several = tuple(expected)
        listed = f"one of {', '.join(several)}" if len(several) > 3 else " or ".join(several)
        raise DatasetError(where, excerpt(found), listed)
