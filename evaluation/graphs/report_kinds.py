"""The reports on answers about a graph, and on retrieval."""

from evaluation.graphs.experiments.reports.accuracy import ACCURACY
from evaluation.graphs.experiments.reports.citation_table import CITATION_TABLE
from evaluation.graphs.experiments.reports.human_alignment import HUMAN_ALIGNMENT
from evaluation.graphs.experiments.reports.quality_table import QUALITY_TABLE
from evaluation.graphs.experiments.reports.removal import REMOVAL
from evaluation.graphs.reports.alignment import ALIGNMENT
from evaluation.graphs.reports.citations import CITATIONS
from evaluation.graphs.reports.graph_statistics import STATISTICS
from evaluation.graphs.reports.incompetence import INCOMPETENCE
from evaluation.graphs.reports.quality import QUALITY
from evaluation.graphs.reports.retrieval import RETRIEVAL
from evaluation.reports.registry import register

register(RETRIEVAL, CITATIONS, ALIGNMENT, INCOMPETENCE, QUALITY, STATISTICS)
register(CITATION_TABLE, QUALITY_TABLE, REMOVAL, ACCURACY, HUMAN_ALIGNMENT)
