"""The qualification round: items with feedback before the first unit of people who join."""

from uuid import uuid4

import pytest
from django.urls import reverse

from annotation.models import Participant, QualificationAnswer, Unit, Vote
from annotation.planning import plan_units
from annotation.qualification import next_item, score_of
from annotation.rateable_responses import TO_QUALIFY
from annotation.schemes import load_scheme
from annotation.services.claiming import claim_next_unit
from annotation.services.gold import set_gold
from annotation.services.joining import join_study
from annotation.services.qualification import ItemToStore, answer_item, set_qualification
from annotation.services.studies import StudyError, open_study
from tests.annotation.joining.test_study_link import link_of
from tests.annotation.makers import material, planned, researcher, yes_where_possible
from tests.makers import response_row
from tests.shown import shown

pytestmark = pytest.mark.once
YES = {"sensible": 1, "specific": 1}
NO = {"sensible": 0}
# e1 is a yes to both questions; e2 is a no to the first, which closes the second.
ITEMS = {
    "e1-cool": ItemToStore(YES, "It answers the question."),
    "e2-cool": ItemToStore(NO),
}


@pytest.fixture
def study(db, tmp_path):
    study = planned(material(tmp_path, n_examples=4), scheme="SSA", raters=0)
    set_qualification(study, ITEMS, 0.7, researcher())
    open_study(study, researcher())
    return study


@pytest.fixture
def rater(study):
    return join_study(link_of(study), uuid4()).rater


def answer_all(rater, *answers):
    for given in answers:
        item = next_item(rater)
        assert item is not None
        answer_item(rater, item, given)
    rater.refresh_from_db()


def address_of(rater):
    """Return the address to which the form of a rater's next item is sent."""
    page, item = reverse("annotation:qualification", args=[rater.study.slug]), next_item(rater)
    assert item
    return f"{page}?item={item.pk}"


def item_address(study, place):
    return reverse("annotation:qualification-item", args=[study.slug, place])


def send(rater, client, **answers):
    """Send a rater's answers to the next item."""
    return client.post(address_of(rater), {f"{key}-1": answer for key, answer in answers.items()})


def test_no_unit_shows_a_response_of_the_round(study):
    shown_keys = set(Unit.objects.values_list("targets__response__key", flat=True))

    assert shown_keys == {f"e{n}-{setup}" for n in range(1, 5) for setup in ("cool", "warm")} - set(
        ITEMS
    )
    assert plan_units(study).left_out[TO_QUALIFY] == 2


def test_a_person_gets_no_unit_before_they_qualify(study, rater):
    assert claim_next_unit(rater) is None

    answer_all(rater, YES, NO)

    assert rater.gets_units
    assert claim_next_unit(rater) is not None
    assert not Vote.objects.exists()


def test_the_score_is_the_share_of_right_answers(study, rater):
    # e1: sensible right, specific wrong. e2: sensible right. 2 of 3 are right.
    answer_all(rater, {"sensible": 1, "specific": 0}, NO)

    assert score_of(rater) == pytest.approx(2 / 3)
    assert not rater.gets_units  # 0.67 is below 0.7


def test_a_closed_gate_answers_the_questions_behind_it(study, rater):
    # e1: a no to sensible implies a no to specific, so both are wrong. e2: right. 1 of 3.
    answer_all(rater, NO, NO)

    assert score_of(rater) == pytest.approx(1 / 3)
    assert rater.taken_out_at is not None


def test_an_item_is_answered_once(study, rater):
    item = study.qualification_items.get(place=1)

    answer_item(rater, item, YES)
    answer_item(rater, item, NO)

    [given] = QualificationAnswer.objects.all()
    assert given.answers == YES


def test_a_form_sent_twice_answers_no_other_item(study, rater, client_for):
    client, address = client_for(rater.user), address_of(rater)
    answers = {"sensible-1": 1, "specific-1": 1}

    first, second = (client.post(address, answers) for _ in range(2))

    assert first["Location"] == second["Location"] == item_address(study, 1)
    assert [given.item.place for given in QualificationAnswer.objects.all()] == [1]


