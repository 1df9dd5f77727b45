"""The reports on answers about a graph, and on retrieval, each with its figure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from evaluation.graphs.experiments.figures import experiment_picture
from evaluation.graphs.experiments.reports.accuracy import ACCURACY
from evaluation.graphs.experiments.reports.citation_table import CITATION_TABLE
from evaluation.graphs.experiments.reports.human_alignment import HUMAN_ALIGNMENT
from evaluation.graphs.experiments.reports.quality_table import QUALITY_TABLE
from evaluation.graphs.experiments.reports.removal import REMOVAL
from evaluation.graphs.figures.citations import report_chart
from evaluation.graphs.reports.alignment import ALIGNMENT
from evaluation.graphs.reports.citations import CITATIONS
from evaluation.graphs.reports.graph_retrieval import SourceRow
from evaluation.graphs.reports.graph_statistics import STATISTICS
from evaluation.graphs.reports.incompetence import INCOMPETENCE
from evaluation.graphs.reports.mode_differences import DIFFERENCES
from evaluation.graphs.reports.quality import QUALITY
from evaluation.graphs.reports.retrieval import RETRIEVAL
from evaluation.reports.figures.themes import Spec
from evaluation.reports.registry import register
from evaluation.retrieval.figure import recall_chart
from evaluation.retrieval.report import RecallRow


def _retrieval_chart(rows: Sequence[RecallRow | SourceRow]) -> Spec | None:
    passages = [row for row in rows if isinstance(row, RecallRow)]
    graphs = [row for row in rows if isinstance(row, SourceRow)]
    return recall_chart(passages) if passages else report_chart(RETRIEVAL.key, graphs)


register(replace(RETRIEVAL, figure=_retrieval_chart))
for kind in (CITATIONS, ALIGNMENT, INCOMPETENCE, QUALITY):
    register(replace(kind, figure=partial(report_chart, kind.key)))
register(DIFFERENCES, STATISTICS)
for key, of_experiment in (
    ("citations", CITATION_TABLE),
    ("quality", QUALITY_TABLE),
    ("removal", REMOVAL),
    ("accuracy", ACCURACY),
):
    register(replace(of_experiment, figure=partial(experiment_picture, key)))
register(HUMAN_ALIGNMENT)
