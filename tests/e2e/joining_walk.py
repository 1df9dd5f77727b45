"""A walk over the pages of people who come by a study's link, and of those who make the link."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from django.urls import reverse
from playwright.sync_api import Page

from accounts.models import User
from annotation.models import Participant, Study
from annotation.services.joining import end_visit, stop_link, write_link
from annotation.services.qualification import ItemToStore, set_qualification
from annotation.services.studies import open_study
from tests.annotation.joining.test_platform import KIM, come, platform_of
from tests.annotation.makers import material, opened, planned, researcher
from tests.e2e.stops import Stop


def joining_stops(folder: Path) -> Iterator[Stop]:
    """Yield the pages of a study's link: for researchers, and for people who open it."""
    study = opened(material(folder / "joined"), scheme="SSA", raters=0, name="Joined by a link")
    page = reverse("annotation:study-link", args=[study.slug])
    yield Stop("study link, none", researcher(), page)
    link = write_link(study, None, most_per_group=5, code="mill")
    yield Stop("study link", researcher(), page)
    yield Stop(
        "platform, new", researcher(), reverse("annotation:study-platform", args=[study.slug])
    )
    address = reverse("join", args=[link.token])
    yield Stop("join", None, address)
    yield Stop("join, wrong code", None, address, partial(join_by, code="river"))
    yield Stop("joined", None, address, partial(join_by, code="mill"))
    yield Stop("come back", None, reverse("accounts:return"))
    stop_link(link, True, None)
    yield Stop("join, stopped", None, address)
    yield from platform_stops(folder)


def platform_stops(folder: Path) -> Iterator[Stop]:
    """Yield the pages of people whom a platform sends, from consent to each end of a visit."""
    study = planned(
        material(folder / "sent", n_examples=3), scheme="AIS", raters=0, name="Sent by a platform"
    )
    round_page = reverse("annotation:study-qualification", args=[study.slug])
    yield Stop("qualification round, none", researcher(), round_page)
    no = {"understand": 0}
    set_qualification(
        study,
        {"e1-cool": ItemToStore(no, "Nobody understands it."), "e2-cool": ItemToStore(no)},
        0.7,
        None,
    )
    yield Stop("qualification round", researcher(), round_page)
    open_study(study, researcher())
    platform = platform_of(study, most_per_group=9)
    address = reverse("join", args=[platform.link.token])
    ids = "&".join(f"{name}={value}" for name, value in KIM.items())
    yield Stop("platform", researcher(), reverse("annotation:study-platform", args=[study.slug]))
    yield Stop("consent tried", researcher(), f"{address}?try=yes")
    yield Stop("consent given on trial", researcher(), f"{address}?try=yes", agree)
    yield Stop("no id", None, address)
    yield Stop("consent", None, f"{address}?{ids}")
    yield Stop("consent refused", None, f"{address}?{ids}", refuse)
    participant = come(platform)
    user = participant.rater.user
    yield Stop("you were here before", None, f"{address}?{ids}")
    yield Stop("another person", user, f"{address}?PROLIFIC_PID=lee")
    yield Stop("my studies, before the round", user, reverse("annotation:my-studies"))
    item = reverse("annotation:qualification", args=[study.slug])
    yield Stop("item to qualify", user, item)
    yield Stop("item to qualify, nothing answered", user, item, submit)
    yield Stop("item answered", user, item, partial(answer, key="n"))
    yield Stop("item answered wrongly", user, item, partial(answer, key="yyyynyy"))
    yield Stop("qualification round, answered", researcher(), round_page)
    yield Stop("not qualified", user, reverse("annotation:end-of-round", args=[study.slug]))
    yield from (Stop(f"end: {outcome}", *_ended(study, outcome)) for outcome in Participant.Outcome)


def _ended(study: Study, outcome: Participant.Outcome) -> tuple[User | None, str]:
    participant = come(study.link.platform, f"person-{outcome}")
    end_visit(participant, outcome)
    return participant.rater.user, reverse("annotation:end-of-visit", args=[study.slug])


def join_by(page: Page, code: str) -> None:
    page.get_by_label("Code of the study").fill(code)
    page.get_by_role("button", name="Join the study").click()
    page.wait_for_load_state()


def agree(page: Page) -> None:
    page.get_by_role("button", name="I agree").click()
    page.wait_for_load_state()


def refuse(page: Page) -> None:
    page.get_by_role("button", name="I do not agree").click()
    page.wait_for_load_state()


def submit(page: Page) -> None:
    page.keyboard.press("Control+Enter")
    page.locator(".callout--bad:visible").first.wait_for()


def answer(page: Page, key: str) -> None:
    page.wait_for_load_state()
    for letter in key:
        page.keyboard.press(letter)
    page.keyboard.press("Control+Enter")
    page.get_by_role("heading", name="Your answers").wait_for()
