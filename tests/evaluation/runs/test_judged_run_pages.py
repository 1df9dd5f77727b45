"""Pages of runs by a language model: replies, modes, its own responses; and of lower precision."""

import math

import pytest
from django.urls import reverse

from evaluation.backends.base import Entailment
from evaluation.backends.registry import BACKENDS, BackendKind
from evaluation.metrics.text_quality import Coherence
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.scoring import pace_of
from generation.backends.base import Completion, Token
from tests.evaluation.metric_runs import done, mill, requested, work
from tests.evaluation.told import Told
from tests.evaluation.told_language_model import ToldLanguageModel
from tests.makers import response_row, statements
from tests.shown import shown

pytestmark = pytest.mark.once

HTML = "<script>alert(1)</script>"
NOTHING = "<script>No.</script>"  # in which no score is


def address(name, run):
    return reverse(f"evaluation:{name}", args=[run.pk])


def choices_of(page):
    return dict(page.table("Choices of the run").rows)


# --- what a judge said ----------------------------------------------------------------------


def said(prompt, decoding):
    """Say 4 with probability .6, else 5 with .3, of all but one response."""
    if "unspeakable" in prompt.text:
        return Completion(NOTHING)
    top = ((" 4", math.log(0.6)), ("5", math.log(0.3)), ("x", math.log(0.1)))
    tokens = (Token("**Score:**", 0.0), Token(" 4", math.log(0.6), top))
    return Completion("**Score:** 4", tokens=tokens)


@pytest.fixture
def judge(monkeypatch):
    kind = BACKENDS["language-model"]._replace(open=lambda spec: ToldLanguageModel(said))
    monkeypatch.setitem(BACKENDS, "language-model", kind)
    pace_of.cache_clear()


@pytest.fixture
def judged(tmp_path, judge):
    """A run of a judge named llama over a response of its own, one of another, one it refuses."""
    rows = [
        response_row("r-own", setup={"model": "some-org/Llama", "run": "1"}, text="It closed."),
        response_row("r-other", setup={"model": "gpt", "run": "2"}, text="It was shut."),
        response_row("r-none", setup={"model": "gpt", "run": "3"}, text="unspeakable"),
    ]
    dataset = mill(tmp_path, responses=rows)
    return done(
        dataset,
        metric=Coherence("logprob", 2),
        backend="language-model",
        model_name="llama",
        model_location=str(tmp_path),  # a folder, so that no hub is asked
    )


def test_a_score_shows_its_mode_its_masses_and_the_replies_it_was_read_from(researcher, judged):
    answer = researcher.get(address("run", judged))

    scores = shown(answer).table("Scores by response")
    row = scores.row("When did the mill close? r-other")
    # (4 × .6 + 5 × .3) / .9 = 4.333; .1 of the probability is on no label.
    assert (row["Score"], row["Setup"]) == ("4.333", "gpt · run 2")
    for detail in (
        "mode logprob",
        "weighted 4.333",
        "integers 4, 4",
        "discarded mass 0.1",
        "2 replies",
    ):
        assert detail in row["Note"]
    assert [note.count("**Score:** 4") for note in scores.column("Note")] == [2, 2]
    assert NOTHING not in answer.text


def test_scores_of_a_judge_are_binned_on_its_scale(researcher, judged):
    page = shown(researcher.get(address("run", judged)))

    bins = page.table("Number of responses by score")
    assert bins.row("1.0 to 1.4")["n"] == "0"
    assert bins.row("4.2 to 4.6")["n"] == "2"
    assert "yes above 3.0" in page.text


def test_what_a_judge_says_of_its_own_response_is_marked(researcher, judged):
    page = shown(researcher.get(address("run", judged)))

    scores = page.table("Scores by response")
    notes = dict(zip(scores.column("Response"), scores.column("Note"), strict=True))
    [own] = [name for name in notes if "judged by its author" in notes[name]]
    assert own == "When did the mill close? r-own"
    [note] = page.part("scores").parts("sheet-note")
    assert note.text.startswith("1 score")
    assert "judging model itself" in note.text


def test_a_failure_stands_beside_the_reply_that_held_no_score(researcher, judged):
    answer = researcher.get(address("run-failures", judged))

    page = shown(answer)
    failure = page.table("Responses without a score").row("r-none")
    assert failure["Reason"].startswith("no score from 1 to 5")
    assert [reply.text for reply in page.parts("as-is")] == [NOTHING, NOTHING]
    assert NOTHING not in answer.text


def test_a_run_by_a_judge_says_what_was_chosen_and_counts_responses(researcher, judged):
    page = shown(researcher.get(address("run", judged)))

    assert page.headings[0] == "Coherence (G-Eval), logprob × 2"
    chosen = choices_of(page)
    assert {
        "Sample": "all responses",
        "Threshold": "3: a higher score counts as yes",
        "Model": "llama",
        "Precision": "fp32",
        "Device": "cpu",
    }.items() <= chosen.items()
    assert "6 questions" in chosen["Data"]
    assert page.facts["Rate"].endswith(" responses a second")
    assert "pairs a second" not in page.text


