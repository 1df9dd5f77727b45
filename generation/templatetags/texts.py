"""Filters and a tag that show texts of the material. Every template has them without loading."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

from django import template
from django.http import QueryDict
from django.template import Context
from django.utils.safestring import SafeString
from django.utils.text import normalize_newlines
from django.utils.translation import gettext_lazy

from generation.models import Dataset
from generation.text.languages import NOT_SAID
from generation.text_html import (
    BLANK_LINES,
    is_rendered,
    language_and_direction,
    markdown_html,
    plain_html,
    unrendered_html,
)

register = template.Library()
SPEAKERS = {"user": gettext_lazy("User"), "assistant": gettext_lazy("Assistant")}

# What a page may be of, beside a dataset, that belongs to one.
OF_DATASET = ("study", "run", "grid", "construction", "example", "response")


@register.filter
def paragraphs(text: str | None) -> SafeString:
    """Return words of a person as plain paragraphs, each with its own direction."""
    return plain_html(text or "")


@register.filter
def speaker(name: str) -> str:
    """Return who says a turn of a dialog; the usual names are in the language of the page."""
    return str(SPEAKERS.get(name.lower(), name[:1].upper() + name[1:]))


@register.simple_tag(takes_context=True)
def as_read(context: Context, text: str | None, text_format: str = "") -> SafeString:
    """Return a text of a dataset as a study's raters read it. Without a format, it is plain.

    Long Markdown is plain too, with a link to the page on which it is rendered.
    """
    said = _language_said(context)
    if not text or text_format != "markdown":
        return plain_html(text or "", said)
    request = getattr(context, "request", None)
    asked = request.GET if request else QueryDict()
    if is_rendered(text, asked):
        return markdown_html(text, said)
    return unrendered_html(text, asked, said)


@register.simple_tag(takes_context=True)
def lang(context: Context, text: object, said: str | None = None) -> SafeString:
    """Return ` lang="…" dir="auto"` for the element that has a text, or the pieces of one.

    Args:
        said: what languages it may be in; None: what the dataset of the page says.
    """
    words = "".join(piece.text for piece in text) if isinstance(text, list) else str(text or "")
    return language_and_direction(words, _language_said(context) if said is None else said)


def _language_said(context: Context) -> str:
    """Return what the dataset of a page says about its language; "" on a page of none."""
    of_dataset = (getattr(context.get(name), "dataset", None) for name in OF_DATASET)
    for dataset in chain([context.get("dataset")], of_dataset):  # each costs a statement
        if isinstance(dataset, Dataset):
            return dataset.language
    return NOT_SAID


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
