"""The addresses that an answer leads to."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit

SITE = "http://localhost"
NOT_OURS = ("/static/",)
NOT_FOLLOWED = frozenset({"action", "hx-post", "hx-delete", "hx-put", "value"})


class Link(NamedTuple):
    address: str
    is_fragment: bool = False  # htmx asks for it
    is_next_page: bool = False  # a further page of the API; all of them are followed


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            is_address = name in ("href", "hx-get", "src") or (value or "").startswith("/")
            if value and is_address and name not in NOT_FOLLOWED:
                self.found.append((value, name == "hx-get"))


def links_in(address: str, content_type: str, body: bytes) -> Iterator[Link]:
    """Yield the links within the site that are on a page or in an answer of the API."""
    if content_type.startswith("text/html"):
        parser = _Links()
        parser.feed(body.decode("utf-8", "replace"))
        for value, is_fragment in parser.found:
            if inside := _inside(address, value):
                yield Link(inside, is_fragment)
    elif content_type.startswith("application/json") and "/api/" in address:
        yield from _links_of_api(address, json.loads(body))


def _links_of_api(address: str, answer: Any) -> Iterator[Link]:
    rows = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        return
    if following := _inside(address, answer.get("next") or ""):
        yield Link(following, is_next_page=True)
    base = urlsplit(address).path
    for row in rows:
        keys = [row.get(name) for name in ("id", "slug")] if isinstance(row, dict) else []
        yield from (Link(f"{base}{key}/") for key in keys if key is not None)


def _inside(address: str, value: str) -> str:
    """Return the address that a link leads to; "" if it is outside the site or on the same page."""
    if not value or value.startswith("#"):
        return ""
    url, _ = urldefrag(urljoin(SITE + address, value))
    parts = urlsplit(url)
    if f"{parts.scheme}://{parts.netloc}" != SITE or parts.path.startswith(NOT_OURS):
        return ""
    return parts.path + (f"?{parts.query}" if parts.query else "")
