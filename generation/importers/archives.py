"""Zip files, which are read member by member and are never unpacked to disk."""

import re
import stat
import zipfile
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import IO

from generation.importers.errors import DatasetError, excerpt
from generation.importers.limits import Limits

_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_OLD_EXCEL_MAGIC = b"\xd0\xcf\x11\xe0"
_WORKBOOK = "xl/workbook.xml"  # a member of every .xlsx
NEW_EXCEL = "an .xlsx file: save it in Excel's present format, or each sheet as 'CSV UTF-8'"
LONGEST_MEMBER_NAME = 255  # characters of a member's name
_JUNK = frozenset({"__MACOSX", ".DS_Store"})
_DRIVE = re.compile(r"^[A-Za-z]:")
# Other methods unpack a small read into any amount at once, so that counting would be too late.
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED = 0x1 | 0x40 | 0x2000


class ZipStore:
    """The members of a zip. If one folder is around all of them, its content is used.

    With `folder` they are the members in this folder. The names of all others are checked as well.
    """

    def __init__(self, path: Path, limits: Limits, folder: str = "") -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise DatasetError(
                path.name, f"a file that cannot be read as a zip ({error})", "a zip file"
            ) from error
        try:
            self._members, self.ignored = _readable_members(self._zip, path.name, limits, folder)
        except BaseException:
            self._zip.close()
            raise
        self.sizes: Mapping[str, int] = {
            name: info.file_size for name, info in self._members.items()
        }

    def open(self, name: str) -> IO[bytes]:
        try:
            return self._zip.open(self._members[name])
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            raise DatasetError(
                name, f"a damaged file in the zip ({error})", "a zip that is not damaged"
            ) from error

    def close(self) -> None:
        self._zip.close()


def looks_like_zip(path: Path) -> bool:
    """Return whether a file begins like a zip."""
    with path.open("rb") as stream:
        return stream.read(4) in _ZIP_MAGIC


def is_workbook(file: Path | IO[bytes]) -> bool:
    """Return whether a zip is an .xlsx."""
    try:
        with (
            file.open("rb") if isinstance(file, Path) else nullcontext(file) as stream,
            zipfile.ZipFile(stream) as members,
        ):
            return _WORKBOOK in members.NameToInfo
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def looks_like_old_excel(path: Path) -> bool:
    """Return whether a file begins like an .xls."""
    with path.open("rb") as stream:
        return stream.read(4) == _OLD_EXCEL_MAGIC


def is_junk(name: str) -> bool:
    """Return whether an operating system has left this file. Such names are not even reported."""
    return not _JUNK.isdisjoint(name.split("/")) or name.rsplit("/", 1)[-1].startswith("._")


def _readable_members(
    archive: zipfile.ZipFile, zip_name: str, limits: Limits, folder: str
) -> tuple[dict[str, zipfile.ZipInfo], list[str]]:
    infos = archive.infolist()
    if len(infos) > limits.max_members:
        found = f"{len(infos):,} files and folders"
        raise DatasetError(zip_name, found, f"at most {limits.max_members:,}")
    for info in infos:
        _refuse_unsafe(info, zip_name)
    files = [info for info in infos if not info.is_dir() and not is_junk(info.filename)]
    top = _common_folder([info.filename for info in files])
    members: dict[str, zipfile.ZipInfo] = {}
    ignored = []
    for info in files:
        name = info.filename.removeprefix(top)
        if not name.startswith(folder):
            continue
        name = name.removeprefix(folder)
        if "/" in name:
            ignored.append(name)
        elif name in members:
            raise DatasetError(
                f"{zip_name}: {excerpt(name)}", "two files with this name", "each name once"
            )
        else:
            members[name] = info
    return members, ignored


def _common_folder(names: list[str]) -> str:
    """Return 'folder/' if every name begins with it, else ''."""
    tops = {name.split("/", 1)[0] for name in names if "/" in name}
    if len(tops) != 1 or not all("/" in name for name in names):
        return ""
    return tops.pop() + "/"


def _refuse_unsafe(info: zipfile.ZipInfo, zip_name: str) -> None:
    where = f"{zip_name}: {excerpt(info.orig_filename)}"
    if found := _unsafe_name(info.orig_filename):
        raise DatasetError(where, found, "a plain name inside the zip")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise DatasetError(where, "a symbolic link", "a file")
    if info.flag_bits & _ENCRYPTED:
        raise DatasetError(where, "an encrypted file", "a file without a password")
    if info.compress_type not in _METHODS and not is_junk(info.filename):
        found = f"the compression method {info.compress_type}"
        raise DatasetError(where, found, "the method 'stored' or 'deflated'")


def _unsafe_name(name: str) -> str:
    if "\\" in name:
        return "a backslash in the name"
    if name.startswith("/") or _DRIVE.match(name):
        return "an absolute path"
    if ".." in name.split("/"):
        return "'..' in the path"
    if len(name) > LONGEST_MEMBER_NAME:
        return f"a name of {len(name):,} characters"
    if "\0" in name:
        return "a NUL character in the name"
    return ""
