"""The command run_kg_experiment: asks, scores and prints; the same command goes on."""

import io
import json

import pytest
from django.core.management import call_command

from evaluation.graphs.experiments.services import ExperimentPlan, grid_of
from evaluation.models import AutoScore, MetricRun
from generation.grids.grid_file import GridModel
from generation.models import Call, Grid, Response
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.grids import cancel_grid
from tests.evaluation.commands import failure
from tests.generation.lovelace import lovelace
from tests.generation.question_makers import started

pytestmark = pytest.mark.once

CITATIONS = ("citations", "--dataset", "lovelace", "--models", "extractive")
LEXICAL = ("--backend", "lexical")


@pytest.fixture
def graph(tmp_path):
    return lovelace(tmp_path)


def run(*arguments):
    """Return what the command writes to the standard output, and what to the other."""
    out, err = io.StringIO(), io.StringIO()
    call_command("run_kg_experiment", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_it_asks_scores_and_prints_nothing_but_the_table(graph):
    out, err = run(*CITATIONS, *LEXICAL, "--temperatures", "0.5", "--format", "json")

    [row] = json.loads(out)["rows"]
    assert (row["model"], row["temperature"], row["n_runs"]) == ("extractive", 0.5, 3)
    assert row["correctness"] == 1.0  # it cites what it is shown
    assert row["aligned"] is not None
    # 3 questions and 3 seeds; the model needs no price.
    assert (row["n_calls"], row["price"]) == (9, None)
    assert "9 of 9 calls answered" in err
    assert MetricRun.objects.get().state == "done"


def test_the_same_command_again_asks_and_scores_nothing(graph):
    arguments = (*CITATIONS, *LEXICAL, "--seeds", "0", "--format", "json")
    first, _ = run(*arguments)
    before = [set(model.objects.values_list("pk", flat=True)) for model in (Call, AutoScore)]

    again, _ = run(*arguments)

    assert again == first
    assert before == [set(m.objects.values_list("pk", flat=True)) for m in (Call, AutoScore)]
    assert Grid.objects.count() == MetricRun.objects.count() == 1


def test_it_goes_on_where_it_was_stopped(graph):
    plan = ExperimentPlan("citations", (GridModel("extractive"),))
    experiment = started(graph, grid_of(graph, plan))
    claim = GRID_CHUNKS.claim_next(experiment)
    assert claim is not None
    GRID_CHUNKS.do(claim)
    cancel_grid(experiment, None)
    stopped_at = set(Call.objects.values_list("pk", flat=True))

    run(*CITATIONS, *LEXICAL)

    assert Grid.objects.get().state == "done"
    assert 0 < len(stopped_at) < 27
    assert stopped_at < set(Call.objects.values_list("pk", flat=True))
    assert Call.objects.count() == 27  # 3 questions, temperatures and seeds


def test_prices_and_a_sample_of_what_is_asked_stand_in_the_grid(graph):
    run(
        *(*CITATIONS, *LEXICAL, "--temperatures", "0.5", "--seeds", "0"),
        *("--price", "extractive", "1", "2.5", "--currency", "EUR", "--max-tokens", "50"),
    )

    [grid] = Grid.objects.values_list("choices", flat=True)
    assert grid["models"][0]["price"] == {"input": 1.0, "output": 2.5}
    assert (grid["currency"], grid["max_tokens"]) == ("EUR", [50])


def test_ablations_are_asked_from_the_gold_graph(graph):
    out, _ = run(
        *("removal", "--dataset", "lovelace", "--models", "extractive", "--seeds", "0"),
        *(*LEXICAL, "--format", "json"),
    )

    rows = json.loads(out)["rows"]
    assert [row["n_removed"] for row in rows] == [0, 1, 2, 3]


def test_an_experiment_without_metrics_only_asks(graph):
    out, _ = run(
        *("accuracy", "--dataset", "lovelace", "--models", "extractive", "--seeds", "0"),
        *("--format", "json"),
    )

    assert [row["accuracy"] for row in json.loads(out)["rows"]] == [100, 80, 60, 40, 20]
    assert not MetricRun.objects.exists()


def test_it_says_what_it_would_ask_and_writes_nothing(graph):
    out, _ = run(*CITATIONS, "--dry-run")

    assert "3 examples, 9 setups of extractive" in out
    assert not Grid.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["citations", "--dataset", "nowhere"], "There is no dataset 'nowhere'"),
        (["citations"], "lovelace has no answers for this experiment. Name the models to ask"),
        (["citations", "--models", "nobody"], "found 'nobody'; expected one of extractive"),
        (["citations", "--models", "extractive", "--temperatures", "3"], "temperatures: found 3"),
        (["citations", "--models", "extractive", "--seeds", "1", "1"], "seeds: found 1 twice"),
        (["citations", "--models", "extractive", "--sample", "dev"], "sample: found 'dev'"),
        (["citations", "--models", "extractive", "--price", "b", "1", "2"], "--price b: expected"),
        (
            ["citations", "--models", "extractive", "--price", "extractive", "a", "2"],
            "--price extractive: found a 2; expected two numbers.",
        ),
        (
            ["citations", "--models", "extractive", "--model", "lost"],
            "--model: No listed model is named lost",
        ),
        (["quality", "--models", "extractive"], "--model: Coherence (G-Eval) needs a model"),
        (
            ["removal", "--models", "extractive", "--graph", "imported"],
            "--graph: Removed knowledge",
        ),
        (["accuracy", "--backend", "lexical"], "needs no scores"),
        (
            ["citations", "--study", "pilot"],
            "--study: Citation quality is about a dataset, not a study.",
        ),
        (["alignment"], "Human alignment is about a study. Name one"),
        (
            ["alignment", "--study", "pilot"],
            "There is no study 'pilot' of lovelace. There are none yet.",
        ),
        (["citations", "--dry-run"], "--dry-run: no models are named"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_nothing_was_asked(graph, arguments, said):
    if "--dataset" not in arguments:
        arguments = [*arguments, "--dataset", "lovelace"]

    assert said in failure("run_kg_experiment", *arguments, stderr=io.StringIO())
    assert not Grid.objects.exists()
    assert not Response.objects.exists()


def test_answers_that_cite_nothing_still_have_a_table(tmp_path):
    graph = lovelace(tmp_path, entities=[])

    out, err = run(*CITATIONS, *LEXICAL, "--seeds", "0", "--format", "json")

    assert all(row["aligned"] is None for row in json.loads(out)["rows"])
    assert "Alignment: None of these responses has a complete citation" in err
    assert graph.responses.exists()
