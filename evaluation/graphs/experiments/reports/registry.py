"""The report of each of KaLMA's experiments, by its key."""

from collections.abc import Callable, Mapping

from annotation.models import Study
from evaluation.graphs.experiments.reports.accuracy import accuracy_report
from evaluation.graphs.experiments.reports.citation_table import citation_table
from evaluation.graphs.experiments.reports.human_alignment import human_alignment_report
from evaluation.graphs.experiments.reports.quality_table import quality_table
from evaluation.graphs.experiments.reports.removal import removal_report
from evaluation.reports.base import Report
from generation.models import Dataset

# Of those about a dataset.
EXPERIMENT_REPORTS: Mapping[str, Callable[[Dataset], Report]] = {
    "citations": citation_table,
    "quality": quality_table,
    "removal": removal_report,
    "accuracy": accuracy_report,
}
# Of those about a study that people rate.
RATED_REPORTS: Mapping[str, Callable[[Study], Report]] = {"alignment": human_alignment_report}
