"""Metric runs, their scores, and the reports of studies by API."""

import math
from collections.abc import Sequence
from typing import Any, cast

from django.db.models import Exists, OuterRef, QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from accounts.api import IdFilter, Listed, LongPages, NameFilter, Readable, refuse_unknown
from accounts.models import User
from annotation.models import Arm, Study
from evaluation.auto_metrics.auto_ais import AutoAisMetric
from evaluation.forms.runs import LEXICAL, MOST_SENTENCES, TABS
from evaluation.metrics.entailment import AutoAis
from evaluation.models import AutoScore, Checkpoint, MetricRun
from evaluation.reports.base import Choices
from evaluation.reports.stored import stored_figures
from evaluation.reports.study import REPORTS
from evaluation.runs.progress import RunProgress, run_progress
from evaluation.services import runs as services
from evaluation.services.runs import RunPlan, responses_of_study, spec_of_checkpoint
from evaluation.tasks import execute_chunk
from generation.backends.base import ModelSpec
from generation.evidence import EvidenceChoice
from generation.models import Dataset, Response

# --- runs -----------------------------------------------------------------------------------


class Conflict(APIException):
    """What was asked for does not go with the state that a run is in."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class RunSerializer(serializers.Serializer[RunProgress]):
    """A run of an auto-metric, every choice that changes its numbers, and how far it is."""

    id = serializers.IntegerField(source="run.pk")
    dataset = serializers.CharField(source="run.dataset.slug")
    metric = serializers.CharField(source="run.metric")
    title = serializers.CharField()
    signature = serializers.CharField(source="run.full_signature")
    is_imported = serializers.BooleanField(source="run.is_imported")
    backend = serializers.CharField(source="run.backend")
    model = serializers.CharField(source="run.model_name", help_text="A checkpoint's name.")
    parameters = serializers.DictField(source="run.parameters")
    threshold = serializers.FloatField(source="run.threshold", help_text="A higher score is a yes.")
    state = serializers.CharField(
        help_text="queued, running, cancelled, failed, failed in part, or done."
    )
    error = serializers.CharField(source="run.error", help_text="Why it failed as a whole.")
    created_at = serializers.DateTimeField(source="run.created_at")
    finished_at = serializers.DateTimeField(source="run.finished_at", allow_null=True)
    n_targets = serializers.IntegerField()
    n_scored = serializers.IntegerField()
    n_failed = serializers.IntegerField()
    n_assumed = serializers.IntegerField(help_text="Scored 0 as nothing was shown.")
    n_truncated = serializers.IntegerField(help_text="Pairs whose premise was cut.")
    n_pairs = serializers.IntegerField()
    share = serializers.FloatField(help_text="That has a score or a failure, from 0 to 1.")
    responses_per_second = serializers.FloatField(allow_null=True)
    seconds_left = serializers.FloatField(allow_null=True)


class NewRunSerializer(serializers.Serializer[Any]):
    """What is scored (a study's responses, or all of a dataset), by which model, and how."""

    study = serializers.CharField(required=False, help_text="Slug of a study.")
    dataset = serializers.CharField(required=False, help_text="Slug of a dataset.")
    model = serializers.CharField(default=LEXICAL, help_text="lexical, or a checkpoint's name.")
    flavor = serializers.ChoiceField(["v1", "v2", "v3"], default="v3")
    window = serializers.IntegerField(
        default=2,
        min_value=0,
        max_value=MOST_SENTENCES,
        help_text="Sentences per window; 0 means the whole evidence.",
    )
    hypothesis = serializers.ChoiceField(["whole", "mean", "min"], default="whole")
    evidence = serializers.ChoiceField(
        EvidenceChoice.choices, required=False, help_text="Default: the study's choice, or shown."
    )
    threshold = serializers.FloatField(default=0.5, min_value=0, max_value=1)

    def validate_study(self, slug: str) -> Study:
        study = Study.objects.select_related("dataset").filter(slug=slug).first()
        if study is None:
            raise ValidationError(f"There is no study {slug!r}.")
        return study

    def validate_dataset(self, slug: str) -> Dataset:
        dataset = Dataset.objects.filter(slug=slug).first()
        if dataset is None:
            raise ValidationError(f"There is no dataset {slug!r}.")
        return dataset

    def validate_model(self, name: str) -> Checkpoint | None:
        if name == LEXICAL:
            return None
        checkpoint = Checkpoint.objects.filter(name=name).first()
        if checkpoint is None:
            known = ", ".join([LEXICAL, *Checkpoint.objects.values_list("name", flat=True)])
            raise ValidationError(f"There is no model {name!r}; there are: {known}.")
        return checkpoint

    def validate_threshold(self, threshold: float) -> float:
        if math.isnan(threshold):
            raise ValidationError("A valid number is required.")
        return threshold

    def to_internal_value(self, data: Any) -> Any:
        """Refuse a field that nobody reads, so that no choice is lost to a slip."""
        known = ", ".join(self.fields)
        unknown = {name for name in data if name not in self.fields} if type(data) is dict else ()
        if unknown:
            message = f"There is no such field; there are: {known}."
            raise ValidationError({name: [message] for name in unknown})
        return super().to_internal_value(data)

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        if ("study" in asked) == ("dataset" in asked):
            raise ValidationError({"study": ["Name either a study or a dataset."]})
        return asked

    @property
    def responses(self) -> QuerySet[Response]:
        """The responses to score."""
        study: Study | None = self.validated_data.get("study")
        if study:
            return responses_of_study(study)
        return Response.objects.filter(dataset=self.of_dataset)

    @property
    def of_dataset(self) -> Dataset:
        asked = self.validated_data
        dataset: Dataset = asked["study"].dataset if "study" in asked else asked["dataset"]
        return dataset

    @property
    def plan(self) -> RunPlan:
        """Every choice that was made, or was left to us."""
        asked = self.validated_data
        checkpoint: Checkpoint | None = asked["model"]
        study: Study | None = asked.get("study")
        usual = study.evidence_choice if study else EvidenceChoice.SHOWN.value
        return RunPlan(
            spec=spec_of_checkpoint(checkpoint) if checkpoint else ModelSpec(LEXICAL),
            metric=AutoAisMetric(AutoAis(asked["flavor"], asked["window"], asked["hypothesis"])),
            evidence=asked.get("evidence", usual),
            threshold=asked["threshold"],
        )


class RunFilters(filters.FilterSet):  # type: ignore[misc] # no types
    dataset = NameFilter("dataset", Dataset, "slug", help_text="Slug of a dataset.")
    state = filters.ChoiceFilter(
        choices=[(key, label) for key, (label, _) in TABS.items() if key],
        method="in_state",
        help_text="running with those queued, failed with those failed in part.",
    )

    def in_state(self, runs: QuerySet[MetricRun], _: str, state: str) -> QuerySet[MetricRun]:
        """Keep the runs that the page lists under a state."""
        failed = AutoScore.objects.filter(run=OuterRef("pk"), score=None)
        return runs.annotate(has_failed_scores=Exists(failed)).filter(TABS[state][1])


class Runs(Readable):
    """Runs of auto-metrics, newest first; the worker scores what is asked for here."""

    serializer_class = RunSerializer
    filterset_class = RunFilters
    lookup_value_converter = "int"
    queryset = MetricRun.objects.order_by("-pk")

    def paginate_queryset(self, queryset: QuerySet[Any] | Sequence[Any]) -> list[Any]:
        runs = super().paginate_queryset(queryset) or []
        return _progress([run.pk for run in runs])

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Answer:
        return self._answer(self.get_object())

    @extend_schema(request=NewRunSerializer, responses={202: RunSerializer})
    def create(self, request: Request) -> Answer:
        """Score what has no score yet under these choices.

        Asking for the same again answers with the same run.
        """
        asked = NewRunSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        run = services.request_metric_run(
            asked.of_dataset, asked.plan, asked.responses, _who(request)
        )
        _send(run)
        answer = self._answer(run, status.HTTP_202_ACCEPTED)
        answer["Location"] = reverse("api:run-detail", [run.pk], request=request)
        return answer

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: int) -> Answer:
        """Stop a run; what it has scored stays."""
        run = self._of_ours()
        if not services.cancel_run(run, _who(request)):
            raise Conflict("This run is not going on.")
        return self._answer(run)

    @extend_schema(request=None, responses={202: RunSerializer})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: int) -> Answer:
        """Go on with a run that was cancelled or failed."""
        run = self._of_ours()
        if not services.resume_run(run, _who(request)):
            raise Conflict("Only a run that was cancelled or failed can go on.")
        _send(run)
        return self._answer(run, status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses={202: RunSerializer})
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: int) -> Answer:
        """Ask once more for what a run has no score for."""
        run = self._of_ours()
        if not services.retry_failed(run, _who(request)):
            raise Conflict("Nothing of this run has failed.")
        _send(run)
        return self._answer(run, status.HTTP_202_ACCEPTED)

    def _of_ours(self) -> MetricRun:
        run: MetricRun = self.get_object()
        if run.is_imported:
            raise Conflict("This run was imported: it is as it came.")
        return run

    def _answer(self, run: MetricRun, code: int = status.HTTP_200_OK) -> Answer:
        [progress] = _progress([run.pk])
        return Answer(self.get_serializer(progress).data, status=code)


