"""The page of a plan: another wish draws another curve, and one click plans the study."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Study
from tests.evaluation.studies.hand_made import votes
from tests.makers import rated

pytestmark = pytest.mark.django_db(transaction=True)


def test_another_wish_draws_another_curve_and_one_click_plans_the_study(
    page, sign_in, rosa, tmp_path
):
    pilot = rated(tmp_path, votes(**{f"r{n:02}": "yyn" if n % 2 else "nny" for n in range(40)}))
    sign_in(rosa)
    page.goto(reverse("evaluation:study", args=[pilot.slug]))
    page.get_by_role("link", name="How many more to rate?").click()
    page.evaluate("window.sameDocument = true")

    chart = page.locator("[data-chart=plan] svg")
    expect(chart).to_be_visible()
    expect(page.get_by_text("385 dialogs would be needed")).to_be_visible()

    wish = page.get_by_role("spinbutton", name="Points")
    wish.fill("20")
    wish.press("Tab")

    expect(page).to_have_url(re.compile("wish=20"))
    expect(page.get_by_text("Rate 25 dialogs with 5 raters each")).to_be_visible()
    expect(chart).to_be_visible()
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"

    page.get_by_role("radio", name="3 raters").check()
    page.get_by_role("button", name="Plan this study").click()

    expect(page).to_have_url(re.compile("/setup/$"))
    study = Study.objects.latest("pk")
    assert (study.n_sampled, study.raters_per_unit) == (25, 3)
