"""Rows of Parquet files and of Hugging Face datasets, read by pyarrow a few at a time."""

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from typing import IO, Any

from generation.importers.errors import DatasetError, excerpt
from generation.importers.fields import Row
from generation.importers.json_text import unstorable_character
from generation.importers.sources import Source
from generation.records import Problem, Where

ARROW_SUFFIX = ".arrow"
ROWS_AT_ONCE = 64
_SOUND = "a file that its tool can read: write it again"


def parquet_rows(source: Source, name: str) -> Iterator[Row | Problem]:
    """Yield the rows of a Parquet file. Their lines are their numbers, from 1."""
    from pyarrow.parquet import ParquetFile  # slow, so only imported for such a file

    with (
        source.whole_file(name) as stream,
        _damage_of(name, "Parquet"),
        ParquetFile(stream) as file,
    ):
        yield from _rows(source, name, file.iter_batches(ROWS_AT_ONCE, use_threads=False))


def arrow_rows(source: Source, names: tuple[str, ...]) -> Iterator[Row | Problem]:
    """Yield the rows of the Arrow files of one dataset, file by file."""
    from pyarrow import ipc

    for name in names:
        with (
            source.whole_file(name) as stream,
            _damage_of(name, "Arrow"),
            ipc.open_stream(_Bounded(stream, source.sizes[name])) as batches,
        ):
            pieces = (
                batch.slice(start, ROWS_AT_ONCE)
                for batch in batches
                for start in range(0, batch.num_rows, ROWS_AT_ONCE)
            )
            yield from _rows(source, name, pieces)


class _Bounded(io.RawIOBase):
    """A stream that is never asked for more bytes than its file has. A damaged file asks so."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream = stream
        self._size = size

    def readable(self) -> bool:
        return True

    def read(self, n_bytes: int = -1) -> bytes:
        return self._stream.read(min(n_bytes, self._size))


def _rows(source: Source, name: str, batches: Iterator[Any]) -> Iterator[Row | Problem]:
    source.begin_rows(name)
    number = 0
    for batch in batches:
        batch.validate(full=True)  # a damaged batch may point anywhere in memory
        for values in batch.to_pylist():
            number += 1
            source.count_row(name)
            where = Where(name, number)
            try:
                yield Row(where, plain_value(values))
            except ValueError as error:
                yield Problem(where, "", str(error), "text without this character")


@contextmanager
def _damage_of(name: str, what: str) -> Iterator[None]:
    """Turn pyarrow's errors about a bad file into a `DatasetError`."""
    from pyarrow import ArrowException
    from pyarrow.lib import ArrowMemoryError

    try:
        yield
    except ArrowMemoryError as error:  # most often caused by a wrong number in the file
        found = f"{what} that asks for more memory than there is"
        raise DatasetError(name, found, _SOUND) from error
    except (ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        raise DatasetError(name, f"damaged {what} ({excerpt(str(error))})", _SOUND) from error


def plain_value(value: Any) -> Any:
    """Return a value in JSON's types: moments and infinity as text, decimals as numbers, no NaN.

    Raises:
        ValueError: a text in it cannot be stored. The message names the character.
    """
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None if math.isnan(value) else str(value)
        case str():
            if trouble := unstorable_character(value):
                raise ValueError(f"{trouble} in {excerpt(value)}")
            return value
        case dict():
            return {str(plain_value(key)): plain_value(each) for key, each in value.items()}
        case list() | tuple():
            return [plain_value(each) for each in value]
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal():
            return float(value)
        case bytes():
            return f"{len(value):,} bytes"
    return str(value)
