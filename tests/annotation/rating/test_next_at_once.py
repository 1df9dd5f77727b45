"""A script that submits a unit gets the next one in the answer; other browsers are led there."""

import re
from functools import partial

import pytest
from django.urls import reverse

from annotation.models import Assignment, Vote
from annotation.services.gold import set_gold
from annotation.services.studies import close_study, open_study, pause_study, write_guideline
from tests.annotation.makers import claimed, material, planned, raters_of, researcher
from tests.annotation.rating.desk import Desk, alignment, filled_in
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once

AT_ONCE = {"hx_request": "true"}
TOKEN = re.compile(r'(csrfmiddlewaretoken" value="|X-CSRFToken": ")\w+')


def submit(desk, **answers):
    return desk.post(filled_in(**answers) | {"seconds": "20.0"}, **AT_ONCE)


def as_asked(desk, address):
    """Return the page of an address, without its token, as a browser gets it that asks for it."""
    return TOKEN.sub("", desk.client.get(address).text)


def test_the_answer_to_a_submit_is_the_next_unit_with_its_address(desk):
    answer = submit(desk)

    held = Assignment.objects.in_hand().get(rater=desk.rater)
    assert held.pk != desk.assignment.pk
    assert answer.status_code == 200
    address = answer["HX-Push-Url"]
    path = reverse("annotation:rate-unit", args=[held.study.slug, held.unit_id])
    assert address == f"{path}?last={desk.assignment.unit_id}"
    assert desk.url() in shown(answer).addresses  # the way back to what was submitted
    assert TOKEN.sub("", answer.text) == as_asked(desk, address)
    assert "no-store" in answer["Cache-Control"]
    assert Vote.objects.filter(rater=desk.rater).count() == 7


def test_without_a_script_the_browser_is_led_to_the_next_unit(desk):
    answer = desk.post(filled_in())

    held = Assignment.objects.in_hand().get(rater=desk.rater)
    assert answer.status_code == 302
    path = reverse("annotation:rate-unit", args=[held.study.slug, held.unit_id])
    assert answer.url == f"{path}?last={desk.assignment.unit_id}"


def test_one_key_leaves_a_way_back_to_the_last_unit(tmp_path, db, sit_down):
    desk = sit_down(alignment(tmp_path))

    answer = desk.post({"supports-1": "1", "seconds": "3.0"}, **AT_ONCE)

    address = answer["HX-Push-Url"]
    assert address.endswith(f"?last={desk.assignment.unit_id}&said=1")
    assert TOKEN.sub("", answer.text) == as_asked(desk, address)
    assert any(each.startswith(desk.url()) for each in shown(answer).addresses)


def test_a_submit_that_is_sent_twice_gets_the_same_unit_twice(desk):
    first, second = submit(desk), submit(desk)

    assert first["HX-Push-Url"] == second["HX-Push-Url"]
    assert Vote.objects.filter(rater=desk.rater).count() == 7
    assert Assignment.objects.filter(rater=desk.rater).count() == 2


def test_after_the_last_unit_the_browser_is_led_home(desk):
    for _ in range(3):
        submit(desk)
        desk.assignment = claimed(desk.rater)

    answer = submit(desk)

    assert answer.status_code == 302
    assert answer.url == reverse("annotation:my-studies")


def test_guidelines_that_changed_are_read_before_the_next_unit(desk, rosa):
    desk.get()
    submit(desk)  # the rater has begun
    write_guideline(desk.rater.study, "The evidence is the only source.", rosa)
    desk.assignment = claimed(desk.rater)

    answer = submit(desk)

    assert answer.status_code == 302
    assert answer.url == reverse("annotation:guideline-changes", args=[desk.rater.study.slug])


@pytest.mark.parametrize("stop", [close_study, pause_study])
def test_a_study_that_stopped_hands_out_no_unit(desk, rosa, stop):
    stop(desk.rater.study, rosa)

    answer = submit(desk)

    assert answer.status_code == 302
    assert not Assignment.objects.filter(rater=desk.rater).exclude(pk=desk.assignment.pk).exists()


def test_who_falls_below_the_threshold_by_this_submit_gets_no_unit(tmp_path, db, client_for):
    study = planned(material(tmp_path / "gold", n_examples=3), scheme="SSA", raters=3)
    set_gold(study, {"e1-cool": {"sensible": 0}}, researcher(), n_qualifying=1, threshold=0.5)
    open_study(study, researcher())
    rater = raters_of(study)[0]
    desk = Desk(rater, client_for(rater.user), claimed(rater))  # the gold item comes first

    answer = desk.post({"sensible-1": "1", "specific-1": "1", "seconds": "3.0"}, **AT_ONCE)

    assert answer.status_code == 302
    assert not Assignment.objects.in_hand().filter(rater=rater).exists()


def test_it_takes_fewer_statements_than_to_be_led_there(tmp_path, db, sit_down, study):
    with_script, without = sit_down(study, 0), sit_down(study, 1)

    at_once = statements(partial(submit, with_script))
    led = statements(lambda: without.client.get(without.post(filled_in()).url))

    # Account, roles and rater are asked once.
    assert len(led) - len(at_once) == 3
