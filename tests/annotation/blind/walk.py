"""A rater's walk through the site, and what each answer of the site shows of hidden things."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

from django.conf import settings
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from django.urls import Resolver404, resolve

from annotation.models import Enquiry, Rater, Study, Target, Unit
from evaluation.models import MetricRun, SavedView
from generation.models import Example, Response, Setup
from tests.annotation.blind.addresses import Arguments, Route, routes
from tests.annotation.blind.hidden_material import (
    GOLD_SCORE,
    MARK,
    SCORE,
    TEMPERATURE,
    THRESHOLD,
)
from tests.annotation.blind.planted import SEED, Planted, Viewer
from tests.annotation.makers import researcher

HIDDEN_WORD = re.compile(rf"{MARK}[\w-]*", re.IGNORECASE)
LINK = re.compile(r'(?:href|hx-get|formaction)="([^"#]+)')
CHANGING = re.compile(  # what differs each time that a page is made
    r'"X-CSRFToken": "\w+"|name="csrfmiddlewaretoken" value="\w+"|another \d+\s+minutes?'
)
NOT_FOUND, METHOD_NOT_ALLOWED = 404, 405
REFUSED = {403, METHOD_NOT_ALLOWED}
# Parameters that change a page of raters or of researchers.
QUERY = "?try=yes&item=1&from_answers=1&last=1&said=1&version=1&page=1&q=mill&end=done"
WITHOUT_ROWS = (
    *("pk of grids", "pk of calls", "call_pk", "pk of samples", "position", "token_id"),
    *(
        "pk of jobs",
        "pk of import",
        "pk of imports",
        "pk of mappings",
        "pk of models",
        "pk of constructions",
    ),
    *("pk of entities", "pk of questions", "pk of recipe"),
)
DOCUMENTS = "/docs/"


class Seen(NamedTuple):
    """One answer of the site to a rater."""

    name: str  # the name of the address, such as 'annotation:rate-unit'
    address: str
    status: int
    text: str  # the body and the headers

    @property
    def is_of_rating(self) -> bool:
        """Whether it is a page of a study, asked for without parameters."""
        return self.name.startswith("annotation:") and "?" not in self.address


def arguments_of(planted: Planted) -> list[Arguments]:
    """Return values for the arguments of addresses: one mapping for each study."""
    return [_arguments_of(study) for study in planted.studies]


def _arguments_of(study: Study) -> Arguments:
    values: dict[str, Sequence[Any]] = {
        "slug of studies": [study.slug],
        "study": [study.slug],
        "unit_id": _ids(Unit.objects.filter(arm__study=study)),
        "rater_id": _ids(study.raters.all())[:1],
        "user_id": list(study.raters.values_list("user", flat=True))[:1],
        "target_id": _ids(Target.objects.filter(units__arm__study=study))[:1],
        "enquiry_id": _ids(Enquiry.objects.filter(rater__study=study))[:1] or [1],
        "pk of setups": _ids(Setup.objects.filter(dataset=study.dataset))[:1],
        "pk of examples": _ids(Example.objects.filter(dataset=study.dataset))[:1],
        "pk of responses": _ids(Response.objects.filter(dataset=study.dataset))[:1],
        "pk of views": _ids(SavedView.objects.all()),
        "token": [study.link.token if hasattr(study, "link") else "none"],
        "place": [1, 2],
        "number": [1],
        "name": ["rating", "agreement"],  # a document, a figure
        "report": ["agreement", "raters"],
        "key": ["removal"],
        "kind": ["metric-run"],
        "format_key": ["csv", "json", "svg"],
        "rest": ["/"],
    }
    of_dataset = ("data", "datasets", "graphs", "tradeoffs")
    runs = _ids(MetricRun.objects.all())[:1]
    values |= {f"slug of {place}": [study.dataset.slug] for place in of_dataset}
    values |= {f"pk of {place}": runs for place in ("metrics", "runs", "<slug:kind>")}
    return values | {name: [1] for name in WITHOUT_ROWS}


def _ids(rows: Any) -> list[int]:
    return sorted(set(rows.values_list("pk", flat=True)))


def all_routes(planted: Planted) -> list[Route]:
    return list(routes(arguments_of(planted), WITHOUT_ROWS))


class Walk:
    """The answers that one rater gets, or a person who has not joined yet."""

    def __init__(self, client: Client, viewer: Viewer | None = None) -> None:
        self._client = client
        self._secret_of_others = _people_besides(viewer)
        self.may_see = set(viewer.may_see if viewer else ())
        self.seen: list[Seen] = []
        self.leaks: list[str] = []
        self.not_refused: list[str] = []
        self.refusing: set[str] = set()  # the routes that refuse this rater's role

    def ask(self, address: str, data: Any = None, **headers: str) -> Any:
        """Request an address, or send a form to it, and look for hidden things in the answer."""
        if data is None:
            answer = self._client.get(address, headers=headers)
        else:
            answer = self._client.post(address, data, headers=headers)
        seen = Seen(_name_of(address), address, answer.status_code, text_of(answer))
        self.seen.append(seen)
        self.leaks += [f"{address} shows {each}" for each in self._hidden_in(seen)]
        return answer

    def send_nothing(self, address: str) -> int:
        """Send an empty form to an address, undo what it changed, and return the status."""
        session = self._client.cookies[settings.SESSION_COOKIE_NAME].value
        with transaction.atomic():
            answer = self.ask(address, {})
            transaction.set_rollback(True)
        self._client.cookies[settings.SESSION_COOKIE_NAME] = session  # it may have signed out
        return int(answer.status_code)

    def try_every(self, every: Iterable[Route]) -> None:
        """Request all addresses, and send an empty form to those that take forms alone.

        After a refusal of the role, addresses that differ in their arguments alone are left out.
        One form for each kind of address is enough: other tests send complete ones.
        """
        for route in every:
            for address in route.addresses:
                status = self.ask(address).status_code
                is_for_forms = status == METHOD_NOT_ALLOWED
                if is_for_forms:
                    status = self.send_nothing(address)
                if status in REFUSED:
                    self.refusing.add(route.path)
                elif not route.is_filled_by_rows:
                    self.not_refused.append(f"{address} answers {status}")
                if status in REFUSED or (is_for_forms and status != NOT_FOUND):
                    break

    def follow_links(self) -> None:
        """Request what the pages so far lead to, then the same pages as scripts ask for them."""
        there = [seen for seen in self.seen if seen.status == 200]
        known = {seen.address for seen in self.seen}
        linked = {link for seen in there for link in _links(seen)}
        for address in sorted(linked - known):
            self.ask(address)
        for seen in there:
            if not seen.address.startswith(DOCUMENTS):
                self.ask(seen.address + QUERY)
                self.ask(seen.address, hx_request="true")

    def pages(self) -> dict[str, str]:
        """Return the rating pages that the rater reached, as they are made now, by address."""
        reached = {seen.address for seen in self.seen if seen.status == 200 and seen.is_of_rating}
        return {address: page_as_made(self._client.get(address).content) for address in reached}

    @property
    def reached(self) -> set[str]:
        """The names of the addresses that answered with a page."""
        return {seen.name for seen in self.seen if seen.status == 200}

    def _hidden_in(self, seen: Seen) -> Iterator[str]:
        asked = {seen.address, quote(seen.address), quote(seen.address, safe="")}
        text = unescape(seen.text)
        for each in asked:  # an answer may repeat what was asked for
            text = text.replace(each, "")
        yield from {word.lower() for word in HIDDEN_WORD.findall(text)} - self.may_see
        if seen.address.startswith(DOCUMENTS):
            return  # documents have numbers of published studies
        yield from HIDDEN_NUMBER.findall(text)
        yield from (word for word in self._secret_of_others if word in text)


def _numbers() -> Iterator[str]:
    for number in (SCORE, TEMPERATURE, GOLD_SCORE, THRESHOLD):
        yield f"{number:.5f}"[:5]
        yield f"{number:.1%}".removesuffix("%")
        yield from (f"{number:.0%}", f"{number:.0%}".replace("%", " %"))


# The seconds of a moment, such as those of 12:50:31.412, are no such number.
HIDDEN_NUMBER = re.compile(rf"(?<![\d:.])(?:{'|'.join(map(re.escape, (*_numbers(), str(SEED))))})")


def _people_besides(viewer: Viewer | None) -> set[str]:
    """Return the codes and names of all other raters, and the name of the researcher."""
    others = Rater.objects.exclude(user=viewer.user) if viewer else Rater.objects.all()
    names = others.values_list("code", "user__username")
    return {name for both in names for name in both} | {researcher().username}


def text_of(answer: HttpResponseBase) -> str:
    """Return the body of an answer with its headers."""
    # Each answer that does not stream has `content`, which its base class does not declare.
    body = b"".join(answer) if answer.streaming else answer.content  # type: ignore[attr-defined]
    headers = " ".join(f"{name}: {value}" for name, value in answer.items())
    return f"{unquote(headers)}\n{body.decode(errors='replace')}"


def page_as_made(content: bytes) -> str:
    """Return a page without what differs each time that it is made."""
    return CHANGING.sub("", content.decode())


def _name_of(address: str) -> str:
    try:
        return resolve(urlsplit(address).path).view_name
    except Resolver404:
        return "nothing"


def _links(seen: Seen) -> Iterator[str]:
    """Yield the addresses of the site that a page leads to; documents lead to documents only."""
    for link in LINK.findall(seen.text):
        address = urljoin(seen.address, unescape(link))
        is_ours = address.startswith("/") and not address.startswith("/static/")
        if is_ours and not seen.address.startswith(DOCUMENTS):
            yield address
