"""Table 1 on the page of a study: a table per run, from the rows of the report."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from evaluation.reports.base import Row
from evaluation.reports.sensibleness import MEAN_OF_OTHERS


class SensibleTable(NamedTuple):
    """One run: its slices, and the mean over those that its prompt was not built on."""

    title: str
    rows: list[Row]
    mean: Row

    @property
    def is_built_here(self) -> bool:
        """Whether one of the slices is what the prompt was built on."""
        return any(row["built_on"] for row in self.rows)


def sensible_tables(rows: Sequence[Row]) -> list[SensibleTable]:
    """Return the rows run by run; runs without a single compared response are left out."""
    tables = []
    for _, group in groupby(rows, itemgetter("run")):
        of_run = list(group)
        title = f"{of_run[0]['title']}, {of_run[0]['model']}"
        [mean] = [row for row in of_run if row["slice"] == MEAN_OF_OTHERS]
        slices = [row for row in of_run if row is not mean]
        if any(row["n"] for row in slices):
            tables.append(SensibleTable(title, slices, mean))
    return tables