def test_a_prompt_is_shown_word_by_word(researcher, tmp_path):
    run = requested(mill(tmp_path))
    run.parameters["prompt_text"] = f"Rate {HTML}.\n###"
    run.model_files = {"config.json": "ab" * 32}
    run.save()

    answer = researcher.get(address("run", run))

    page = shown(answer)
    [prompt] = page.parts("as-is")
    assert prompt.text == f"Rate {HTML}. ###"
    assert HTML not in answer.text
    assert page.facts["config.json"] == "ab" * 32


def test_reused_scores_are_counted(researcher, tmp_path):
    dataset = mill(tmp_path)
    done(dataset)
    again = done(dataset, threshold=0.9)

    page = shown(researcher.get(address("run", again)))

    assert page.facts["From cache"].startswith("12 ")
    assert "12 scores reused" in choices_of(page)["Data"]


def test_a_judged_run_costs_the_same_for_1_score_and_for_25(researcher, tmp_path, judge):
    def run(n):
        return done(
            mill(tmp_path, n_responses=n, name=f"m{n}"),
            metric=Coherence(),
            backend="language-model",
            model_name="llama",
            model_location=str(tmp_path),
        )

    one, many = (address("run", run(n)) for n in (1, 25))

    assert len(statements(lambda: researcher.get(one))) == len(
        statements(lambda: researcher.get(many))
    )


# --- precision ------------------------------------------------------------------------------


@pytest.fixture
def two_precisions(monkeypatch):
    """A backend that is .003 lower in bf16, and so flips what it gives .501 in fp32."""

    def opened(spec):
        less = 0.003 if spec.precision == "bf16" else 0.0
        return Told(lambda pair: Entailment((0.501 if "1970" in pair.hypothesis else 0.9) - less))

    kind = BackendKind("Told", opened, needs_model=False, precisions=("fp32", "bf16"))
    monkeypatch.setitem(BACKENDS, "told", kind)
    pace_of.cache_clear()


def measure(client, run, **more):
    return client.post(address("measure-precision", run), **more)


def test_flipped_labels_are_measured_at_the_push_of_a_button(
    researcher, tmp_path, two_precisions, django_capture_on_commit_callbacks
):
    run = done(mill(tmp_path), backend="told")
    panel = address("run-precision", run)
    assert "Measure bf16" in shown(researcher.get(address("run", run))).buttons

    with django_capture_on_commit_callbacks() as sent:
        answer = measure(researcher, run)
    assert answer.url == address("run", run)
    check = MetricRun.objects.get(parameters__precision="bf16")
    assert len(sent) == check.chunks.count()
    waiting = researcher.get(panel)
    assert "0 of 12 responses" in shown(waiting).text
    assert f'hx-get="{panel}" hx-trigger="every 2s"' in waiting.text
    assert "Measure bf16" not in waiting.text

    work(check)
    ended = researcher.get(panel)
    assert "hx-trigger" not in ended.text
    for answer in (ended, *(researcher.get(address("run", each)) for each in (run, check))):
        precision = shown(answer).part("precision")
        # .501 is above the threshold of .5 and .498 is not; all else stays.
        assert "flipped against fp32: 1 of 12 " in precision.text
        assert precision.facts["Share"].startswith("8.3 %")
        assert precision.facts["Change of a score"].startswith("0.0030 ")
        assert precision.facts["Largest"] == "0.0030"
    assert shown(ended).links == {"The run in bf16": address("run", check)}
    of_check = shown(researcher.get(address("run-precision", check)))
    assert of_check.links == {"The run in fp32": address("run", run)}


def test_without_a_score_there_is_nothing_to_measure(researcher, tmp_path, two_precisions):
    run = requested(mill(tmp_path), backend="told")

    page = shown(researcher.get(address("run", run)))
    assert "Once responses are scored" in page.part("precision").text
    page = shown(measure(researcher, run, follow=True))
    assert any("scored nothing" in message for message in page.messages)
    assert MetricRun.objects.count() == 1


def test_a_run_in_bf16_alone_says_that_it_is_not_held_against_fp32(
    researcher, tmp_path, two_precisions
):
    run = done(mill(tmp_path), backend="told", precision="bf16")

    page = shown(researcher.get(address("run", run)))

    assert "in bf16" in page.part("precision").text
    assert "This run is not compared with fp32 yet" in page.part("precision").text
    assert "Measure bf16" not in page.text


def test_a_backend_of_one_precision_has_no_panel(researcher, tmp_path):
    run = done(mill(tmp_path))

    assert "Precision" not in shown(researcher.get(address("run", run))).headings
    assert researcher.get(address("run-precision", run)).status_code == 404


def test_precision_is_measured_by_researchers_alone(rachel, rosa, client_for, tmp_path):
    scores = [{"response": "r1", "metric": "rouge", "score": "1", "signature": ""}]
    mill(tmp_path, scores=scores)
    [imported] = MetricRun.objects.all()
    run = requested(imported.dataset)

    assert client_for(rosa).get(address("measure-precision", run)).status_code == 405
    assert client_for(rosa).post(address("run-precision", run)).status_code == 405
    assert measure(client_for(rachel), run).status_code == 403
    assert client_for(rachel).get(address("run-precision", run)).status_code == 403
    assert measure(client_for(rosa), imported).status_code == 404
    assert client_for(rosa).get(address("run-precision", imported)).status_code == 404
    assert not AutoScore.objects.filter(run=run).exists()
