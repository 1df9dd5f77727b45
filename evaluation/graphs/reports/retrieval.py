"""The report on retrieval: of passages, or of sub-graphs for questions about a graph."""

from typing import Annotated, NamedTuple

from evaluation.graphs.reports.cached_retrieval import cached_graph_retrieval
from evaluation.graphs.reports.graph_retrieval import SourceRow
from evaluation.reports.registry import CannotReport, ReportKind
from evaluation.reports.report import Report
from evaluation.retrieval.report import RecallRow, RetrievalChoices, report_if_indexed
from generation.choices.declaration import Choice
from generation.models import Dataset, KGQuestion
from generation.retrieval.dataset_index import index_of

PASSAGES, GRAPHS = "passages", "graphs"


class Choices(NamedTuple):
    """What is retrieved; how passages are ranked, where it is passages."""

    ranking: RetrievalChoices = RetrievalChoices()
    of: Annotated[
        str,
        Choice(
            "Of",
            {PASSAGES: "Passages", GRAPHS: "Sub-graphs"},
            help="Passages by BM25, or sub-graphs for questions about a graph (the other choices "
            "are of passages).",
            usual="sub-graphs where a dataset has such questions",
        ),
    ] = PASSAGES


def usual_choices(dataset: Dataset) -> Choices:
    """Return what is usual: sub-graphs where a dataset has questions about a graph."""
    return Choices(of=GRAPHS if _has_questions(dataset) else PASSAGES)


def _has_questions(dataset: Dataset) -> bool:
    return KGQuestion.objects.of_benchmark().filter(example__dataset=dataset).exists()


def _report(dataset: Dataset, choices: Choices) -> Report[RecallRow] | Report[SourceRow]:
    if choices.of == PASSAGES:
        return report_if_indexed(dataset, choices.ranking)
    if not _has_questions(dataset):
        raise CannotReport(f"{dataset.name} has no questions about a knowledge graph.")
    return cached_graph_retrieval(dataset)


def _index_passages(dataset: Dataset, choices: Choices) -> None:
    if choices.of == PASSAGES:
        index_of(dataset.pk, choices.ranking.bm25)


RETRIEVAL = ReportKind(
    key="retrieval",
    title="Retrieval",
    lede="Recall and precision of passages, or of sub-graphs.",
    about=Dataset,
    choices=Choices,
    make=_report,
    usual=usual_choices,
    prepare=_index_passages,
    rows=(SourceRow, RecallRow),
)
