"""The report on retrieval of passages, or of sub-graphs for questions about a graph."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from django.urls import reverse

from accounts.http import query_string
from evaluation.graphs.reports import methods
from evaluation.graphs.reports.cached_retrieval import cached_graph_retrieval
from evaluation.graphs.reports.graph_retrieval import BY_LABELS, HERE, IMPORTED, SourceRow
from evaluation.reports.registry import CannotReport, ReportGroup, ReportKind
from evaluation.reports.report import Report
from evaluation.retrieval.missed_examples import missed_address
from evaluation.retrieval.ranked_examples import RetrievalChoices, known_rankings
from evaluation.retrieval.report import RecallRow, report_if_indexed
from generation.choices.declaration import Choice, check_known
from generation.models import Dataset, KGQuestion
from generation.retrieval.dataset_index import index_of

PASSAGES, GRAPHS = "passages", "graphs"
# Source of sub-graphs → its key in addresses.
SOURCES = {HERE: "here", BY_LABELS: "labels", IMPORTED: "imported"}


class RecallChoices(NamedTuple):
    """The choice between passages and sub-graphs, and how passages are ranked."""

    passages: RetrievalChoices = RetrievalChoices()
    of: Annotated[
        str,
        Choice(
            "Of",
            {PASSAGES: "Passages", GRAPHS: "Sub-graphs"},
            help="Passages, or sub-graphs for questions about a graph (the other choices are of "
            "passages).",
            usual="sub-graphs where a dataset has such questions",
        ),
    ] = PASSAGES


def usual_choices(dataset: Dataset) -> RecallChoices:
    """Return the usual choices: sub-graphs if a dataset has questions about a graph."""
    return RecallChoices(of=GRAPHS if _has_questions(dataset) else PASSAGES)


def _has_questions(dataset: Dataset) -> bool:
    return KGQuestion.objects.of_benchmark().filter(example__dataset=dataset).exists()


def missed_questions(dataset: Dataset, key: str) -> Sequence[int]:
    """Return the ids of the examples for which a source does not find every gold entity.

    Args:
        key: the key of the source, one of the values of `SOURCES`.
    """
    found = cached_graph_retrieval(dataset).missed
    return next((found.get(source, ()) for source, each in SOURCES.items() if each == key), ())


def _report(dataset: Dataset, choices: RecallChoices) -> Report[RecallRow] | Report[SourceRow]:
    if choices.of == PASSAGES:
        return report_if_indexed(dataset, choices.passages)
    if not _has_questions(dataset):
        raise CannotReport(f"{dataset.name} has no questions about a knowledge graph.")
    return cached_graph_retrieval(dataset).report


def _index_passages(dataset: Dataset, choices: RecallChoices) -> None:
    if choices.of == PASSAGES and not choices.passages.ranking:
        index_of(dataset.pk, choices.passages.bm25)


def _check_ranking(dataset: Dataset, choices: RecallChoices) -> None:
    if name := choices.passages.ranking:
        check_known("ranking", name, dataset.rankings.values_list("name", flat=True))


def _to_missed(dataset: Dataset, choices: RecallChoices, row: RecallRow | SourceRow) -> str:
    """Return the address of what is not found among the first k passages, or by a source."""
    if isinstance(row, SourceRow):
        said = query_string({"missed": SOURCES[row.source]})
        return reverse("graphs:questions", args=[dataset.slug]) + said
    return missed_address(dataset, choices.passages, row.k)


RETRIEVAL = ReportKind(
    key="retrieval",
    title="Retrieval",
    lede="Gives the recall and precision of retrieved passages or sub-graphs.",
    group=ReportGroup.SETUPS,
    about=Dataset,
    methods=methods.RETRIEVAL,
    choices=RecallChoices,
    make=_report,
    usual=usual_choices,
    known=known_rankings,
    check=_check_ranking,
    prepare=_index_passages,
    rows=(SourceRow, RecallRow),
    leads={"recall": _to_missed},
)
