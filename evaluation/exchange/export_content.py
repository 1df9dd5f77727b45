"""The files of an export: in a folder, in a zip, or in the bundle of a study."""

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from evaluation.reports.bundle import EXPORT_FOLDER, MANIFEST_FILE
from evaluation.votes.digests import FileDigest, Row, file_digest, rows_of


class ExportContent:
    """The files of an export by name. Zips are read member by member."""

    def __init__(self, path: Path) -> None:
        """Open an export.

        Raises:
            FileNotFoundError: there is nothing at the path.
            ValueError: it is neither a folder nor a zip, or has no export in it.
        """
        self.path = path
        self._zip: zipfile.ZipFile | None = None
        self.is_bundle = False
        if path.is_dir():
            self.names = sorted(file.name for file in path.iterdir() if file.is_file())
        elif path.is_file():
            try:
                self._zip = zipfile.ZipFile(path)
            except zipfile.BadZipFile as error:
                raise ValueError(f"{path}: found no zip; expected a folder or a zip") from error
            self.is_bundle = MANIFEST_FILE in self._zip.namelist()
            prefix = EXPORT_FOLDER if self.is_bundle else ""
            inside = [name for name in self._zip.namelist() if name.startswith(prefix)]
            self.names = sorted(name.removeprefix(prefix) for name in inside)
        else:
            raise FileNotFoundError(f"No such file: {path}")
        if "examples.jsonl" not in self.names and "kg_questions.jsonl" not in self.names:
            raise ValueError(
                f"{path}: found no examples.jsonl; expected what `manage.py export` writes"
            )

    @contextmanager
    def open(self, name: str) -> Iterator[IO[str]]:
        """Open a file as text."""
        if self._zip is None:
            with (self.path / name).open(encoding="utf-8", newline="") as text:
                yield text
            return
        inside = f"{EXPORT_FOLDER}{name}" if self.is_bundle else name
        with (
            self._zip.open(inside) as member,
            io.TextIOWrapper(member, encoding="utf-8", newline="") as text,
        ):
            yield text

    def rows(self, name: str) -> Iterator[Row]:
        """Yield the rows of a file; none if the export has no such file."""
        if name in self.names:
            with self.open(name) as text:
                yield from rows_of(name, text)

    def digests(self) -> dict[str, FileDigest]:
        """Return the digest of each file."""
        found = {}
        for name in self.names:
            if name.endswith((".csv", ".jsonl", ".json")):
                with self.open(name) as text:
                    found[name] = file_digest(name, text)
        return found

    def manifest(self) -> dict[str, Any]:
        """Return the manifest in a bundle."""
        assert self._zip is not None
        found: dict[str, Any] = json.loads(self._zip.read(MANIFEST_FILE))
        return found

    def as_folder(self, folder: Path) -> Path:
        """Return a folder with the files, so that an import can read them."""
        if self._zip is None:
            return self.path
        for name in self.names:
            if "/" not in name:
                with self.open(name) as text, (folder / name).open("w", encoding="utf-8") as out:
                    out.writelines(text)
        return folder
