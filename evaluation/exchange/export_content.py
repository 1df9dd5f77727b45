"""The files of an export: in a folder, in a zip, or in the bundle of a study.

They are read through the limits of imports, so that a damaged or hostile file is one clear error.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from evaluation.reports.bundle import EXPORT_FOLDER, MANIFEST_FILE
from evaluation.votes.digests import FileDigest, digest_of
from generation.importers.archives import looks_like_zip
from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.importers.limits import Limits
from generation.importers.sources import Source
from generation.importers.spreadsheet import original_text
from generation.importers.tables import csv_rows, json_rows
from generation.records import Problem, Where

R = TypeVar("R")

# The items of a dataset stand in its manifest, which is read at once: one of 200,000 takes 8 MB.
LIMITS = Limits(max_whole_json_bytes=64 * 1024**2)


class ExportContent:
    """The files of an export by name, read row by row."""

    def __init__(self, path: Path) -> None:
        """Open an export.

        Raises:
            DatasetError: there is nothing at the path, it is neither a folder nor a zip, it has a
                file that no export has, or no export is in it.
        """
        self.path = path
        around = Source(path, LIMITS)
        try:
            _refuse_hidden(path, (*around.sizes, *around.ignored))
            if not path.is_dir() and not looks_like_zip(path):
                raise DatasetError(path.name, "no zip", "a folder or a zip")
            self.is_bundle = MANIFEST_FILE in around.sizes
            self.folder = EXPORT_FOLDER if self.is_bundle and not path.is_dir() else ""
            self._manifest = around.whole_json(MANIFEST_FILE) if self.folder else None
        finally:
            around.close()
        self._source = Source(path, LIMITS, folder=self.folder)
        self.names = sorted(self._source.sizes)
        if "examples.jsonl" not in self.names and "kg_questions.jsonl" not in self.names:
            self.close()
            raise DatasetError(
                path.name, "no examples.jsonl", "what `manage.py export` writes, unchanged"
            )

    def close(self) -> None:
        self._source.close()

    @property
    def manifest(self) -> Any:
        """The JSON value of the manifest in a bundle."""
        return self._manifest

    def rows(self, name: str) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a file as they are written; none if the export has no such file.

        Empty cells are left out, and nothing else is done to cells.

        Raises:
            DatasetError: a row cannot be read.
        """
        for row in self._rows(name, cell=str):
            yield row.values

    def records(self, name: str, read: Callable[[Row], R]) -> Iterator[R]:
        """Yield what `read` makes of each row of a file; none if the export has no such file.

        Raises:
            DatasetError: a row cannot be read, or has a problem.
        """
        for row in self._rows(name):
            record = read(row)
            if row.problems:
                raise DatasetError(str(row.problems[0]))
            yield record

    def digests(self) -> dict[str, FileDigest]:
        """Return the digest of each file.

        Raises:
            DatasetError: a row cannot be read.
        """
        return {
            name: digest_of(name, self.rows(name))
            for name in self.names
            if name.endswith((".csv", ".jsonl", ".json"))
        }

    def _rows(self, name: str, cell: Callable[[str], str] = original_text) -> Iterator[Row]:
        if name not in self.names:
            return
        source = self._source
        if name.endswith(".csv"):
            found = csv_rows(source, name, (), frozenset(), delimiter=",", cell=cell)
        elif name.endswith(".jsonl"):
            found = json_rows(source, name)
        else:
            found = iter([_only_row(source, name)])
        for row in found:
            if isinstance(row, Problem):
                raise DatasetError(str(row))
            yield row


def _only_row(source: Source, name: str) -> Row | Problem:
    value = source.whole_json(name, of_settings=True)
    if isinstance(value, dict):
        return Row(Where(name, 1), value)
    return Problem(Where(name, 1), "", excerpt(value), "one JSON object")


def _refuse_hidden(path: Path, names: tuple[str, ...]) -> None:
    """Refuse files that listings do not show, which no export has."""
    for name in names:
        if any(part.startswith(".") for part in name.split("/")):
            raise DatasetError(
                f"{path.name}: {excerpt(name)}", "a hidden file", "what `manage.py export` writes"
            )
