"""The content of a page of rating, and its number of queries."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Rater,
)
from annotation.services.claiming import claim_next_unit
from annotation.services.studies import add_raters
from tests.annotation.makers import claimed, material, opened, researcher
from tests.annotation.rating.desk import OFFENSIVE, filled_in
from tests.makers import example_row, response_row
from tests.shown import shown

pytestmark = pytest.mark.once


def test_texts_are_shown_as_text(tmp_path, db, sit_down):
    row = example_row("e1", evidence=[{"id": "p", "text": OFFENSIVE, "title": OFFENSIVE}])
    row["turns"][0]["text"] = OFFENSIVE
    dataset = material(
        tmp_path / "m",
        examples=[row],
        responses=[response_row("r1", "e1", text=OFFENSIVE, evidence_shown=["p"])],
    )

    answer = sit_down(opened(dataset)).get()

    assert "<script>alert" not in answer.text
    assert "<b>bold" not in answer.text
    assert shown(answer).text.count(OFFENSIVE) == 4
    assert answer.text.count('dir="auto"') >= 4


def test_a_unit_stays_out_of_the_browser_s_cache(desk):
    assert "no-store" in desk.get()["Cache-Control"]
    assert '"historyCacheSize": 0' in desk.get().text


def test_a_rating_page_takes_six_statements(tmp_path, db, sit_down, django_assert_num_queries):
    one = sit_down(opened(material(tmp_path / "one", setups=["a"]), name="one"))
    many = sit_down(
        opened(material(tmp_path / "many", setups=list("abcdefgh")), name="many", arms=["merged"])
    )

    for desk in (one, many):
        with django_assert_num_queries(6):  # account, roles, rater, unit, targets, texts
            desk.get()


def test_the_time_left_is_at_the_rater_s_own_pace(tmp_path, db, sit_down):
    desk = sit_down(opened(material(tmp_path / "m", n_examples=10), arms=["merged"]))

    for seconds in (10, 60, 30, 300, 20, 90, 45):
        assert "min left" not in desk.page().text
        desk.rater.assignments.update(claimed_at=timezone.now() - timedelta(hours=1))
        desk.post(filled_in(2) | {"seconds": str(seconds)})
        desk.assignment = claimed(desk.rater)

    # 3 of 10 units at the median of 10, 20, 30, 45, 60, 90 and 300 s
    assert "about 2 min left" in desk.page().text


def test_letter_keys_can_be_switched_off(desk):
    assert "data-no-letters" not in desk.get().text

    response = desk.client.post(
        reverse("accounts:letter-keys"),
        {"on": "0"},
        headers={"Referer": f"http://testserver{desk.url()}"},
    )

    assert response.url == desk.url()
    assert "data-no-letters" in desk.get().text
    assert desk.client.get(reverse("accounts:letter-keys")).status_code == 405


def test_somebody_who_joins_late_can_begin(study, rachel, client_for):
    add_raters(study, [rachel], researcher())

    response = client_for(rachel).post(reverse("annotation:next-unit", args=[study.slug]))

    assert client_for(rachel).get(response.url).status_code == 200
    assert claim_next_unit(Rater.objects.get(user=rachel)) is not None
