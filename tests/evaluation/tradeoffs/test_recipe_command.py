"""The command run_recipe: a whole run offline, stopped and started again; its report."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import AutoScore, MetricRun
from evaluation.runs.services.chunks import RUN_CHUNKS
from evaluation.tradeoffs.axes import named_axes
from evaluation.tradeoffs.recipes import recipe_of
from evaluation.tradeoffs.reports.recipe import recipe_report
from evaluation.tradeoffs.services.reranking import rerank
from generation.models import Call, Grid, Response, Setup
from tests.evaluation.commands import failure
from tests.evaluation.makers_of_scores import make_score
from tests.evaluation.tradeoffs.valley import sample_of, valley
from tests.makers import import_rows

pytestmark = pytest.mark.once

CHOICES = ("valley", "--model=extractive", "--budget=38")


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Indexes of other tests stay theirs."""


@pytest.fixture
def dataset(tmp_path):
    return valley(tmp_path)


def run_recipe(*arguments: str) -> str:
    out = io.StringIO()
    call_command("run_recipe", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def stored(report) -> str:
    """Return the name of the aggregate in a report."""
    [row] = [row for row in report.records if row["kind"] == "aggregate"]
    return str(row["setup"])


def test_it_asks_scores_reranks_and_reports(dataset):
    report = json.loads(run_recipe(*CHOICES, "--format=json"))

    # K1 = 3 and K2 = 2, see test_recipe_plan: 3 + 2 calls about each of 4 examples.
    assert Call.objects.count() == 20
    prompts = set(dataset.setups.filter(model="extractive").values_list("prompt", flat=True))
    assert prompts == {
        *(f"top-1-of-3-part-{part}" for part in (1, 2, 3)),
        *(f"top-2-of-3-part-{part}" for part in (1, 2)),
        "reranked",
    }
    aggregate = Setup.objects.get(prompt="reranked")
    assert aggregate.settings["recipe"] == {"k1": 3, "k2": 2}
    assert aggregate.settings["function"] == "sensible-first"
    assert aggregate.responses.count() == 4
    # By both metrics: the pool, and the large model's four.
    assert AutoScore.objects.count() == 2 * 24

    rows = report["rows"]
    kinds = [row["kind"] for row in rows]
    assert kinds == ["calls"] * 5 + ["single"] * 5 + ["aggregate", "large"]
    assert [row["n_calls"] for row in rows[:5]] == [1, 2, 3, 4, 5]
    last, stored, large = rows[4], rows[-2], rows[-1]
    for figure in ("f1", "attribution", "sensibleness", "minus_large", "minus_first", "n"):
        assert stored[figure] == last[figure]
    assert large["model"] == "PaLM 540B"
    assert last["minus_large"] == pytest.approx(last["f1"] - large["f1"])
    assert [row["is_flattered_x"] for row in rows] == [False] + [True] * 4 + [False] * 5 + [
        True,
        False,
    ]


def test_the_command_report_prints_the_newest_recipe_again(dataset, capsys):
    asked = ("report", "recipe", "--dataset", dataset.name)
    assert failure(*asked) == f"{dataset.name} has no recipe whose responses are re-ranked."
    made = run_recipe(*CHOICES, "--format=json")

    call_command(*asked, "--format", "json")

    assert capsys.readouterr().out == made
    [grid] = Grid.objects.values_list("pk", flat=True)
    assert failure(*asked, "--grid", grid + 1) == (
        f"There is no grid '{grid + 1}' here. There are: {grid}."
    )


def test_a_second_time_it_asks_and_scores_nothing_again(dataset):
    first = run_recipe(*CHOICES, "--format=json")
    before = [set(model.objects.values_list("pk", flat=True)) for model in (Response, AutoScore)]

    again = run_recipe(*CHOICES, "--format=json")

    assert again == first
    assert before == [
        set(model.objects.values_list("pk", flat=True)) for model in (Response, AutoScore)
    ]


def test_it_goes_on_where_it_was_stopped(dataset, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RUN_CHUNKS, "claim_next", stop)
        assert "0 of 24 responses are scored" in failure("run_recipe", *CHOICES)
    assert Grid.objects.get().state == Grid.State.DONE
    assert not Setup.objects.filter(prompt="reranked").exists()

    said = run_recipe(*CHOICES)

    assert "24 of 24 responses scored" in said
    assert Grid.objects.count() == 1
    assert MetricRun.objects.count() == 2
    assert Call.objects.count() == 20


def test_a_dry_run_says_the_plan_and_writes_nothing(dataset):
    said = run_recipe(*CHOICES, "--dry-run")

    assert "K1 = 3: the smallest k with a recall of 90 % or more; recall@3 is 100 % over" in said
    assert "K2 = 2: (38 tokens − 12.0 of the mean dialog) / 9.1 of the mean passage" in said
    assert "Calls per example: 3 + 2 = 5; over 4 examples 20." in said
    assert "Attribution by Auto-AIS, added_words, golden evidence, a new run." in said
    assert not Grid.objects.exists()


def test_other_choices_of_what_chose_are_no_other_judge(dataset):
    run_recipe(*CHOICES)
    call_command("run_metric", "auto_ais", "--dataset=valley", "--window=1", "--evidence=golden")
    judge = MetricRun.objects.get(signature__contains="localized:1")

    report = json.loads(
        run_recipe(*CHOICES, f"--judge-attribution=run-{judge.pk}", "--format=json")
    )

    last = report["rows"][4]
    assert (last["is_flattered_x"], last["is_flattered_y"]) == (True, True)
    assert "K = 1" in last["judged_by"]
    assert "K = 2" in last["chosen_by"]


def test_what_did_not_choose_judges_by_itself(dataset):
    run_recipe(*CHOICES)
    first = MetricRun.objects.get(metric="auto_ais")
    other = MetricRun.objects.create(
        dataset=dataset, metric="auto_ais", signature="auto_ais|T5|t:0.5", is_imported=True
    )
    AutoScore.objects.bulk_create(
        AutoScore(run=other, target=score.target, score=0.9)
        for score in AutoScore.objects.filter(run=first)
    )

    said = run_recipe(*CHOICES)
    report = json.loads(run_recipe(*CHOICES, "--format=json"))

    last = report["rows"][4]
    assert last["attribution"] == 1.0  # 0.9 of all, and not what the metric that chose says
    assert (last["is_flattered_x"], last["is_flattered_y"]) == (False, True)
    assert (last["is_same_metric_x"], last["is_same_metric_y"]) == (True, False)
    assert "Attribution is judged by the metric that chose, with another model" in said
    assert "No other metric and no raters judge sensibleness" in said
    assert "No other metric and no raters judge attribution" not in said


def test_raters_judge_before_metrics_once_they_have_rated_everything(dataset, tmp_path):
    run_recipe(*CHOICES)
    rated = Response.objects.filter(dataset=dataset, chosen_from=None)

    def vote_on(responses, question):
        votes = [
            {"response": each.key, "rater": "R-1", "question": question, "answer": "yes"}
            for each in responses
        ]
        import_rows(tmp_path / question, "valley", f"On {question}", votes=votes)

    vote_on(rated.order_by("key")[1:], "sensible")  # all but one
    vote_on(rated, "attributable")

    report = json.loads(run_recipe(*CHOICES, "--format=json"))

    last = report["rows"][4]
    assert last["judged_by"].startswith("Raters: attributable, On attributable, separate arm and")
    assert last["attribution"] == 1.0  # a yes to every response
    assert (last["is_flattered_x"], last["is_flattered_y"]) == (False, True)
    assert "Auto-SSA: sensible" in last["judged_by"]


def test_what_has_not_come_to_all_responses_judges_only_by_name(dataset):
    run_recipe(*CHOICES)
    score = AutoScore.objects.filter(run__metric="auto_ais")[0]
    other = MetricRun.objects.create(
        dataset=dataset, metric="auto_ais", signature="auto_ais|T5|t:0.5", is_imported=True
    )
    AutoScore.objects.create(run=other, target=score.target, score=0.9)

    by_itself = json.loads(run_recipe(*CHOICES, "--format=json"))
    named = json.loads(run_recipe(*CHOICES, f"--judge-attribution=run-{other.pk}", "--format=json"))

    assert by_itself["rows"][4]["is_flattered_x"]
    assert not named["rows"][4]["is_flattered_x"]
    assert named["rows"][4]["n"] < by_itself["rows"][4]["n"]


def test_it_says_that_what_chose_also_judges_as_nothing_else_is_there(dataset):
    said = run_recipe(*CHOICES)

    for side in ("attribution", "sensibleness"):
        assert f"{side.capitalize()} is chosen and judged by the same metric" in said
        assert (
            f"No other metric and no raters judge {side} in this dataset: name another metric"
            in said
        )
    for column in ("Chosen", "Judged", "optimistic"):
        assert column in said


# --- what scores ----------------------------------------------------------------------------


def signatures():
    return sorted(MetricRun.objects.values_list("signature", flat=True))


def test_options_of_a_metric_are_its_own_as_in_run_metric(dataset):
    options = ("--flavor=v1", "--window=0", "--hypothesis=min", "--evidence=shown")
    run_recipe(*CHOICES, *options)

    by_command = signatures()
    [auto_ais] = MetricRun.objects.filter(metric="auto_ais")
    assert auto_ais.parameters["flavor"] == "v1"
    assert auto_ais.parameters["window"] == 0
    assert auto_ais.parameters["hypothesis"] == "min"
    assert auto_ais.parameters["evidence"] == "shown"
    call_command("run_metric", "auto_ais", "--dataset=valley", *options)
    assert signatures() == by_command


def test_a_run_that_is_there_scores_and_no_second_axis_is_added(dataset):
    own = ("--flavor=v1", "--window=0", "--evidence=golden", "--threshold=0.7")
    call_command("run_metric", "auto_ais", "--dataset=valley", *own)
    [before] = signatures()

    for more in ([], ["--attribution=auto_ais"], ["--attribution=auto_ais/lexical"]):
        run_recipe(*CHOICES, *more)

    assert [each for each in signatures() if each.startswith("auto_ais")] == [before]
    aggregate = Setup.objects.get(prompt="reranked")
    assert aggregate.settings["attribution"].startswith(f"auto_ais: {before}")


def test_of_several_runs_the_oldest_scores_so_that_the_command_goes_on(dataset):
    call_command("run_metric", "auto_ais", "--dataset=valley", "--flavor=v1", "--evidence=golden")
    run_recipe(*CHOICES, "--judge-attribution=auto_ais/lexical", "--judge-sensibleness=sensible")
    call_command("run_metric", "auto_ais", "--dataset=valley", "--flavor=v3", "--evidence=golden")

    report = json.loads(run_recipe(*CHOICES, "--format=json"))

    assert "v1" in report["rows"][4]["chosen_by"]
    chosen_by_v3 = json.loads(run_recipe(*CHOICES, "--flavor=v3", "--format=json"))
    assert "v3" in chosen_by_v3["rows"][4]["chosen_by"]
    assert MetricRun.objects.filter(metric="auto_ais").count() == 2


def test_scores_from_elsewhere_cannot_go_on_and_a_new_run_is_asked_for_by_name(dataset):
    score_of = {"dataset": dataset, "metric": "auto_ais", "is_imported": True}
    MetricRun.objects.create(**score_of, signature="T5")
    make_score(MetricRun.objects.get(), "large-alpha", 0.9)

    said = failure("run_recipe", *CHOICES)

    assert "--attribution: Auto-AIS has only scores that were imported" in said
    assert "such as auto_ais/added_words" in said
    assert not Grid.objects.exists()
    run_recipe(*CHOICES, "--attribution=auto_ais/lexical")
    assert MetricRun.objects.filter(metric="auto_ais").count() == 2


def test_scores_against_other_evidence_are_used_or_left_by_choice_alone(dataset):
    call_command("run_metric", "auto_ais", "--dataset=valley", "--evidence=shown")

    said = failure("run_recipe", *CHOICES)

    assert "against shown evidence, and none against golden evidence. Give --evidence shown" in said
    run_recipe(*CHOICES, "--evidence=shown")
    assert MetricRun.objects.filter(metric="auto_ais").count() == 1
    run_recipe(*CHOICES, "--evidence=golden")
    assert MetricRun.objects.filter(metric="auto_ais").count() == 2


def test_each_recipe_is_about_the_examples_of_its_sample(dataset):
    sample_of(dataset, "alpha", "beta")
    sample_of(dataset, "gamma")
    said = ("--k1=2", "--k2=1", "--format=json")
    first = json.loads(run_recipe(*CHOICES, "--sample=alpha-beta", *said))
    # Two calls about each of two examples, and the large model's two, by both metrics.
    assert AutoScore.objects.count() == 2 * (2 * 2 + 2)

    second = json.loads(run_recipe(*CHOICES, "--sample=gamma", *said))

    # The same setups, with responses to all three.
    assert AutoScore.objects.count() == 2 * (3 * 2 + 3)
    kinds = ["calls", "calls", "single", "single", "aggregate", "large"]
    assert [(row["kind"], row["n"]) for row in first["rows"]] == [(kind, 2) for kind in kinds]
    assert [(row["kind"], row["n"]) for row in second["rows"]] == [(kind, 1) for kind in kinds]
    assert not any(second["left_out"].values())
    assert first == json.loads(run_recipe(*CHOICES, "--sample=alpha-beta", *said))


def test_scores_that_change_after_re_ranking_are_noticed(dataset):
    run_recipe(*CHOICES)
    recipe = recipe_of(Grid.objects.get())
    assert recipe
    axes = named_axes(dataset)
    old = Setup.objects.get(prompt="reranked")
    kept = old.responses.filter(example__key="alpha").values("chosen_from")
    others = Response.objects.filter(setup__model="extractive", example__key="alpha")
    assert recipe_report(recipe, axes).left_out["examples_chosen_otherwise_now"] == 0
    before = dict(AutoScore.objects.values_list("pk", "score"))

    # All of alpha's are sensible, and only one of those not chosen is attributable.
    of_alpha = AutoScore.objects.filter(target__response__in=others)
    of_alpha.filter(run__metric="sensible").update(score=1)
    of_alpha.filter(run__metric="auto_ais").update(score=0)
    one = others.exclude(pk__in=kept).exclude(setup__prompt="reranked").order_by("key")[0]
    of_alpha.filter(run__metric="auto_ais", target__response=one).update(score=1)
    assert recipe_report(recipe, axes).left_out["examples_chosen_otherwise_now"] == 1

    new = rerank(dataset, axes, recipe.pool, "sensible-first", recipe=recipe.numbers)
    assert new != old
    report = recipe_report(recipe, axes)
    assert report.left_out["examples_chosen_otherwise_now"] == 0
    assert stored(report) == new.name
    # The scores of before choose what was stored before, which is the older of the two.
    for pk, score in before.items():
        AutoScore.objects.filter(pk=pk).update(score=score)
    report = recipe_report(recipe, axes)
    assert report.left_out["examples_chosen_otherwise_now"] == 0
    assert stored(report) == old.name


def test_calls_that_were_not_made_are_not_counted(dataset):
    run_recipe(*CHOICES)
    Response.objects.get(setup__prompt="top-2-of-3-part-2", example__key="beta").delete()

    recipe = recipe_of(Grid.objects.get())
    assert recipe
    report = recipe_report(recipe, named_axes(dataset))

    # Five calls about three examples and four about one: 19 / 4.
    assert [row["calls_made"] for row in report.records[:5]] == [1, 2, 3, 4, 4.75]
    assert [row["calls_made"] for row in report.records[5:]] == [1, 1, 1, 1, 0.75, 4.75, None]


def test_recipes_that_differ_have_names_that_differ(dataset, monkeypatch):
    names = []

    def note(command, dataset, grid, *args, **options):
        names.append(grid.name)
        raise CommandError("Noted.")

    monkeypatch.setattr("evaluation.tradeoffs.management.commands.run_recipe.ask_grid", note)
    plain = ("valley", "--model=extractive", "--k1=2", "--k2=2")
    for more in ([], ["--temperature=0.1234567"], ["--temperature=0.1234568"], ["--budget=90"]):
        failure("run_recipe", *plain, *more)

    assert names[0] == "valley, recipe, extractive, K1 2, K2 2"
    assert len(set(names)) == 4


def test_without_a_large_model_it_says_so(tmp_path):
    valley(tmp_path, has_large=False)

    said = run_recipe(*CHOICES)

    assert "No model was asked with golden evidence" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "--model=extractive"], "There is no dataset 'nowhere'. There are: valley"),
        (["valley", "--model=x", "--k1=1"], "expected one of extractive"),
        (["valley", "--model=extractive", "--k1=0"], "argument --k1: found 0; expected 1 to 20"),
        (
            ["valley", "--model=extractive", "--recall=2"],
            "argument --recall: found 2; expected 0.01 to 1",
        ),
        (
            ["valley", "--model=extractive", "--k1=2", "--recall=0.9"],
            "--k1: found --k1 and --recall; expected one of them. Leave one out.",
        ),
        (["valley", "--model=extractive", "--k1=9"], "--k1: Found 9; there are 7 passages"),
        (["valley", "--model=extractive", "--sample=s"], "valley has no sample 's' that is ready"),
        (
            ["valley", "--model=extractive", "--attribution=x"],
            "--attribution: There is no axis 'x'",
        ),
        (
            ["valley", "--model=extractive", "--window=51"],
            "--window: Found 51; expected a whole number from 0 to 50",
        ),
        (
            ["valley", "--model=extractive", "--repeats=2"],
            "--repeats: auto_ais and sensible have no such option",
        ),
        (
            ["valley", "--model=extractive", "--judge-sensibleness=sensible/x"],
            "--judge-sensibleness: There is no model 'x'",
        ),
    ],
)
def test_a_mistake_is_one_clear_line_and_nothing_is_asked(dataset, arguments, said):
    assert said in failure("run_recipe", *arguments)
    assert not Grid.objects.exists()
