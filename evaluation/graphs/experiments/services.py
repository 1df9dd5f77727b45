"""Requests for the grids of KaLMA's experiments over a dataset, and for scores of their answers.

Nothing here sends work to a queue: the caller sends the grid, or the runs.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from evaluation.graphs.experiments.registry import EXPERIMENTS, WHOLE, KGExperiment, Need
from evaluation.metrics.registry import METRICS
from evaluation.models import MetricRun
from evaluation.runs.choices import plan_of
from evaluation.runs.plan import RunPlan, plan_again
from evaluation.runs.progress import RunProgress, run_progress
from evaluation.runs.services.run_calls import runs_asking
from evaluation.runs.services.runs import RunError, n_without_score, request_metric_run
from generation.call_plan import CallPlan
from generation.choices.declaration import Choice, ChoiceError
from generation.grids.grid_file import (
    LONGEST_CURRENCY,
    MOST_TOKENS,
    USUAL_MAX_TOKENS_WITH_GRAPH,
    GridChoices,
    GridModel,
    of_data,
)
from generation.grids.question_graphs import askable
from generation.limits import LARGEST_SEED, LONGEST_NAME, MOST_SAMPLED
from generation.model_specs import ModelSpec
from generation.models import (
    Dataset,
    Grid,
    KGQuestion,
    QuestionEntity,
    Response,
)
from generation.models.grids import ASKS_ONE_QUESTION
from generation.services.grids import GridChangeError, request_grid
from generation.services.record_keys import digest
from generation.text.prompt_types import Graph, lacks_knowledge

_HASH = 8  # characters of a grid's name
GRAPHS: Mapping[Graph, str] = {
    "retrieved": "Retrieved here, as in the paper",
    "imported": "As imported, where the import names a list",
    "gold": "Gold, where it is known",
}


class ExperimentPlan(NamedTuple):
    """The choices about asking in an experiment. What is empty is as in the paper."""

    key: str  # a key of EXPERIMENTS
    models: tuple[GridModel, ...]
    temperatures: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    sample: Annotated[
        str,
        Choice(
            "Questions", help="Name of a sample. Without one: all questions.", longest=LONGEST_NAME
        ),
    ] = ""
    graph: Annotated[
        Graph,
        Choice(
            "Graph shown",
            GRAPHS,
            help="The graph that models are shown. Only citation quality and text quality have "
            "this choice.",
        ),
    ] = "retrieved"
    max_tokens: Annotated[
        int,
        Choice(
            "New tokens at most",
            help="How many tokens an answer may have.",
            low=1,
            high=MOST_TOKENS,
        ),
    ] = USUAL_MAX_TOKENS_WITH_GRAPH
    currency: Annotated[str, Choice("Currency of the prices", longest=LONGEST_CURRENCY)] = "USD"


class ScoringPlan(NamedTuple):
    """The choices about scoring an experiment's answers. Metrics decide what is left empty."""

    spec: ModelSpec | None = None  # None: the model that each metric asks by default
    precision: str = ""
    n_judged: Annotated[
        int | None,
        Choice(
            "Answers of each row",
            help="How many answers the seed draws. 0: all. Without a number: as many as the "
            "experiment has.",
            low=0,
            high=MOST_SAMPLED,
        ),
    ] = None  # None: the number that the experiment has
    seed: Annotated[
        int,
        Choice(
            "Seed of the draw",
            help="It decides which answers are drawn.",
            low=0,
            high=LARGEST_SEED,
        ),
    ] = 0


class MetricProgress(NamedTuple):
    """The progress of one metric of an experiment, as of its newest run."""

    metric: str
    title: str
    run: RunProgress | None  # None: no run was requested
    n_left: int  # answers that the run was not asked about, at most

    @property
    def state(self) -> str:
        """'missing', 'incomplete' (there are newer answers), or the state of the run."""
        if self.run is None:
            return "missing"
        return "incomplete" if self.run.state == "done" and self.n_left else self.run.state


# --- what a dataset has for it --------------------------------------------------------------


