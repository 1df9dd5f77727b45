"""A walk over the pages of people who come by a study's link."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from django.urls import reverse
from playwright.sync_api import Page

from annotation.services.joining import stop_link, write_link
from tests.annotation.makers import material, opened, researcher
from tests.e2e.stops import Stop


def joining_stops(folder: Path) -> Iterator[Stop]:
    """Yield the pages of a study's link: for researchers, and for people who open it."""
    study = opened(material(folder / "joined"), scheme="SSA", raters=0, name="Joined by a link")
    page = reverse("annotation:study-link", args=[study.slug])
    yield Stop("study link, none", researcher(), page)
    link = write_link(study, None, most_per_group=5, code="mill")
    yield Stop("study link", researcher(), page)
    address = reverse("join", args=[link.token])
    yield Stop("join", None, address)
    yield Stop("join, wrong code", None, address, partial(join_by, code="river"))
    yield Stop("joined", None, address, partial(join_by, code="mill"))
    yield Stop("come back", None, reverse("accounts:return"))
    stop_link(link, True, None)
    yield Stop("join, stopped", None, address)


def join_by(page: Page, code: str) -> None:
    page.get_by_label("Code of the study").fill(code)
    page.get_by_role("button", name="Join the study").click()
    page.wait_for_load_state()
