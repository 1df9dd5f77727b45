"""A walk over the pages of payments: who waits, a rejection, and Prolific's refusals."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from uuid import uuid4

from django.test import override_settings
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page

from annotation.arrivals import Arrival
from annotation.models import CrowdPlatform, Participant, StudyLink
from annotation.services.joining import Newcomer, end_visit, join_study, write_link, write_platform
from annotation.services.submissions import approve_submissions, reject_submission
from tests.annotation.makers import material, opened, rate_next, researcher
from tests.e2e.stops import SCRIPT, Stop
from tests.prolific_server import TOKEN, prolific_server

REASON = "You answered yes everywhere, also where no text was shown, as in the first three units. "
DONE, RETURNED = Participant.Outcome.DONE, Participant.Outcome.RETURNED


def payments_stops(folder: Path) -> Iterator[Stop]:
    """Yield the pages of payments, without a token and with one."""
    study = opened(material(folder / "paid"), scheme="SSA", raters=0, name="Paid by a platform")
    platform = platform_of(write_link(study, None, most_per_group=100))
    page = reverse("annotation:payments", args=[study.slug])
    who = researcher()
    yield Stop("payments, no people", who, page)
    at_work = came(platform)
    rate_next(at_work.rater)
    yield Stop("payments, none waits", who, page)
    waiting = [came(platform, DONE) for _ in range(12)]
    yield Stop("payments, many wait", who, f"{page}?ticked=all")
    approve_submissions(platform, [waiting[0].rater_id], who)
    reject_submission(waiting[1], Participant.Reason.FAILED_CHECK, REASON * 2, who)
    came(platform, RETURNED)
    yield Stop("payments, all", who, f"{page}?show=all")
    yield Stop("payments, none ticked", who, page, partial(press, name="Approve who is ticked"))
    rejection = reverse("annotation:reject-submission", args=[study.slug, waiting[2].rater_id])
    yield Stop("rejection", who, rejection)
    yield Stop("rejection, too short", who, rejection, partial(write, reason="Too bad."))
    yield Stop("rejection, to confirm", who, rejection, partial(write, reason=REASON * 2 + SCRIPT))
    yield from stops_with_a_token(platform, page)


def stops_with_a_token(platform: CrowdPlatform, page: str) -> Iterator[Stop]:
    """Yield the page while Prolific refuses, and while it does not answer."""
    who = researcher()
    Participant.objects.update(submission="AWAITING REVIEW", checked_at=timezone.now())
    approve_first = partial(press, name="Approve", first=True)
    with (
        prolific_server() as server,
        override_settings(PROLIFIC_API=server.url, PROLIFIC_TOKEN=TOKEN),
    ):
        yield Stop("payments, at Prolific", who, page)
        yield Stop("payments, refused", who, page, approve_first)
        why = "Prolific is out of order (503)."
        silent = {"silent_since": timezone.now(), "silent_because": why}
        CrowdPlatform.objects.filter(pk=platform.pk).update(**silent)
        yield Stop("payments, no answer", who, page)


def platform_of(link: StudyLink) -> CrowdPlatform:
    """Return a platform of a link with made-up codes."""
    codes = {f"code_{name}": name for name in ("done", "screened_out", "no_work", "returned")}
    platform = CrowdPlatform(link=link, consent="Do you agree?", **codes)
    write_platform(platform, None)
    return platform


def came(platform: CrowdPlatform, outcome: Participant.Outcome | None = None) -> Participant:
    """Return a person who came, rated a unit if there is one, and perhaps left."""
    key = uuid4()
    joined = join_study(platform.link, key, Newcomer(arrival=Arrival(key.hex, "s1", key.hex)))
    person = Participant.objects.select_related("rater__study").get(rater=joined.rater)
    rate_next(person.rater)
    if outcome:
        end_visit(person, outcome)
    return person


def press(page: Page, name: str, *, first: bool = False) -> None:
    button = page.get_by_role("button", name=name)
    (button.first if first else button).click()
    page.wait_for_load_state()


def write(page: Page, reason: str) -> None:
    page.get_by_role("radio").first.check()
    page.get_by_label("What you write to the person").fill(reason)
    press(page, "Continue")
