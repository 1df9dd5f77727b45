"""People come: three by a study's link at once, one who comes back, two by invitation."""

import csv
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.models import Vote
from annotation.services.joining import write_link
from tests.annotation.makers import material, opened, researcher
from tests.e2e.stops import administrator

pytestmark = pytest.mark.django_db(transaction=True)
SEND_SOON = "setTimeout(() => document.querySelector('main form').requestSubmit(), 200)"


@pytest.fixture
def pages(browser: Browser, live_server) -> Iterator[list[Page]]:
    """Return pages of three people, each in a browser of their own."""
    contexts = [browser.new_context(base_url=live_server.url) for _ in range(3)]
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


def test_of_three_people_at_once_two_get_the_two_places(live_server, tmp_path, pages):
    study = opened(material(tmp_path), scheme="SSA", raters=0)
    link = write_link(study, researcher(), most_per_group=2)
    for page in pages:
        page.goto(reverse("join", args=[link.token]))

    for page in pages:
        page.evaluate(SEND_SOON)
    headings = []
    for page in pages:
        expect(page.get_by_role("button", name="Join the study")).to_have_count(0)
        came_in = page.get_by_role("heading", name="You take part in")
        headings.append(came_in.count() == 1)
        if not came_in.count():
            expect(page.get_by_text("All places of this study are taken.")).to_be_visible()

    assert sorted(headings) == [False, True, True]
    assert study.raters.count() == 2


def test_a_person_joins_rates_and_comes_back_elsewhere_with_the_code(live_server, tmp_path, pages):
    study = opened(material(tmp_path), scheme="SSA", raters=0)
    link = write_link(study, researcher(), most_per_group=5, code="mill")
    here, elsewhere, _ = pages

    here.goto(reverse("join", args=[link.token]))
    here.get_by_label("Code of the study").fill("Mill")
    here.keyboard.press("Enter")
    code = here.locator(".code-box-url").inner_text()
    here.get_by_role("link", name="Begin").press("Enter")
    here.get_by_role("button", name="Rate next unit").press("Enter")
    expect(here.locator("form[data-keys=questions]")).to_be_visible()
    here.wait_for_load_state()
    here.keyboard.press("y")
    here.keyboard.press("y")
    here.keyboard.press("Control+Enter")
    expect(here.locator(".meter")).to_contain_text(re.compile("^1 of"))

    elsewhere.goto(reverse("join", args=[link.token]))
    elsewhere.get_by_role("link", name="I was here before").click()
    elsewhere.get_by_label("Return code").fill(code.replace("-", " ").lower())
    elsewhere.keyboard.press("Enter")

    expect(elsewhere.get_by_role("heading", name="My studies")).to_be_visible()
    expect(elsewhere.locator(".meter")).to_contain_text("1 of")
    assert Vote.objects.filter(arm__study=study).count() == 2
    assert study.raters.count() == 1


def test_an_admin_invites_two_people_and_one_comes_by_the_link_of_the_file(page, sign_in, pages):
    sign_in(administrator())
    page.goto(reverse("accounts:invitations"))
    page.get_by_label("Names").fill("kim\nlee")
    page.get_by_role("button", name="Create accounts").press("Enter")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").press("Enter")
    rows = list(csv.DictReader(StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))
    kim, *_ = pages

    kim.goto(rows[0]["link"])
    kim.get_by_role("button", name="Sign in as kim").press("Enter")

    expect(kim.get_by_role("heading", name="Choose a password")).to_be_visible()
    assert [row["name"] for row in rows] == ["kim", "lee"]
