"""Text twice as large, as people set it in their browser, cuts nothing off."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright

from tests.e2e.conftest import LAUNCH_ARGUMENTS
from tests.e2e.walk import sideways, visits
from tests.services import chromium

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Return a browser whose text is 32 px where nothing else is said, instead of 16."""
    arguments = [*LAUNCH_ARGUMENTS, "--blink-settings=defaultFontSize=32"]
    browser = playwright.chromium.launch(executable_path=chromium(), args=arguments)
    yield browser
    browser.close()


def test_nothing_is_cut_off_with_text_twice_as_large(page, sign_in, tmp_path):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto("/accounts/sign-in/")
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"

    found = [
        complaint for stop in visits(page, sign_in, tmp_path) for complaint in sideways(page, stop)
    ]

    assert not found, "\n".join(found)
