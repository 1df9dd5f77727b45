"""A browser that shows pages which a test client was given: how they look, without a server."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.contrib.staticfiles import finders
from playwright.sync_api import Page, Route, sync_playwright

from tests.services import chromium, need

SITE = "http://attest.test"
# What can be clicked or filled in within `main`, as the page is now.
COUNT_CONTROLS = """() => [...document.querySelectorAll(
    "main :is(a[href], button, input:not([type=hidden]), select, textarea)"
)].filter(each => each.checkVisibility({visibilityProperty: true, opacityProperty: true})
    && each.getClientRects().length).length"""


@contextmanager
def browsing(pages: Mapping[str, str], width: int = 1440) -> Iterator[Page]:
    """Yield a browser's page for a site that has only these pages, by their addresses."""

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(SITE)
        if path in pages:
            route.fulfill(body=pages[path], content_type="text/html; charset=utf-8")
        elif path.startswith("/static/"):
            route.fulfill(path=str(finders.find(path.removeprefix("/static/").partition("?")[0])))
        else:
            route.abort()

    need("chromium")
    with sync_playwright() as own:
        browser = own.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(base_url=SITE, viewport={"width": width, "height": 900})
        page.route("**/*", answer)
        yield page
        browser.close()