def why_not(dataset: Dataset, experiment: KGExperiment, graph: Graph = "retrieved") -> list[str]:
    """Return what a dataset lacks for the prompts of an experiment, in a sentence each.

    An experiment that asks nothing lacks nothing.
    """
    if not experiment.has_grid:
        return []
    questions = askable(dataset.pk)
    if not questions["retrieved"]:  # This set has all questions about a graph.
        return [f"{dataset.name} has no questions about a knowledge graph."]
    if experiment.has_choice_of_graph and not questions[graph]:
        lacks = {"gold": "the gold entities", "imported": "a retrieved list from its import"}
        return [f"No question of {dataset.name} has {lacks[graph]}."]
    return [said for need, said in _lacking(dataset).items() if need in experiment.needs]


def _lacking(dataset: Dataset) -> Mapping[Need, str]:
    """Return what all questions of a dataset lack, and what to do about it, by two queries."""
    questions = KGQuestion.objects.of_benchmark().filter(example__dataset=dataset)
    gold = QuestionEntity.objects.filter(question__in=questions, is_retrieved=False)
    found: dict[Need, str] = {}
    if not questions.filter(is_minimum_known=True, minimum__isnull=False).exists():
        found["minimum sets"] = (
            f"No question of {dataset.name} has a minimum set, so it is not known which knowledge "
            "it needs. The command make_up_minimum makes a dataset with made-up minimum sets."
        )
    if not gold.exists():
        found["gold entities"] = f"No question of {dataset.name} has gold entities."
    return found


# --- asking ---------------------------------------------------------------------------------


def grid_of(dataset: Dataset, plan: ExperimentPlan) -> GridChoices:
    """Return the grid of an experiment. It is the same for the same choices in any order.

    Its name contains a hash of the choices. Citation quality and text quality are about the same
    answers, so they share one grid.

    Raises:
        GridError: a choice cannot be used.
    """
    experiment = EXPERIMENTS[plan.key]
    grid = of_data(
        {
            "name": "?",
            "models": [_model_data(model) for model in sorted(plan.models, key=_place)],
            "sample": plan.sample,
            "prompts": experiment.prompts_with(plan.graph),
            "temperatures": sorted(plan.temperatures) or experiment.temperatures,
            "seeds": sorted(plan.seeds) or experiment.seeds,
            "max_tokens": [plan.max_tokens],
            "currency": plan.currency,
        }
    )
    hashed = digest([dataset.slug, grid.as_data()])[:_HASH]
    what = "cited answers" if experiment.has_choice_of_graph else experiment.title.lower()
    said = f", {what}, {hashed}"
    return grid._replace(name=dataset.slug[: LONGEST_NAME - len(said)] + said)


def _model_data(model: GridModel) -> dict[str, Any]:
    data: dict[str, Any] = {"name": model.name, "precision": model.precision}
    return data | ({"price": model.price._asdict()} if model.price else {})


def _place(model: GridModel) -> tuple[str, str]:
    return model.name, model.precision


def request(dataset: Dataset, plan: ExperimentPlan, user: User | None) -> Grid:
    """Return the grid of an experiment, and make it if it does not exist. A worker then plans it.

    Calling this twice is safe, because the same choices give the same grid.

    Raises:
        GridChangeError: the experiment asks nothing, or the dataset lacks what it needs.
        GridError: a choice cannot be used, or a model or the sample does not exist.
    """
    experiment = EXPERIMENTS[plan.key]
    if not experiment.has_grid:
        raise GridChangeError(f"{experiment.title} asks no models. It uses existing answers.")
    if lacking := why_not(dataset, experiment, plan.graph):
        raise GridChangeError(lacking[0])
    return request_grid(dataset, grid_of(dataset, plan), user)


def grids_of(dataset: Dataset, key: str) -> list[Grid]:
    """Return the grids of a dataset with prompts of an experiment, newest first, by one query.

    Grids that ask a single question from the page for questions are left out.
    """
    grids = dataset.grids.exclude(ASKS_ONE_QUESTION).order_by("-pk")
    return [grid for grid in grids if EXPERIMENTS[key] in _with_prompts_of(grid)]


def experiments_of(grid: Grid) -> list[KGExperiment]:
    """Return the experiments whose pages show a grid. A grid that asks one question has none."""
    return [] if grid.asks_one_question else _with_prompts_of(grid)


def _with_prompts_of(grid: Grid) -> list[KGExperiment]:
    asked = set(grid.choices["prompts"])
    return [each for each in EXPERIMENTS.values() if asked & _own_prompts(each)]


