"""Visits pages, files and the API, as an admin, a researcher, a rater and without an account."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from django.test import Client
from django.urls import (
    NoReverseMatch,
    Resolver404,
    URLPattern,
    URLResolver,
    get_resolver,
    resolve,
    reverse,
)

from accounts.models import User
from annotation.models import Study
from generation.models import Dataset

from .collection import Answer, Collector
from .links import Link, links_in

HEADERS = ("Content-Type", "Content-Disposition", "Location", "HX-Redirect")
MOST_TRIED = 60  # parameter values tried for an address that no link leads to
Kind = tuple[Any, ...]


class Persona(NamedTuple):
    name: str  # user name of a demo account; "": not signed in
    most: int  # most addresses of a kind; only one for files and for addresses with a query
    # Whether it follows links; if not, it visits the first persona's first address of each name.
    is_led_on: bool = True


PERSONAS = (
    Persona("admin", 2),
    Persona("researcher", 1, is_led_on=False),  # most of its pages are the same as an admin's
    Persona("rater", 2),
    Persona("", 1),
)


def crawl_everybody(collector: Collector) -> None:
    """Crawl as each persona; later ones also visit the addresses that the first one saw first."""
    visited: dict[str, str] = {}  # the first address of each name
    for persona in PERSONAS:
        crawl = Crawl(persona, collector)
        crawl.follow([Link("/")])
        if persona.is_led_on:
            crawl.visit_unlinked()
        crawl.follow([Link(address) for address in visited.values()])
        visited = visited or crawl.first_addresses()


class Crawl:
    """The visits of one persona to the site."""

    def __init__(self, persona: Persona, collector: Collector) -> None:
        self._persona, self._collector = persona, collector
        self._client = Client(raise_request_exception=False, SERVER_NAME="localhost")
        if persona.name:
            self._client.force_login(
                User.objects.get(username=persona.name), "django.contrib.auth.backends.ModelBackend"
            )
        self._answers: dict[Link, int] = {}
        self._n_of_kind: Counter[Kind] = Counter()

    def follow(self, links: Iterable[Link]) -> None:
        """Visit links, then the links on these pages, level by level, up to a limit per kind."""
        level = set(links)
        while level:
            following: set[Link] = set()
            for link in sorted(level):
                if self._is_wanted(link):
                    following.update(self._ask(link)[1])
            level = following - self._answers.keys() if self._persona.is_led_on else set()

    def first_addresses(self) -> dict[str, str]:
        """Return the first visited address of each URL name."""
        first: dict[str, str] = {}
        for link in self._answers:
            if not link.is_fragment:
                first.setdefault(str(kind_of(link)[0]), link.address)
        return first

    def visit_unlinked(self) -> None:
        """Visit addresses that no link leads to, with parameter values from other addresses."""
        values: dict[str, set[str]] = {
            "slug": {
                *Dataset.objects.values_list("slug", flat=True),
                *Study.objects.values_list("slug", flat=True),
            }
        }
        for link in self._answers:
            for name, value in _kwargs_of(link.address).items():
                values.setdefault(name, set()).add(str(value))
        known = {str(kind_of(link)[0]) for link in self._answers}
        for name, pattern in patterns(get_resolver()):
            if name not in known:
                self._visit_filled(name, pattern, values)

    def _visit_filled(self, name: str, pattern: URLPattern, values: dict[str, set[str]]) -> None:
        """Visit existing addresses of a name up to the limit; stop at a redirect or a refusal."""
        keys = _parameters(name, pattern)
        choices = [sorted(values.get(key, ()), key=_by_number) or ["1"] for key in keys]
        n_found = 0
        for filling in islice(product(*choices), MOST_TRIED):
            try:
                address = reverse(name, kwargs=dict(zip(keys, filling, strict=True)))
            except NoReverseMatch:
                continue
            status, links = self._ask(Link(address))
            if status == 404:
                continue
            n_found += 1
            self.follow(links)
            if status in (302, 403, 405) or n_found == self._persona.most:
                return

    def _is_wanted(self, link: Link) -> bool:
        if link in self._answers:
            return False
        if link.is_next_page:
            return True
        kind = kind_of(link)
        self._n_of_kind[kind] += 1
        parts = urlsplit(link.address)
        is_file = "." in parts.path.rpartition("/")[2]
        return self._n_of_kind[kind] <= (1 if is_file or parts.query else self._persona.most)

    def _ask(self, link: Link) -> tuple[int, list[Link]]:
        """Request an address and store the answer; return its status and the links in it."""
        response: Any = self._client.get(
            link.address, headers={"HX-Request": "true"} if link.is_fragment else {}
        )
        is_stream = getattr(response, "streaming", False)
        body = b"".join(response.streaming_content) if is_stream else response.content
        headers = {name: response[name] for name in HEADERS if name in response}
        self._answers[link] = response.status_code
        who = self._persona.name or "nobody"
        asked = "GET htmx" if link.is_fragment else "GET"
        self._collector.store(
            f"{who} {asked} {link.address}", Answer(response.status_code, headers, body)
        )
        found = list(links_in(link.address, headers.get("Content-Type", ""), body))
        if response.status_code in (301, 302) and headers["Location"].startswith("/"):
            found.append(Link(headers["Location"]))
        return response.status_code, found


def kind_of(link: Link) -> Kind:
    """Return a link's URL name, its parts that are not numbers, and the names in its query."""
    parts = urlsplit(link.address)
    try:
        match = resolve(parts.path)
    except Resolver404:
        return ("no such address",)
    words = sorted(str(value) for value in match.kwargs.values() if not isinstance(value, int))
    asked = sorted(parse_qs(parts.query, keep_blank_values=True))
    words = [word for word in words if not word.isdigit()]
    return (match.view_name, *words, *asked, link.is_fragment)


def patterns(
    resolver: URLResolver, namespaces: tuple[str, ...] = ()
) -> Iterator[tuple[str, URLPattern]]:
    """Yield every address of the site as its name and its pattern."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            inner = (*namespaces, entry.namespace) if entry.namespace else namespaces
            yield from patterns(entry, inner)
        elif entry.name:
            yield ":".join((*namespaces, entry.name)), entry


def _parameters(name: str, pattern: URLPattern) -> list[str]:
    """Return the names of an address's parameters, also of those before its own part."""
    namespace, _, own = name.rpartition(":")
    resolver: Any = get_resolver()
    for part in filter(None, namespace.split(":")):
        resolver = resolver.namespace_dict[part][1]
    found = resolver.reverse_dict.getlist(own)
    return list(found[0][0][0][1]) if found else list(pattern.pattern.converters)


def _kwargs_of(address: str) -> dict[str, Any]:
    try:
        return resolve(urlsplit(address).path).kwargs
    except Resolver404:
        return {}


def _by_number(value: str) -> tuple[int, str]:
    return (int(value) if value.isdigit() else 0, value)
