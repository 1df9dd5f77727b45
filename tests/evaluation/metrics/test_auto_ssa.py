"""Auto-SSA: by prompt with a language model, by a baseline without one."""

from typing import Any

import pytest

from evaluation.backends.heuristic import Heuristic
from evaluation.measures.sensibleness import prompt
from evaluation.metrics.auto_ssa import AutoSensible, AutoSpecific, SsaPrompt, usual_prompt
from evaluation.metrics.base import Assumed, Refused, ScoreRequest, ScoringMaterial
from evaluation.metrics.registry import metric_of
from generation.backends.base import Completion
from generation.model_specs import BackendError
from tests.evaluation.metric_runs import done, mill
from tests.evaluation.told import rows_of
from tests.evaluation.told_language_model import ToldLanguageModel

MILL = (("user", "When did the mill close?"),)
OWN = SsaPrompt("pilot-1", "Instructions: rate it. ###", "no evidence, T 0.7", "pilot")


def material(text="In 1971.", turns=MILL):
    return ScoringMaterial(target=1, text=text, turns=turns, passages=[])


def asked_of(metric, text="In 1971.") -> Any:
    asked = metric.asked(material(text))
    assert isinstance(asked, ScoreRequest), asked
    return asked


def scored(metric, backend, text="In 1971."):
    asked = asked_of(metric, text)
    return metric.scored(asked, list(metric.answers(backend, asked.asks)))


@pytest.mark.parametrize("metric", [AutoSensible(), AutoSpecific()], ids=lambda m: m.key)
def test_a_language_model_is_asked_with_the_prompt_and_its_number_is_the_score(metric):
    model = ToldLanguageModel(lambda asked, decoding: " Answer: 0.8 ### Dialog: A:")

    result = scored(metric, model)

    [(asked, decoding)] = model.asked
    assert asked.text == prompt(usual_prompt(metric.key).text, MILL, "In 1971.")
    assert asked.text.endswith("Dialog: A: When did the mill close? Final reply: B: In 1971. ###")
    assert (decoding.temperature, decoding.stop) == (0.0, ("###",))
    assert (result.score, result.problem) == (0.8, "")
    assert result.details == {"replies": [" Answer: 0.8 ### Dialog: A:"]}


def test_a_reply_without_a_number_is_asked_for_again_at_other_seeds():
    said = {0: "Good.", 1: "80%", 2: "0.8"}
    model = ToldLanguageModel(lambda asked, decoding: said[decoding.seed])

    result = scored(AutoSensible(), model)

    assert [(d.temperature, d.seed) for _, d in model.asked] == [(0.0, 0), (0.5, 1), (0.5, 2)]
    assert len({asked for asked, _ in model.asked}) == 1
    assert (result.score, result.details) == (0.8, {"replies": ["Good.", "80%", "0.8"]})


def test_what_the_model_thought_is_kept_with_its_replies():
    said = Completion("0.8", reasoning="It fits.")
    ran_out = Completion(problem="ran out of tokens", reasoning="Hm")

    found = scored(AutoSensible(), ToldLanguageModel(lambda asked, decoding: said))
    failed = scored(AutoSensible(), ToldLanguageModel(lambda asked, decoding: ran_out))

    assert found.details == {"replies": ["0.8"], "reasoning": ["It fits."]}
    assert (failed.score, failed.problem) == (None, "ran out of tokens")
    assert failed.details == {"replies": [], "reasoning": ["Hm"]}


def test_every_completion_that_was_asked_for_is_counted():
    """One readable reply; one at the second try; none at all; a problem at the first."""
    said = {"One.": ["0.8"], "Two.": ["no", "0.8"], "None.": ["no"] * 3}

    def answer(asked, decoding):
        text = asked.text.rpartition("B: ")[2].removesuffix(" ###")
        return said[text][decoding.seed] if text in said else Completion(problem="too long")

    metric = AutoSensible()
    asks = [asked_of(metric, text).asks[0] for text in (*said, "Long.")]

    answers = list(metric.answers(ToldLanguageModel(answer), asks))

    assert [each.n_asked for each in answers] == [1, 2, 3, 1]


def test_three_replies_without_a_number_are_a_failed_score_with_the_text():
    model = ToldLanguageModel(lambda asked, decoding: f"try {decoding.seed}\0 " + "x" * 100)

    result = scored(AutoSensible(), model)

    assert result.score is None
    assert result.problem == (
        f"no number in 0 to 1 in 3 replies, the last: 'try 2 {'x' * 74}'"  # 80 characters of it
    )
    assert [reply[:6] for reply in result.details["replies"]] == ["try 0 ", "try 1 ", "try 2 "]


def test_what_the_model_cannot_answer_is_not_asked_again():
    model = ToldLanguageModel(lambda asked, decoding: Completion(problem="the prompt is too long"))

    result = scored(AutoSensible(), model)

    assert (result.score, result.problem) == (None, "the prompt is too long")
    assert len(model.asked) == 1


