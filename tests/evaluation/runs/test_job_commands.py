"""The commands search_prompt and distil: run at once, or stopped and continued."""

import io

import pytest
from django.core.management import CommandError, call_command

from evaluation.management.commands.distil import Command as Distil
from evaluation.models import Job, MetricRun
from generation.models import Checkpoint
from tests.evaluation.commands import failure
from tests.evaluation.runs.teaching import rated_and_unrated, teacher_run
from tests.evaluation.runs.test_prompt_searches import COOL, n_shown, rater_score, ssa_study
from tests.evaluation.told_language_model import BACKEND
from tests.tiny_encoder import tiny_encoder

pytestmark = pytest.mark.once


@pytest.fixture
def study(tmp_path):
    Checkpoint.objects.create(name="teacher", backend=BACKEND, location="http://127.0.0.1:9")
    return ssa_study(tmp_path / "pilot", {"cool": COOL})


def search(*more):
    out, err = io.StringIO(), io.StringIO()
    call_command(
        "search_prompt",
        *(
            "--study",
            "pilot",
            "--setup",
            "cool",
            "--model",
            "teacher",
            "--name",
            "better",
            "--yes",
            *more,
        ),
        stdout=out,
        stderr=err,
    )
    return out.getvalue(), err.getvalue()


def test_it_searches_here_and_now_and_prints_every_prompt(study, told_model):
    told_model(lambda prompt: f"{rater_score(prompt) if n_shown(prompt) else 0.5}")

    out, err = search("--n-examples", "3", "--seed", "1")

    lines = out.splitlines()
    job = Job.objects.get()
    # The prompt alone about 3 examples, and each of 3 demonstrations about the 2 others. A reply
    # has 16 tokens at most.
    row = next(line for line in err.splitlines() if line.startswith("Prompt search for sensible"))
    assert row.split()[-6:] == ["9", "0", "—", "144", "—", "—"]
    assert lines[0].split()[:3] == ["1", "kept", "MSE"]
    assert len(lines) == job.steps.count() + 2
    assert "better: 1 demonstrations, MSE 0.0000 over 2 responses" in lines[-2]
    assert lines[-1] == job.result["text"]


def test_interrupted_it_stays_cancelled_and_the_same_command_goes_on(study, told_model):
    def interrupt(prompt):
        if n_shown(prompt):
            raise KeyboardInterrupt
        return "0.5"

    told_model(interrupt)
    with pytest.raises(CommandError, match="Stopped after 1 of at most 5 prompts") as stopped:
        search()
    assert stopped.value.returncode == 130
    assert Job.objects.get().state == Job.State.CANCELLED

    told_model(lambda prompt: "0.5")
    search()

    assert Job.objects.get().state == Job.State.DONE
    assert Job.objects.get().steps.count() == 5


def test_a_mistake_is_one_line_and_changes_nothing(study, told_model):
    told_model(lambda prompt: "0.5")
    known = ["--study", "pilot", "--name", "better", "--model", "teacher"]

    assert failure("search_prompt", "--setup", "hot", *known).startswith(
        "--setup: pilot has no setup 'hot'. It has: cool."
    )
    assert "There is no study 'x'" in failure(
        "search_prompt", "--setup", "cool", *known[2:], "--study", "x"
    )
    assert "expected 2 or more" in failure(
        "search_prompt", "--setup", "cool", *known, "--n-examples", "1"
    )
    assert failure(
        "search_prompt", "--setup", "cool", *known[:4], "--backend", "lexical"
    ).startswith("--model: Only a language model can be given")
    assert not Job.objects.exists()


def test_distil_trains_lists_and_prints_table_1(tmp_path, told_model, settings):
    settings.DATA_DIR = tmp_path / "data"
    dataset = rated_and_unrated(tmp_path)
    run = teacher_run(dataset, told_model)
    encoder = tiny_encoder(tmp_path / "base")
    out = io.StringIO()

    call_command(
        *("distil", "--run", str(run.pk), "--base", str(encoder), "--name", "small", "--yes"),
        *("--epochs", "2", "--learning-rate", "0.01", "--batch-size", "8"),
        stdout=out,
        stderr=io.StringIO(),
    )

    said = out.getvalue()
    assert "epoch 2: loss" in said
    assert "small: MSE to the language model on held-out dialogs" in said
    small = MetricRun.objects.get(model_name="small")
    assert small.scores.count() == small.scores.exclude(score=None).count() == 12
    assert said.count("mean of the others") == 2  # the small model's and its teacher's
    assert failure("distil", "--run", "0", "--base", "x", "--name", "y").startswith("There is no")
    assert "argument --epochs: found 0; expected 1 to 100" in failure(
        "distil", "--run", "0", "--base", "x", "--name", "y", "--epochs", "0"
    )
    assert "neither a folder nor a listed model. Listed are: small" in failure(
        *("distil", "--signature", run.signature, "--base", "/lost", "--name", "y")
    )


def test_a_table_1_that_cannot_be_made_is_said(tmp_path, told_model):
    run = teacher_run(rated_and_unrated(tmp_path), told_model)
    small = Checkpoint(name="small", backend="distilled", location=str(tmp_path / "gone"))

    distil = Distil()
    distil.is_told_yes = True

    with pytest.raises(CommandError, match="found nothing; expected a folder"):
        distil._table_1(run, small)
