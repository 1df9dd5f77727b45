"""The report on retrieval of sub-graphs, cached until graph, search or questions change."""

from django.db.models import Count, Max

from evaluation.graphs.reports.graph_retrieval import GraphRetrieval, graph_retrieval
from evaluation.reports.cache import cached
from generation.models import Dataset, KGQuestion
from generation.retrieval.subgraphs import SubgraphRetriever


def cached_graph_retrieval(dataset: Dataset) -> GraphRetrieval:
    """Return the report and the missed questions, from the cache if nothing has changed since.

    Questions are added and deleted but never edited, so their number and last id show a change.
    Responses have no effect on this report.
    """
    questions = KGQuestion.objects.of_benchmark().filter(example__dataset=dataset).order_by()
    parts = (
        dataset.name,
        SubgraphRetriever(dataset.pk).signature,
        questions.aggregate(n=Count("pk"), last=Max("pk")),
    )
    return cached(
        dataset,
        "retrieval of sub-graphs",
        lambda: graph_retrieval(dataset),
        version=" ".join(map(str, parts)),
    )
