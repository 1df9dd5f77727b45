"""The API of KaLMA's experiments over a dataset: the list, the reports, asking and scoring."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from accounts.api import Conflict, StrictSerializer, refuse_unknown, who
from annotation.models import Study
from evaluation.graphs.experiments import services
from evaluation.graphs.experiments.pages.human_alignment import studies_of, study_chosen
from evaluation.graphs.experiments.registry import EXPERIMENTS, KGExperiment
from evaluation.graphs.experiments.services import ExperimentPlan, ScoringPlan
from evaluation.models import MetricRun
from evaluation.reports.api import ReportSerializer
from evaluation.reports.registry import CannotReport, all_reports
from evaluation.runs.api import RunSerializer
from evaluation.runs.choices import model_called
from evaluation.runs.model_checks import why_unusable
from evaluation.runs.progress import run_progress
from evaluation.runs.services.chunks import send_run
from evaluation.runs.services.runs import RunError
from generation.api_grids import GridSerializer
from generation.asking_serializer import AskingSerializer
from generation.choices.declaration import ChoiceError
from generation.choices.serializers import serializer_fields
from generation.grids.grid_file import GridError, of_data
from generation.grids.progress import grids_progress
from generation.models import Dataset, Grid
from generation.services.grids import GridChangeError
from generation.services.planning import send_grid

STUDY = OpenApiParameter(
    "study", description="For alignment: the slug of a study. Default: the newest."
)
KEY = OpenApiParameter("key", enum=list(EXPERIMENTS), location=OpenApiParameter.PATH)


class MetricStateSerializer(serializers.Serializer[services.MetricProgress]):
    """The progress of one metric of an experiment."""

    metric = serializers.CharField()
    run = serializers.IntegerField(
        source="run.run.pk",
        default=None,
        allow_null=True,
        help_text="Its newest run. Null: there is none.",
    )
    state = serializers.CharField(
        help_text="missing, incomplete (there are newer answers), or the state of the run."
    )
    n_left = serializers.IntegerField(help_text="Answers it was not asked about, at most.")


class KGExperimentSerializer(serializers.Serializer[Any]):
    """One experiment with its usual choices, its grids and the progress of its metrics."""

    key = serializers.CharField(source="experiment.key")
    title = serializers.CharField(source="experiment.title")
    paper = serializers.CharField(
        source="experiment.source", help_text="Where the paper prints it."
    )
    prompts = serializers.ListField(
        source="experiment.prompts", child=serializers.CharField(), help_text="Keys of types."
    )
    temperatures = serializers.ListField(
        source="experiment.temperatures", child=serializers.FloatField()
    )
    seeds = serializers.ListField(source="experiment.seeds", child=serializers.IntegerField())
    lacking = serializers.ListField(
        child=serializers.CharField(), help_text="Why the dataset cannot be asked. Empty: it can."
    )
    grids = serializers.ListField(
        child=serializers.IntegerField(), help_text="Ids of grids, newest first."
    )
    scoring = MetricStateSerializer(many=True)


class StartExperimentSerializer(StrictSerializer):
    """The models to ask, and how to ask them. What is left out is as in the paper."""

    models = serializers.ListField(
        child=serializers.DictField(),
        allow_empty=False,
        help_text="As in a grid: [{name, precision?, price?: {input, output}}].",
    )
    temperatures = serializers.ListField(child=serializers.FloatField(), default=[])
    seeds = serializers.ListField(child=serializers.IntegerField(), default=[])

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with one for every choice about an experiment."""
        return super().get_fields() | serializer_fields(ExperimentPlan)

    def plan_of(self, experiment: KGExperiment) -> ExperimentPlan:
        """Return the plan for asking in one experiment.

        Raises:
            GridError: a model's description cannot be used.
        """
        said = self.validated_data
        models = of_data({"name": "?", "models": said["models"]}).models
        lists = {name: tuple(said[name]) for name in ("temperatures", "seeds")}
        return ExperimentPlan(experiment.key, **{**said, **lists, "models": models})


