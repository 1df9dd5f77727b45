"""The actions of a rater at the keyboard, and the states of the page that tests wait for."""

import re
from collections.abc import Callable

from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Rater

ALL_YES = "yyyynyy"  # the fifth question asks whether the evidence contradicts the response
Rating = Callable[..., Rater]


def unit_url(assignment: Assignment) -> str:
    return reverse("annotation:rate-unit", args=[assignment.study.slug, assignment.unit_id])


def press(page: Page, keys: str) -> None:
    """Press keys one after the other, on a page whose scripts run by now."""
    page.wait_for_load_state()
    for key in keys:
        page.keyboard.press(key)


def answered(page: Page) -> list[str]:
    """Return the chosen answers in the order of the page."""
    values: list[str] = page.locator(".seg input:checked").evaluate_all(
        "all => all.map(r => r.value)"
    )
    return values


def saved(page: Page) -> None:
    expect(page.locator("[data-save-state]")).to_have_text(re.compile(r"^Draft saved \d\d:\d\d$"))


def submitted(page: Page) -> None:
    """Submit by keyboard, and wait for the next unit."""
    here = page.url
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(here)
    expect(page.locator(".seg input:checked")).to_have_count(0)


def sign_in_by_keys(page: Page, rater: Rater) -> None:
    """Sign a rater in on the sign-in page."""
    assert rater.user is not None
    rater.user.set_password("for-this-test-only")
    rater.user.save()
    page.get_by_label("Username").focus()
    page.keyboard.type(rater.user.username)
    page.keyboard.press("Tab")
    page.keyboard.type("for-this-test-only")
    page.keyboard.press("Enter")
