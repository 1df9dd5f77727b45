"""The raters of a study, on its page: added, released, counted."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Arm, Assignment, Flag, Skip, Unit, Vote
from annotation.services.claiming import claim_next_unit
from tests.annotation.planned import (
    make_open_study,
    make_study,
)
from tests.annotation.setup.pages import page_of
from tests.shown import markup, shown

pytestmark = pytest.mark.once


def test_raters_are_added_to_an_open_study(researcher, dataset, rosa, raters):
    study = make_open_study(dataset, rosa, raters[:3])
    url = page_of(study, "add-raters")

    researcher.post(url, {"raters": [raters[3].pk]})
    again = researcher.post(url, {"raters": [raters[3].pk]})
    researcher.post(url, {"all_raters": "on"})

    assert study.raters.count() == 5
    assert again.status_code == 422  # is there already, so no choice


def test_adding_nobody_is_refused(researcher, planned, raters):
    answer = researcher.post(page_of(planned, "add-raters"), {})

    assert answer.status_code == 422
    assert "at least one" in shown(answer).errors["raters"]


def test_a_researcher_cannot_be_added_as_a_rater(researcher, planned, rosa):
    assert researcher.post(page_of(planned, "add-raters"), {"raters": [rosa.pk]}).status_code == 422


def test_the_table_tells_what_each_rater_has_done(researcher, opened):
    rater = opened.raters.get(code="R-1")
    assignment = claim_next_unit(rater)
    assert assignment is not None
    other = Unit.objects.filter(arm__study=opened).exclude(pk=assignment.unit_id)[0]
    target = other.targets.get()
    arm = Arm.objects.get(study=opened)
    Vote.objects.bulk_create(
        Vote(arm=arm, target=target, question=question, rater=rater, answer=1, is_surplus=True)
        for question in ("understand", "relevant")
    )
    Skip.objects.create(
        unit=other, rater=rater, reason="I cannot judge this topic", note="Law", at=timezone.now()
    )
    Flag.objects.create(arm=arm, response=target.response, rater=rater, reason="Cut off")

    page = shown(researcher.get(page_of(opened)))

    until = Assignment.objects.get(rater=rater).lease_until
    assert until is not None
    assert page.table("Raters").row("R-1 r1") == {
        "Rater": "R-1 r1",
        "Submitted": "0",
        "In progress": f"until {until:%H:%M} UTC Release",
        "Extra": "1",
        "Skipped": "1",
        "Flagged": "1",
        "Remove or ignore votes": "Remove… Ignore votes…",
    }
    page = shown(researcher.get(page_of(opened, "skipped-and-flagged")))
    assert page.table("Skipped").column("Reason") == ["I cannot judge this topic Law"]
    assert page.table("Flagged").column("Reason") == ["Cut off"]


def test_a_researcher_releases_a_unit(researcher, opened):
    rater = opened.raters.get(code="R-1")
    claim_next_unit(rater)
    url = reverse("annotation:release-units", args=[opened.slug, rater.pk])

    first, _ = shown(researcher.post(url, follow=True)).messages
    second, stranded = shown(researcher.post(url, follow=True)).messages

    assert "The unit of R-1 is released" in first
    assert "R-1 has no unit" in second
    assert "No rater may take 1 slot" in stranded  # the others are needed for the rest
    assert not Assignment.objects.filter(rater=rater).exists()


def test_a_rater_of_another_study_is_not_released_here(researcher, dataset, rosa, opened):
    other = make_study(dataset, rosa, name="Other")
    rater = opened.raters.get(code="R-1")
    claim_next_unit(rater)

    answer = researcher.post(reverse("annotation:release-units", args=[other.slug, rater.pk]))

    assert answer.status_code == 404
    assert Assignment.objects.filter(rater=rater).exists()


def test_progress_counts_the_slots_of_each_arm(researcher, opened):
    claim_next_unit(opened.raters.get(code="R-1"))
    done = claim_next_unit(opened.raters.get(code="R-2"))
    assert done is not None
    Assignment.objects.filter(pk=done.pk).update(submitted_at=timezone.now())
    free = Assignment.objects.filter(rater=None)[0]
    Assignment.objects.filter(pk=free.pk).update(is_let_go=True)

    answer = researcher.get(page_of(opened))

    # 8 units x 5 slots; one of them let go.
    assert '<progress value="1" max="39"' in markup(answer)
    assert shown(answer).table("Slots").row("separate") == {
        "Arm": "separate",
        "Done": "1",
        "Of": "39",
        "In progress": "1",
        "Not needed": "1",
        "Units": "8",
    }


def test_skips_and_flags_are_capped_and_counted(researcher, opened):
    unit = Unit.objects.filter(arm__study=opened)[0]
    for user in make_raters_again(opened, 25):
        Skip.objects.create(unit=unit, rater=user, reason="Another reason", at=timezone.now())

    page = shown(researcher.get(page_of(opened, "skipped-and-flagged")))

    assert len(page.table("Skipped").rows) == 20
    assert "20 of 25" in page.text


def make_raters_again(study, n):
    return [study.raters.create(code=f"X-{number}") for number in range(n)]
