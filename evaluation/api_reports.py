"""The reports of studies and datasets by API."""

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
from annotation.models import Arm, Study
from evaluation.api import Conflict
from evaluation.forms.retrieval import IDF_RULES, QUERIES
from evaluation.metrics.citation import Mode
from evaluation.reports.alignment import alignment_report
from evaluation.reports.base import Choices, Report
from evaluation.reports.citations import CitationChoices, citations_report
from evaluation.reports.cited_answers import ROUNDS
from evaluation.reports.graph_statistics import statistics_report
from evaluation.reports.incompetence import incompetence_report
from evaluation.reports.kept_retrieval import kept_graph_retrieval
from evaluation.reports.of_graph import CannotReport, NoSuchSetup
from evaluation.reports.quality import quality_report
from evaluation.reports.retrieval import RetrievalChoices, retrieval_report
from evaluation.reports.stored import stored_figures
from evaluation.reports.study import ON_DEMAND, REPORTS
from evaluation.reports.takeaways import kept_takeaways
from evaluation.reports.tradeoff import tradeoff_report
from evaluation.tradeoffs.axes import Axes, named_axes
from evaluation.tradeoffs.kept import kept_material
from evaluation.tradeoffs.material import Material
from evaluation.tradeoffs.view import View
from generation.models import Dataset, KGQuestion
from generation.retrieval.bm25 import USUAL, Bm25
from generation.retrieval.dataset_index import can_wait_for_index

ALL_REPORTS = [*REPORTS, *ON_DEMAND]
# Reports on cited answers that have no choices of their own.
CITED: dict[str, Callable[[Dataset, str], Report]] = {
    "alignment": alignment_report,
    "incompetence": incompetence_report,
    "quality": quality_report,
}
# Reports on datasets that have an address of their own.
OF_THEIR_OWN = ("retrieval", "tradeoff", "takeaways", "citations", "statistics")
PASSAGES, GRAPHS = "passages", "graphs"


class ChoicesSerializer(serializers.Serializer[Any]):
    """What a report counts, as on the study's page."""

    by_setup = serializers.BooleanField(
        default=False, help_text="raters: a row for each setup as well."
    )
    with_implied = serializers.BooleanField(
        default=False, help_text="Agreement over implied answers too."
    )
    by_gates = serializers.BooleanField(
        default=False,
        help_text="Agreement: answers behind a gate that the same rater closed are implied.",
    )
    with_excluded = serializers.BooleanField(
        default=False, help_text="Count votes of excluded raters."
    )
    setup = serializers.CharField(
        default="", allow_blank=True, help_text="Name of the only setup that counts."
    )
    truth = serializers.ChoiceField(
        Arm.Kind.choices, required=False, help_text="Arm that metrics are held against."
    )

    def choices_for(self, study: Study) -> Choices:
        """Return what was chosen about one study, which must have that setup and that arm."""
        self.is_valid(raise_exception=True)
        choices = Choices(**self.validated_data)
        setups = sorted(study.setups.values_list("name", flat=True))
        arms = [arm.kind for arm in study.arms.all()]
        truth = self.validated_data.get("truth", arms[0] if arms else Arm.Kind.SEPARATE)
        for name, chosen, known in (("setup", choices.setup, setups), ("truth", truth, arms)):
            if chosen and known and chosen not in known:
                there = ", ".join(known)
                raise ValidationError(
                    {name: [f"There is no {name} {chosen!r} here; there are: {there}."]}
                )
        return choices._replace(truth=truth)


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


class AxesSerializer(serializers.Serializer[Any]):
    """What says whether a response is attributable, or sensible."""

    attribution = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="An axis as the page's address has it, or a metric or a question that only one "
        "run or arm has; empty: as on the page.",
    )
    sensibleness = serializers.CharField(
        default="", allow_blank=True, help_text="The same for sensibleness."
    )

    def material_of(self, dataset: Dataset) -> Material:
        """Return the material of one dataset, which must have what was named."""
        self.is_valid(raise_exception=True)
        names = [self.validated_data[side] for side in Axes._fields]
        try:
            axes = named_axes(dataset, *names)
        except LookupError as exc:
            raise ValidationError({"axes": [str(exc)]}) from exc
        return kept_material(dataset, axes)


class TradeoffSerializer(AxesSerializer):
    """What a report on the trade-off shows."""

    by_score = serializers.BooleanField(
        default=False, help_text="Mean scores instead of shares labelled yes."
    )


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


class ReportSerializer(serializers.Serializer[Any]):
    """Rows of figures: `x` with its 95 % interval `x_low`, `x_high`; null is undefined."""

    study = serializers.CharField()
    report = serializers.CharField()
    rows = serializers.ListField(child=serializers.DictField())
    left_out = serializers.DictField(child=serializers.IntegerField(), help_text="By reason.")
    signature = serializers.CharField(help_text="Every choice that changes the numbers.")


class StudyReport(APIView):
    """One report on a study: what `manage.py report … --format json` prints."""

    @extend_schema(
        operation_id="studies_report",
        parameters=[
            OpenApiParameter("report", enum=ALL_REPORTS, location=OpenApiParameter.PATH),
            ChoicesSerializer,
        ],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str, report: str) -> Answer:
        study = get_object_or_404(Study, slug=slug)
        if report not in ALL_REPORTS:
            raise NotFound(f"There is no report {report!r}; there are: {', '.join(ALL_REPORTS)}.")
        refuse_unknown(request, ChoicesSerializer().fields)
        choices = ChoicesSerializer(data=request.query_params).choices_for(study)
        return Answer(_report(study, report, choices))


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
            return Answer(kept_graph_retrieval(dataset)._asdict())
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


class TradeoffReport(APIView):
    """Attribution, sensibleness and F1 of each setup: `manage.py report tradeoff`."""

    @extend_schema(
        operation_id="datasets_report_tradeoff",
        parameters=[TradeoffSerializer],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str) -> Answer:
        dataset = get_object_or_404(Dataset, slug=slug)
        refuse_unknown(request, TradeoffSerializer().fields)
        asked = TradeoffSerializer(data=request.query_params)
        material = asked.material_of(dataset)
        view = View(by_score=asked.validated_data["by_score"])
        return Answer(tradeoff_report(material, view)._asdict())


class TakeawaysReport(APIView):
    """What changes F1, and by how much: `manage.py report takeaways`."""

    @extend_schema(
        operation_id="datasets_report_takeaways",
        parameters=[AxesSerializer],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str) -> Answer:
        dataset = get_object_or_404(Dataset, slug=slug)
        refuse_unknown(request, AxesSerializer().fields)
        material = AxesSerializer(data=request.query_params).material_of(dataset)
        return Answer(kept_takeaways(material)._asdict())


def _on_answers(made: Callable[[], Report]) -> dict[str, Any]:
    """Return a report on cited answers; without a graph there is none."""
    try:
        return made()._asdict()
    except NoSuchSetup as exc:
        raise ValidationError({"setup": [str(exc)]}) from exc
    except CannotReport as exc:
        raise NotFound(str(exc)) from exc


def _report(study: Study, report: str, choices: Choices) -> dict[str, Any]:
    """Return a report as its page shows it, or made now where the page waits for a worker."""
    if report in ON_DEMAND:
        return ON_DEMAND[report](study, choices)._asdict()
    stored = stored_figures(study, choices)
    if stored.figures is None or not stored.is_current:
        return REPORTS[report](study, choices)._asdict()
    is_by_setup = report == "raters" and choices.by_setup
    found: dict[str, Any] = stored.figures["by_setup" if is_by_setup else report]
    return found
