"""The '?' of each page: every page has an entry, and every entry a page and a place in the docs."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from accounts.access import Role
from accounts.models import User
from config.page_help import all_page_help
from tests.conftest import person, session_of
from tests.shown import markup
from tests.test_access import PAGES, Page

ROOT = Path(__file__).resolve().parents[2]
# What answers GET and is no page of its own. Whatever only takes POST is found out by asking.
FILES = {
    *("evaluation:mapping", "evaluation:import-problems", "evaluation:export-dataset"),
    *("evaluation:retrieval-file", "evaluation:threshold-choice-figure"),
    *("evaluation:threshold-choice-file", "evaluation:votes", "evaluation:disagreements-csv"),
    *(
        "evaluation:export-study",
        "evaluation:study-bundle",
        "evaluation:figure",
        "evaluation:report",
    ),
    *("evaluation:report-file-of-study", "evaluation:report-file-of-dataset", "grids:file"),
    *("tradeoffs:figure", "tradeoffs:table", "tradeoffs:methods", "tradeoffs:takeaways-file"),
    *("tradeoffs:comparable-file", "tradeoffs:restricted-file", "tradeoffs:reranking-file"),
    *("tradeoffs:recipe-file", "graphs:statistics-file", "graphs:report-file"),
    *("graphs:experiment-file", "annotation:payments-file", "annotation:approved-file"),
}
PARTS_OF_PAGES = {
    *("work:card", "work:bar", "evaluation:run-precision"),
    *("home-answer", "home-work", "evaluation:study-runs", "evaluation:threshold-choice-progress"),
}
REDIRECTS = {
    "evaluation:former-threshold-choice",
    "generation:first-prompts",
    "generation:verify-sample",
}
NO_PAGES = FILES | PARTS_OF_PAGES | REDIRECTS
RATERS_READ = (
    *("annotation:my-studies", "annotation:rate-unit", "annotation:my-answers"),
    *("annotation:guidelines", "annotation:guideline-changes"),
)


@pytest.fixture(scope="module")
def sessions(module_database: None) -> dict[Role, str]:
    return {role: session_of(person(f"some-{role}", role)) for role in (Role.RATER, Role.ADMIN)}


def takes_get(page: Page, sessions: dict[Role, str]) -> bool:
    """Return whether an address answers GET for an admin or a rater."""
    statuses = []
    for session in sessions.values():
        client = Client()
        client.cookies[settings.SESSION_COOKIE_NAME] = session
        statuses.append(client.get(page.url).status_code)
    return 405 not in statuses


@pytest.mark.once
def test_every_page_says_what_it_is_for(sessions: dict[Role, str]):
    without = [page for page in PAGES if page.name not in all_page_help()]

    missing = [
        page.name for page in without if page.name not in NO_PAGES and takes_get(page, sessions)
    ]

    assert missing == []


def test_every_entry_is_about_an_address():
    names = {page.name for page in PAGES}

    assert all_page_help().keys() - names == set()
    assert names >= NO_PAGES
    assert not all_page_help().keys() & NO_PAGES


@pytest.mark.parametrize("name", all_page_help())
def test_an_entry_is_two_to_five_sentences_and_leads_into_the_docs(name: str):
    said = all_page_help()[name]
    sentences = re.findall(r"[.!?](?: |$)", f"{said.about} {said.next}")

    assert said.docs_title  # raises where docs/ has no such section
    assert 2 <= len(sentences) <= 5
    assert said.about.endswith(".")
    assert said.next.endswith(".")


@pytest.mark.parametrize("name", RATERS_READ)
def test_raters_read_nothing_about_setups_and_scores(name: str):
    said = all_page_help()[name]
    text = f"{said.about} {said.next}".lower()

    assert not re.search(r"setup|score|model|metric|gold|temperature", text)


@pytest.mark.once
def test_the_bar_has_a_button_that_opens_the_help_of_the_page(client_for, rosa: User):
    page = markup(client_for(rosa).get("/data/"))

    assert 'popovertarget="page-help" aria-label="About this page"' in page
    assert "A dataset has examples, passages and responses." in page
    assert 'href="/docs/formats/"' in page


@pytest.mark.once
def test_the_page_of_an_error_has_no_help(client_for, rachel: User):
    browser = client_for(rachel)

    for path in ("/data/", "/studies/none/guidelines/", "/nowhere/"):
        answer = browser.get(path)
        assert answer.status_code in (403, 404)
        assert "page-help" not in answer.text


@pytest.mark.once
def test_before_a_sign_in_the_help_has_no_link_to_the_docs(client, db: None):
    page = markup(client.get("/accounts/sign-in/"))

    assert "About this page" in page
    assert "/docs/" not in page
