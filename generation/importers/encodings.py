"""The encodings of texts: how each is recognised, and how UTF-16 is read as UTF-8.

Files that are no text are told by their first bytes. Lines may end in CR alone.
"""

import codecs
import io
import re
from typing import TYPE_CHECKING

from generation.importers.errors import DatasetError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

UTF_8 = "utf-8"
WINDOWS = "windows-1252"
ENCODINGS = {UTF_8: "UTF-8 or UTF-16", WINDOWS: "Windows-1252"}  # encoding → its name for users
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
NO_TEXT = "a text file. A table in a workbook or in Parquet has the format `table`"
_BINARY = {b"PK\x03\x04": "a workbook or a zip", b"PAR1": "Parquet"}
_UTF8_BOM = b"\xef\xbb\xbf"
_OF_UTF_8 = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")
_CONTROL = re.compile("[\0-\b\x0e-\x1f]")


def is_windows_text(head: bytes) -> bool:
    """Return whether the head of a file is text in Windows-1252, and not UTF-8.

    A head that has characters of UTF-8 counts as damaged UTF-8.
    """
    is_utf_8 = _is_text(head, UTF_8) or _OF_UTF_8.search(head)
    return not is_utf_8 and _is_text(head, WINDOWS)


def kind_of_binary(head: bytes) -> str:
    """Return the kind of a file that is no text, in words. "": it may be text."""
    return next((kind for magic, kind in _BINARY.items() if head.startswith(magic)), "")


def ends_in_cr(head: bytes) -> bool:
    """Return whether the lines of a file end in CR alone, as old programs of Macs wrote them."""
    return b"\r" in head.removesuffix(b"\r") and b"\n" not in head


class CrAsLf(io.RawIOBase):
    """A stream of text whose lines end in CR, read with lines that end in LF."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        chunk = self._stream.read(len(view)).replace(b"\r", b"\n")
        view[: len(chunk)] = chunk
        return len(chunk)


def without_bom(raw: bytes, name: str) -> bytes:
    """Return the beginning of a text without the byte order mark of UTF-8."""
    if raw.startswith(UTF16_BOMS):
        raise DatasetError(name, "UTF-16 text", f"another encoding to be chosen, {UTF_8!r}")
    return raw.removeprefix(_UTF8_BOM)


class Utf16AsUtf8(io.RawIOBase):
    """A stream of UTF-16 that begins with a byte order mark, read as UTF-8."""

    def __init__(self, stream: io.BufferedReader, name: str) -> None:
        self._text = io.TextIOWrapper(stream, "utf-16", newline="")
        self._name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        try:
            chunk = self._text.read(max(1, len(view) // 4)).encode()  # 4 bytes each at most
        except UnicodeError as error:
            found = "bytes that are not UTF-16 text"
            raise DatasetError(self._name, found, "UTF-16 or UTF-8 text") from error
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        if not self.closed:
            self._text.close()
        super().close()


def _is_text(head: bytes, encoding: str) -> bool:
    """Return whether the head of a file, which may end within a character, is text."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return not _CONTROL.search(text)
