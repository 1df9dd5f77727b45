"""A whole AIS study by ten raters, five in each arm, from the keyboard alone."""

from collections import Counter

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Study, Vote
from evaluation.studies.reports.raters import raters_report
from tests.annotation.makers import material, opened, raters_of
from tests.makers import response_row

pytestmark = pytest.mark.django_db(transaction=True)

ALONE = "yyyynyy"  # all well: only 'does the evidence contradict it?' is a no
BESIDE = 2 * ALONE  # two responses, one after the other


def begin(page: Page) -> None:
    """Go from the first page to the first unit as a rater without a mouse does."""
    page.goto(reverse("annotation:my-studies"))
    page.keyboard.press("Tab")
    button = page.get_by_role("button", name="Rate next").first
    for _ in range(30):
        if button.evaluate("e => e === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def rate_all(page: Page) -> int:
    """Answer unit after unit until nothing is left; return how many there were."""
    n_units = 0
    begin(page)
    while True:
        form = page.locator("form[data-keys]")
        expect(form.or_(page.get_by_text("Nothing is left to rate. Thank you."))).to_be_visible()
        if not form.count():
            return n_units
        page.wait_for_load_state()  # the keys are listened to
        here = page.url
        for key in BESIDE if form.get_attribute("data-keys") == "matrix" else ALONE:
            page.keyboard.press(key)
        page.keyboard.press("Control+Enter")
        page.wait_for_url(lambda url: url != here)  # noqa: B023 - awaited in this round
        n_units += 1


def test_ten_raters_rate_a_study_in_both_arms(page, sign_in, tmp_path):
    study = opened(
        material(tmp_path, n_examples=2),
        arms=["separate", "merged"],
        mixing=Study.Mixing.RATERS,
        raters=10,
    )
    n_units: Counter[int] = Counter()

    for rater in raters_of(study):
        assert rater.user is not None
        sign_in(rater.user)
        n_units[rater.group] += rate_all(page)

    assert n_units == {0: 5 * 4, 1: 5 * 2}
    assert not Assignment.objects.filter(submitted_at=None).exists()
    # 4 responses × 7 questions × 5 raters × 2 arms
    votes = Vote.objects.filter(is_surplus=False)
    assert votes.count() == 4 * 7 * 5 * 2
    assert set(votes.filter(question="evidence_contradicts").values_list("answer")) == {(0,)}
    assert set(votes.exclude(question="evidence_contradicts").values_list("answer")) == {(1,)}
    merged = votes.filter(arm__kind="merged")
    assert set(merged.values_list("position", flat=True)) == {1, 2}
    assert not votes.filter(seconds=None).exists()
    assert {row.n for row in raters_report(study).rows} == {4}


def test_two_raters_judge_every_citation_with_one_key_each(page, sign_in, tmp_path):
    text = "He painted [Q1, occupation: painter]. He died young [Q1, born: 1840, died: 1863]."
    rows = [response_row("r1", "e1", text=text), response_row("r2", "e2", text=text)]
    dataset = material(tmp_path, responses=rows)
    study = opened(dataset, scheme="ALIGNMENT", raters_per_unit=2, raters=2)

    for rater, key in zip(raters_of(study), "yn", strict=True):
        assert rater.user is not None
        sign_in(rater.user)
        begin(page)
        for _ in range(6):
            expect(page.locator("form[data-keys=judge]")).to_be_visible()
            page.wait_for_load_state()
            here = page.url
            page.keyboard.press(key)
            page.wait_for_url(lambda url: url != here)  # noqa: B023 - awaited in this round
        expect(page.get_by_text("Nothing is left to rate. Thank you.")).to_be_visible()

    [row] = raters_report(study).rows
    # One yes and one no for each of two responses × three citations: the raters never agree.
    assert (row.n, row.tied, row.percent_agreement.value) == (6, 6, 0.0)
    assert not Assignment.objects.filter(submitted_at=None).exists()
