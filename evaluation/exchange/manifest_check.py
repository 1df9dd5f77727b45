"""The check of a manifest: what it must have, before anything is made again from it."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from evaluation.reports.manifest import FORMAT, FORMAT_VERSION, rows_hash
from evaluation.votes.digests import digest_from
from generation.importers.errors import excerpt, quotation
from generation.limits import LONGEST_NAME

Manifest = Mapping[str, Any]

LONGEST_TEXT = 10_000  # characters of a signature
_FILE_NAME = re.compile(r"[a-z_]{1,40}\.(csv|json|jsonl)")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ITEM_DIGEST = re.compile(r"[0-9a-f]{12}")


class CannotReproduce(Exception):
    """A manifest and an export from which nothing can be made again. The message says why."""


class _Value(NamedTuple):
    """A value that is no object and no list."""

    expected: str
    is_right: Callable[[Any], bool]


class _Each(NamedTuple):
    """An object with any keys of one kind, whose values have one shape."""

    key: _Value
    value: Any


def _text(longest: int, shortest: int = 0) -> _Value:
    expected = f"a text of {shortest} to {longest:,} characters"
    return _Value(expected, lambda v: isinstance(v, str) and shortest <= len(v.strip()) <= longest)


def _pattern(expected: str, pattern: re.Pattern[str]) -> _Value:
    return _Value(expected, lambda v: isinstance(v, str) and pattern.fullmatch(v) is not None)


_NAME = _text(LONGEST_NAME, shortest=1)
_COUNT = _Value("a whole number from 0", lambda v: type(v) is int and v >= 0)
_OBJECT = _Value("an object", lambda v: isinstance(v, dict))
# An object with these keys and any others, a list of one shape, `_Each`, or a `_Value`.
_SHAPE: dict[str, Any] = {
    "subject": {
        "kind": _Value("study or dataset", lambda v: v in ("study", "dataset")),
        "name": _NAME,
        "dataset": _NAME,
    },
    "code": {"version": _text(LONGEST_NAME)},
    "packages": _Each(_text(LONGEST_NAME), _text(LONGEST_NAME)),
    "data": _Each(
        _pattern("the plain name of a file, such as votes.csv", _FILE_NAME),
        {
            "rows": _COUNT,
            "sha256": _pattern("a checksum of 64 hexadecimal digits", _SHA256),
            "items": _Each(
                _text(LONGEST_TEXT), _pattern("a checksum of 12 hexadecimal digits", _ITEM_DIGEST)
            ),
        },
    ),
    "reports": [
        {
            "report": _NAME,
            "choices": _OBJECT,
            "left_out": _Each(_text(LONGEST_TEXT), _COUNT),
            "signature": _text(LONGEST_TEXT),
            "rows": [_OBJECT],
            "rows_sha256": _pattern("a checksum of 64 hexadecimal digits", _SHA256),
        }
    ],
}


def check_manifest(manifest: Any, where: str) -> Manifest:
    """Return a manifest that this version can read.

    Raises:
        CannotReproduce: it is something else, lacks a part, has a part of the wrong kind, or a
            checksum in it does not fit what it is about.
    """
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise CannotReproduce(
            f"{where}: found no manifest; expected the file that `manage.py report … --format "
            "manifest` or a page gives"
        )
    if (version := manifest.get("version")) != FORMAT_VERSION:
        raise _refused(f"{where}, version", quotation(version), str(FORMAT_VERSION))
    _check(manifest, _SHAPE, f"{where}, ")
    for name, data in manifest["data"].items():
        if digest_from(data).sha256 != data["sha256"]:
            raise _refused(f"{where}, data.{name}.sha256", _OTHER, "the checksum of its items")
    for number, report in enumerate(manifest["reports"], 1):
        if rows_hash(report["rows"]) != report["rows_sha256"]:
            place = f"{where}, reports[{number}].rows_sha256"
            raise _refused(place, _OTHER, f"the checksum of the rows of {report['report']}")
    return manifest


_OTHER = "another checksum, so the manifest was changed"


def _refused(where: str, found: str, expected: str) -> CannotReproduce:
    return CannotReproduce(f"{where}: found {found}; expected {expected}")


def _check(found: Any, shape: Any, where: str) -> None:
    """Refuse a value that does not have a shape. `where` ends with what stands before a key."""
    if isinstance(shape, _Value):
        if not shape.is_right(found):
            raise _refused(where, quotation(found), shape.expected)
    elif isinstance(shape, list):
        if not isinstance(found, list):
            raise _refused(where, quotation(found), "a list")
        for number, item in enumerate(found, 1):
            _check(item, shape[0], f"{where}[{number}]")
    elif not isinstance(found, dict):
        raise _refused(where, quotation(found), "an object")
    elif isinstance(shape, _Each):
        for key, value in found.items():
            _check(key, shape.key, f"{where}, key")
            _check(value, shape.value, f"{where}.{excerpt(key)[1:-1]}")
    else:
        for key, of_key in shape.items():
            dot = "" if where.endswith(" ") else "."
            _check(found.get(key), of_key, f"{where}{dot}{key}")
