"""KaLMA's experiments: the same choices give the same grid; the runs that score its answers."""

import pytest

from evaluation.graphs.experiments.registry import EXPERIMENTS
from evaluation.graphs.experiments.services import (
    ExperimentPlan,
    ScoringPlan,
    answers_of,
    grid_of,
    grids_of,
    request,
    request_scoring,
    scoring,
    why_not,
)
from evaluation.models import MetricRun
from evaluation.reports.registry import all_reports
from evaluation.runs.services.runs import RunError
from generation.choices.declaration import ChoiceError
from generation.grids.grid_file import GridError, GridModel
from generation.model_specs import ModelSpec, Price
from generation.models import Checkpoint, Dataset, Grid
from generation.services.grids import GridChangeError
from generation.text.prompt_types import prompt_type
from tests.evaluation.metric_runs import mill, work
from tests.generation.lovelace import QUESTIONS, lovelace
from tests.makers import import_rows, response_row, statements

pytestmark = pytest.mark.both

EXTRACTIVE = GridModel("extractive")
LEXICAL = ScoringPlan(ModelSpec("lexical"))
SHOWN = [["Q7259", "place of birth", "London"]]
CITES = "She was born in London [Q7259, place of birth: London]."


@pytest.fixture
def graph(tmp_path):
    return lovelace(tmp_path)


def plan(key="citations", *models, **more):
    return ExperimentPlan(key, models or (EXTRACTIVE,), **more)


def answered(folder, *prompts, name="answered", text=CITES, **more):
    """Import an answer of one setup for each prompt; all say which graph was shown."""
    rows = [
        response_row(prompt, "born", text=text, setup=setup(prompt), graph_shown=SHOWN)
        | ({"removed": SHOWN} if "minus" in prompt else {})
        for prompt in prompts
    ]
    return lovelace(folder, name, responses=rows, **more)


def setup(prompt):
    return {"model": "m", "temperature": 0.5, "prompt": prompt}


# --- what is asked --------------------------------------------------------------------------


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_every_experiment_asks_prompts_there_are_and_has_a_report(experiment):
    kinds = [prompt_type(key) for key in experiment.prompts]

    assert all(kind.graph for kind in kinds)
    assert (all_reports()[experiment.report].about is Dataset) == experiment.has_grid


def test_it_is_asked_as_the_paper_has_it_unless_somebody_chooses(graph):
    """KaLMA, section 5: T 0.1, 0.5 and 0.9 for tables 3 and 4, 0.5 for the others; three runs."""
    grids = {key: grid_of(graph, plan(key)) for key in EXPERIMENTS if key != "alignment"}

    assert {key: (grid.temperatures, grid.seeds) for key, grid in grids.items()} == {
        "citations": ((0.1, 0.5, 0.9), (0, 1, 2)),
        "quality": ((0.1, 0.5, 0.9), (0, 1, 2)),
        "removal": ((0.5,), (0, 1, 2)),
        "accuracy": ((0.5,), (0, 1, 2)),
    }
    assert grids["citations"].prompts == ("graph-retrieved",)
    assert grids["removal"].prompts == (
        *("graph-gold", "graph-gold-minus-1", "graph-gold-minus-2", "graph-gold-minus-3"),
    )
    assert grids["accuracy"].prompts == (
        *("graph-gold", "graph-accuracy-80", "graph-accuracy-60"),
        *("graph-accuracy-40", "graph-accuracy-20"),
    )


def test_the_same_choices_in_another_order_are_the_same_grid(graph):
    Checkpoint.objects.create(name="other", backend="openai", location="http://localhost/v1")
    other = GridModel("other", price=Price(1.0, 2.0))
    first = request(
        graph, plan("citations", EXTRACTIVE, other, temperatures=(0.5, 0.1), seeds=(1, 0)), None
    )

    again = request(
        graph, plan("citations", other, EXTRACTIVE, temperatures=(0.1, 0.5), seeds=(0, 1)), None
    )

    assert first.pk == again.pk
    assert first.name.startswith("lovelace, cited answers, ")
    assert Grid.objects.count() == 1


def test_citations_and_quality_are_about_the_same_answers(graph):
    experiment = request(graph, plan("citations"), None)

    assert request(graph, plan("quality"), None).pk == experiment.pk
    assert [grids_of(graph, key) for key in ("citations", "quality", "removal")] == [
        [experiment],
        [experiment],
        [],
    ]


@pytest.mark.parametrize(
    "more",
    [{"temperatures": (0.5,)}, {"seeds": (7,)}, {"graph": "gold"}, {"max_tokens": 20}],
    ids=lambda more: next(iter(more)),
)
def test_another_choice_is_another_grid(graph, more):
    first = request(graph, plan(), None)

    assert request(graph, plan(**more), None).pk != first.pk


def test_the_name_of_a_long_dataset_is_cut_and_still_its_own(tmp_path):
    names = [f"{'graph ' * 15}{n}" for n in range(2)]
    first, second = (grid_of(lovelace(tmp_path, name), plan()).name for name in names)

    assert len(first) == len(second) == 100
    assert first != second


# --- what is refused ------------------------------------------------------------------------


def test_without_questions_nothing_can_be_asked(tmp_path):
    with pytest.raises(GridChangeError, match="mill has no questions about a knowledge graph"):
        request(mill(tmp_path), plan(), None)


@pytest.mark.parametrize("key", ["removal", "accuracy"])
def test_ablations_need_minimum_sets_and_say_how_to_make_some_up(tmp_path, key):
    without = [{k: v for k, v in row.items() if k != "minimum"} for row in QUESTIONS]
    dataset = lovelace(tmp_path, kg_questions=without)

    with pytest.raises(GridChangeError, match=r"minimum set.*make_up_minimum"):
        request(dataset, plan(key), None)
    assert why_not(dataset, EXPERIMENTS["citations"]) == []
    assert not Grid.objects.exists()


