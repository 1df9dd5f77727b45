"""Two reviewers of one entry: no review is lost without a message."""

import pytest

from accounts.models import AuditEntry
from generation.services.constructions import review_state
from tests.construction_material import QUESTIONS
from tests.evaluation.graphs.construction.reviewed_constructions import (
    address,
    decide,
    entry_of,
    make_bards,
)
from tests.shown import shown

pytestmark = pytest.mark.both


@pytest.fixture
def rosas(client_for, rosa):
    return client_for(rosa)


@pytest.fixture
def adams(client_for, adam):
    return client_for(adam)


@pytest.fixture
def bards(rosa):
    return make_bards(rosa)


def seen_on(page):
    return shown(page).fields["seen"]


def test_who_looked_at_an_earlier_review_hears_of_the_later_one(rosas, adams, bards):
    before = seen_on(adams.get(address("entry", bards.pk, 4)))
    decide(rosas, bards, 4, "keep", question="Whom did Anne wed?", taken_out=["2"])

    refused = decide(adams, bards, 4, "keep", question="Whose wife was she?", seen=before)

    assert refused.status_code == 422
    said = (
        "rosa kept this question at the same time, in the words “Whom did Anne wed?”, without 1 "
        "member of the minimum set. Your decision is not stored"
    )
    page = shown(refused)
    assert said in page.text
    assert "Whose wife was she?" in page.fields.values()  # what was typed
    entry = entry_of(bards, 4)
    assert (entry.edited_question, len(entry.taken_out)) == ("Whom did Anne wed?", 1)
    assert str(entry.reviewed_by) == "rosa"

    sure = decide(adams, bards, 4, "keep", question="Whose wife was she?", seen=seen_on(refused))
    assert sure.status_code == 302
    assert entry_of(bards, 4).edited_question == "Whose wife was she?"


@pytest.mark.parametrize("verdict", ["drop", "open"])
def test_neither_a_drop_nor_an_undo_hides_it(rosas, adams, bards, verdict):
    before = seen_on(adams.get(address("entry", bards.pk, 4)))
    decide(rosas, bards, 4, "drop", reason="Nobody asks <this>.")

    refused = decide(adams, bards, 4, verdict, reason="Odd.", seen=before)

    assert refused.status_code == 422
    page = shown(refused)
    assert "rosa dropped this question" in page.text
    assert "“Nobody asks <this>.”" in page.text
    assert entry_of(bards, 4).reason == "Nobody asks <this>."


def test_words_that_stay_behind_an_undo_count_too(rosas, adams, bards):
    before = seen_on(adams.get(address("entry", bards.pk, 4)))
    decide(rosas, bards, 4, "keep", question="Whom did Anne wed?")
    decide(rosas, bards, 4, "open", question="Whom did Anne wed?")

    refused = decide(adams, bards, 4, "keep", question=QUESTIONS[2], seen=before)

    assert refused.status_code == 422
    assert "Another user made this question open" in shown(refused).text
    assert entry_of(bards, 4).edited_question == "Whom did Anne wed?"


def test_another_mistake_in_an_old_form_does_not_make_it_new(rosas, adams, bards):
    before = seen_on(adams.get(address("entry", bards.pk, 4)))
    decide(rosas, bards, 4, "keep")

    refused = decide(adams, bards, 4, "drop", reason=" ", seen=before)

    assert seen_on(refused) == before


def test_the_same_sent_twice_is_one_review(rosas, bards):
    before = seen_on(rosas.get(address("entry", bards.pk, 4)))

    for _ in range(2):
        answer = decide(rosas, bards, 4, "keep", question="Whom did she wed?", seen=before)
        assert answer.url == address("entry", bards.pk, 5)

    assert AuditEntry.objects.filter(action="construction.reviewed").count() == 1


def test_a_form_that_does_not_say_what_it_saw_is_refused(rosas, bards):
    assert decide(rosas, bards, 4, "keep", seen="").status_code == 422
    assert entry_of(bards, 4).verdict == ""


def test_every_review_stands_in_the_audit_trail(rosas, adams, bards, adam):
    decide(rosas, bards, 4, "keep", question="Whom did Anne wed?", taken_out=["2"])
    decide(adams, bards, 4, "drop", reason="Odd.")
    decide(adams, bards, 4, "open")

    noted = AuditEntry.objects.filter(action="construction.reviewed").order_by("pk")
    assert [(str(each.actor), each.subject) for each in noted] == [
        ("rosa", "Bards"),
        ("adam", "Bards"),
        ("adam", "Bards"),
    ]
    assert noted[0].details == {
        "entry": 4,
        "verdict": "keep",
        "reason": "",
        "question": "Whom did Anne wed?",
        "simple_question": "",
        "taken_out": [["Q3", "occupation", "playwright"]],
    }
    assert [each.details["verdict"] for each in noted] == ["keep", "drop", "open"]
    assert review_state(entry_of(bards, 4)) != review_state(entry_of(bards, 5))  # words stay
