"""axe finds nothing on any page in any state; nothing scrolls sideways on a small screen."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.annotation.makers import material, opened
from tests.e2e.walk import ARABIC, in_hand, rows_of, sideways, visits

pytestmark = pytest.mark.django_db(transaction=True)


DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
SMALLEST = {"width": 320, "height": 800}
# The dark theme changes colours and nothing else.
RULES = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast"]},
}


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing(page, sign_in, tmp_path, screen):
    page.set_viewport_size(screen)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    axe, found = Axe(), []

    for stop in visits(page, sign_in, tmp_path):
        for theme, rules in RULES.items():
            page.emulate_media(color_scheme=theme)
            for violation in axe.run(page, options=rules).response["violations"]:
                nodes = [node["html"][:160] for node in violation["nodes"]][:3]
                found.append(f"{stop.name}, {theme}: {violation['id']} {nodes}")
        page.emulate_media(color_scheme="light")
        found += sideways(page, stop)
        if screen == PHONE:  # the smallest there are, on the same walk: it is a long one
            page.set_viewport_size(SMALLEST)
            found += sideways(page, stop)
            page.set_viewport_size(screen)

    assert not found, "\n".join(found)


def test_texts_are_shown_as_texts_in_their_own_direction(page, sign_in, tmp_path):
    study = opened(material(tmp_path, **rows_of(3)), arms=["merged"])
    user, path = in_hand(study)

    sign_in(user)
    page.goto(path)

    expect(page.get_by_text(re.compile("<script>alert"))).to_be_visible()
    arabic = page.locator(".response", has_text=ARABIC).first
    assert arabic.evaluate("e => getComputedStyle(e).direction") == "rtl"
