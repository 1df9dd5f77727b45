"""The page on merged against separate of a study with a second separate arm."""

import pytest

from evaluation.reports.columns import Estimate
from evaluation.studies.pages.replicate import replicate_table
from evaluation.studies.reports.replicate import ReplicateOverAll
from tests.evaluation.studies.hand_made import COOL, THREE_ARMS, WARM, two_arms
from tests.evaluation.studies.pages.address import page_of
from tests.evaluation.studies.test_replicate_report import ANSWERS, N, Y
from tests.shown import shown


def whole(difference: Estimate, merged: float | None = 0.09) -> ReplicateOverAll:
    return ReplicateOverAll(
        question="q",
        label="majority",
        n=1200,
        n_left_out_waiting=0,
        n_left_out_tied=0,
        why=None,
        replicate_accuracy=Estimate(0.94),
        replicate_disagreement=Estimate(0.06, 0.04, 0.08),
        replicate_shift=Estimate(0.0),
        merged_disagreement=Estimate(merged),
        difference=difference,
    )


@pytest.mark.parametrize(
    ("difference", "said"),
    [
        (Estimate(0.03, 0.005, 0.055), "3.0 points (0.5 to 5.5) come from merging."),
        (
            Estimate(0.03, -0.01, 0.07),
            "The difference, 3.0 points (−1.0 to 7.0), may be chance.",
        ),
        (
            Estimate(-0.03, -0.055, -0.005),
            "Merged raters disagree less, by 3.0 points (0.5 to 5.5).",
        ),
        (Estimate(0.03), "The difference is 3.0 points; its interval needs two dialogs or more."),
    ],
)
def test_a_sentence_says_what_comes_from_merging(difference, said):
    [(question, sentence)] = replicate_table([whole(difference)], {"q"}).sentences

    assert question == "q"
    assert sentence.replace("\N{NO-BREAK SPACE}", " ") == (
        "Two sets of raters who both rated separately disagree on 6.0 % of 1,200 responses; merged "
        f"and separate raters disagree on 9.0 %. {said}"
    )


def test_only_main_questions_have_a_sentence():
    assert replicate_table([whole(Estimate(0.03))], {"other"}).sentences == []


@pytest.mark.once
def test_the_page_shows_both_and_the_difference(researcher, tmp_path):
    setups = {f"r{n}": COOL if n % 2 else WARM for n in range(10)}
    answers = {key: ANSWERS[key] for key in setups}
    study = two_arms(tmp_path / "s", answers, arms=THREE_ARMS, setups=setups)

    page = shown(page_of(researcher, study, "study-merged"))

    text = page.part("replicate").text
    assert "disagree on 10.0 % of 10 responses" in text.replace("\N{NO-BREAK SPACE}", " ")
    row = page.table("Disagreement of the second separate arm and of the merged arm").row("1 Q")
    assert row["From merging, points"].startswith("+30.0")
    by_setup = page.table("Disagreement by setup")
    assert by_setup.row("T 0.7")["Shift, second separate"].startswith("−20.0")


@pytest.mark.once
def test_two_separate_arms_are_shown_without_a_merged_one(researcher, tmp_path):
    answers = {key: by_arm[:2] for key, by_arm in ANSWERS.items()}
    study = two_arms(tmp_path / "s", answers, arms=THREE_ARMS[:2])

    page = shown(page_of(researcher, study, "study-merged"))

    assert "This study has no merged arm" in page.part("merged").text
    assert page.table("Disagreement of the second separate arm").row("1 Q")["n"] == "10"
    assert "A saving can only be measured with both arms" in page.part("time").text or (
        "No times were recorded" in page.part("time").text
    )


@pytest.mark.once
def test_without_a_replicate_the_page_has_no_such_part(researcher, tmp_path):
    study = two_arms(tmp_path / "s", {"a": (Y, N), "b": (Y, Y)})

    assert 'id="replicate"' not in page_of(researcher, study, "study-merged").content.decode()


@pytest.mark.once
def test_the_answer_of_a_study_leaves_the_replicate_out(researcher, tmp_path):
    three = two_arms(tmp_path / "s", ANSWERS, arms=THREE_ARMS)
    text = shown(page_of(researcher, three, "study")).part("answer").text

    assert "and 100 %" in text.replace("\N{NO-BREAK SPACE}", " ")  # separate: all twelve
    assert "second separate" not in text
    assert text.count("alone") >= 1
