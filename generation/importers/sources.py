"""Opening what a user gives: a folder, a zip or one file, each file possibly gzipped.

Nothing is unpacked to disk, and stated sizes are not trusted: bytes are counted while they are
read, and everything is read line by line. `archives` checks the content of a zip.
"""

import gzip
import io
import lzma
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from generation.importers.archives import (
    NEW_EXCEL,
    ZipStore,
    is_junk,
    is_workbook,
    looks_like_old_excel,
    looks_like_zip,
)
from generation.importers.encodings import (
    ENCODINGS,
    NO_TEXT,
    UTF16_BOMS,
    UTF_8,
    WINDOWS,
    CrAsLf,
    Utf16AsUtf8,
    ends_in_cr,
    is_windows_text,
    kind_of_binary,
    without_bom,
)
from generation.importers.errors import DatasetError, TooLargeError
from generation.importers.json_text import JSONTrouble, parse_json, parse_row, unstorable_character
from generation.importers.limits import Limits
from generation.records import Problem, Where

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

DATA_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".nt", ".run", ".trec", ".xlsx", ".parquet")
_BUFFER = 1 << 18
_HEAD_BYTES = 1 << 20
_OVERLAP = 200
_GZIP_MAGIC = b"\x1f\x8b"
_DAMAGE = (zlib.error, lzma.LZMAError, zipfile.BadZipFile, EOFError, OSError, NotImplementedError)


class TextLine(NamedTuple):
    """One physical line with its line end. If it has a `problem`, `text` is only a stand-in."""

    number: int
    text: str
    problem: Problem | None


class Store(Protocol):
    """A store of files: their names with stored sizes, and a way to open one."""

    sizes: Mapping[str, int]
    ignored: list[str]

    def open(self, name: str) -> IO[bytes]: ...

    def close(self) -> None: ...


