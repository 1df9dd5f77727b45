"""What has come of an experiment: its table, one group unfolded into its runs, and its charts."""

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.graphs.experiments.figures import experiment_charts
from evaluation.graphs.experiments.pages.tables import TABLES, table_rows
from evaluation.graphs.experiments.reports import accuracy, citation_table, quality_table, removal
from evaluation.graphs.experiments.reports.registry import EXPERIMENT_REPORTS
from evaluation.reports.base import Report, Row
from evaluation.reports.figures.themes import page_themes
from evaluation.reports.registry import CannotReport
from generation.models import Dataset

# What a row of a table unfolds to, by experiment.
RUN_ROWS: Mapping[str, Callable[[Dataset, Row], list[Row]]] = {
    "citations": citation_table.run_rows,
    "quality": quality_table.run_rows,
}
# Of those whose report and rows of runs are made of the same: both at once.
WITH_RUN_ROWS: Mapping[str, Callable[[Dataset, str], tuple[Report, list[Row]]]] = {
    "removal": removal.with_run_rows,
    "accuracy": accuracy.with_run_rows,
}


def figures_of(dataset: Dataset, key: str, unfolded: str) -> dict[str, Any]:
    """Return what the page of an experiment shows of its report.

    Args:
        unfolded: the key of the group of runs that is unfolded; "" for none.
    """
    try:
        found, runs = _with_runs(dataset, key, unfolded)
    except CannotReport as exc:
        return {"problem": str(exc)}
    context: dict[str, Any] = {
        "found": found,
        "header": TABLES[key],
        "rows": table_rows(dataset, key, found.rows, unfolded, runs),
    }
    if charts := experiment_charts(key, found.rows):
        context["plots"] = {"charts": charts, "themes": page_themes()}
    return context


def _with_runs(dataset: Dataset, key: str, unfolded: str) -> tuple[Report, list[Row]]:
    """Return the report, and a row for each run of the group that is unfolded."""
    if unfolded and key in WITH_RUN_ROWS:
        return WITH_RUN_ROWS[key](dataset, unfolded)
    found = EXPERIMENT_REPORTS[key](dataset)
    group = [row for row in found.rows if row["group"] == unfolded]
    return found, RUN_ROWS[key](dataset, group[0]) if group else []
