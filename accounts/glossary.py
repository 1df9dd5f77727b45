"""The terms of docs/glossary.md, which pages explain where they stand."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt

GLOSSARY = Path(settings.BASE_DIR) / "docs" / "glossary.md"
_ROW = re.compile(r"^\| (\*\*.+?) \| (.+?) \|", re.MULTILINE)
_TERM = re.compile(r"\*\*(.+?)\*\*")
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable(["image", "link"])


class GlossaryTerm(NamedTuple):
    """A term as the glossary spells it, the HTML of its meaning, and its place in the page."""

    name: str
    meaning: SafeString
    anchor: str


class UnknownTermError(KeyError):
    """A template explains a term that docs/glossary.md does not have."""


def term_of(name: str) -> GlossaryTerm:
    """Return the term of this name.

    Raises:
        UnknownTermError: the glossary does not have it.
    """
    terms = _terms_of(GLOSSARY, GLOSSARY.stat().st_mtime_ns)
    if name not in terms:
        raise UnknownTermError(
            f"docs/glossary.md has no term {name!r}. Add its row there, or explain another term."
        )
    return terms[name]


def anchor_of(name: str) -> str:
    """Return the id by which the page of the glossary has a term."""
    return slugify(name)


@lru_cache(maxsize=1)
def _terms_of(file: Path, modified_ns: int) -> Mapping[str, GlossaryTerm]:
    """Read the glossary's tables. A changed file has another `modified_ns`, and is read again."""
    rows = _ROW.findall(file.read_text(encoding="utf-8"))
    return {
        name: GlossaryTerm(name, mark_safe(_MARKDOWN.renderInline(meaning)), anchor_of(name))
        for names, meaning in rows
        for name in _TERM.findall(names)
    }
