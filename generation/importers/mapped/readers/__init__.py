"""Readers of files that no columns describe: each makes plain rows, whose columns a recipe maps.

A new one is a module with `recognises` and `rows`, a line here, and a recipe that names it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from generation.importers.fields import Row
from generation.importers.mapped.readers import deepeval, promptfoo
from generation.importers.sources import Source
from generation.records import Problem


class RowReader(NamedTuple):
    """How to tell such a file by its content, and its rows."""

    recognises: Callable[[Source, str], bool]
    rows: Callable[[Source, str], Iterator[Row | Problem]]


ROW_READERS: Mapping[str, RowReader] = {
    "deepeval": RowReader(deepeval.recognises, deepeval.rows),
    "promptfoo": RowReader(promptfoo.recognises, promptfoo.rows),
}