def test_each_reply_is_answered_for_itself():
    model = ToldLanguageModel(
        lambda asked, decoding: "none" if "Bad" in asked.text else f"0.{len(asked.text) % 9}"
    )
    metric = AutoSensible()
    asks = [asked_of(metric, text).asks[0] for text in ("Good.", "Bad.", "Better.")]

    answers = list(metric.answers(model, asks))

    good = [prompt(usual_prompt("sensible").text, MILL, text) for text in ("Good.", "Better.")]
    assert answers[1].judged.problem.startswith("no number in 0 to 1")
    assert [answers[0].judged.score, answers[2].judged.score] == [
        float(f"0.{len(text) % 9}") for text in good
    ]


def test_without_a_language_model_no_prompt_is_needed():
    result = scored(AutoSensible(), Heuristic(), "The mill closed and")

    # mill, closed against when, mill, close: 1 of 2; it breaks off: (1 + 1/2 + 0) / 3
    assert (result.score, result.details) == (0.5, {})
    assert scored(AutoSensible(), Heuristic(), "?!").problem == "the response has no words"


def test_without_a_dialog_nothing_is_asked():
    assert AutoSensible().asked(material(turns=None)) == Refused("the dialog is not known")


@pytest.mark.parametrize("metric", [AutoSensible(), AutoSpecific()])
def test_what_says_nothing_is_not_sensible_unasked(metric):
    assert metric.asked(material(text=" \n")) == Assumed()


def test_a_run_s_parameters_say_the_whole_prompt():
    own = AutoSensible(OWN)

    assert own.parameters == {
        "prompt": "pilot-1",
        "prompt_text": "Instructions: rate it. ###",
        "built_on": "no evidence, T 0.7",
        "built_on_dataset": "pilot",
    }
    assert metric_of("sensible", own.parameters) == own
    assert metric_of("sensible", {}) == AutoSensible()
    assert metric_of("specific", AutoSpecific().parameters) == AutoSpecific()


def test_the_signature_tells_prompts_of_one_name_apart():
    other = AutoSensible(OWN._replace(text="Instructions: rate it well. ###"))

    # sha256 of 'Instructions: rate it. ###', by `sha256sum`
    assert AutoSensible(OWN).signature_part == "prompt:pilot-1@314ab4f4|tries:3@0.5|read:2"
    assert other.signature_part != AutoSensible(OWN).signature_part
    assert AutoSensible().signature_part.startswith("prompt:paper@")


@pytest.mark.parametrize("parameters", [{"prompt": "unheard-of"}, {"prompt_text": "no end"}])
def test_a_prompt_without_its_text_is_no_choice(parameters):
    with pytest.raises(ValueError, match="expected its text"):
        AutoSensible.made(parameters)


@pytest.mark.parametrize("backend", ["heuristic", "distilled"])
def test_of_a_backend_that_is_asked_with_no_prompt_none_is_said(backend):
    metric = AutoSensible(OWN).asked_of(backend)

    assert (metric.parameters, metric.signature_part) == ({"prompt": ""}, "")
    assert (metric.in_title, metric.described_choices) == ([], [])
    assert metric_of("sensible", metric.parameters) == metric
    assert scored(metric, Heuristic(), "The mill closed and").score == 0.5
    with pytest.raises(BackendError, match="The run has no prompt"):
        metric.ready(ToldLanguageModel(lambda asked, decoding: "0.5"))


def test_a_language_model_is_asked_with_the_prompt_that_was_chosen():
    assert AutoSensible(OWN).asked_of("openai") == AutoSensible(OWN)


def test_the_same_reply_is_the_same_ask_whatever_the_prompt():
    assert asked_of(AutoSensible()) == asked_of(AutoSensible(OWN))


@pytest.mark.once
def test_a_run_by_the_baseline_scores_every_response_and_says_yes_at_the_threshold(tmp_path):
    responses = [("r1", "It closed in 1971."), ("r2", "1971"), ("r3", "When did the mill close")]
    rows = [
        {"id": key, "example": "e1", "setup": "s", "text": text, "evidence_shown": []}
        for key, text in responses
    ]

    metric = AutoSensible().asked_of("heuristic")
    run = done(mill(tmp_path, responses=rows), metric=metric, backend="heuristic")

    assert run.state == "done"
    assert run.signature.startswith("sensible|heuristic|t")
    assert "evidence" not in run.parameters
    # No word shared: (1 + 0 + 1) / 3 and (1 + 0 + 1/2) / 3; the question again: 0, not assumed
    found: dict[str, Any] = {key: (row.score, row.is_assumed) for key, row in rows_of(run).items()}
    assert found == {
        "r1": (pytest.approx(2 / 3), False),
        "r2": (0.5, False),
        "r3": (0.0, False),
    }
    # A score of just the threshold is a yes.
    assert {key: score > run.cut for key, (score, _) in found.items()} == {
        "r1": True,
        "r2": True,
        "r3": False,
    }
