"""Readers of files that no columns describe: each makes plain rows, whose columns a recipe maps.

A new one is a module with `rows`, and with `recognises` (one file of JSON) or `files` (several, or
another kind of file), a line here, and a recipe that names it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from generation.importers.fields import Row
from generation.importers.mapped.readers import (
    deepeval,
    fed,
    infotabs,
    label_studio,
    langfuse,
    promptfoo,
    qags,
    wice,
)
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source
from generation.records import Problem

Rows = Iterator[Row | Problem]


class RowReader(NamedTuple):
    """How to tell such files by their content, and their rows; what these leave out is counted.

    Attributes:
        files: the files of a source that are read; none: it has none of this format.
        rows: the rows of these files.
    """

    files: Callable[[Source], tuple[str, ...]]
    rows: Callable[[Source, tuple[str, ...], LeftOut], Rows]


def _of_one_file(
    recognises: Callable[[Source, str], bool], rows: Callable[[Source, str, LeftOut], Rows]
) -> RowReader:
    """Return a reader of one file of JSON."""

    def files(source: Source) -> tuple[str, ...]:
        name = source.only_data_file()
        is_json = name is not None and source.head(name, 1 << 10).lstrip()[:1] in (b"[", b"{")
        return (name,) if name and is_json and recognises(source, name) else ()

    return RowReader(files, lambda source, names, left_out: rows(source, names[0], left_out))


ROW_READERS: Mapping[str, RowReader] = {
    "deepeval": _of_one_file(deepeval.recognises, deepeval.rows),
    "fed": _of_one_file(fed.recognises, fed.rows),
    "infotabs": RowReader(infotabs.files, infotabs.rows),
    "label_studio": _of_one_file(label_studio.recognises, label_studio.rows),
    "langfuse": RowReader(langfuse.files, langfuse.rows),
    "promptfoo": _of_one_file(promptfoo.recognises, promptfoo.rows),
    "qags": _of_one_file(qags.recognises, qags.rows),
    "wice": _of_one_file(wice.recognises, wice.rows),
}