def test_answers_to_an_item_that_left_the_round_are_not_stored(study, rater, client_for):
    """An admin replaces the items after the page is shown, or just before the answers are stored.

    The new first item has the place of the old one, and another response.
    """
    client, address, item = client_for(rater.user), address_of(rater), next_item(rater)
    assert item
    set_qualification(study, {"e2-cool": ItemToStore(NO)}, 0.7, researcher())

    answered = client.post(address, {"sensible-1": 1, "specific-1": 1})
    answer_item(rater, item, YES)

    assert answered["Location"] == reverse("annotation:qualification", args=[study.slug])
    assert not QualificationAnswer.objects.exists()


def test_people_read_what_is_right_and_why(study, rater, client_for):
    client = client_for(rater.user)
    url = reverse("annotation:qualification", args=[study.slug])

    started = client.post(reverse("annotation:next-unit", args=[study.slug]))
    missing = send(rater, client, sensible=1)
    answered = send(rater, client, sensible=1, specific=0)
    feedback = shown(client.get(answered["Location"]))

    assert started["Location"] == url
    assert missing.status_code == 422
    assert feedback.headings[0] == "1 of 2 answers are right"
    assert feedback.tables[0].column("Your answer") == ["yes", "no other"]
    assert feedback.tables[0].column("Right") == ["yes", "yes"]
    assert "It answers the question." in feedback.text


def test_the_answers_of_items_that_were_not_answered_are_shown_to_nobody(study, rater, client_for):
    answer = client_for(rater.user).get(item_address(study, 1))

    assert answer.status_code == 404


def test_who_passes_goes_on_to_the_first_unit(study, rater, client_for):
    client = client_for(rater.user)
    send(rater, client, sensible=1, specific=1)
    send(rater, client, sensible=0)

    end = client.get(reverse("annotation:end-of-round", args=[study.slug]))
    unit = client.post(reverse("annotation:next-unit", args=[study.slug]))

    assert shown(end).headings[0] == "You qualified"
    assert "/units/" in unit["Location"]


def test_who_fails_is_told_and_their_place_is_free_again(study, client_for):
    link = link_of(study, most_per_group=1)
    rater = join_study(link, uuid4()).rater
    client = client_for(rater.user)
    send(rater, client, sensible=0)
    send(rater, client, sensible=1, specific=1)

    end = client.get(reverse("annotation:end-of-round", args=[study.slug]))

    assert shown(end).headings[0] == "You did not qualify"
    assert join_study(link, uuid4()).rater.group == rater.group
    assert not Participant.objects.exists()


def test_who_was_added_by_a_researcher_needs_no_round(tmp_path):
    study = planned(material(tmp_path, n_examples=4), scheme="SSA", raters=1)
    set_qualification(study, ITEMS, 0.7, researcher())
    open_study(study, researcher())

    assert claim_next_unit(study.raters.select_related("study").get()) is not None


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ({"x-cool": ItemToStore(YES)}, "a response that can be chosen"),
        ({"e1-cool": ItemToStore({"sensible": 1})}, "an answer to every question"),
        ({"e3-cool": ItemToStore(YES)}, "is rated in this study"),
    ],
    ids=["unknown", "incomplete", "known gold"],
)
def test_items_that_do_not_fit_are_refused(tmp_path, items, said):
    study = planned(material(tmp_path, n_examples=4), scheme="SSA", raters=0)
    set_gold(study, {"e3-cool": YES}, None)
    set_qualification(study, ITEMS, 0.5, None)

    with pytest.raises(StudyError, match=said):
        set_qualification(study, items, 0.7, None)

    assert study.qualification_items.count() == 2  # nothing changed


