"""Readers of files that no columns describe. Each makes plain rows; a recipe maps their columns.

A new reader needs a module with `rows`, and with `recognises` (for one JSON file) or `files` (for
several files, or another kind of file). It also needs a line here, and a recipe that names it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from generation.importers.fields import Row
from generation.importers.mapped.readers import (
    appen,
    deepeval,
    doccano,
    fed,
    form_exports,
    infotabs,
    label_studio,
    langfuse,
    potato,
    promptfoo,
    qags,
    wice,
)
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source
from generation.records import Problem

Rows = Iterator[Row | Problem]


class RowReader(NamedTuple):
    """The functions that recognise files by their content and yield their rows.

    They count the data that the rows leave out.

    Attributes:
        files: returns the files of a source that are read. Empty: it has none of this format.
        rows: yields the rows of these files.
    """

    files: Callable[[Source], tuple[str, ...]]
    rows: Callable[[Source, tuple[str, ...], LeftOut], Rows]


def _of_one_file(
    recognises: Callable[[Source, str], bool], rows: Callable[[Source, str, LeftOut], Rows]
) -> RowReader:
    """Return a reader of one JSON file."""

    def files(source: Source) -> tuple[str, ...]:
        name = source.only_data_file()
        is_json = name is not None and source.head(name, 1 << 10).lstrip()[:1] in (b"[", b"{")
        return (name,) if name and is_json and recognises(source, name) else ()

    return RowReader(files, lambda source, names, left_out: rows(source, names[0], left_out))


ROW_READERS: Mapping[str, RowReader] = {
    "appen": RowReader(appen.files, appen.rows),
    "deepeval": _of_one_file(deepeval.recognises, deepeval.rows),
    "doccano": RowReader(doccano.files, doccano.rows),
    "fed": _of_one_file(fed.recognises, fed.rows),
    "form_exports": RowReader(form_exports.files, form_exports.rows),
    "infotabs": RowReader(infotabs.files, infotabs.rows),
    "label_studio": _of_one_file(label_studio.recognises, label_studio.rows),
    "langfuse": RowReader(langfuse.files, langfuse.rows),
    "potato": RowReader(potato.files, potato.rows),
    "promptfoo": _of_one_file(promptfoo.recognises, promptfoo.rows),
    "qags": _of_one_file(qags.recognises, qags.rows),
    "wice": _of_one_file(wice.recognises, wice.rows),
}
