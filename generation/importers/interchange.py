"""Attest's own interchange format: a folder or zip of files, or a single one of these files."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from generation.importers.cell_meanings import score_in
from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row, RowKind, read_rows
from generation.importers.interchange_rows import ROW_KINDS, SCORES
from generation.importers.json_text import JSONTrouble, parse_row
from generation.importers.mapped.roles import NEEDED, is_named_as_votes, roles_by_name
from generation.importers.material import KINDS, MOST_IGNORED, Material
from generation.importers.sources import Source, plain_name
from generation.importers.tables import csv_columns, csv_rows, json_rows
from generation.records import Problem, Record

_SETTINGS = ("study", "scheme", "dataset")
_HEAD_BYTES = 1 << 20
_ALSO_OTHERS = ("scores",)  # also a name that other tools give to a file
_NO_TEXT = (b"PK\x03\x04", b"PAR1")  # workbooks and Parquet files are tables, whatever their names


class _File(NamedTuple):
    name: str
    kind: RowKind
    is_csv: bool


class InterchangeMaterial(Material):
    """A dataset in interchange files, each read as a stream."""

    format = "interchange"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        files = _record_files(source)
        if not files:
            raise _unclear(source)
        self._files = {file.kind.name: file for file in files}
        self.kinds = tuple(kind for kind in KINDS if kind in self._files)
        self.study, self.scheme, self.about = (_settings(source, name) for name in _SETTINGS)
        used = {file.name for file in files} | set(_settings_files(source).values())
        self.ignored = source.ignored + [name for name in source.sizes if name not in used]

    def records(self, kind: str) -> Iterator[Record | Problem]:
        file = self._files.get(kind)
        if file is None:
            return iter(())
        if file.is_csv:
            rows = csv_rows(
                self._source,
                file.name,
                file.kind.required,
                file.kind.fields,
                lambda column: self._note_unknown(file, "column", column),
            )
        else:
            rows = self._json_rows(file)
        return read_rows(self._scored(rows) if file.kind is SCORES else rows, file.kind.read)

    @property
    def bytes_total(self) -> int:
        return sum(self._source.sizes[file.name] for file in self._files.values())

    def _scored(self, rows: Iterator[Row | Problem]) -> Iterator[Row | Problem]:
        """Yield the rows of scores that have one, or the reason why not; count the others."""
        counted: Counter[str] = Counter()
        for row in rows:
            is_there = isinstance(row, Row) and not row.values.get("problem")
            if isinstance(row, Row) and is_there and (row.is_csv or "score" in row.values):
                cell = score_in(row.values.get("score"))
                counted[cell.note] += bool(cell.note)
                if cell.is_empty:
                    continue
            yield row
        self.notes |= +counted

    def _json_rows(self, file: _File) -> Iterator[Row | Problem]:
        known = set(file.kind.fields)
        for row in json_rows(self._source, file.name):
            is_row = isinstance(row, Row) and not file.kind.keeps_unknown
            if isinstance(row, Row) and is_row and not row.values.keys() <= known:
                for key in row.unknown(known):
                    self._note_unknown(file, "key", key)
                if len(known) < MOST_IGNORED:
                    known |= row.values.keys()
            yield row

    def _note_unknown(self, file: _File, what: str, name: str) -> None:
        if not file.kind.keeps_unknown:
            self.note_unknown(f"{file.name}: {what} {name!r:.100}")


def recognises(source: Source) -> bool:
    """Return whether there is at least one interchange file."""
    return bool(_record_files(source))


def _record_files(source: Source) -> list[_File]:
    files: dict[str, _File] = {}
    for name in source.sizes:
        stem, _, suffix = plain_name(name).partition(".")
        if stem not in ROW_KINDS or suffix not in ("jsonl", "csv"):
            continue
        if stem in _ALSO_OTHERS and _is_foreign(source, name, ROW_KINDS[stem], suffix):
            continue
        if stem in files:
            raise DatasetError(
                f"{files[stem].name} and {name}", f"two files of {stem}", "one of them"
            )
        files[stem] = _File(name, ROW_KINDS[stem], suffix == "csv")
    only = source.only_data_file()
    if files and (only is None or len(source.sizes) > 1):
        return list(files.values())
    single = None if only is None else _single_file(source, only)
    return [] if single is None else [single]


def _is_foreign(source: Source, name: str, kind: RowKind, suffix: str) -> bool:
    """Return whether a file has none of the fields that its name promises."""
    head = source.head(name, _HEAD_BYTES).decode("utf-8", "replace").lstrip()
    fields = _first_fields(head, suffix == "jsonl", source.limits.max_nesting)
    return bool(fields) and fields.isdisjoint(kind.required)


def _single_file(source: Source, name: str) -> _File | None:
    """Return a lone file with its kind. Its name tells that, else its header or first object."""
    stem = plain_name(name).partition(".")[0]
    raw = source.head(name, _HEAD_BYTES)
    if raw.startswith(_NO_TEXT):
        return None
    head = raw.decode("utf-8", "replace").lstrip()
    suffix = plain_name(name).rpartition(".")[2]
    if suffix not in ("jsonl", "csv", "tsv") and head.startswith("{"):
        suffix = "jsonl"
    if suffix == "json":
        return None
    fields = _first_fields(head, suffix == "jsonl", source.limits.max_nesting)
    is_of_answers = {*roles_by_name(fields).values()} >= {*NEEDED}
    for kind in sorted(ROW_KINDS, key=len, reverse=True):
        if is_of_answers and "response" not in fields.intersection(ROW_KINDS[kind].required):
            continue  # a table of questions and responses, and not rows that name a response
        if re.match(rf"{kind}($|[^a-z])", stem):
            return _File(name, ROW_KINDS[kind], suffix != "jsonl")
    for row_kind in ROW_KINDS.values():
        others = () if row_kind.keeps_unknown else fields - row_kind.fields
        would_lose_votes = any(map(is_named_as_votes, others))
        is_it = fields.issuperset(row_kind.required) and len(row_kind.required) > 1
        if is_it and not would_lose_votes:
            return _File(name, row_kind, suffix != "jsonl")
    return None


def _first_fields(head: str, is_json: bool, max_nesting: int) -> set[str]:
    if not is_json:
        return {column.lower() for column in csv_columns(head) if head.strip()}
    try:
        value = parse_row(head.replace("\r", "\n").partition("\n")[0], max_nesting)
    except JSONTrouble:
        return set()
    return set(value) if isinstance(value, dict) else set()


def _settings_files(source: Source) -> dict[str, str]:
    """Return the names of those of study.json, scheme.json and dataset.json that exist."""
    names = {plain_name(name): name for name in source.sizes}
    return {what: names[f"{what}.json"] for what in _SETTINGS if f"{what}.json" in names}


def _settings(source: Source, what: str) -> dict[str, Any] | None:
    name = _settings_files(source).get(what)
    if name is None:
        return None
    value = source.whole_json(name, of_settings=True)
    if not isinstance(value, dict):
        raise DatasetError(name, excerpt(value), "a JSON object")
    return value


def _unclear(source: Source) -> DatasetError:
    names = ", ".join(list(source.sizes)[:10]) or "no files"
    return DatasetError(source.path.name, names, expected_files())


def expected_files() -> str:
    """Return a sentence that names the interchange files and their required fields."""
    kinds = ", ".join(f"{kind.name} ({', '.join(kind.required)})" for kind in ROW_KINDS.values())
    return (
        "interchange files (.jsonl or .csv), each named after its rows, here with the fields "
        f"that they need: {kinds}"
    )