class ScoreExperimentSerializer(AskingSerializer):
    """The model that scores the answers of an experiment."""

    model = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="A backend without a model (lexical), or a checkpoint’s name. Default: what the "
        "metric asks first, if that needs no model.",
    )
    precision = serializers.CharField(default="", allow_blank=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with one for every choice about the draw."""
        return super().get_fields() | serializer_fields(ScoringPlan)

    def plan_of(self, experiment: KGExperiment) -> ScoringPlan:
        """Return the plan for scoring one experiment.

        Raises:
            ChoiceError: a choice cannot be used, or the model's files cannot be used.
        """
        said = self.validated_data
        spec = model_called(said["model"])
        choices = ScoringPlan(spec, said["precision"], said["n_judged"], said["seed"])
        for plan in services.scoring_plans(experiment.key, choices):
            if problem := why_unusable(plan.spec, plan.metric.key):
                raise ChoiceError("model", problem)
        return choices


class Experiments(APIView):
    """The experiments on a dataset's knowledge graph."""

    @extend_schema(operation_id="datasets_experiments", responses=KGExperimentSerializer(many=True))
    def get(self, request: Request, slug: str) -> Answer:
        dataset = get_object_or_404(Dataset, slug=slug)
        refuse_unknown(request, ())
        rows = [_state(dataset, experiment) for experiment in EXPERIMENTS.values()]
        return Answer(KGExperimentSerializer(rows, many=True).data)


class ExperimentReport(APIView):
    """The table of one experiment, as `manage.py run_kg_experiment … --format json` prints it."""

    @extend_schema(
        operation_id="datasets_experiment_report",
        parameters=[KEY, STUDY],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str, key: str) -> Answer:
        dataset, experiment = _named(slug, key)
        refuse_unknown(request, () if experiment.has_grid else ("study",))
        kind = all_reports()[experiment.report]
        study = None
        if not experiment.has_grid:
            study = _study(dataset, request.query_params.get("study", ""))
        try:
            return Answer(kind.make(study or dataset, kind.choices()).as_json())
        except CannotReport as error:
            raise NotFound(str(error)) from error


class StartExperiment(APIView):
    """The request to ask the models of one experiment."""

    @extend_schema(
        operation_id="datasets_experiment_start",
        parameters=[KEY],
        request=StartExperimentSerializer,
        responses={202: GridSerializer},
    )
    def post(self, request: Request, slug: str, key: str) -> Answer:
        """Let a worker plan the grid of an experiment. `grids/<id>/start/` starts it.

        The same request again returns the same grid.
        """
        dataset, experiment = _named(slug, key)
        asked = StartExperimentSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            grid = services.request(dataset, asked.plan_of(experiment), who(request))
        except GridError as error:
            raise ValidationError({error.field or "models": [f"{error}."]}) from error
        except GridChangeError as error:
            raise Conflict(str(error)) from error
        send_grid(grid)
        [progress] = grids_progress(Grid.objects.filter(pk=grid.pk))
        return Answer(GridSerializer(progress).data, status.HTTP_202_ACCEPTED)


class ScoreExperiment(APIView):
    """The request to score the answers of one experiment."""

    @extend_schema(
        operation_id="datasets_experiment_score",
        parameters=[KEY],
        request=ScoreExperimentSerializer,
        responses={202: RunSerializer(many=True)},
    )
    def post(self, request: Request, slug: str, key: str) -> Answer:
        """Score what has no score yet, with one run for each metric.

        The same request again returns the same runs.
        """
        dataset, experiment = _named(slug, key)
        asked = ScoreExperimentSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            plan = asked.plan_of(experiment)
            asked.plan_first(services.scoring_asking(dataset, experiment.key, plan))
            runs = services.request_scoring(dataset, experiment.key, plan, who(request))
        except ChoiceError as error:
            raise ValidationError({error.field: [str(error)]}) from error
        except RunError as error:
            raise Conflict(str(error)) from error
        for run in runs:
            send_run(run)
        found = MetricRun.objects.filter(pk__in=[run.pk for run in runs]).order_by("pk")
        progress = run_progress(found.select_related("dataset"))
        rows = [RunSerializer(each).data for each in progress]
        return Answer(rows, status.HTTP_202_ACCEPTED)


def _state(dataset: Dataset, experiment: KGExperiment) -> dict[str, Any]:
    return {
        "experiment": experiment,
        "lacking": services.why_not(dataset, experiment),
        "grids": [grid.pk for grid in services.grids_of(dataset, experiment.key)],
        "scoring": services.scoring(dataset, experiment.key),
    }


def _named(slug: str, key: str) -> tuple[Dataset, KGExperiment]:
    dataset = get_object_or_404(Dataset, slug=slug)
    if key not in EXPERIMENTS:
        raise NotFound(
            f"There is no experiment {key!r}. The experiments are: {', '.join(EXPERIMENTS)}."
        )
    return dataset, EXPERIMENTS[key]


def _study(dataset: Dataset, slug: str) -> Study:
    study = study_chosen(studies_of(dataset), slug)
    if study is None:
        raise NotFound(
            f"This dataset has no study of alignment {slug!r}."
            if slug
            else "There is no study of alignment yet."
        )
    return study
