"""The command that scores a grid and prints what choosing in it is worth."""

import json

import pytest
from django.core.management import call_command

from evaluation.models import MetricRun
from evaluation.studies.reports.threshold_choice import threshold_choice_report
from generation.models import Checkpoint
from tests.evaluation.commands import failure
from tests.evaluation.studies.hand_made import votes
from tests.evaluation.studies.test_threshold_choice_report import chosen_of
from tests.makers import rated
from tests.tiny_models import tiny_checkpoint

pytestmark = pytest.mark.once


@pytest.fixture
def study(tmp_path):
    return rated(tmp_path, votes(**{f"r{n}": "yyy" if n % 2 else "nnn" for n in range(6)}))


def choose(capsys, *arguments):
    call_command("choose_threshold", "--study=pilot", *arguments)
    return capsys.readouterr().out


def test_it_scores_the_grid_and_prints_the_report(study, capsys):
    more = ["--flavors", "v1", "v2", "--windows", "0", "1", "--evidence", "golden"]

    first = json.loads(choose(capsys, *more, "--format=json"))
    table = choose(capsys, *more, "--question=q", "--format=table")

    assert MetricRun.objects.count() == 4, "the second time nothing is missing"
    assert (first["report"], len(first["rows"])) == ("threshold_choice", 5)
    assert (first["rows"][0]["n_candidates"], first["rows"][0]["n"]) == (4, 6)
    assert first["rows"] == threshold_choice_report(study).records
    assert chosen_of(threshold_choice_report(study))["n"] == 6
    assert "Left out: " in table
    assert "candidates" in table


def test_a_listed_model_needs_no_backend_and_its_runs_alone_are_reported(study, capsys, tmp_path):
    folder = tiny_checkpoint(tmp_path / "tiny")
    Checkpoint.objects.create(name="tiny-nli", location=str(folder))
    choose(capsys, "--flavors", "v1", "--windows", "0")

    grid = ["--flavors", "v1", "v3", "--windows", "0"]
    report = json.loads(choose(capsys, "--yes", "--model=tiny-nli", *grid, "--format=json"))

    assert {row["model"] for row in report["rows"]} == {"tiny-nli"}
    assert [row["kind"] for row in report["rows"]] == ["chosen", "candidate", "candidate"]
    runs = MetricRun.objects.filter(model_name="tiny-nli")
    assert {(run.backend, run.state, run.scores.count()) for run in runs} == {
        ("transformers", "done", 6)
    }


def test_mistakes_are_said_before_anything_is_scored(study):
    pilot = "--study=pilot"

    assert failure("choose_threshold", "--study=nobody") == (
        "There is no study 'nobody'. There are: pilot."
    )
    assert (
        failure("choose_threshold", pilot, "--question=x")
        == "There is no question 'x'. The questions are: q."
    )
    assert failure("choose_threshold", pilot, "--truth=merged") == (
        "'pilot' has no merged arm. It has: separate."
    )
    assert failure("choose_threshold", pilot, "--windows", "-1") == (
        "--windows: Found -1; expected 0 (the whole evidence) or more."
    )
    assert failure("choose_threshold", pilot, "--backend=heuristic").startswith(
        "--model: Auto-AIS cannot"
    )
    assert failure("choose_threshold", pilot, "--model=x").startswith(
        "--model: No listed model is named x"
    )
    assert failure("report", "threshold_choice", pilot, "--model=x") == (
        "There are no scores by a model 'x'. There are no scores yet."
    )
    assert not MetricRun.objects.exists()


def test_the_former_names_go_on_working_and_say_the_present_ones(study, capsys):
    more = ["--flavors", "v1", "--windows", "0", "--format=json"]
    now = choose(capsys, *more)

    call_command("calibrate", "--study=pilot", *more)
    command = capsys.readouterr()
    call_command("report", "calibration", "--study=pilot", "--format=json")
    report = capsys.readouterr()

    assert command.err.startswith("The command calibrate is called choose_threshold now.")
    assert report.err == "The report calibration is called threshold_choice now.\n"
    assert json.loads(command.out)["rows"] == json.loads(now)["rows"]
    assert json.loads(report.out)["report"] == "threshold_choice"