def test_a_response_without_evidence_is_no_item_where_evidence_is_asked_about(tmp_path):
    rows = [response_row("bare", "e1", setup="cool", evidence_shown=[])]
    study = planned(material(tmp_path, n_examples=1, responses=rows), scheme="AIS", raters=0)
    answers = yes_where_possible(load_scheme(study.scheme))

    with pytest.raises(StudyError, match="'bare' has no evidence"):
        set_qualification(study, {"bare": ItemToStore(answers)}, 0.7, None)


def test_a_response_that_is_rated_already_cannot_become_an_item(study):
    with pytest.raises(StudyError, match="is rated in this study"):
        set_qualification(study, {"e3-cool": ItemToStore(YES)}, 0.7, None)


def test_a_round_that_was_answered_does_not_change(study, rater):
    answer_all(rater, YES)

    with pytest.raises(StudyError, match="can no longer change"):
        set_qualification(study, {}, 0.7, None)


# --- the page of researchers ----------------------------------------------------------------

LINES = """response,question,answer,explanation
e1-cool,sensible,yes,"It answers, in full."
e1-cool,specific,yes,
e2-cool,sensible,no,
"""


def test_a_researcher_writes_the_items_and_finds_them_again(tmp_path, client_for, rosa):
    study = planned(material(tmp_path), scheme="SSA", raters=0)
    client = client_for(rosa)
    url = reverse("annotation:study-qualification", args=[study.slug])

    client.post(url, {"answers": LINES, "pass_mark": "0.5"})

    first, second = study.qualification_items.all()
    assert (first.response.key, first.answers, first.explanation) == (
        "e1-cool",
        YES,
        "It answers, in full.",
    )
    assert (second.response.key, second.answers) == ("e2-cool", NO)
    page = shown(client.get(url))
    assert page.fields["answers"].strip() == LINES.strip()
    assert page.fields["pass_mark"] == "0.5"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (LINES.replace("e1-cool", "e9-cool"), 'Line 2, response: found "e9-cool"'),
        (LINES.replace("yes,\n", "perhaps,\n"), 'Line 3, answer: found "perhaps"'),
        (LINES.replace("e1-cool,specific,yes,\n", ""), 'found no answer of response "e1-cool"'),
    ],
)
def test_lines_that_are_wrong_are_refused_with_their_place(tmp_path, client_for, rosa, lines, said):
    study = planned(material(tmp_path), scheme="SSA", raters=0)
    url = reverse("annotation:study-qualification", args=[study.slug])

    answer = client_for(rosa).post(url, {"answers": lines, "pass_mark": "0.5"})

    assert answer.status_code == 422
    assert said in shown(answer).errors["answers"]
    assert not study.qualification_items.exists()


def test_items_that_people_have_answered_are_shown_and_stay(study, rater, client_for, rosa):
    answer_all(rater, YES)

    page = shown(client_for(rosa).get(reverse("annotation:study-qualification", args=[study.slug])))

    assert "1 person has answered" in page.text
    assert "Save the items" not in page.text


@pytest.mark.parametrize("has_round", [True, False])
def test_opening_the_round_does_nothing_to_a_rater_who_is_not_in_it(
    tmp_path, client_for, has_round
):
    study = planned(material(tmp_path, n_examples=4), scheme="SSA", raters=1)
    if has_round:
        set_qualification(study, ITEMS, 0.7, researcher())
    open_study(study, researcher())
    rater = study.raters.select_related("study", "user").get()

    answer = client_for(rater.user).get(reverse("annotation:qualification", args=[study.slug]))

    rater.refresh_from_db()
    assert answer.status_code == 302
    assert rater.taken_out_at is None
    assert claim_next_unit(rater) is not None


def test_who_qualified_may_open_the_round_again(study, rater, client_for):
    answer_all(rater, YES, NO)

    client_for(rater.user).get(reverse("annotation:qualification", args=[study.slug]))

    rater.refresh_from_db()
    assert rater.gets_units
