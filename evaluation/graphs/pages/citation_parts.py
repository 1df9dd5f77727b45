"""The tables and the chart of the page on citations: runs of one setup are one row."""

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.graphs.experiments.figures import experiment_charts, group_names
from evaluation.graphs.experiments.reports.citation_table import (
    CitationTableRow,
    citations_by_group,
)
from evaluation.graphs.figures.citations import report_chart, row_names
from evaluation.graphs.reports.citations import CitationChoices, CitationsRow, answers_of
from evaluation.reports.columns import Estimate
from evaluation.reports.figures.themes import Spec
from evaluation.runs.seeded_setups import kind_of
from generation.models import Dataset

SHARES = ("correctness", "precision", "recall", "f1")
FIGURES = ("aligned", *SHARES, *(f"macro_{name}" for name in SHARES))


class CitationsLine(NamedTuple):
    """A line of a table, about one setup or about setups that differ only in seed."""

    name: str
    url: str  # address of its answers
    row: CitationsRow | CitationTableRow

    @property
    def figures(self) -> list[tuple[Estimate, float | None]]:
        """Each figure of the line, and its deviation over runs; None for a single run."""
        over_runs = getattr(self.row, "over_runs", {})
        return [(getattr(self.row, name), over_runs.get(f"{name}_deviation")) for name in FIGURES]


class CitationsPart(NamedTuple):
    """A table of the page. Without a title it stands open, else it is folded."""

    title: str
    lines: list[CitationsLine]


class CitationParts(NamedTuple):
    """The tables of the page, and the chart of the first of them."""

    tables: list[CitationsPart]
    chart: Spec | None
    is_grouped: bool


def citation_parts(
    dataset: Dataset, choices: CitationChoices, rows: Sequence[CitationsRow]
) -> CitationParts:
    """Return the tables and the chart of the report's rows.

    Setups whose prompt removes or replaces knowledge are apart, because such figures are read along
    the steps of an experiment. If no two setups differ only in seed, there is a line for each.
    """
    setups = CitationsPart(
        f"Each of the {len(rows)} setups",
        [
            CitationsLine(name, answers_of(dataset, choices, [row.of.setup_id]), row)
            for name, row in zip(row_names(rows), rows, strict=True)
        ],
    )
    groups = citations_by_group(dataset, choices)
    if len(groups) == len(rows):
        chart = report_chart("citations", rows, on_page=True)
        return CitationParts([setups._replace(title="")], chart, is_grouped=False)
    whole = [row for row in groups if not _lacks_knowledge(row)]
    ablated = [row for row in groups if _lacks_knowledge(row)]
    first, *others = (each for each in (whole, ablated) if each)
    folded = [
        CitationsPart("With removed or replaced knowledge", _lines(dataset, choices, each))
        for each in others
    ]
    return CitationParts(
        [CitationsPart("", _lines(dataset, choices, first)), *folded, setups],
        experiment_charts("citations", first).get("table"),
        is_grouped=True,
    )


def _lines(
    dataset: Dataset, choices: CitationChoices, rows: Sequence[CitationTableRow]
) -> list[CitationsLine]:
    return [
        CitationsLine(name, answers_of(dataset, choices, row.setup_ids), row)
        for name, row in zip(group_names(rows), rows, strict=True)
    ]


def _lacks_knowledge(row: CitationTableRow) -> bool:
    kind = kind_of(row.group.prompt)
    return kind is not None and kind.lacks_knowledge
