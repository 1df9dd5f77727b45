"""The pages on which a rater is excluded, included, and their judgements are made again."""

import pytest
from django.urls import reverse

from annotation.models import Rater, Study
from annotation.services.studies import close_study
from annotation.services.study_raters import set_excluded, take_out_rater
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    planned,
    rate_next,
    raters_of,
)
from tests.annotation.makers import researcher as who_plans
from tests.makers import import_rows, pilot_rows
from tests.shown import shown

pytestmark = pytest.mark.once

WHY = "Clicks without reading."


@pytest.fixture
def study(tmp_path, db) -> Study:
    """Return a study of two units; the first of six raters has filled a slot of each."""
    study = opened(material(tmp_path, n_examples=1), scheme="SSA", raters=6)
    rater = raters_of(study)[0]
    rate_next(rater)
    rate_next(rater)
    rate_next(raters_of(study)[1])
    return study


def of_rater(rater: Rater) -> str:
    return reverse("annotation:exclude-rater", args=[rater.study.slug, rater.pk])


def of_study(study: Study, name: str = "study-setup") -> str:
    return reverse(f"annotation:{name}", args=[study.slug])


def exclude(client, rater: Rater):
    return shown(client.post(of_rater(rater), {"excludes": "True", "reason": WHY}, follow=True))


def row_of(page, rater: Rater) -> list[str]:
    return next(row for row in page.table("Raters").rows if row[0].startswith(rater.code))


def test_the_page_says_what_the_rater_did_and_what_excluding_does(researcher, study):
    rater = raters_of(study)[0]
    set_up = shown(researcher.get(of_study(study)))
    assert row_of(set_up, rater)[-1] == "Remove… Ignore votes…"
    link = next(cells[-1] for cells in set_up.cells if cells[0].text.startswith(rater.code))
    assert link.links["Ignore votes…"] == of_rater(rater)

    page = shown(researcher.get(of_rater(rater)))

    assert page.headings[0] == f"Ignore the votes of {rater.code}"
    # 2 units × 2 questions of this rater, and 1 × 2 of another: 4 of 6.
    assert page.facts["Votes"] == "4"
    assert page.notes["Votes"] == "on 2 responses, 67 % of those that count"
    assert f"Until then {rater.code} gets no further units" in page.text
    assert page.fields["excludes"] == "True"


def test_without_a_reason_nobody_is_excluded(researcher, study):
    rater = raters_of(study)[0]

    answer = researcher.post(of_rater(rater), {"excludes": "True", "reason": " "})

    assert answer.status_code == 422
    assert "Say why" in shown(answer).errors["reason"]
    assert not study.raters.filter(is_excluded=True).exists()


def test_a_rater_is_excluded_filled_anew_and_included(researcher, study):
    rater = raters_of(study)[0]

    done = exclude(researcher, rater)

    assert done.messages[0] == f"{rater.code} is excluded. No report counts their votes."
    assert done.headings[0] == f"{rater.code} is excluded"
    assert WHY in done.text
    assert f"2 units lost the judgement of {rater.code}" in done.text
    assert "are then kept as extra" in done.text

    again = {"rater": rater.pk}
    filled = shown(researcher.post(of_study(study, "refill"), again, follow=True))
    second = shown(researcher.post(of_study(study, "refill"), again, follow=True))

    assert filled.messages[0] == "2 judgements can be made again."
    assert filled.headings[0] == f"{rater.code} is excluded"
    assert "Fill anew" not in filled.headings
    assert filled.facts["Extra"] == "2"
    assert "2 extra judgements stay extra" in filled.text
    assert second.messages[0] == "Nothing was changed: there is no such judgement any more."

    included = {"excludes": "", "reason": "Read after all."}
    back = shown(researcher.post(of_rater(rater), included, follow=True))

    assert back.messages[0] == f"{rater.code} is included again."
    assert back.facts["Extra"] == "2"
    assert back.facts["Votes"] == "0"


def test_a_page_that_was_open_twice_turns_nothing_back(researcher, study):
    rater = raters_of(study)[0]

    exclude(researcher, rater)
    exclude(researcher, rater)

    assert study.raters.filter(is_excluded=True).get() == rater


