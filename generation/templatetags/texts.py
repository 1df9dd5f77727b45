"""Filters and a tag that show texts of the material. Every template has them without loading."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.http import QueryDict
from django.template import Context
from django.utils.safestring import SafeString
from django.utils.text import normalize_newlines
from django.utils.translation import gettext_lazy

from generation.text_html import (
    BLANK_LINES,
    is_rendered,
    markdown_html,
    plain_html,
    unrendered_html,
)

register = template.Library()
SPEAKERS = {"user": gettext_lazy("User"), "assistant": gettext_lazy("Assistant")}


@register.filter
def paragraphs(text: str | None) -> SafeString:
    """Return a text as plain paragraphs, each with its own direction."""
    return plain_html(text or "")


@register.filter
def speaker(name: str) -> str:
    """Return who says a turn of a dialog; the usual names are in the language of the page."""
    return str(SPEAKERS.get(name.lower(), name[:1].upper() + name[1:]))


@register.simple_tag(takes_context=True)
def as_read(context: Context, text: str | None, text_format: str) -> SafeString:
    """Return a text as a study's raters read it. Without a format, it is plain.

    Long Markdown is plain too, with a link to the page on which it is rendered.
    """
    if not text or text_format != "markdown":
        return paragraphs(text)
    request = getattr(context, "request", None)
    asked = request.GET if request else QueryDict()
    return markdown_html(text) if is_rendered(text, asked) else unrendered_html(text, asked)


@register.filter
def by_paragraph(pieces: Iterable[Any], kept_whole: str = "") -> list[list[Any]]:
    """Return the pieces of one text by paragraph, so that each paragraph gets its own direction.

    Args:
        pieces: named tuples with a `text`. A piece that spans paragraphs is cut.
        kept_whole: a field; a piece in which it is not empty stays whole.
    """
    found: list[list[Any]] = [[]]
    for piece in pieces:
        text = normalize_newlines(piece.text)
        is_whole = kept_whole and getattr(piece, kept_whole)
        parts = [text] if is_whole else BLANK_LINES.split(text)
        for place, part in enumerate(parts):
            if place:
                found.append([])
            if part:
                found[-1].append(piece._replace(text=part))
    return [paragraph for paragraph in found if any(piece.text.strip() for piece in paragraph)]