class Source:
    """A folder, a zip or one file as named streams of lines, within `limits`.

    `bytes_read` counts bytes over all passes for a progress bar: as stored in a folder, and as
    unpacked in a zip. The limits apply to the latest pass over each file.
    """

    def __init__(
        self, path: Path, limits: Limits | None = None, encoding: str = UTF_8, folder: str = ""
    ) -> None:
        """Open a folder, a zip or one file.

        Args:
            folder: the folder of a zip whose files are read, such as `export/`; "": its top.

        Raises:
            DatasetError: it cannot be opened, or has a file that is refused.
        """
        self.path = path
        self.limits = limits or Limits()
        self.encoding = encoding
        self.bytes_read = 0
        self._used_bytes: dict[str, int] = {}
        self._used_rows: dict[str, int] = {}
        self._spools: dict[str, IO[str]] = {}
        self._streams: list[IO[bytes]] = []  # those of the store that may be open
        self._not_text: dict[str, Problem] = {}  # file → problem of its first line that is no text
        self._store = _store_for(path, self.limits, folder)
        self.ignored = self._store.ignored
        stored = sum(self.sizes.values()) if path.is_dir() else path.stat().st_size
        unpacked = max(self.limits.max_times_unpacked * stored, self.limits.always_unpacked)
        self._most_bytes = min(self.limits.max_bytes, unpacked)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The stored size of each file by name."""
        return self._store.sizes

    def data_files(self) -> tuple[str, ...]:
        """Return the names of the data files. A file that is given alone is one."""
        if isinstance(self._store, _FileStore):
            return tuple(self.sizes)
        return tuple(name for name in self.sizes if plain_name(name).endswith(DATA_SUFFIXES))

    def only_data_file(self) -> str | None:
        """Return the name of the single data file, if there is just one."""
        data = self.data_files()
        return data[0] if len(data) == 1 else None

    def recognise_encoding(self, name: str) -> None:
        """Read a text as Windows-1252 if its head shows that, and if no encoding was chosen."""
        if self.encoding == UTF_8 and is_windows_text(self.head(name, _HEAD_BYTES)):
            self.encoding = WINDOWS

    def lines(self, name: str) -> Iterator[TextLine]:
        """Yield the lines of a file from its beginning. A bad line comes with its problem.

        If a file is no text, such as a workbook, the only line has this problem.
        """
        limit = self.limits.max_line_bytes
        self.begin_rows(name)
        with self._open(name) as opened:
            stream = _buffered(CrAsLf(opened)) if ends_in_cr(opened.peek(_BUFFER)) else opened
            if kind := kind_of_binary(stream.peek(4)):
                yield TextLine(1, "\n", _line_problem(name, 1, kind, NO_TEXT))
                return
            number = 0
            while raw := stream.readline(limit + 1):
                number += 1
                if number == 1:
                    raw = without_bom(raw, name)
                if len(raw) > limit and not raw.endswith(b"\n"):
                    yield _too_long_line(stream, raw, Where(name, number), limit)
                    continue
                text = self.text_of(raw, Where(name, number), "line")
                if isinstance(text, Problem):
                    yield TextLine(number, raw.decode(self.encoding, "replace"), text)
                    continue
                if "\0" in text:
                    found = unstorable_character(text)
                    yield TextLine(
                        number,
                        text,
                        _line_problem(name, number, found, "text without this character"),
                    )
                else:
                    yield TextLine(number, text, None)

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a file's bytes from its beginning, unpacked and without a byte order mark."""
        self.begin_rows(name)
        with self._open(name) as stream:
            chunk = without_bom(stream.read(_BUFFER), name)
            while chunk:
                yield chunk
                chunk = stream.read(_BUFFER)

    def text_of(self, raw: bytes, where: Where, what: str) -> str | Problem:
        """Return the text of one line or entry, or the problem that it is no text.

        Raises:
            DatasetError: it is not the first such line of its file, which has another encoding.
        """
        try:
            return raw.decode(self.encoding)
        except UnicodeDecodeError as error:
            found = f"byte {raw[error.start]:#04x} at byte {error.start + 1:,} of the {what}"
        first = self._not_text.get(where.file)
        if first is not None:
            raise DatasetError(str(first.where), f"{first.found}, and more of them", first.expected)
        self._not_text[where.file] = Problem(where, "", found, self._expected_text)
        return self._not_text[where.file]

    @property
    def _expected_text(self) -> str:
        others = " or ".join(name for key, name in ENCODINGS.items() if key != UTF_8)
        if self.encoding != UTF_8:
            return f"{ENCODINGS[self.encoding]} text"
        return f"UTF-8 text: save the file again as UTF-8, or choose {others} as its encoding"

    def begin_rows(self, name: str) -> None:
        """Start again to count the rows of a file."""
        self._used_rows[name] = 0
        self._not_text.pop(name, None)

    def whole_file(self, name: str) -> IO[bytes]:
        """Return a file for a library that reads it in any order.

        Raises:
            TooLargeError: it has more bytes than an import may have.
        """
        if self.sizes[name] > self.limits.max_bytes:
            raise TooLargeError(name, f"{self.sizes[name]:,} bytes", self._expected_bytes)
        self.bytes_read += self.sizes[name]
        return self._stored(name)

    def spooled(self, name: str, rows: Callable[[], Iterable[str]]) -> Iterator[str]:
        """Yield lines that `rows` makes of a file. They are made once, and kept until closing."""
        if name not in self._spools:
            spool = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (see `close`)
            self._spools[name] = spool
            spool.writelines(rows())
        self._spools[name].seek(0)
        return iter(self._spools[name].readline, "")

    def refuse_unpacked(self, name: str, n_bytes: int) -> None:
        """Stop an import if its file states that it has too many bytes once unpacked."""
        if n_bytes > self._most_bytes:
            raise TooLargeError(name, f"{n_bytes:,} bytes once unpacked", self._expected_bytes)

    def head(self, name: str, n_bytes: int) -> bytes:
        """Return the first `n_bytes` of a file, unpacked and without a byte order mark."""
        with self._open(name) as stream:
            return without_bom(stream.read(n_bytes), name)

    def mentions(self, name: str, patterns: Iterable[re.Pattern[bytes]], n_bytes: int) -> bool:
        """Return whether all of the (short) patterns occur in the first `n_bytes` of a file."""
        missing, before = set(patterns), b""
        with self._open(name) as stream:
            for _ in range(0, n_bytes, _BUFFER):
                chunk = stream.read(_BUFFER)
                missing = {pattern for pattern in missing if not pattern.search(before + chunk)}
                if not missing or not chunk:
                    break
                before = chunk[-_OVERLAP:]
        return not missing

    def whole_json(self, name: str, *, of_settings: bool = False) -> Any:
        """Return the content of a JSON file that has to be read at once."""
        limits = self.limits
        limit = limits.max_settings_bytes if of_settings else limits.max_whole_json_bytes
        raw = self.head(name, limit + 1)
        if len(raw) > limit:
            raise DatasetError(name, f"more than {limit:,} bytes", "a smaller file of this format")
        text = self.text_of(raw, Where(name, 1), "file")
        del raw
        if isinstance(text, Problem):
            raise DatasetError(name, text.found, text.expected)
        if trouble := unstorable_character(text):
            raise DatasetError(name, trouble, "text without this character")
        try:
            return (parse_json if of_settings else parse_row)(text, limits.max_nesting)
        except JSONTrouble as trouble_found:
            raise DatasetError(name, trouble_found.found, trouble_found.expected) from trouble_found

    def refuse_more_in_memory(self, name: str, n_rows: int) -> None:
        """Stop an import that holds data of each row in memory, if it has too many rows."""
        if n_rows > self.limits.max_rows_in_memory:
            found = f"more than {self.limits.max_rows_in_memory:,} rows"
            raise TooLargeError(name, found, "at most that many rows in a file of this format")

    def count_row(self, name: str) -> None:
        """Count one row of a file. Too many rows of all files together stop the import."""
        self._used_rows[name] += 1
        if self._used_rows[name] % 1000 == 0 or self.limits.max_rows < 1000:
            n_rows = sum(self._used_rows.values())
            if n_rows > self.limits.max_rows:
                found = f"more than {self.limits.max_rows:,} rows"
                expected = "at most that many rows in one import, with the blank ones of a workbook"
                raise TooLargeError(name, found, expected)

    def close(self) -> None:
        """Close every file, also those that a reader was in the middle of, or that are damaged."""
        for stream in self._streams:
            stream.close()
        for spool in self._spools.values():
            spool.close()
        self._store.close()

    def _stored(self, name: str) -> IO[bytes]:
        """Open a file as it is stored. It is closed with the source at the latest."""
        stream = self._store.open(name)
        self._streams = [each for each in self._streams if not each.closed] + [stream]
        return stream

    @property
    def _expected_bytes(self) -> str:
        if self._most_bytes == self.limits.max_bytes:
            return f"at most {self.limits.max_bytes:,} bytes in one import"
        return f"at most {self.limits.max_times_unpacked} times the size of the packed file"

    def _open(self, name: str) -> io.BufferedReader:
        self._used_bytes[name] = 0

        def count_stored(n_bytes: int) -> None:
            self.bytes_read += n_bytes

        def count_unpacked(n_bytes: int) -> None:
            self._used_bytes[name] += n_bytes
            if sum(self._used_bytes.values()) > self._most_bytes:
                found = f"more than {self._most_bytes:,} bytes once unpacked"
                raise TooLargeError(name, found, self._expected_bytes)

        stored = _buffered(_CountedStream(self._stored(name), name, count_stored))
        plain: IO[bytes] = stored
        if stored.peek(2)[:2] == _GZIP_MAGIC or name.lower().endswith(".gz"):
            plain = cast(IO[bytes], gzip.GzipFile(fileobj=stored))
        counted = _buffered(_CountedStream(plain, name, count_unpacked, also_close=stored))
        if self.encoding == UTF_8 and counted.peek(2)[:2] in UTF16_BOMS:
            return _buffered(Utf16AsUtf8(counted, name))
        return counted