def _own_prompts(experiment: KGExperiment) -> set[str]:
    """Return the prompts that identify an experiment, without the first step that it shares."""
    if experiment.has_choice_of_graph:
        return set(WHOLE.values())
    return set(experiment.prompts) - {WHOLE["gold"]}


# --- scoring --------------------------------------------------------------------------------


def answers_of(dataset: Dataset, key: str) -> QuerySet[Response]:
    """Return the answers that an experiment is about, made here or imported, by one query.

    The graph that was shown must be known. An ablation is about answers under its own prompts and
    under all that show less than whole gold graphs. Other experiments leave the latter out.
    """
    experiment = EXPERIMENTS[key]
    prompts = set(dataset.setups.order_by().values_list("prompt", flat=True).distinct())
    lacking = {prompt for prompt in prompts if lacks_knowledge(prompt)}
    known = dataset.responses.of_benchmark().filter(graph_shown__isnull=False)
    if not experiment.needs:
        return known.exclude(setup__prompt__in=lacking)
    return known.filter(setup__prompt__in={*experiment.prompts, *lacking})


def scoring(dataset: Dataset, key: str) -> list[MetricProgress]:
    """Return the progress of each metric of an experiment, in the order of its metrics.

    The number of queries does not depend on the number of runs and answers.
    """
    metrics = EXPERIMENTS[key].metrics
    runs = MetricRun.objects.filter(dataset=dataset, metric__in=metrics).order_by("pk")
    newest = {metric: pk for pk, metric in runs.values_list("pk", "metric")}
    progress = {
        each.run.metric: each
        for each in run_progress(runs.filter(pk__in=newest.values()).select_related("dataset"))
    }
    answers = answers_of(dataset, key)
    return [
        MetricProgress(
            metric,
            METRICS[metric].title,
            found := progress.get(metric),
            _n_left(found.run, answers) if found else answers.count(),
        )
        for metric in metrics
    ]


def _n_left(run: MetricRun, answers: QuerySet[Response]) -> int:
    """Return how many answers a run was not asked about, at most. For an imported run this is 0."""
    if run.is_imported:
        return 0
    plan = plan_again(run)
    n_left = n_without_score(run.dataset, plan, answers)
    if plan.metric.judges != "citations" or not n_left:
        return n_left
    # Answers whose brackets are no citations never get a score. So the number of responses that
    # were asked about, which the run stores, gives a second upper bound.
    return min(n_left, max(0, answers.count() - int(run.parameters.get("n_responses", 0))))


def scoring_plans(key: str, choices: ScoringPlan) -> list[RunPlan]:
    """Return the plan of each metric of an experiment. A sample is drawn for each row of its table.

    Raises:
        ChoiceError: a choice cannot be used, or the experiment scores nothing.
    """
    experiment = EXPERIMENTS[key]
    if not experiment.metrics:
        raise ChoiceError("metric", f"{experiment.title} needs no scores. It counts citations.")
    n_judged = experiment.n_judged if choices.n_judged is None else choices.n_judged
    return [
        plan_of(
            metric,
            choices.spec,
            precision=choices.precision,
            n_sampled=n_judged or None,
            seed=choices.seed,
        )._replace(sampled_by="row")
        for metric in experiment.metrics
    ]


def scoring_asking(dataset: Dataset, key: str, choices: ScoringPlan) -> CallPlan:
    """Return what the runs of `request_scoring` would ask.

    Raises:
        ChoiceError: a choice cannot be used.
    """
    return runs_asking(dataset, scoring_plans(key, choices), answers_of(dataset, key))


@transaction.atomic
def request_scoring(
    dataset: Dataset, key: str, choices: ScoringPlan, user: User | None
) -> list[MetricRun]:
    """Request a run of each metric of an experiment for what has no score yet, and return the runs.

    Either all runs are requested or none. Calling this twice is safe, as for `request_metric_run`.

    Raises:
        ChoiceError: a choice cannot be used.
        RunError: there are no answers, or none of them can be scored.
    """
    plans, answers = scoring_plans(key, choices), answers_of(dataset, key)
    if not answers.exists():
        raise RunError("There are no answers yet. Ask the models first.")
    return [request_metric_run(dataset, plan, answers, user) for plan in plans]
