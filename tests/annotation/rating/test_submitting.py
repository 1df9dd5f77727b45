"""A unit is handed out, answered and submitted."""

import pytest
from django.urls import reverse

from annotation.models import (
    Vote,
    VoteChange,
)
from tests.annotation.makers import material, opened, raters_of
from tests.annotation.rating.desk import alignment, filled_in
from tests.shown import markup, shown

pytestmark = pytest.mark.once


def test_next_hands_out_a_unit_and_submit_goes_on_to_another(study, client_for):
    rater = raters_of(study)[0]
    client = client_for(rater.user)
    seen = set()

    url = client.post(reverse("annotation:next-unit", args=[study.slug])).url
    for _ in range(4):  # 2 examples × 2 setups
        assert client.get(url).status_code == 200
        seen.add(url)
        url = client.post(url, filled_in() | {"seconds": "20.0"}).url

    assert url == reverse("annotation:my-studies")
    assert len(seen) == 4
    [message] = shown(client.get(url)).messages
    assert "Nothing is left to rate" in message
    assert Vote.objects.filter(rater=rater).count() == 4 * 7


def test_a_hole_answers_422_and_moves_to_it(desk):
    data = filled_in()
    del data["consistent-1"]

    response = desk.post(data)

    assert response.status_code == 422
    page = shown(response)
    [message] = page.messages
    assert "Not submitted: 1 answer is missing." in message
    assert "#consistent-1" in page.addresses
    assert page.fields["relevant-1"] == "1"
    assert response.text.count("autofocus") == 4  # the radio, and the first of each popover
    assert 'name="consistent-1" value="1" autofocus' in markup(response)
    assert response["HX-Push-Url"] == "false"
    assert not Vote.objects.exists()


@pytest.mark.parametrize("layout", ["side_by_side", "in_turn"])
def test_holes_in_a_merged_unit_are_counted_and_led_to(tmp_path, db, sit_down, layout):
    study = opened(material(tmp_path / "m"), arms=["merged"], merged_layout=layout)
    desk = sit_down(study)
    data = filled_in(2)
    del data["consistent-2"], data["evidence_relevant-1"], data["evidence_supports-1"]

    response = desk.post(data)

    assert response.status_code == 422
    page = shown(response)
    [message] = page.messages
    # 4 of response 1, its 6 behind 4, which nothing has closed, and 3 of response 2
    assert "Not submitted: 3 answers are missing." in message
    assert "#evidence_relevant-1" in page.addresses  # response by response
    assert "Not submitted: 14 answers are missing." in shown(desk.post({})).messages[0]


def test_answers_that_cannot_stand_together_are_refused(desk):
    response = desk.post(filled_in(evidence_contradicts="1"))

    assert response.status_code == 422
    [message] = shown(response).messages
    assert "5 and 7 cannot both be yes" in message
    assert not Vote.objects.exists()


def test_what_a_gate_closes_is_stored_as_implied(desk):
    desk.post({"understand-1": "0"})

    votes = {vote.question: vote for vote in Vote.objects.all()}
    assert len(votes) == 7
    assert not votes["understand"].is_implied
    assert all(
        vote.is_implied and vote.answer == 0 for key, vote in votes.items() if key != "understand"
    )


def test_a_second_submit_of_the_same_form_changes_nothing(desk):
    first, second = desk.post(filled_in()), desk.post(filled_in())

    assert first.url == second.url  # the same next unit
    assert Vote.objects.count() == 7
    assert not VoteChange.objects.exists()


def test_merged_answers_reach_the_response_that_was_shown_there(tmp_path, db, sit_down):
    study = opened(material(tmp_path / "m", setups=["a", "b", "c"]), arms=["merged"])
    desk = sit_down(study)
    text = desk.page().text
    in_order = sorted(
        desk.assignment.unit.targets.select_related("response"),
        key=lambda target: text.index(target.response.text),
    )

    desk.post(filled_in(3) | {"understand-2": "0"})

    for position, target in enumerate(in_order, start=1):
        vote = Vote.objects.get(target=target, question="understand")
        assert vote.position == position
        assert vote.answer == (0 if position == 2 else 1)


def test_votes_of_one_pair_go_with_the_button(tmp_path, db, sit_down):
    desk = sit_down(alignment(tmp_path))

    response = desk.post({"supports-1": "0"})

    assert Vote.objects.get().answer == 0
    assert response.url.endswith(f"?last={desk.assignment.unit_id}&said=0")
    answer = desk.client.get(response.url)
    assert "Last answer: no" in shown(answer).text
    assert f'href="{desk.url()}" data-undo' in answer.text


@pytest.mark.parametrize("query", ["?last=x&said=y", "?last=-1", "?last=%3Cb%3E", "?said=1"])
def test_a_made_up_last_answer_does_no_harm(tmp_path, db, sit_down, query):
    assert sit_down(alignment(tmp_path)).get(query).status_code == 200


def test_a_pair_names_its_subject(tmp_path, db, sit_down):
    page = sit_down(alignment(tmp_path)).page()

    assert page.facts["Subject"] == "Stephen Crane Q1"
