"""No page in any state has a finding by axe, or scrolls sideways, also with large text."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from django.urls import resolve
from playwright.sync_api import Page, ViewportSize, expect

from tests.annotation.makers import material, opened
from tests.e2e.axe import BUT_CONTRAST, Contrasts, keep_loaded, violations
from tests.e2e.joining_walk import joining_stops
from tests.e2e.payments_walk import payments_stops
from tests.e2e.stops import ARABIC
from tests.e2e.walk import (
    graph_stops,
    home_stops,
    in_hand,
    rating_stops,
    research_stops,
    rows_of,
    sideways,
    tradeoff_stops,
    visits,
)

pytestmark = pytest.mark.django_db(transaction=True)


DESK, PHONE = ViewportSize(width=1440, height=900), ViewportSize(width=390, height=844)
SMALLEST, SMALL_DESK = ViewportSize(width=320, height=800), ViewportSize(width=1280, height=800)
LARGE_TEXT, USUAL_TEXT = 32, 16  # px, where nothing else is said


@pytest.mark.early
@pytest.mark.parametrize(
    "stops",
    [
        *(graph_stops, research_stops, rating_stops, tradeoff_stops, home_stops),
        *(joining_stops, payments_stops),
    ],
)
def test_every_page_is_for_everybody(page, sign_in, tmp_path, stops, console_errors):
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    set_text_size = text_size_of(page)
    contrasts = Contrasts()
    keep_loaded(page)
    views: set[str] = set()  # views whose layout on other screens was looked at

    found = [
        f"{stop.name}: {complaint}"
        for stop in visits(page, sign_in, stops(tmp_path))
        for complaint in complaints(page, contrasts, set_text_size, views)
    ]

    assert not found, "\n".join(found)
    # A link that is not in use answers 410, and one with the wrong ids 400 or 409.
    console_errors[:] = [error for error in console_errors if "/join/" not in error]


def complaints(
    page: Page, contrasts: Contrasts, set_text_size: Callable[[int], None], views: set[str]
) -> Iterator[str]:
    """Yield what is wrong with a page: at a desk, in the dark, on phones, with large text.

    The first state of each page is looked at by axe on a phone, on the smallest screen and with
    large text as well: the others have the same layout.
    """
    yield from labelled("desk", violations(page, BUT_CONTRAST))
    yield from labelled("light", contrasts.violations(page))
    yield from sideways(page)
    page.emulate_media(color_scheme="dark")
    yield from labelled("dark", contrasts.violations(page))
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(PHONE)
    yield from sideways(page)
    view = resolve(urlsplit(page.url).path).view_name
    if view not in views:
        views.add(view)
        yield from labelled("phone", violations(page, BUT_CONTRAST))
        page.set_viewport_size(SMALLEST)
        yield from sideways(page)
        page.set_viewport_size(SMALL_DESK)
        set_text_size(LARGE_TEXT)
        yield from labelled("with large text", sideways(page))
        set_text_size(USUAL_TEXT)
    page.set_viewport_size(DESK)


def labelled(where: str, found: list[str]) -> Iterator[str]:
    return (f"{where}: {complaint}" for complaint in found)


def text_size_of(page: Page) -> Callable[[int], None]:
    """Return a function that sets the size of text as people set it in their browser."""
    session = page.context.new_cdp_session(page)

    def set_text_size(pixels: int) -> None:
        session.send("Page.setFontSizes", {"fontSizes": {"standard": pixels}})

    return set_text_size


def test_text_is_as_large_as_the_browser_says(page):
    page.goto("/accounts/sign-in/")

    text_size_of(page)(LARGE_TEXT)

    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"


def test_texts_are_shown_as_texts_in_their_own_direction(page, sign_in, tmp_path):
    study = opened(material(tmp_path, **rows_of(3)), arms=["merged"])
    user, path = in_hand(study)

    sign_in(user)
    page.goto(path)

    expect(page.get_by_text(re.compile("<script>alert"))).to_be_visible()
    arabic = page.locator(".response").get_by_text(ARABIC).first
    assert arabic.evaluate("e => getComputedStyle(e).direction") == "rtl"
