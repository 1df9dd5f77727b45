"""People from Prolific: consent, the qualification round, rating, coming back, each end."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from annotation.models import Assignment, Participant, Rater, Study
from annotation.services.qualification import ItemToStore, set_qualification
from annotation.services.studies import open_study
from annotation.tasks import follow_visits
from tests.annotation.joining.test_platform import platform_of
from tests.annotation.makers import material, planned, researcher
from tests.prolific_server import TOKEN, ProlificServer, prolific_server

pytestmark = pytest.mark.django_db(transaction=True)
YES = {"sensible": 1, "specific": 1}


@pytest.fixture
def prolific(settings):
    with prolific_server() as server:
        settings.PROLIFIC_API, settings.PROLIFIC_TOKEN = server.url, TOKEN
        cache.clear()
        yield server


@pytest.fixture
def study(live_server, tmp_path) -> Study:
    study = planned(material(tmp_path, n_examples=2), scheme="SSA", raters=0)
    set_qualification(study, {"e1-cool": ItemToStore(YES, "It answers in full.")}, 0.7, None)
    open_study(study, researcher())
    platform_of(study, most_per_group=1, most_units=2)
    return study


def sent(server: ProlificServer, study: Study, person: str, status: str = "ACTIVE") -> str:
    """Return the address to which Prolific sends a person, whose submission it has."""
    server.put(f"{person}-visit", person, "s1", status)
    ids = f"PROLIFIC_PID={person}&STUDY_ID=s1&SESSION_ID={person}-visit"
    return f"{reverse('join', args=[study.link.token])}?{ids}"


def press(page: Page, keys: str) -> None:
    page.wait_for_load_state()
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")


def qualify(page: Page, keys: str) -> None:
    page.get_by_role("button", name="I agree").press("Enter")
    page.get_by_role("link", name="Begin").press("Enter")
    page.get_by_role("button", name="Begin").press("Enter")
    expect(page.locator("form[data-keys=questions]")).to_be_visible()
    press(page, keys)
    expect(page.get_by_text("It answers in full.")).to_be_visible()
    page.keyboard.press("Enter")


def test_a_whole_visit_from_prolific(
    page: Page,
    browser: Browser,
    live_server,
    prolific: ProlificServer,
    study: Study,
    sign_in: Callable[[User], None],
    console_errors: list[str],
):
    # Ann does not agree. Nothing is stored.
    page.goto(sent(prolific, study, "ann"))
    page.get_by_role("button", name="I do not agree").press("Enter")
    expect(page.locator(".code-box-url")).to_have_text("BACK1234")
    assert not Rater.objects.exists()

    # Bob agrees and does not qualify: his place is free again.
    page.goto(sent(prolific, study, "bob"))
    qualify(page, "n")
    expect(page.get_by_role("heading", name="You did not qualify")).to_be_visible()
    page.get_by_role("button", name="Continue").press("Enter")
    expect(page.locator(".code-box-url")).to_have_text("OUT12345")
    page.context.clear_cookies()

    # Cleo qualifies, rates one unit, goes on in another browser, and finishes.
    page.goto(sent(prolific, study, "cleo"))
    qualify(page, "yy")
    expect(page.get_by_role("heading", name="You qualified")).to_be_visible()
    page.get_by_role("button", name="Rate the first unit").press("Enter")
    expect(page.locator(".meter")).to_contain_text("0 of 2")
    press(page, "yy")
    expect(page.locator(".meter")).to_contain_text("1 of 2")
    context = browser.new_context(base_url=live_server.url)
    elsewhere = context.new_page()
    elsewhere.goto(sent(prolific, study, "cleo"))
    elsewhere.get_by_role("link", name="Continue unit").press("Enter")
    expect(elsewhere.locator(".meter")).to_contain_text("1 of 2")
    press(elsewhere, "yn")
    expect(elsewhere.locator(".code-box-url")).to_have_text("DONE1234")
    back = elsewhere.get_by_role("link", name="Back to the platform")
    expect(back).to_have_attribute("href", "https://platform.test/end?cc=DONE1234")
    context.close()

    # All places are taken, until Prolific says that a place was given back in the middle.
    page.context.clear_cookies()
    page.goto(sent(prolific, study, "dan"))
    page.get_by_role("button", name="I agree").press("Enter")
    expect(page.get_by_text("All places of this study are taken.")).to_be_visible()
    console_errors[:] = [error for error in console_errors if "/join/" not in error]  # it is a 410
    prolific.put("cleo-visit", "cleo", "s1", "AWAITING REVIEW")
    follow_visits()
    cleo = Participant.objects.get(person="cleo")
    assert (cleo.outcome, cleo.submission) == ("done", "AWAITING REVIEW")

    # A researcher approves Cleo on a click.
    sign_in(researcher())
    page.goto(reverse("annotation:payments", args=[study.slug]))
    expect(page.get_by_text("cleo", exact=False)).to_have_count(0)
    page.get_by_role("button", name=f"Approve {cleo.rater.code}").press("Enter")
    expect(page.get_by_role("main")).to_contain_text("approved")
    assert prolific.status_of("cleo-visit") == "APPROVED"


def test_a_person_who_gives_back_or_stays_away_makes_room(
    page: Page, prolific: ProlificServer, study: Study
):
    page.goto(sent(prolific, study, "eve"))
    qualify(page, "yy")
    page.get_by_role("button", name="Rate the first unit").press("Enter")
    press(page, "yy")
    expect(page.locator(".meter")).to_contain_text("1 of 2")
    page.goto(reverse("annotation:my-studies"))
    page.get_by_role("button", name="Give my place back").press("Enter")
    expect(page.locator(".code-box-url")).to_have_text("BACK1234")
    eve = Rater.objects.get(participant__person="eve")
    assert eve.is_excluded
    page.context.clear_cookies()

    page.goto(sent(prolific, study, "fay"))
    qualify(page, "yy")
    expect(page.get_by_role("heading", name="You qualified")).to_be_visible()
    page.get_by_role("button", name="Rate the first unit").press("Enter")
    expect(page.locator("form[data-keys=questions]")).to_be_visible()
    prolific.put("fay-visit", "fay", "s1", "TIMED-OUT")
    follow_visits()
    assert Participant.objects.get(person="fay").outcome == "timed_out"
    assert not Assignment.objects.filter(rater__participant__person="fay").exists()
    page.context.clear_cookies()

    page.goto(sent(prolific, study, "gus"))
    qualify(page, "yy")
    expect(page.get_by_role("heading", name="You qualified")).to_be_visible()
    assert Participant.objects.filter(consented_at__gt=timezone.now() - timedelta(hours=1)).exists()