def test_a_graph_that_no_question_has_is_refused(tmp_path):
    rows = [{"id": "born", "question": "Where was Ada born?", "entities": []}]
    dataset = lovelace(tmp_path, kg_questions=rows)

    assert why_not(dataset, EXPERIMENTS["citations"]) == []
    assert why_not(dataset, EXPERIMENTS["citations"], "gold") == [
        "No question of lovelace has the gold entities."
    ]
    assert len(why_not(dataset, EXPERIMENTS["removal"])) == 2


def test_what_a_grid_cannot_be_made_of_is_refused_with_its_place(graph):
    with pytest.raises(GridError) as error:
        request(graph, plan("citations", GridModel("nobody")), None)
    assert error.value.where == "models.1.name"
    with pytest.raises(GridError, match="temperatures"):
        request(graph, plan(temperatures=(3.0,)), None)
    with pytest.raises(GridChangeError, match="uses existing answers"):
        request(graph, plan("alignment"), None)
    assert not Grid.objects.exists()


# --- what is scored -------------------------------------------------------------------------


def test_each_experiment_scores_its_own_answers(tmp_path):
    prompts = ("graph-retrieved", "graph-gold", "graph-gold-minus-1", "graph-accuracy-80", "own")
    dataset = answered(tmp_path, *prompts)

    def scored(key):
        return set(answers_of(dataset, key).values_list("setup__prompt", flat=True))

    whole = {"graph-retrieved", "graph-gold", "own"}
    assert scored("citations") == scored("quality") == scored("alignment") == whole
    assert scored("removal") >= {"graph-gold", "graph-gold-minus-1"}
    assert "graph-retrieved" not in scored("removal")


def test_scoring_is_missing_then_done_then_incomplete(tmp_path):
    dataset = answered(tmp_path, "graph-retrieved")
    [before] = scoring(dataset, "citations")
    [run] = request_scoring(dataset, "citations", LEXICAL, None)
    [asked] = scoring(dataset, "citations")
    work(run)
    [done] = scoring(dataset, "citations")
    import_rows(
        tmp_path / "more",
        "answered",
        responses=[response_row("new", "born", graph_shown=SHOWN, text=CITES)],
    )
    [after] = scoring(dataset, "citations")

    assert [each.state for each in (before, asked, done, after)] == [
        *("missing", "queued", "done", "incomplete"),
    ]
    assert [each.n_left for each in (before, done, after)] == [1, 0, 1]


def test_answers_that_cite_nothing_are_not_missing_for_ever(tmp_path):
    """A bracket that is no citation is never scored, so that its answer counts as asked about."""
    dataset = answered(tmp_path, "graph-retrieved")
    import_rows(
        tmp_path / "more",
        "answered",
        responses=[response_row("na", "born", graph_shown=SHOWN, text="Who knows [NA].")],
    )
    [run] = request_scoring(dataset, "citations", LEXICAL, None)
    work(run)

    [found] = scoring(dataset, "citations")

    assert (found.state, found.n_left) == ("done", 0)


def test_scoring_again_is_the_same_run(tmp_path):
    dataset = answered(tmp_path, "graph-retrieved")

    runs = [request_scoring(dataset, "citations", LEXICAL, None)[0].pk for _ in range(2)]

    assert runs[0] == runs[1]


def test_quality_is_judged_over_100_answers_of_each_model_and_three_replies(tmp_path):
    dataset = answered(tmp_path, "graph-retrieved")
    judge = ModelSpec("openai", "judge", "http://localhost/v1", served_name="judge")

    runs = request_scoring(dataset, "quality", ScoringPlan(judge), None)

    assert [run.metric for run in runs] == ["coherence", "consistency", "fluency", "relevance"]
    for run in runs:
        said = {key: run.parameters[key] for key in ("n_sampled", "seed", "repeats", "mode")}
        assert said == {"n_sampled": 100, "seed": 0, "repeats": 3, "mode": "integer"}


def test_what_cannot_score_is_refused_and_leaves_no_run(tmp_path):
    dataset = answered(tmp_path, "graph-retrieved", text="Nobody knows.")

    with pytest.raises(ChoiceError, match="needs a model"):
        request_scoring(dataset, "quality", ScoringPlan(), None)
    with pytest.raises(ChoiceError, match="needs no scores"):
        request_scoring(dataset, "accuracy", LEXICAL, None)
    with pytest.raises(RunError, match="complete citation"):
        request_scoring(dataset, "citations", LEXICAL, None)
    with pytest.raises(RunError, match="no answers yet"):
        request_scoring(dataset, "removal", LEXICAL, None)
    assert not MetricRun.objects.exists()


@pytest.mark.parametrize("key", ["citations", "quality"])
def test_more_answers_and_runs_take_no_more_queries(tmp_path, key):
    few = answered(tmp_path, "graph-retrieved", name="few")
    many = answered(tmp_path, "graph-retrieved", "graph-gold", "own", name="many")
    judge = ModelSpec("openai", "judge", "http://localhost/v1", served_name="judge")
    choices = ScoringPlan(judge) if key == "quality" else LEXICAL
    for dataset in (few, many):
        request_scoring(dataset, key, choices, None)
    request_scoring(many, key, choices._replace(precision="fp32"), None)

    of_few = statements(lambda: scoring(few, key))
    of_many = statements(lambda: scoring(many, key))
    assert len(of_few) == len(of_many)