def plain_name(name: str) -> str:
    """Return a file name in lower case, without `.gz`."""
    return name.lower().removesuffix(".gz")


def printable(name: str) -> str:
    """Return a file name in a form that UTF-8 can write, whatever bytes the disk has."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


class _CountedStream(io.RawIOBase):
    """A stream that counts the bytes read, and turns damage into a `DatasetError`."""

    def __init__(
        self,
        stream: IO[bytes],
        name: str,
        count: Callable[[int], None],
        also_close: IO[bytes] | None = None,  # a GzipFile does not close the stream it reads
    ) -> None:
        self._stream = stream
        self._also_close = also_close
        self._name = name
        self._count = count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        try:
            chunk = self._stream.read(len(view))
        except _DAMAGE as error:
            expected = "a file that can be unpacked and read"
            said = str(error).partition(" (b")[0]  # gzip quotes the bytes that it has found
            raise DatasetError(self._name, f"damaged data ({said})", expected) from error
        self._count(len(chunk))
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            if self._also_close is not None:
                self._also_close.close()
        super().close()


class _FileStore:
    """The store of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.sizes: Mapping[str, int] = {printable(path.name): path.stat().st_size}
        self.ignored: list[str] = []

    def open(self, name: str) -> IO[bytes]:
        return self._path.open("rb")

    def close(self) -> None:
        """Do nothing, as no file stays open."""


