"""Readers of files that no columns describe: each makes plain rows, whose columns a recipe maps.

A new one is a module with `recognises` and `rows`, a line here, and a recipe that names it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from generation.importers.fields import Row
from generation.importers.mapped.readers import (
    deepeval,
    fed,
    label_studio,
    promptfoo,
    qags,
    wice,
)
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source
from generation.records import Problem


class RowReader(NamedTuple):
    """How to tell such a file by its content, and its rows; what these leave out is counted."""

    recognises: Callable[[Source, str], bool]
    rows: Callable[[Source, str, LeftOut], Iterator[Row | Problem]]


ROW_READERS: Mapping[str, RowReader] = {
    "deepeval": RowReader(deepeval.recognises, deepeval.rows),
    "fed": RowReader(fed.recognises, fed.rows),
    "label_studio": RowReader(label_studio.recognises, label_studio.rows),
    "promptfoo": RowReader(promptfoo.recognises, promptfoo.rows),
    "qags": RowReader(qags.recognises, qags.rows),
    "wice": RowReader(wice.recognises, wice.rows),
}
