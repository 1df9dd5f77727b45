"""The API of metric runs and their scores."""

import math
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.reverse import reverse

from accounts.api import Conflict, IdFilter, Listed, LongPages, NameFilter, Readable, who
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.api_new_run import NewRunSerializer
from evaluation.runs.choices import MOST_CONTROLS, USUAL_CONTROLS
from evaluation.runs.precision import Flips, flips_of
from evaluation.runs.progress import RunProgress, progress_of_runs
from evaluation.runs.run_list import STATES, with_failures
from evaluation.runs.services import added_controls
from evaluation.runs.services import runs as services
from evaluation.runs.services.chunks import send_run
from evaluation.runs.services.run_calls import (
    controls_asking,
    precision_asking,
    retry_asking,
    runs_asking,
)
from evaluation.runs.services.runs import RunError
from generation.asking_serializer import AskingSerializer, confirmed_first
from generation.model_specs import USUAL_CURRENCY
from generation.models import Dataset, Response

# --- runs -----------------------------------------------------------------------------------


class FloatOrNull(serializers.FloatField):
    """A figure that may be undefined."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def to_representation(self, value: float) -> Any:
        return None if math.isnan(value) else super().to_representation(value)


class RunSerializer(serializers.Serializer[RunProgress]):
    """A run of an auto-metric, every choice that changes its numbers, and its progress."""

    id = serializers.IntegerField(source="run.pk")
    dataset = serializers.CharField(source="run.dataset.slug")
    metric = serializers.CharField(source="run.metric")
    title = serializers.CharField()
    signature = serializers.CharField(source="run.full_signature")
    is_imported = serializers.BooleanField(source="run.is_imported")
    backend = serializers.CharField(source="run.backend")
    model = serializers.CharField(source="run.model_name", help_text="A checkpoint's name.")
    parameters = serializers.DictField(source="run.parameters")
    threshold = serializers.FloatField(
        source="run.threshold",
        allow_null=True,
        help_text="A higher score is a yes. A lower score is a no. null: imported scores for which "
        "no threshold was given. They have ranks and no labels.",
    )
    is_yes_at_threshold = serializers.BooleanField(
        source="run.is_yes_at_threshold",
        help_text="Whether a score that equals the threshold is a yes. Otherwise it is a no.",
    )
    revision = serializers.CharField(source="run.revision", help_text="The revision of the model.")
    files = serializers.DictField(
        source="run.model_files",
        child=serializers.CharField(),
        help_text="The SHA-256 of the files that the model was loaded from, by file name.",
    )
    device = serializers.CharField(
        source="run.device", help_text="The device that computed the scores."
    )
    state = serializers.CharField(
        help_text="queued, running, cancelled, failed, failed in part, or done."
    )
    archived = serializers.BooleanField(source="run.is_archived")
    error = serializers.CharField(source="run.error", help_text="Why the run failed as a whole.")
    created_at = serializers.DateTimeField(source="run.created_at")
    finished_at = serializers.DateTimeField(source="run.finished_at", allow_null=True)
    n_targets = serializers.IntegerField(
        help_text="The number of responses or, for alignment, of citations."
    )
    n_scored = serializers.IntegerField()
    n_failed = serializers.IntegerField()
    n_assumed = serializers.IntegerField(
        help_text=(
            "The number of scores of 0 that needed no question, for example because nothing was "
            "shown."
        )
    )
    n_reused = serializers.IntegerField(
        help_text="The number of scores that were reused, because a run scored the same before."
    )
    n_truncated = serializers.IntegerField(
        help_text="The number of pairs or prompts that were shortened."
    )
    n_pairs = serializers.IntegerField(
        help_text="The number of pairs or prompts behind the scores."
    )
    n_pairs_asked = serializers.IntegerField(
        help_text="The number of those pairs or prompts that this run asked."
    )
    n_calls = serializers.IntegerField(
        source="run.n_calls", help_text="The number of calls of a language model."
    )
    n_tokens_in = serializers.IntegerField(source="run.n_tokens_in")
    n_tokens_out = serializers.IntegerField(source="run.n_tokens_out")
    cost = serializers.FloatField(
        source="run.cost",
        allow_null=True,
        help_text=f"The cost so far, in {USUAL_CURRENCY}. Null: no price is known.",
    )
    budget = serializers.DictField(
        source="run.budget",
        help_text="The limits most_calls, most_tokens and most_cost, and the price of a million "
        "tokens of input and output.",
    )
    share = serializers.FloatField(
        help_text="The share that has a score or a failure, from 0 to 1."
    )
    n_adding_nothing = serializers.IntegerField(
        help_text="The number of responses that add no word to the question, so that added words "
        "scores them 0."
    )
    pairs_per_second = serializers.FloatField(allow_null=True)
    responses_per_second = serializers.FloatField(allow_null=True)
    seconds_left = serializers.FloatField(allow_null=True)


class PrecisionCheckSerializer(AskingSerializer):
    """The number of responses of a run in fp32 to score in bf16 as well, and the seed."""

    n = serializers.IntegerField(default=100, min_value=1, max_value=100_000)
    seed = serializers.IntegerField(default=0, min_value=0, help_text="The seed of the draw.")


class ControlsSerializer(AskingSerializer):
    """The number of responses of a run of which controls are wanted."""

    n = serializers.IntegerField(default=USUAL_CONTROLS, min_value=1, max_value=MOST_CONTROLS)


class FlipsSerializer(serializers.Serializer[Flips]):
    """The changes through bf16, over the responses that both runs have scored."""

    fp32 = serializers.IntegerField(source="fp32.pk", help_text="Id of the run in fp32.")
    bf16 = serializers.IntegerField(source="bf16.pk", help_text="Id of the run in bf16.")
    n = serializers.IntegerField()
    n_flipped = serializers.IntegerField(help_text="Labels that differ at the fp32 threshold.")
    flipped = serializers.FloatField(source="share")
    flipped_low = FloatOrNull(source="low", help_text="Wilson interval over dialogs.")
    flipped_high = FloatOrNull(source="high")
    mean_change = serializers.FloatField(help_text="The mean change of a score, without its sign.")
    largest_change = serializers.FloatField()


class RunFilters(filters.FilterSet):  # type: ignore[misc] # no types
    dataset = NameFilter("dataset", Dataset, "slug", help_text="Slug of a dataset.")
    state = filters.ChoiceFilter(
        choices=[(key, label) for key, (label, _) in STATES.items()],
        method="in_state",
        help_text="running (includes those queued) or failed (includes those failed in part).",
    )

    def in_state(self, runs: QuerySet[MetricRun], _: str, state: str) -> QuerySet[MetricRun]:
        """Return the runs that the page lists under a state."""
        return with_failures(runs).filter(STATES[state][1])


class Runs(Readable):
    """Runs of auto-metrics, newest first. A worker scores the runs that are requested here."""

    serializer_class = RunSerializer
    filterset_class = RunFilters
    lookup_value_converter = "int"
    queryset = MetricRun.objects.order_by("-pk")

    def paginate_queryset(self, queryset: QuerySet[Any] | Sequence[Any]) -> list[Any]:
        runs = super().paginate_queryset(queryset) or []
        return list(progress_of_runs([run.pk for run in runs]).values())

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Answer:
        return self._answer(self.get_object())

    @extend_schema(request=NewRunSerializer, responses={202: RunSerializer})
    def create(self, request: Request) -> Answer:
        """Score the responses that have no score yet under these choices.

        A second request with the same choices answers with the same run.
        """
        asked = NewRunSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        dataset, plan = asked.of_dataset, asked.validated_data["plan"]
        asked.plan_first(runs_asking(dataset, [plan], asked.responses))
        try:
            run = services.request_metric_run(dataset, plan, asked.responses, who(request))
        except RunError as error:
            raise ValidationError({"metric": [str(error)]}) from error
        send_run(run)
        answer = self._answer(run, status.HTTP_202_ACCEPTED)
        answer["Location"] = reverse("api:run-detail", [run.pk], request=request)
        return answer

    @extend_schema(request=AskingSerializer, responses={202: RunSerializer})
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: int) -> Answer:
        """Score the failed targets of a run once more."""
        run = self._of_ours()
        confirmed_first(request, retry_asking(run))
        if not services.retry_failed(run, who(request)):
            raise Conflict("Nothing of this run has failed.")
        send_run(run)
        return self._answer(run, status.HTTP_202_ACCEPTED)

    @extend_schema(request=ControlsSerializer, responses={202: RunSerializer})
    @action(detail=True, methods=["post"])
    def controls(self, request: Request, pk: int) -> Answer:
        """Score controls of a run that has too few.

        The report `controls` of the dataset says what they show.
        """
        run = self._of_ours()
        asked = ControlsSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        n = asked.validated_data["n"]
        asked.plan_first(controls_asking(run, n))
        try:
            added_controls.request_controls(run, who(request), n)
        except RunError as error:
            raise Conflict(str(error)) from error
        send_run(run)
        return self._answer(run, status.HTTP_202_ACCEPTED)

    @extend_schema(request=PrecisionCheckSerializer, responses={202: RunSerializer})
    @action(detail=True, methods=["post"])
    def precision(self, request: Request, pk: int) -> Answer:
        """Score some responses of a run in fp32 once more, in bf16. The answer is the new run.

        A GET request to the same address returns the changes through bf16.
        """
        asked = PrecisionCheckSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            asked.plan_first(precision_asking(self.get_object(), **asked.validated_data))
            run = services.request_precision_check(
                self.get_object(), who(request), **asked.validated_data
            )
        except RunError as error:
            raise Conflict(str(error)) from error
        send_run(run)
        return self._answer(run, status.HTTP_202_ACCEPTED)

    @extend_schema(responses=FlipsSerializer)
    @precision.mapping.get
    def flips(self, request: Request, pk: int) -> Answer:
        """Return how many labels bf16 flips against fp32, over responses that both have scored."""
        flips = flips_of(self.get_object())
        if flips is None:
            raise NotFound("No run in the other precision has scored any of the same responses.")
        return Answer(FlipsSerializer(flips).data)

    def _of_ours(self) -> MetricRun:
        run: MetricRun = self.get_object()
        if run.is_imported:
            raise Conflict("This run was imported, so it cannot be changed.")
        return run

    def _answer(self, run: MetricRun, code: int = status.HTTP_200_OK) -> Answer:
        progress = progress_of_runs([run.pk])[run.pk]
        return Answer(self.get_serializer(progress).data, status=code)


# --- scores ---------------------------------------------------------------------------------


class WindowSerializer(serializers.Serializer[dict[str, Any]]):
    """The piece of evidence that gave a score."""

    sentence = serializers.IntegerField(
        allow_null=True,
        help_text="The number of the sentence of the response, from 0. Null: the whole response.",
    )
    passage = serializers.IntegerField(
        allow_null=True, help_text="The id of the passage. Null: all evidence."
    )
    first = serializers.IntegerField(help_text="First sentence of the passage, from 0.")
    last = serializers.IntegerField(help_text="Last sentence, this one included.")
    start = serializers.IntegerField(help_text="First character.")
    end = serializers.IntegerField(help_text="The character after the last one.")
    probability = serializers.FloatField()


class ScoreSerializer(serializers.Serializer[dict[str, Any]]):
    """A run's score of a response or of one of its citations, or the reason why it has none."""

    id = serializers.IntegerField(source="pk")
    run = serializers.IntegerField()
    response = serializers.CharField(
        source="target__response__key", help_text="The key of the response."
    )
    response_id = serializers.IntegerField(source="target__response")
    citation = serializers.IntegerField(
        source=("target__citation__number"),
        allow_null=True,
        help_text="The number of the citation, from 1.",
    )
    score = serializers.FloatField(allow_null=True)
    problem = serializers.CharField(help_text="Why there is no score.")
    assumed = serializers.BooleanField(
        source="is_assumed",
        help_text="Nothing was shown, so the score is 0 without asking a model.",
    )
    windows = WindowSerializer(many=True)
    reused = serializers.BooleanField(
        source="is_reused", help_text="The same was scored before, so no model was asked."
    )
    details = serializers.DictField(help_text="Replies of a language model, the mode of a score.")
    n_pairs = serializers.IntegerField()
    n_truncated = serializers.IntegerField()


class ScoreFilters(filters.FilterSet):  # type: ignore[misc] # no types
    run = IdFilter("run", MetricRun, help_text="Id of a run.")
    response = NameFilter("target__response", Response, "key", help_text="Key of a response.")


class ScoreList(Listed):
    """Scores of runs, made here or imported: a score with its windows, or the problem."""

    serializer_class = ScoreSerializer
    filterset_class = ScoreFilters
    pagination_class = LongPages
    queryset = AutoScore.objects.order_by("pk")

    def get_queryset(self) -> QuerySet[Any]:
        columns = [str(field.source) for field in ScoreSerializer().fields.values()]
        rows: QuerySet[Any] = AutoScore.objects.order_by("pk").values(*columns)
        return rows
