"""Moments in the reader's time zone, and tabs that show that more follow."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluation.models import MetricRun
from tests.conftest import session_of
from tests.evaluation.metric_runs import mill, requested

pytestmark = pytest.mark.django_db(transaction=True)

FADES = """expected => ["left", "right"].map(side => parseFloat(
    getComputedStyle(document.querySelector(".nav")).getPropertyValue(`--fade-${side}`)) > 0
).join() === expected"""


@pytest.fixture
def run_address(tmp_path, rosa):
    run = requested(mill(tmp_path / "mill"), rosa)
    MetricRun.objects.update(created_at=datetime(2026, 3, 4, 22, 30, tzinfo=UTC))
    return reverse("evaluation:run", args=[run.pk])


def opened_in(browser, live_server, user, **context):
    """Return a page of a browser with these settings, in which a user is signed in."""
    own = browser.new_context(base_url=live_server.url, **context)
    own.add_cookies([{"name": "sessionid", "value": session_of(user), "url": live_server.url}])
    return own.new_page()


def test_a_moment_is_in_the_reader_s_time_zone(browser, live_server, rosa, run_address):
    page = opened_in(browser, live_server, rosa, timezone_id="Asia/Tokyo")

    page.goto(run_address)

    moment = page.locator("time").first
    expect(moment).to_have_text("5 Mar 2026, 07:30")  # nine hours ahead of UTC
    expect(moment).to_have_attribute("title", "Asia/Tokyo; 4 Mar 2026, 22:30 UTC")
    expect(moment).to_have_attribute("datetime", "2026-03-04T22:30:00+00:00")


def test_without_a_script_a_moment_is_in_utc(browser, live_server, rosa, run_address):
    page = opened_in(
        browser, live_server, rosa, timezone_id="Asia/Tokyo", java_script_enabled=False
    )

    page.goto(run_address)

    expect(page.locator("time").first).to_have_text("4 Mar 2026, 22:30 UTC")


def test_on_a_phone_the_main_tabs_fade_where_they_are_cut(page, sign_in, adam):
    sign_in(adam)
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(reverse("home"))
    tabs = page.get_by_role("navigation", name="Main")
    assert tabs.evaluate("tabs => tabs.scrollWidth > tabs.clientWidth")

    def expect_fades(left_and_right):
        page.wait_for_function(FADES, arg=left_and_right)

    expect_fades("false,true")

    tabs.evaluate("tabs => tabs.scrollTo(tabs.scrollWidth, 0)")
    expect_fades("true,false")

    page.set_viewport_size({"width": 1440, "height": 900})
    expect_fades("false,false")
