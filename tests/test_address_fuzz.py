"""Every page is requested with values that no user types: no address makes a server error."""

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import QueryDict
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

from accounts.access import Role
from annotation.models import Study
from generation.models import Example
from tests.annotation.makers import material, opened, rate_next, raters_of
from tests.conftest import person, session_of
from tests.evaluation.pages import make_pilot

pytestmark = [pytest.mark.once, pytest.mark.faults]
AWKWARD = {
    "NUL": "%00",
    "a NUL inside": "a%00b",
    "300 characters": "a" * 300,
    "300 digits": "9" * 300,
    "not UTF-8": "%FF%FE%E9",
    "brackets": "%5B" * 3000,
    "a negative number": "-1",
    "infinity": "1e999",
}
SOUND = {"int": "1", "slug": "pilot", "str": "x", "path": "x"}


class Asked(QueryDict):
    """Parameters that remember which of them the code looked for."""

    names: set[str] = set()

    def __getitem__(self, key):
        Asked.names.add(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        Asked.names.add(key)
        return super().get(key, default)

    def getlist(self, key, default=None):
        Asked.names.add(key)
        return super().getlist(key, default)

    def __contains__(self, key):
        Asked.names.add(key)
        return super().__contains__(key)


def routes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    """Return every address in the form of the site's URL configuration."""
    for entry in resolver.url_patterns:
        if not isinstance(entry.pattern, RoutePattern):
            continue
        route = before + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield "/" + route
        else:
            yield from routes(entry, route)


def addresses(route: str, slugs: dict[str, str]) -> Iterator[str]:
    """Return the address with sound values, then with an awkward one in each place."""
    places = re.findall(r"<(?:(\w+):)?(\w+)>", route)

    def filled(awkward: str = "", at: int = -1) -> str:
        parts = iter(
            awkward if number == at else slugs.get(kind or "str", "x")
            for number, (kind, _) in enumerate(places)
        )
        return re.sub(r"<[^>]+>", lambda _: next(parts), route)

    yield filled()
    for at in range(len(places)):
        yield from (filled(awkward, at) for awkward in AWKWARD.values())


@pytest.fixture
def client(tmp_path, monkeypatch) -> Client:
    make_pilot(tmp_path)
    study = opened(material(tmp_path / "mill"))
    for rater in raters_of(study):
        rate_next(rater)
    client = Client(raise_request_exception=False)
    everything = person("everybody", *Role)
    client.cookies["sessionid"] = session_of(everything)
    monkeypatch.setattr(
        WSGIRequest, "GET", property(lambda self: Asked(self.META.get("QUERY_STRING", "")))
    )
    return client


def test_no_address_is_an_error_of_the_server(client):
    mill = Study.objects.exclude(dataset__slug="pilot").get()
    known = [
        SOUND | {"slug": "pilot", "int": str(Example.objects.order_by("pk")[0].pk)},
        SOUND | {"slug": mill.slug, "int": str(mill.pk)},
    ]
    faults, n_asked = [], 0
    for route in routes(get_resolver()):
        for values in known:
            sound, *awkward = addresses(route, values)
            Asked.names = set()
            asked = [sound, *awkward]
            client.get(sound)
            for name in sorted(map(str, Asked.names)):
                key = urlencode({name: ""})[:-1]
                asked += [f"{sound}?{key}={value}" for value in AWKWARD.values()]
            for address in asked:
                n_asked += 1
                status = client.get(address).status_code
                if status >= 500:
                    faults.append(f"{status} {address[:200]}")

    assert n_asked > 3000
    assert not faults, "\n".join(dict.fromkeys(faults))
