"""The report of each of KaLMA's experiments, by its key."""

from collections.abc import Callable, Mapping, Sequence

from annotation.models import Study
from evaluation.graphs.experiments.reports import accuracy, citation_table, quality_table, removal
from evaluation.graphs.experiments.reports.human_alignment import (
    HumanAlignmentRow,
    human_alignment_report,
)
from evaluation.graphs.experiments.reports.run_rows import RowOfRuns
from evaluation.reports.report import Report
from generation.models import Dataset

# Of those about a dataset: the report, and a row for each run of the group of that key.
WITH_RUN_ROWS: Mapping[
    str, Callable[[Dataset, str], tuple[Report[RowOfRuns], Sequence[RowOfRuns]]]
] = {
    "citations": citation_table.with_run_rows,
    "quality": quality_table.with_run_rows,
    "removal": removal.with_run_rows,
    "accuracy": accuracy.with_run_rows,
}
EXPERIMENT_REPORTS: Mapping[str, Callable[[Dataset], Report[RowOfRuns]]] = {
    "citations": citation_table.citation_table,
    "quality": quality_table.quality_table,
    "removal": removal.removal_report,
    "accuracy": accuracy.accuracy_report,
}
# Of those about a study that people rate.
RATED_REPORTS: Mapping[str, Callable[[Study], Report[HumanAlignmentRow]]] = {
    "alignment": human_alignment_report
}