def _progress(pks: list[int]) -> list[RunProgress]:
    """Return how far some runs are, newest first."""
    found = run_progress(MetricRun.objects.filter(pk__in=pks).select_related("dataset"))
    return sorted(found, key=lambda each: -each.run.pk)


def _who(request: Request) -> User:
    return cast(User, request.user)  # `IsResearcher` has made sure


def _send(run: MetricRun) -> None:
    for chunk_id in services.chunks_to_send(run):
        execute_chunk.delay_on_commit(chunk_id)


# --- scores ---------------------------------------------------------------------------------


class WindowSerializer(serializers.Serializer[dict[str, Any]]):
    """The piece of evidence that gave a score."""

    sentence = serializers.IntegerField(
        allow_null=True, help_text="Of the response, from 0; null: the whole response."
    )
    passage = serializers.IntegerField(allow_null=True, help_text="Its id; null: all evidence.")
    first = serializers.IntegerField(help_text="First sentence of the passage, from 0.")
    last = serializers.IntegerField(help_text="Last sentence, this one included.")
    start = serializers.IntegerField(help_text="First character.")
    end = serializers.IntegerField(help_text="The character behind the last.")
    probability = serializers.FloatField()


class ScoreSerializer(serializers.Serializer[dict[str, Any]]):
    """What a run said about a response or one citation of it: a score, or why there is none."""

    id = serializers.IntegerField(source="pk")
    run = serializers.IntegerField()
    response = serializers.CharField(source="target__response__key", help_text="Its key.")
    response_id = serializers.IntegerField(source="target__response")
    citation = serializers.IntegerField(
        source="target__citation__number", allow_null=True, help_text="Its number, from 1."
    )
    score = serializers.FloatField(allow_null=True)
    problem = serializers.CharField(help_text="Why there is no score.")
    assumed = serializers.BooleanField(
        source="is_assumed", help_text="Nothing was shown: 0 without asking a model."
    )
    windows = WindowSerializer(many=True)
    n_pairs = serializers.IntegerField()
    n_truncated = serializers.IntegerField()