class _FolderStore:
    """The files directly in a folder. A link that leads out of it is refused."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self.ignored: list[str] = []
        sizes: dict[str, int] = {}
        for entry in sorted(path.iterdir()):
            if is_junk(entry.name):
                continue
            if not entry.is_file():
                self.ignored.append(printable(entry.name))
                continue
            if entry.is_symlink() and path.resolve() not in entry.resolve().parents:
                where = f"{path.name}/{printable(entry.name)}"
                raise DatasetError(
                    where, "a link to a file outside the folder", "a file in the folder"
                )
            if printable(entry.name) != entry.name:
                self.ignored.append(printable(entry.name))
                continue
            sizes[entry.name] = entry.stat().st_size
            if len(sizes) > limits.max_members:
                found = f"more than {limits.max_members:,} files"
                raise DatasetError(str(path), found, "a folder with fewer")
        self.sizes: Mapping[str, int] = sizes

    def open(self, name: str) -> IO[bytes]:
        return (self._path / name).open("rb")

    def close(self) -> None:
        """Do nothing, as no file stays open."""


def _store_for(path: Path, limits: Limits, folder: str) -> Store:
    try:
        if path.is_dir():
            return _FolderStore(path, limits)
        if not path.is_file():
            raise DatasetError(
                str(path), "no file or folder", "the path of a folder, a zip or another file"
            )
        if looks_like_old_excel(path):
            raise DatasetError(path.name, "an old Excel workbook", NEW_EXCEL)
        is_zip = path.suffix.lower() == ".zip" or looks_like_zip(path)
        if is_zip and not is_workbook(path):
            return ZipStore(path, limits, folder)
        return _FileStore(path)
    except OSError as error:
        found = error.strerror or str(error)
        raise DatasetError(str(path), found, "a file that can be read") from error


def _buffered(stream: io.RawIOBase) -> io.BufferedReader:
    return io.BufferedReader(stream, _BUFFER)


def _line_problem(name: str, number: int, found: str, expected: str) -> Problem:
    return Problem(Where(name, number), "", found, expected)


def _too_long_line(stream: IO[bytes], start: bytes, where: Where, limit: int) -> TextLine:
    """Skip the rest of a line. Its stand-in keeps CSV quotes balanced as they were."""
    n_quotes, rest = start.count(b'"'), start
    while rest and not rest.endswith(b"\n"):
        rest = stream.readline(_BUFFER)
        n_quotes += rest.count(b'"')
    problem = Problem(where, "", f"a line of more than {limit:,} bytes", "a shorter line")
    return TextLine(where.line, '"' * (n_quotes % 2) + "\n", problem)
