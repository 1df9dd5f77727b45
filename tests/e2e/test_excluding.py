"""A rater is excluded with a reason; the report follows; another rater judges the units anew."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import Study, Vote
from tests.annotation.makers import material, opened, rate_next, raters_of
from tests.e2e.axe import violations
from tests.e2e.test_whole_study import rate_all

pytestmark = pytest.mark.django_db(transaction=True)

WHY = "Two seconds for a page, and always yes."


def is_mine_to_rate(page: Page) -> bool:
    page.goto(reverse("annotation:my-studies"))
    return page.get_by_role("button", name="Rate next").count() > 0


def test_a_rater_is_excluded_the_report_says_so_and_another_judges_the_units_anew(
    page, sign_in, rosa, tmp_path
):
    study = opened(material(tmp_path, n_examples=2, setups=["cool"]), raters=6)
    *five, sixth = raters_of(study)
    for rater in five:
        while rate_next(rater):
            pass
    careless = five[0]
    sign_in(rosa)
    page.goto(reverse("annotation:study-setup", args=[study.slug]))

    page.get_by_role("link", name=f"Ignore the votes of {careless.code}").click()
    page.get_by_role("button", name="Ignore votes", exact=True).click()
    expect(page.get_by_label("Reason")).to_be_focused()  # it is required
    page.get_by_label("Reason").fill(WHY)
    page.get_by_role("button", name="Ignore votes", exact=True).click()
    expect(page.get_by_role("heading", name=f"{careless.code} is excluded")).to_be_visible()
    assert violations(page) == []

    said = report_says(page, study)
    assert f"{careless.code} {WHY}" in said
    assert "excluded raters 1" in said
    assert "votes of excluded raters 14" in said

    page.goto(reverse("annotation:study-setup", args=[study.slug]))
    page.get_by_role("button", name="Fill anew").click()
    expect(page.get_by_text("2 judgements can be made again.")).to_be_visible()
    assert "surplus votes 14" in report_says(page, study)

    for rater, is_asked in ((careless, False), (sixth, True)):
        assert rater.user is not None
        sign_in(rater.user)
        assert is_mine_to_rate(page) is is_asked
    assert rate_all(page) == 2

    counted = Vote.objects.filter(is_surplus=False)
    assert counted.count() == 2 * 7 * 5
    assert not counted.filter(rater=careless).exists()
    sign_in(rosa)
    page.goto(reverse("annotation:exclude-rater", args=[study.slug, careless.pk]))
    page.get_by_label("Reason").fill("It was a script of ours.")
    page.get_by_role("button", name=f"Include {careless.code}").click()
    expect(page.get_by_text("included again")).to_be_visible()
    said = report_says(page, study)
    assert careless.code not in said
    assert "surplus votes 14" in said


def report_says(page: Page, study: Study) -> str:
    """Return the text of the study's page on methods, with single spaces."""
    page.goto(reverse("evaluation:study-methods", args=[study.slug]))
    return " ".join(page.locator("#left-out").inner_text().split())
