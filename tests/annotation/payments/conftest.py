"""A stand-in for Prolific, an open study with its platform, and people who come from there."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation.arrivals import Arrival
from annotation.models import CrowdPlatform, Participant, Study
from annotation.services.joining import Newcomer, end_visit, join_study
from tests.annotation.joining.test_platform import platform_of
from tests.annotation.makers import material, opened
from tests.prolific_server import TOKEN, ProlificServer, prolific_server
from tests.shown import shown


@pytest.fixture
def server() -> Iterator[ProlificServer]:
    with prolific_server() as running:
        yield running


@pytest.fixture
def prolific(server: ProlificServer, settings: Any) -> ProlificServer:
    """Return a stand-in whose token the site has."""
    settings.PROLIFIC_API, settings.PROLIFIC_TOKEN = server.url, TOKEN
    cache.clear()
    return server


@pytest.fixture
def study(db: None, tmp_path: Any) -> Study:
    return opened(material(tmp_path), scheme="SSA", raters=0)


@pytest.fixture
def platform(study: Study) -> CrowdPlatform:
    made: CrowdPlatform = platform_of(study, most_per_group=500)
    return made


def comes(
    platform: CrowdPlatform, name: str = "kim", server: ProlificServer | None = None
) -> Participant:
    """Return a person who comes from Prolific, where their submission is active."""
    if server:
        server.put(f"{name}-visit", f"{name}-id")
    arrival = Arrival(f"{name}-id", "s1", f"{name}-visit")
    newcomer = Newcomer(arrival=arrival, is_confirmed=server is not None)
    joined = join_study(platform.link, uuid4(), newcomer)
    return Participant.objects.select_related("rater__study").get(rater=joined.rater)


def finished(
    platform: CrowdPlatform,
    name: str = "kim",
    server: ProlificServer | None = None,
    outcome: Participant.Outcome = Participant.Outcome.DONE,
) -> Participant:
    """Return a person whose visit has ended, and whose submission waits at Prolific."""
    person = comes(platform, name, server)
    end_visit(person, outcome)
    if server:
        server.put(f"{name}-visit", f"{name}-id", status="AWAITING REVIEW")
        Participant.objects.filter(pk=person.pk).update(submission="AWAITING REVIEW")
    return person


@pytest.fixture
def page(platform, client_for, rosa):
    """Return a function that opens the page of payments."""
    client = client_for(rosa)
    address = reverse("annotation:payments", args=[platform.link.study.slug])
    return lambda query="": shown(client.get(f"{address}{query}"))


@pytest.fixture
def post(platform, client_for, rosa):
    """Return a function that sends a form of the page, and shows what comes."""
    client = client_for(rosa)
    slug = platform.link.study.slug

    def send(name, *args, **data):
        return client.post(
            reverse(f"annotation:{name}", args=[slug, *args]), data, follow=name[0] == "a"
        )

    return send
