"""Adjudication: what is decided is added, with its reason, and no vote is touched."""

from threading import Barrier, Thread

import pytest
from django.db import connection
from django.urls import reverse

from annotation.models import Target, Vote
from annotation.schemes import load_scheme
from evaluation.models import Adjudication
from evaluation.studies.services.adjudication import adjudicate
from tests.evaluation.makers_of_scores import disputed
from tests.evaluation.pages import response_address
from tests.makers import (
    audit_actions,
    example_row,
    import_path,
    rated,
    response_row,
    scheme_of,
    vote_row,
    write_files,
)
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def study(tmp_path, db):
    return disputed(tmp_path)[0]


@pytest.fixture
def target(study):
    return Target.objects.get(response__key="r-miss")


def question_of(study, key="attributable"):
    return load_scheme(study.scheme).question(key)


def address(study, target, **query):
    return reverse("evaluation:adjudicate", args=[study.slug, target.pk], query=query)


def said(**more):
    return {"question": "attributable", "answer": "1", "note": "It is in sentence 3."} | more


def decided():
    return list(Adjudication.objects.order_by("pk").values_list("answer", "note", "by__username"))


# --- the service ----------------------------------------------------------------------------


def test_what_is_decided_is_added_and_every_vote_stays_as_it_was(study, target, rosa):
    votes = list(Vote.objects.order_by("pk").values_list())

    assert adjudicate(study, target, question_of(study), 0, "Not there.", rosa)

    assert decided() == [(0, "Not there.", "rosa")]
    assert list(Vote.objects.order_by("pk").values_list()) == votes


def test_a_second_click_adds_nothing_and_another_answer_is_added(study, target, rosa, adam):
    question = question_of(study)
    assert adjudicate(study, target, question, 0, "Not there.", rosa)
    assert not adjudicate(study, target, question, 0, "Not there.", rosa)
    assert adjudicate(study, target, question, 0, "Not there.", adam)
    assert adjudicate(study, target, question, None, "Not there.", rosa)
    assert adjudicate(study, target, question, 0, "Not there.", rosa)

    assert decided() == [
        (0, "Not there.", "rosa"),
        (0, "Not there.", "adam"),
        (None, "Not there.", "rosa"),
        (0, "Not there.", "rosa"),
    ]


def test_the_audit_trail_names_study_and_answer(study, target, rosa):
    adjudicate(study, target, question_of(study), None, "Two readings.", rosa)

    assert audit_actions()[-1] == ("study.adjudicated", study.name)


@pytest.mark.once(transaction=True)
def test_of_clicks_at_the_same_time_one_is_stored(tmp_path, rosa):
    study = disputed(tmp_path)[0]
    target, question = Target.objects.get(response__key="r-miss"), question_of(study)
    together = Barrier(8)

    def click():
        together.wait()
        adjudicate(study, target, question, 1, "There.", rosa)
        connection.close()

    threads = [Thread(target=click) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert decided() == [(1, "There.", "rosa")]


# --- the page -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "label"), [("1", "yes"), ("0", "no"), ("none", "cannot be decided")]
)
def test_a_decision_stands_at_the_case_and_at_the_response(
    researcher, study, target, answer, label
):
    response = researcher.post(address(study, target, kind="missed"), said(answer=answer))

    case = reverse("evaluation:disagreement", args=[study.slug, target.pk])
    assert response.status_code == 302
    assert response.url.startswith(f"{case}?")
    assert "kind=missed" in response.url
    page = shown(researcher.get(response.url))
    [message] = page.messages
    assert message.startswith("The decision is saved.")
    [decision] = page.part(f"case-{target.pk}").items
    assert decision.startswith(f"{label} It is in sentence 3. rosa,")
    on_response = shown(researcher.get(response_address("r-miss"))).table("Adjudications")
    row = on_response.row(f"Attributable {study.name}")
    assert (row["Answer"], row["Why"]) == (label, "It is in sentence 3.")
    assert row["Who, when"].startswith("rosa ")


@pytest.fixture
def wide(tmp_path, db):
    """A study with a scale from 1 to 100, and its only target."""
    scheme = scheme_of({"quality": {"ordinal": [1, 100]}}, quality={"ends": ["bad", "<b>great"]})
    votes = [vote_row("r1", rater, answer, "quality") for rater, answer in (("a", 9), ("b", 80))]
    examples, responses = [example_row()], [response_row()]
    rows = {"examples": examples, "responses": responses, "votes": votes, "scheme": scheme}
    import_path(write_files(tmp_path, **rows), "Wide")
    target = Target.objects.get(response__dataset__name="Wide")
    return target.response.dataset.studies.get(), target


