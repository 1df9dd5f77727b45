"""From home, each reading of the demo is at most two clicks away, without typing an address."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.access import Role
from accounts.models import User

pytestmark = pytest.mark.django_db(transaction=True)

# Each link of home, with the heading on the page behind it that the reader looks for.
ONE_CLICK = {
    "Raters’ agreement": "Rater agreement",
    "Merged against separate: uncertainty rate": "Merged against separate: uncertainty rate",
    "Trade-off": "Four clusters",
    "Recipe": "Recipe",
    "Prompts": "Prompts",
    "Gold items": "Gold items",
    "Threshold choice": "Threshold choice",
    "Experiments": "Experiments",
}


@pytest.fixture
def demo(live_server, settings) -> None:
    """Load what `make demo` loads."""
    settings.IS_ON_OWN_MACHINE = True
    call_command("load_demo", stdout=StringIO(), stderr=StringIO())
    settings.IS_ON_OWN_MACHINE = False


def test_researchers_and_admins_reach_each_reading_from_home(page: Page, sign_in, demo):
    for role in (Role.RESEARCHER, Role.ADMIN):
        sign_in(User.objects.get(username=role))
        for link, heading in ONE_CLICK.items():
            page.goto(reverse("home"))
            page.get_by_role("navigation", name="Read and ask").get_by_role(
                "link", name=link, exact=True
            ).click()
            expect(page.get_by_role("heading", name=heading, exact=True)).to_be_in_viewport()


def test_raters_reach_their_next_unit_from_home(page: Page, sign_in, demo):
    sign_in(User.objects.get(username=Role.RATER))
    page.goto(reverse("home"))

    page.get_by_role("button", name="Rate next").first.click()

    expect(page.get_by_role("button", name="Submit")).to_be_visible()
