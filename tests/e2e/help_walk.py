"""The docs and their search, a term that is explained where it stands, and the '?' of a page."""

from collections.abc import Callable, Iterator
from pathlib import Path

from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.annotation.makers import material


def look(page: Page) -> None:
    """Do nothing: the page is looked at as it is."""


def open_term(name: str) -> Callable[[Page], None]:
    """Return an act that opens a term by keyboard."""

    def act(page: Page) -> None:
        page.get_by_role("button", name=name, exact=True).press("Enter")
        expect(page.get_by_role("link", name="Glossary")).to_be_visible()

    return act


def unfold_address(page: Page) -> None:
    page.locator(".operation > summary", has_text="/api/v1/runs/").nth(1).press("Enter")
    expect(page.locator(".operation[open] dl")).to_be_visible()


def open_help(page: Page) -> None:
    page.get_by_role("button", name="About this page").press("Enter")
    expect(page.get_by_role("dialog", name="About this page")).to_be_visible()


def help_pages(folder: Path) -> Iterator[tuple[str, str, Callable[[Page], None]]]:
    """Yield the name of each page, its address, and what is done there."""
    docs, data = reverse("docs"), reverse("generation:datasets")
    dataset = material(folder)
    yield "docs", docs, look
    yield "docs, found", f"{docs}?q=metric+score", look
    yield "docs, nothing found", f"{docs}?q=zzz", look
    for name in ("glossary", "metrics", "formats", "decisions/0010-markdown-it"):
        yield f"docs, {name}", reverse("docs-page", args=[name]), look
    yield "a term in a text", reverse("evaluation:start-run"), open_term("window")
    yield "addresses of the API", reverse("api:docs"), unfold_address
    new_study = reverse("annotation:new-study")
    yield "a term of a field", f"{new_study}?dataset={dataset.slug}", open_term("arm")
    yield "about this page", data, open_help
