"""The command run_metric: scores here and now, says what it did, and goes on where it stopped."""

import io
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from evaluation.models import AutoScore, MetricRun
from evaluation.runs.model_options import spec_from
from generation.choices.declaration import ChoiceError
from generation.models import Checkpoint
from tests.annotation.makers import material, planned
from tests.evaluation.metric_runs import BARE, NO_GOLDEN, mill
from tests.makers import example_row, import_rows, response_row
from tests.services import database_url, hear_signals

pytestmark = pytest.mark.once

State = MetricRun.State


def run_metric(*arguments: str) -> str:
    out = io.StringIO()
    call_command("run_metric", "auto_ais", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_it_scores_a_dataset_and_says_what_came_out(tmp_path):
    mill(tmp_path)

    said = run_metric("--dataset", "mill")

    assert said == (
        "auto_ais|added_words|apart|localized:2|whole|shown|tokens:unicode-words|t:0.5|v:3"
        "|added_words|v:2: "
        "12 of 12 responses scored, 0 reused (the same was scored before), "
        "0 failed, 0 assumed (no evidence shown, or empty response), "
        "0 of 12 pairs with a premise cut short, "
        "24 controls, too few to say whether it is fit.\n"
    )
    assert AutoScore.objects.count() == 12
    assert MetricRun.objects.get().state == State.DONE


def test_it_scores_nothing_twice(tmp_path):
    mill(tmp_path)
    run_metric("--dataset", "mill")
    before = set(AutoScore.objects.values_list("pk", flat=True))

    run_metric("--dataset", "mill")

    assert set(AutoScore.objects.values_list("pk", flat=True)) == before


def test_every_choice_can_be_made(tmp_path):
    mill(tmp_path)

    said = run_metric(
        *("--dataset", "mill", "--flavor", "v1", "--window", "0", "--hypothesis", "min"),
        *("--evidence", "golden", "--threshold", "0.25"),
    )

    assert said.startswith(
        "auto_ais|lexical|v1|whole|sentences:min|golden|tokens:unicode-words|t:0.25|v:3|lexical|v:2"
        ": 12 of 12"
    )


def test_responses_that_repeat_their_question_are_counted_and_score_0(tmp_path):
    rows = [example_row("e1", turns=[{"speaker": "user", "text": "Is it cold in Oslo?"}])]
    responses = [
        response_row("e1-echo", "e1", text="Is it cold in Oslo?"),
        response_row("e1-more", "e1", text="Oslo is cold and snowy."),
    ]
    import_rows(tmp_path / "oslo", examples=rows, responses=responses)

    said = run_metric("--dataset", "pilot", "--evidence", "golden")

    assert "1 add no word to the question (0)" in said
    scores = dict(AutoScore.objects.values_list("target__response__key", "score"))
    assert scores["e1-echo"] == 0.0
    assert AutoScore.objects.get(target__response__key="e1-echo").details == {"adds_nothing": True}


def test_another_metric_is_run_over_a_sample_by_the_backend_it_names_first(tmp_path):
    mill(tmp_path)
    out = io.StringIO()

    call_command("run_metric", "sensible", "--dataset=mill", "--sample=1", stdout=out)

    # Twelve setups that name no model count as twelve models.
    assert out.getvalue().startswith(
        "sensible|heuristic|tokens:unicode-words|sample:1@0|t>=:0.5|v:2|heuristic|v:2: "
        "12 of 12 responses scored"
    )
    assert "0 of 12 prompts cut short, 12 controls, too few" in out.getvalue()


def test_the_same_again_with_another_threshold_asks_nobody(tmp_path):
    mill(tmp_path)
    run_metric("--dataset", "mill")

    assert "12 reused" in run_metric("--dataset", "mill", "--threshold", "0.4")


def test_a_study_is_scored_against_its_own_evidence_choice(tmp_path):
    dataset = material(tmp_path, n_examples=3)
    planned(dataset, n_sampled=2, evidence_choice="golden")

    said = run_metric("--study", "Pilot")

    assert "|golden|" in said
    assert "4 of 4 responses scored" in said


def test_what_failed_is_said_with_its_reason_and_can_be_retried(tmp_path):
    dataset = mill(tmp_path)
    response = dataset.responses.filter(key="r3")
    response.update(example=dataset.examples.get(key=BARE), is_evidence_stated=False)
    errors = io.StringIO()

    call_command("run_metric", "auto_ais", "--dataset", "mill", stdout=io.StringIO(), stderr=errors)
    assert errors.getvalue() == f"1 failed: {NO_GOLDEN}\n"

    response.update(example=dataset.examples.get(key="e1"))
    said = run_metric("--dataset", "mill", "--retry-failed")

    assert "12 of 12 responses scored, 0 reused (the same was scored before), 0 failed" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--study", "none"], "There is no study 'none'. There are none yet"),
        (["--dataset", "none"], "There is no dataset 'none'. There are: mill"),
        (
            ["--dataset", "mill", "--window", "-1"],
            "--window: Found -1; expected a whole number from 0",
        ),
        (
            ["--dataset", "mill", "--threshold", "50"],
            "--threshold: Found 50; expected a number from 0 to 1",
        ),
        (
            ["--dataset", "mill", "--model", "x"],
            "--model: No listed model is named x (listed: none)",
        ),
        (
            ["--dataset", "mill", "--backend", "transformers"],
            "--model: The backend transformers needs a model.",
        ),
        (["--dataset", "mill", "--backend", "heuristic"], "--model: Auto-AIS cannot use Words and"),
        (
            ["--dataset", "mill", "--mode", "integer"],
            "--mode: Auto-AIS has no option mode. Its options",
        ),
        (
            ["--dataset", "mill", "--precision", "int8"],
            "--precision: Found 'int8'; expected fp32 for",
        ),
        (
            ["--dataset", "mill", "--sample", "-1"],
            "argument --sample: found -1; expected 0 to 1000000",
        ),
        ([], "one of the arguments --study --dataset is required"),
        (["--dataset", "mill", "--flavor", "v4"], "invalid choice: 'v4'"),
    ],
    ids=" ".join,
)
def test_a_mistake_is_one_clear_line(tmp_path, arguments, message):
    mill(tmp_path)

    with pytest.raises(CommandError) as caught:
        run_metric(*arguments)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not MetricRun.objects.exists()


