"""Text quality is judged over a seeded sample of each row of its table; ordinary runs by model."""

from collections import Counter

import pytest

from evaluation.graphs.experiments.reports.quality_table import quality_table
from evaluation.graphs.experiments.services import ScoringPlan, request_scoring, scoring
from evaluation.models import MetricRun, RunChunk
from evaluation.runs.plan import RunPlan
from evaluation.runs.scores import choices_in_words
from evaluation.runs.services.targets import sample_of
from generation.model_specs import ModelSpec
from generation.models import Response
from tests.generation.lovelace import lovelace
from tests.makers import import_rows, response_row

pytestmark = pytest.mark.once

JUDGE = ModelSpec("openai", "judge", "http://localhost/v1", served_name="judge")
SHOWN = [["Q7259", "place of birth", "London"]]
QUESTIONS = ("born", "family", "nobody")
SEEDS = (0, 1, 2)


def answers(*temperatures, prompt="graph-retrieved", model="m"):
    """Three seeded runs over three questions for each temperature: nine answers of each row."""
    return [
        response_row(
            f"{model} {prompt} {temperature} {seed} {question}",
            question,
            text="Ada [Q7259, place of birth: London].",
            graph_shown=SHOWN,
            setup={
                "model": model,
                "temperature": temperature,
                "prompt": prompt,
                "seed": seed,
            },
        )
        for temperature in temperatures
        for seed in SEEDS
        for question in QUESTIONS
    ]


@pytest.fixture
def dataset(tmp_path):
    return lovelace(tmp_path, responses=answers(0.1, 0.5, 0.9))


def keys(dataset, plan):
    found = sample_of(dataset, dataset.responses.all(), plan)
    assert found is not None
    return set(Response.objects.filter(pk__in=found).values_list("key", flat=True))


def asked_about(run):
    targets = [
        target
        for chunk in RunChunk.objects.filter(run=run, is_of_controls=False)
        for target in chunk.targets
    ]
    return Response.objects.filter(targets__in=targets).distinct()


def by_row(responses):
    return Counter(row for _, row in responses.values_list("pk", "setup__temperature"))


def test_so_many_answers_of_each_row_are_judged(dataset):
    """Three rows of nine answers each: five of each, fifteen in all, by every quality."""
    runs = request_scoring(dataset, "quality", ScoringPlan(JUDGE, n_judged=5), None)

    for run in runs:
        assert by_row(asked_about(run)) == {0.1: 5, 0.5: 5, 0.9: 5}
        assert "|sample:5@0|of each:row|" in run.signature
        assert run.parameters["sampled_by"] == "row"
    assert {each.n_left for each in scoring(dataset, "quality")} == {15}
    assert "5 responses of each group of runs" in str(choices_in_words(runs[0]))
    assert len(quality_table(dataset).records) == 3


def test_of_a_row_with_fewer_answers_all_are_judged(dataset):
    [run, *_] = request_scoring(dataset, "quality", ScoringPlan(JUDGE), None)

    assert run.parameters["n_sampled"] == 100
    assert by_row(asked_about(run)) == {0.1: 9, 0.5: 9, 0.9: 9}


def test_a_larger_sample_contains_the_smaller_and_another_seed_draws_others(dataset):
    plan = RunPlan(n_sampled=2, sampled_by="row")

    few, more = keys(dataset, plan), keys(dataset, plan._replace(n_sampled=4))

    assert len(few) == 6 < len(more) == 12
    assert few < more
    assert keys(dataset, plan._replace(seed=1)) != few


def test_other_rows_change_nothing(dataset, tmp_path):
    plan = RunPlan(n_sampled=4, sampled_by="row")
    before = keys(dataset, plan)
    further = [*answers(0.5, model="n"), *answers(0.5, prompt="graph-gold")]
    import_rows(tmp_path / "more", "lovelace", responses=further)

    after = keys(dataset, plan)

    assert before < after
    assert len(after) == 4 * 5  # the row of another model, and that of another graph


def test_an_ordinary_sample_is_of_each_model_as_it_was(dataset):
    plan = RunPlan(n_sampled=4)

    assert len(keys(dataset, plan)) == 4
    assert "|sample:4@0|t" in plan.signature
    assert "sampled_by" not in plan.parameters
    assert not MetricRun.objects.exists()
