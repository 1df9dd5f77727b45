"""The users who may open each page of rating, and the users who are refused."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from annotation.models import (
    Draft,
    Target,
    Vote,
)
from generation.models import Response
from tests.annotation.makers import material, opened, rate_next, raters_of
from tests.annotation.rating.desk import (
    ALL_YES,
    filled_in,
)
from tests.makers import example_row, response_row
from tests.shown import markup, shown

pytestmark = pytest.mark.once


# --- refusals --------------------------------------------------------------------------------


POSTED = ["save-draft", "skip-unit", "flag-unit", "ask-researchers"]
OF_A_UNIT = ["rate-unit", *POSTED]


@pytest.mark.parametrize("page", OF_A_UNIT)
def test_a_unit_is_not_shown_to_who_was_not_given_it(desk, study, client_for, page):
    colleague = client_for(raters_of(study)[1].user)

    assert colleague.post(desk.url(page), filled_in()).status_code == 404
    assert not Vote.objects.exists()
    assert not Draft.objects.exists()


@pytest.mark.parametrize("page", OF_A_UNIT)
def test_a_unit_is_not_shown_to_a_rater_of_no_study(desk, rachel, client_for, page):
    assert client_for(rachel).post(desk.url(page), filled_in()).status_code == 404


@pytest.mark.parametrize("page", OF_A_UNIT)
def test_researchers_and_admins_do_not_rate(desk, rosa, adam, client_for, page):
    for user in (rosa, adam):
        assert client_for(user).post(desk.url(page), filled_in()).status_code == 403


@pytest.mark.parametrize("page", OF_A_UNIT)
def test_nobody_rates_without_signing_in(desk, client, page):
    response = client.post(desk.url(page), filled_in())

    assert response.status_code == 302
    assert response.url.startswith("/accounts/sign-in/")
    assert not Vote.objects.exists()


@pytest.mark.parametrize("page", POSTED)
def test_what_writes_is_not_a_get(desk, page):
    assert desk.client.get(desk.url(page)).status_code == 405


def test_the_next_unit_is_a_post_for_raters_of_the_study(study, rachel, client_for):
    url = reverse("annotation:next-unit", args=[study.slug])

    assert client_for(rachel).post(url).status_code == 404
    assert client_for(raters_of(study)[0].user).get(url).status_code == 405


def test_a_rater_s_answers_are_shown_to_nobody_else(desk, study, rachel, rosa, client_for):
    url = reverse("annotation:my-answers", args=[study.slug])
    desk.post(filled_in())

    assert client_for(rachel).get(url).status_code == 404
    assert client_for(rosa).get(url).status_code == 403
    [message] = shown(client_for(raters_of(study)[1].user).get(url)).messages
    assert "No answers" in message


# --- blinding --------------------------------------------------------------------------------


def test_a_page_says_nothing_of_setups_models_scores_votes_and_ids(tmp_path, db, sit_down):
    fill_tables(tmp_path / "others")
    secret = {"model": "secret-model", "temperature": 0.7, "prompt": "secret-prompt"}
    dataset = material(
        tmp_path / "m",
        examples=[example_row("e1", evidence=[{"id": "secret-p", "text": "A passage."}])],
        responses=[
            response_row(
                f"secret-{run}",
                "e1",
                setup=secret | {"run": run},
                text=f"Text {run}.",
                evidence_shown=["secret-p"],
            )
            for run in ("1", "2")
        ],
    )
    study = opened(dataset, arms=["merged"], raters=3, seed=987654)
    rate_next(raters_of(study)[1])
    desk = sit_down(study)

    page = desk.get().text

    assert "Text 1." in page
    for word in ("secret", "0.7", "987654", raters_of(study)[1].code, str(desk.assignment.key)):
        assert word not in page, word
    # Fields are named by question and place; no other field and no attribute names a target.
    names = set(re.findall(r' name="([^"]+)"', page)) - {"viewport", "htmx-config"}
    asked = {f"{key}-{position}" for key in ALL_YES for position in (1, 2)}
    around = {
        "csrfmiddlewaretoken",
        "seconds",
        "reason",
        "note",
        "responses",
        "take_back",
        "on",
    } | {"text", "language"}
    assert names == asked | around
    ids = {
        str(pk) for row in desk.assignment.unit.targets.values_list("pk", "response") for pk in row
    }
    attributes = set(re.findall(r' data-[a-z-]+="([^"]*)"', page))
    assert len(ids) == 4
    assert min(map(int, ids)) > 100
    assert attributes
    assert not ids & attributes
    assert not re.search(r"target[-_]id|data-target", page)


def fill_tables(folder: Path) -> None:
    """Store responses and targets of another dataset, so that no id is as small as a position.

    There are fewer targets than responses: what comes next has another id as a target.
    """
    material(folder, n_examples=50, setups=list("abcdef"))
    responses = Response.objects.order_by("pk")[:150]
    Target.objects.bulk_create(Target(response=response) for response in responses)


def test_time_on_task_is_counted_and_never_shown(desk):
    desk.post({"understand-1": "1", "seconds": "73.5"}, "save-draft")

    page = markup(desk.get())

    assert '<input type="hidden" name="seconds" value="73.5" data-seconds>' in page
    assert page.count("73.5") == 1