def test_the_answer_on_a_wide_scale_is_written_as_a_number(researcher, wide):
    study, target = wide
    page = researcher.get(reverse("evaluation:disagreement", args=[study.slug, target.pk])).text

    assert 'type="number"' in page
    assert 'type="radio"' not in page
    assert "From 1 to 100. 1: bad; 100: &lt;b&gt;great." in page
    assert researcher.post(address(*wide), said(question="quality", answer="73")).status_code == 302
    undecidable = said(question="quality", answer="", undecidable="on")
    assert researcher.post(address(*wide), undecidable).status_code == 302
    assert [answer for answer, _, _ in decided()] == [73, None]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"answer": ""}, "Choose an answer, or “cannot be decided”."),
        ({"answer": "0"}, "Answer with a whole number from 1 to 100."),
        ({"answer": "7.5"}, "Answer with a whole number from 1 to 100."),
        ({"answer": "none"}, "Answer with a whole number from 1 to 100."),
        ({"answer": "7", "undecidable": "on"}, "Write a number, or tick “cannot be decided”, but"),
    ],
)
def test_a_wrong_number_is_named_and_nothing_stored(researcher, wide, wrong, message):
    answer = researcher.post(address(*wide), said(question="quality") | wrong)

    assert answer.status_code == 422
    assert message in answer.text
    assert not decided()


def test_a_second_post_says_that_it_was_kept_already(researcher, study, target):
    researcher.post(address(study, target), said())
    again = researcher.post(address(study, target), said(), follow=True)

    assert "stored already" in shown(again).messages[-1]
    assert len(decided()) == 1


def test_htmx_gets_the_case_alone_with_the_way_to_the_next(researcher, study, target):
    htmx = {"HX-Request": "true"}

    answer = researcher.post(address(study, target), said(), headers=htmx, follow=True)

    page = shown(answer)
    assert page.text == page.part(f"case-{target.pk}").text
    assert "<html" not in answer.text
    assert "The decision is saved." in page.text
    following = Target.objects.get(response__key="r-false")
    case = reverse("evaluation:disagreement", args=[study.slug, following.pk])
    assert page.links["Next open"].startswith(f"{case}?")


def test_the_next_open_case_is_the_one_after_and_round_to_the_first(researcher, study, rosa):
    by_key = {t.response.key: t for t in Target.objects.select_related("response")}

    def next_of(key):
        answer = researcher.post(address(study, by_key[key]), said(), follow=True)
        return answer.context["next_open"]

    # In order: r-miss, r-false, r-far.
    assert next_of("r-false") == by_key["r-far"].pk
    assert next_of("r-far") == by_key["r-miss"].pk
    assert next_of("r-miss") is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"note": ""}, "Say why"),
        ({"note": "   "}, "Say why"),
        ({"answer": ""}, "Choose an answer"),
        ({"answer": "7"}, "Select a valid choice"),
        ({"note": "x" * 2001}, "at most 2000 characters"),
        ({"question": "sensible"}, "does not ask 'sensible'"),
        ({"question": ""}, "is required"),
    ],
)
def test_what_cannot_be_kept_is_said_and_nothing_is_stored(
    researcher, study, target, wrong, message
):
    for headers in ({}, {"HX-Request": "true"}):
        answer = researcher.post(address(study, target), said(**wrong), headers=headers)

        assert answer.status_code == 422
        [error] = shown(answer).parts("hint--bad")
        assert message in error.text
        assert ("<html" in answer.text) == (not headers)
    assert decided() == []


def test_the_answers_are_those_of_the_question_s_scale(tmp_path, researcher):
    study = rated(tmp_path, {"a": {"q": ["1", "2"]}}, scheme=scheme_of({"q": {"ordinal": [1, 4]}}))
    target = Target.objects.get()

    case = reverse("evaluation:disagreement", args=[study.slug, target.pk])
    page = shown(researcher.get(case))
    assert [*page.choices("answer")] == ["1", "2", "3", "4", "none"]
    researcher.post(address(study, target), {"question": "q", "answer": "4", "note": "Clear."})

    assert decided() == [(4, "Clear.", "rosa")]


def test_only_targets_of_the_study_s_dataset_can_be_adjudicated(tmp_path, researcher, study):
    disputed(tmp_path, "Other")
    foreign = Target.objects.filter(response__dataset__name="Other")[0]

    assert researcher.post(address(study, foreign), said()).status_code == 404
    assert decided() == []


def test_adjudicating_is_a_post(researcher, study, target):
    assert researcher.get(address(study, target)).status_code == 405


def test_reading_writes_nothing(researcher, study, target):
    researcher.get(reverse("evaluation:disagreements", args=[study.slug]))
    researcher.get(reverse("evaluation:disagreement", args=[study.slug, target.pk]))

    assert decided() == []


def test_a_note_is_shown_as_text(researcher, study, target):
    note = "<script>alert(1)</script>"

    answer = researcher.post(address(study, target), said(note=note), follow=True)

    assert note not in answer.text
    [decision] = shown(answer).part(f"case-{target.pk}").items
    assert decision.startswith(f"yes {note} ")