class ScoreFilters(filters.FilterSet):  # type: ignore[misc] # no types
    run = IdFilter("run", MetricRun, help_text="Id of a run.")
    response = NameFilter("target__response", Response, "key", help_text="Key of a response.")


class Scores(Listed):
    """Scores of runs, made here or imported."""

    serializer_class = ScoreSerializer
    filterset_class = ScoreFilters
    pagination_class = LongPages
    queryset = AutoScore.objects.order_by("pk")

    def get_queryset(self) -> QuerySet[Any]:
        columns = [str(field.source) for field in ScoreSerializer().fields.values()]
        rows: QuerySet[Any] = AutoScore.objects.order_by("pk").values(*columns)
        return rows


# --- reports --------------------------------------------------------------------------------


class ChoicesSerializer(serializers.Serializer[Any]):
    """What a report counts, as on the study's page."""

    by_setup = serializers.BooleanField(
        default=False, help_text="raters: a row for each setup as well."
    )
    with_implied = serializers.BooleanField(
        default=False, help_text="Agreement over implied answers too."
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
            OpenApiParameter("report", enum=list(REPORTS), location=OpenApiParameter.PATH),
            ChoicesSerializer,
        ],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str, report: str) -> Answer:
        study = get_object_or_404(Study, slug=slug)
        if report not in REPORTS:
            raise NotFound(f"There is no report {report!r}; there are: {', '.join(REPORTS)}.")
        refuse_unknown(request, ChoicesSerializer().fields)
        choices = ChoicesSerializer(data=request.query_params).choices_for(study)
        return Answer(_report(study, report, choices))


def _report(study: Study, report: str, choices: Choices) -> dict[str, Any]:
    """Return a report as its page shows it, or made now where the page waits for a worker."""
    stored = stored_figures(study, choices)
    if stored.figures is None or not stored.is_current:
        return REPORTS[report](study, choices)._asdict()
    is_by_setup = report == "raters" and choices.by_setup
    found: dict[str, Any] = stored.figures["by_setup" if is_by_setup else report]
    return found
