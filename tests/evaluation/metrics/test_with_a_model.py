"""Runs whose scores come from a language model of the real kind, small and made for the test."""

import pytest

from evaluation.measures.sensibleness import prompt
from evaluation.metrics.auto_ssa import AutoSensible, SsaPrompt
from evaluation.metrics.text_quality import Coherence
from tests.evaluation.metric_runs import done, mill
from tests.evaluation.told import problems_of, rows_of
from tests.tiny_language_models import tiny_causal

SHORT = SsaPrompt("short", "Instructions: rate it. ###")
ASKED = [("user", "When did the mill close?")]

pytestmark = pytest.mark.once


def model(folder):
    return {
        "backend": "language-model",
        "model_name": folder.name,
        "model_location": str(folder),
    }


def test_a_judge_gives_a_score_with_its_probabilities(tmp_path):
    judge = tiny_causal(tmp_path / "judge", always="4", context=2048)

    run = done(mill(tmp_path, 2), metric=Coherence("logprob", 2), threshold=None, **model(judge))

    rows = rows_of(run)
    assert (run.state, problems_of(run)) == ("done", {})
    assert (run.threshold, run.parameters["mode"]) == (3.0, "logprob")
    for row in rows.values():
        assert row.score == pytest.approx(4, abs=0.1)  # fitted to say 4, as good as always
        assert row.details["replies"] == ["4", "4"]
        assert 0 <= row.details["discarded_mass"] < 0.1


def test_a_prompt_is_answered_by_a_number_or_the_response_fails_with_the_replies(tmp_path):
    answers = {
        prompt(SHORT.text, ASKED, f"It closed in {year}."): said
        for year, said in ((1970, " Answer: 0.8"), (1971, " Yes"))
    }
    rater = tiny_causal(tmp_path / "rater", answers=answers)

    run = done(mill(tmp_path, 2), metric=AutoSensible(SHORT), **model(rater))

    rows = rows_of(run)
    assert (rows["r0"].score, rows["r0"].details) == (0.8, {"replies": [" Answer: 0.8"]})
    assert rows["r1"].score is None
    assert rows["r1"].problem == "no number in 0 to 1 in 3 replies, the last: 'Yes'"
    assert rows["r1"].details == {"replies": [" Yes"] * 3}
