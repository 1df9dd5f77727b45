"""The reports on answers about a graph by API, and retrieval, which is of sub-graphs too."""

from collections.abc import Callable
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from accounts.api import refuse_unknown
from evaluation.graphs.reports.alignment import alignment_report
from evaluation.graphs.reports.answer_figures import CannotReport, NoSuchSetup
from evaluation.graphs.reports.cached_retrieval import cached_graph_retrieval
from evaluation.graphs.reports.citations import CitationChoices, citations_report
from evaluation.graphs.reports.cited_answers import ROUNDS
from evaluation.graphs.reports.graph_statistics import statistics_report
from evaluation.graphs.reports.incompetence import incompetence_report
from evaluation.graphs.reports.quality import quality_report
from evaluation.measures.citation import Mode
from evaluation.reports.api import Conflict, ReportSerializer
from evaluation.reports.base import Report
from evaluation.retrieval.report import RetrievalChoices, retrieval_report
from generation.grids.grid_file import QUERIES
from generation.models import Dataset, KGQuestion
from generation.retrieval.bm25 import IDF_RULES, USUAL, Bm25
from generation.retrieval.dataset_index import can_wait_for_index

# Reports on cited answers that have no choices of their own.
CITED: dict[str, Callable[[Dataset, str], Report]] = {
    "alignment": alignment_report,
    "incompetence": incompetence_report,
    "quality": quality_report,
}
# Reports on datasets that have an address of their own.
OF_THEIR_OWN = ("retrieval", "tradeoff", "takeaways", "citations", "statistics")
PASSAGES, GRAPHS = "passages", "graphs"


class RankingSerializer(serializers.Serializer[Any]):
    """How passages are ranked, and what is searched by, as on the page of retrieval."""

    query = serializers.ChoiceField(
        list(QUERIES.items()), default=RetrievalChoices().query, help_text="Searched by."
    )
    idf = serializers.ChoiceField(
        list(IDF_RULES.items()), default=USUAL.idf, help_text="Weight of words."
    )
    k1 = serializers.FloatField(default=USUAL.k1, min_value=0, max_value=10)
    of = serializers.ChoiceField(
        [PASSAGES, GRAPHS],
        required=False,
        help_text="Passages by BM25, or sub-graphs for questions about a graph (the other choices "
        "are of passages); by default sub-graphs where a dataset has such questions.",
    )
    b = serializers.FloatField(default=USUAL.b, min_value=0, max_value=1)

    @property
    def chosen(self) -> RetrievalChoices:
        """The choices, which must be right."""
        self.is_valid(raise_exception=True)
        said = {name: self.validated_data[name] for name in Bm25._fields}
        return RetrievalChoices(Bm25(**said), self.validated_data["query"])


class OfSetupSerializer(serializers.Serializer[Any]):
    """What a report on answers is about."""

    setup = serializers.CharField(
        default="", allow_blank=True, help_text="Name of the only setup that counts."
    )


class CitationsSerializer(OfSetupSerializer):
    """What a report on citations counts, as on its page."""

    mode = serializers.ChoiceField(
        [str(mode) for mode in Mode],
        default=str(Mode.PAPER),
        help_text="As the paper defines, or as the authors' code computes.",
    )
    rounds = serializers.ChoiceField(
        list(ROUNDS),
        default="all",
        help_text="The whole minimum set, or (later) what rounds 2 to 6 added.",
    )

    @property
    def chosen(self) -> CitationChoices:
        """The choices, which must be right."""
        self.is_valid(raise_exception=True)
        said = self.validated_data
        return CitationChoices(Mode(said["mode"]), said["rounds"], said["setup"])


class RetrievalReport(APIView):
    """Recall and precision of passages, or of sub-graphs: `manage.py report retrieval`."""

    @extend_schema(
        operation_id="datasets_report_retrieval",
        parameters=[RankingSerializer],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str) -> Answer:
        dataset = get_object_or_404(Dataset, slug=slug)
        refuse_unknown(request, RankingSerializer().fields)
        asked = RankingSerializer(data=request.query_params)
        choices = asked.chosen
        questions = KGQuestion.objects.of_benchmark().filter(example__dataset=dataset)
        usual = GRAPHS if questions.exists() else PASSAGES
        if asked.validated_data.get("of", usual) == GRAPHS:
            if usual == PASSAGES:
                raise NotFound(f"{dataset.name} has no questions about a knowledge graph.")
            return Answer(cached_graph_retrieval(dataset)._asdict())
        if not can_wait_for_index(dataset.pk):
            raise Conflict("The passages are not indexed yet: the page of retrieval has it done.")
        return Answer(retrieval_report(dataset, choices)._asdict())


class CitationsReport(APIView):
    """Correctness, precision, recall and F1 of citations: `manage.py report citations`."""

    @extend_schema(
        operation_id="datasets_report_citations",
        parameters=[CitationsSerializer],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str) -> Answer:
        dataset = get_object_or_404(Dataset, slug=slug)
        refuse_unknown(request, CitationsSerializer().fields)
        choices = CitationsSerializer(data=request.query_params).chosen
        return Answer(_on_answers(lambda: citations_report(dataset, choices)))


class CitedAnswersReport(APIView):
    """Alignment, [NA] or text quality of each setup: `manage.py report alignment`, …"""

    @extend_schema(
        operation_id="datasets_report_cited_answers",
        parameters=[
            OpenApiParameter("report", enum=list(CITED), location=OpenApiParameter.PATH),
            OfSetupSerializer,
        ],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str, report: str) -> Answer:
        dataset = get_object_or_404(Dataset, slug=slug)
        if report not in CITED:
            there = ", ".join((*OF_THEIR_OWN, *CITED))
            raise NotFound(f"There is no report {report!r}; there are: {there}.")
        refuse_unknown(request, OfSetupSerializer().fields)
        asked = OfSetupSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        setup = asked.validated_data["setup"]
        return Answer(_on_answers(lambda: CITED[report](dataset, setup)))


class StatisticsReport(APIView):
    """What questions about a graph are about: `manage.py report statistics`."""

    @extend_schema(operation_id="datasets_report_statistics", responses=ReportSerializer)
    def get(self, request: Request, slug: str) -> Answer:
        dataset = get_object_or_404(Dataset, slug=slug)
        refuse_unknown(request, ())
        return Answer(_on_answers(lambda: statistics_report(dataset)))


def _on_answers(made: Callable[[], Report]) -> dict[str, Any]:
    """Return a report on cited answers; without a graph there is none."""
    try:
        return made()._asdict()
    except NoSuchSetup as exc:
        raise ValidationError({"setup": [str(exc)]}) from exc
    except CannotReport as exc:
        raise NotFound(str(exc)) from exc
