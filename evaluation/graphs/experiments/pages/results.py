"""The results of an experiment: its table, the runs of one unfolded group, and its charts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.graphs.experiments.figures import experiment_charts
from evaluation.graphs.experiments.pages.tables import header, table_rows
from evaluation.graphs.experiments.reports import accuracy, citation_table, quality_table, removal
from evaluation.graphs.experiments.reports.quality_table import QualityTableRow
from evaluation.graphs.experiments.reports.run_rows import RowOfRuns
from evaluation.graphs.reports.quality import QUALITIES
from evaluation.reports.figures.themes import page_themes
from evaluation.reports.rarer_answer import means_note
from evaluation.reports.registry import CannotReport
from evaluation.reports.report import Report
from generation.models import Dataset

# Functions that return the report of an experiment, and a row for each run of the named group.
WITH_RUN_ROWS: Mapping[
    str, Callable[[Dataset, str], tuple[Report[RowOfRuns], Sequence[RowOfRuns]]]
] = {
    "citations": citation_table.with_run_rows,
    "quality": quality_table.with_run_rows,
    "removal": removal.with_run_rows,
    "accuracy": accuracy.with_run_rows,
}


def figures_of(dataset: Dataset, key: str, unfolded: str) -> dict[str, Any]:
    """Return what the page of an experiment shows from its report.

    Args:
        unfolded: the key of the group of runs that is unfolded; "" for none.
    """
    try:
        found, runs = WITH_RUN_ROWS[key](dataset, unfolded)
    except CannotReport as exc:
        return {"problem": str(exc)}
    context: dict[str, Any] = {
        "found": found,
        "header": header(key),
        "rows": table_rows(dataset, key, found.rows, unfolded, runs),
        "means_note": means_note(
            row.judged[metric].n_other_dialogs
            for row in (*found.rows, *runs)
            if isinstance(row, QualityTableRow)
            for metric in QUALITIES
            if row.estimate(metric).low is not None
        ),
    }
    if charts := experiment_charts(key, found.rows):
        context["plots"] = {"charts": charts, "themes": page_themes()}
    return context