def test_a_model_that_cannot_be_loaded_leaves_no_run(tmp_path):
    mill(tmp_path)
    (tmp_path / "empty-folder").mkdir()
    model = str(tmp_path / "empty-folder")

    with pytest.raises(CommandError, match=r"empty-folder(.|\n)*Nothing was scored\."):
        run_metric("--dataset", "mill", "--backend", "transformers", "--model", model, "--yes")

    assert not MetricRun.objects.exists()


def test_a_dataset_without_responses_is_said(tmp_path):
    mill(tmp_path, 0)

    with pytest.raises(CommandError, match="no responses to score"):
        run_metric("--dataset", "mill")


def test_help_has_an_example():
    done = subprocess.run(
        [sys.executable, "manage.py", "run_metric", "--help"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )

    assert "manage.py run_metric auto_ais --study pilot --backend lexical" in done.stdout


@pytest.mark.once(transaction=True)
def test_ctrl_c_keeps_what_is_scored_and_the_same_command_goes_on(tmp_path):
    text = " ".join(f"Sack {n} held flour of the mill." for n in range(400))
    evidence = [{"id": "p1", "text": text, "golden": True}]
    turns = [{"speaker": "user", "text": "What was in the sacks?"}]
    examples = [{"id": "e1", "turns": turns, "evidence": evidence}]
    n = 2000  # × 399 windows: more than a minute's work
    mill(tmp_path, n, examples=examples)
    process = _started(tmp_path)
    deadline = time.monotonic() + 60
    while not AutoScore.objects.exists() and time.monotonic() < deadline:
        time.sleep(0.05)

    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=30)

    run = MetricRun.objects.get()
    n_scored = AutoScore.objects.count()
    assert (process.returncode, said) == (130, "")
    assert errors.startswith(f"CommandError: Stopped: {n_scored:,} of 2,000 responses are scored.")
    assert errors.endswith("Give the same command again to go on from there.\n")
    assert run.state == State.CANCELLED
    assert not run.chunks.filter(state="running").exists()
    before = set(AutoScore.objects.values_list("pk", flat=True))
    assert 0 < len(before) < n

    process = _started(tmp_path)
    while AutoScore.objects.count() == n_scored and time.monotonic() < deadline + 60:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    assert before < set(AutoScore.objects.values_list("pk", flat=True))


def _started(folder: Path) -> subprocess.Popen[str]:
    environment = {
        "DJANGO_SETTINGS_MODULE": "config.settings_test",
        "DATABASE_URL": database_url(),
        "ATTEST_DATA_DIR": str(folder),
    }
    return subprocess.Popen(
        [sys.executable, "manage.py", "run_metric", "auto_ais", "--dataset", "mill"],
        cwd=settings.BASE_DIR,
        env=environment,
        preexec_fn=hear_signals,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_listed_model_is_found_by_its_name(tmp_path):
    mill(tmp_path)
    Checkpoint.objects.create(name="listed", location=str(tmp_path / "nowhere"))

    with pytest.raises(CommandError, match="nowhere"):
        run_metric("--dataset", "mill", "--backend", "transformers", "--model", "listed", "--yes")


def test_the_name_of_a_listed_model_means_that_model(tmp_path):
    Checkpoint.objects.create(
        name="qwen", backend="openai", location="http://a/v1", served_name="qwen"
    )
    nothing = {
        "backend": None,
        "entailment_index": None,
        "key_variable": "",
        "key_over_http": False,
    }
    asked = nothing | {"model": "qwen"}

    with pytest.raises(ChoiceError, match="Another model is listed with the name qwen"):
        spec_from(asked | {"server": "http://b/v1"})
    with pytest.raises(ChoiceError, match="Another model is listed"):
        spec_from(asked | {"server": "http://a/v1", "key_variable": "OTHER_API_KEY"})

    (tmp_path / "qwen").mkdir()
    folder = {"model": str(tmp_path / "qwen"), "backend": "language-model", "server": None}
    with pytest.raises(ChoiceError, match="Another model is listed"):
        spec_from(asked | folder)
    assert spec_from(asked | {"server": "http://a/v1"}) == spec_from(asked | {"server": None})