def test_the_set_up_page_says_who_is_excluded_why_and_what_filling_anew_costs(researcher, study):
    first, second, *_ = raters_of(study)
    assert "can be made again" not in shown(researcher.get(of_study(study))).text
    exclude(researcher, first)
    exclude(researcher, second)

    page = shown(researcher.get(of_study(study)))

    assert f"excluded {WHY}" in row_of(page, first)[0]
    assert row_of(page, first)[-1] == "Remove… Include…"
    [said] = [message for message in page.messages if "can be made again" in message]
    # Two units: one with two judgements of excluded raters, one with one.
    assert said.startswith("3 judgements of excluded raters can be made again.")
    assert "2 units lost counted votes" in said
    # 'Question of e1?', 'Text of e1-cool.': 31 characters at 23.8 a second, and 2 × 4 s: 9.3 s.
    assert "Estimated time to fill them anew: under 1 min." in said

    done = shown(researcher.post(of_study(study, "refill"), follow=True))

    assert "3 judgements can be made again." in done.messages
    assert not any("of excluded raters can be made" in message for message in done.messages)


def test_what_including_brings_back_follows_taking_out(researcher, study):
    rater = raters_of(study)[0]
    take_out_rater(rater, who_plans())
    exclude(researcher, rater)

    page = shown(researcher.get(of_rater(rater)))
    back = reverse("annotation:let-rater-back", args=[study.slug, rater.pk])
    let_back = shown(researcher.post(back, follow=True))

    assert "gets units only when you let the rater back" in page.text
    assert "still excluded, so they get no units" in let_back.messages[0]


def test_the_unit_in_hand_is_said(researcher, study):
    rater = raters_of(study)[2]
    claimed(rater)

    assert "the unit in hand goes to another rater" in shown(researcher.get(of_rater(rater))).text


def test_of_a_closed_study_raters_are_excluded_and_nothing_is_filled_anew(researcher, study):
    rater = raters_of(study)[0]
    close_study(study, who_plans())
    set_up = shown(researcher.get(of_study(study)))
    assert row_of(set_up, rater)[-1] == "Ignore votes…"

    page = exclude(researcher, rater)
    refused = shown(researcher.post(of_study(study, "refill"), {"rater": rater.pk}, follow=True))

    assert "The study is closed, so no rater can judge" in page.text
    assert not any(button.startswith("Fill") for button in page.buttons)
    assert "can be made again only while a study runs" in refused.messages[0]
    assert "can be made again:" not in shown(researcher.get(of_study(study))).text


def test_raters_of_an_imported_study_are_excluded_too(researcher, tmp_path, db):
    study = import_rows(tmp_path, **pilot_rows()).study
    assert study is not None
    anna = study.raters.select_related("study").get(code="anna")

    page = exclude(researcher, anna)

    assert page.headings[0] == "anna is excluded"
    assert "Fill anew" not in page.headings
    back = reverse("evaluation:study-raters", args=[study.slug])
    assert page.links["Go back to the report"] == back


def test_before_a_study_opens_the_page_is_that_of_taking_out(researcher, tmp_path, db):
    rater = raters_of(planned(material(tmp_path), raters=5))[0]

    answer = researcher.get(of_rater(rater))

    assert answer.url == reverse("annotation:take-out-rater", args=[rater.study.slug, rater.pk])


def test_a_reason_without_words_of_its_own_is_not_invented(researcher, study):
    rater = raters_of(study)[0]
    study.raters.filter(pk=rater.pk).update(is_excluded=True)

    assert "No reason was given." in shown(researcher.get(of_rater(rater))).text


@pytest.mark.parametrize("rater", ["x", "-1", "9" * 30])
def test_a_rater_that_is_no_number_is_not_found(researcher, study, rater):
    assert researcher.post(of_study(study, "refill"), {"rater": rater}).status_code == 404


def test_a_reason_is_shown_as_text(researcher, study):
    rater = raters_of(study)[0]
    set_excluded(rater, True, "<b>bold</b>", who_plans())

    assert "<b>bold</b>" in shown(researcher.get(of_study(study))).text
