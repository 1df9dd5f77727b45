"""The help behind the '?' of each page: what it is for and what to do next, by page_help.toml."""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from config.documentation import address_of, document_of

PAGE_HELP = Path(__file__).parent / "page_help.toml"


class PageHelp(NamedTuple):
    """The help on one page. `docs` names a document, or a section of one: 'rating#gold-items'."""

    about: str
    next: str
    docs: str

    @property
    def docs_address(self) -> str:
        name, _, anchor = self.docs.partition("#")
        return address_of(name, anchor)

    @property
    def docs_title(self) -> str:
        """The title of the document, and of the section where one is named.

        Raises:
            LookupError: docs/ does not have them.
        """
        name, _, anchor = self.docs.partition("#")
        document = document_of(name)
        titles = {section.anchor: section.title for section in document.sections}
        if anchor not in titles:
            raise LookupError(
                f"docs/{name}.md has no section {anchor!r}, which page_help.toml names."
            )
        return f"{document.title}, {titles[anchor]}" if anchor else document.title


@cache
def all_page_help() -> Mapping[str, PageHelp]:
    """Return the help on every page by the name of its address, such as 'annotation:studies'."""
    with PAGE_HELP.open("rb") as file:
        return {name: PageHelp(**entry) for name, entry in tomllib.load(file).items()}


@cache
def _drawn(name: str, language: str | None, *, is_signed_in: bool) -> SafeString:
    """Return the HTML of the help on a page; `language` is the one that is spoken now."""
    said = all_page_help().get(name)
    given = {"help": said, "is_signed_in": is_signed_in}
    return mark_safe(render_to_string("_page_help.html", given) if said else "")


def page_help(request: HttpRequest) -> dict[str, Callable[[], SafeString]]:
    """Return `page_help` for all templates: the help on this page; "" where there is none."""

    def of_this_page() -> SafeString:
        here = request.resolver_match
        user = getattr(request, "user", AnonymousUser())
        return _drawn(
            here.view_name if here else "", get_language(), is_signed_in=user.is_authenticated
        )

    return {"page_help": of_this_page}
