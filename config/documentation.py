"""The documents of docs/ as the site serves them: pages of HTML, their sections, and a search."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from os.path import isfile
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from accounts.glossary import GLOSSARY, anchor_of
from accounts.search_words import words_of

DOCS = Path(settings.BASE_DIR) / "docs"
MOST_HITS = 40
EXCERPT_LENGTH = 260  # characters
WORDS_BEFORE = 80  # characters of an excerpt before the first word that was found


class Section(NamedTuple):
    """A heading of a document with the text below it. The first section has no anchor."""

    title: str
    anchor: str
    level: int
    text: str


class Document(NamedTuple):
    """A file of docs/: its name is its path without '.md', and `lede` is its first sentence."""

    name: str
    title: str
    lede: str
    html: SafeString
    sections: tuple[Section, ...]

    @property
    def contents(self) -> list[Section]:
        return [section for section in self.sections if section.level == 2]

    @property
    def is_decision(self) -> bool:
        return self.name.startswith("decisions/")


class Hit(NamedTuple):
    """A section that has all words of a search. `excerpt` is some of its text, as HTML."""

    document: Document
    section: Section
    excerpt: SafeString

    @property
    def address(self) -> str:
        return address_of(self.document.name, self.section.anchor)


def documents() -> list[Document]:
    """Return all documents by title, and the decisions after them by number."""
    found = [_read(file, file.stat().st_mtime_ns) for file in DOCS.rglob("*.md")]
    return sorted(
        found, key=lambda each: (each.is_decision, each.name if each.is_decision else each.title)
    )


def document_of(name: str) -> Document:
    """Return the document of this name.

    Raises:
        LookupError: docs/ has none.
    """
    file = DOCS / f"{name}.md"
    # A name may be too long for a file. Then `isfile` says no, and `Path.is_file` fails.
    if ".." in Path(name).parts or not file.is_relative_to(DOCS) or not isfile(file):
        raise LookupError(f"docs/ has no document {name!r}.")
    return _read(file, file.stat().st_mtime_ns)


def _name_of(file: Path) -> str:
    return file.relative_to(DOCS).with_suffix("").as_posix()


def address_of(name: str, anchor: str = "") -> str:
    """Return the address of a document on the site, or of one of its sections."""
    address = reverse("docs-page", args=[name])
    return f"{address}#{anchor}" if anchor else address


def search(asked: str) -> list[Hit]:
    """Return the sections that have every word, at the start of a word; headings come first.

    Only `words_of` the text are looked for.
    """
    used = words_of(asked).used
    words = [re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE) for word in used]
    if not words:
        return []
    found = [
        (document, section)
        for document in documents()
        for section in document.sections
        if all(word.search(f"{section.title} {section.text}") for word in words)
    ]

    def rank(place: tuple[Document, Section]) -> tuple[int, bool]:
        document, section = place
        return -sum(bool(word.search(section.title)) for word in words), document.is_decision

    return [
        Hit(document, section, _excerpt(section.text, words))
        for document, section in sorted(found, key=rank)[:MOST_HITS]
    ]


def _excerpt(text: str, words: Sequence[re.Pattern[str]]) -> SafeString:
    """Return a part of a text as HTML, from shortly before the first of the words, all marked."""
    places = sorted(found.span() for word in words for found in word.finditer(text))
    start = max(0, (places[0][0] if places else 0) - WORDS_BEFORE)
    start = text.rfind(" ", 0, start) + 1
    end = len(text)
    if end > start + EXCERPT_LENGTH:
        end = text.rfind(" ", start, start + EXCERPT_LENGTH)
    pieces = ["… " if start else ""]
    here = start
    for begins, ends in places:
        if here <= begins and ends <= end:
            pieces += [escape(text[here:begins]), f"<mark>{escape(text[begins:ends])}</mark>"]
            here = ends
    pieces += [escape(text[here:end]), " …" if end < len(text) else ""]
    return mark_safe("".join(pieces))


# --- from a file to a page ------------------------------------------------------------------


@lru_cache(maxsize=256)
def _read(file: Path, modified_ns: int) -> Document:
    """Read a document. A changed file has another `modified_ns`, and is read again."""
    tokens = _MARKDOWN.parse(file.read_text(encoding="utf-8"))
    _name_headings(tokens)
    if file == GLOSSARY:
        _name_terms(tokens)
    _empty_heads_to_cells(tokens)
    for token in tokens:
        token.children = list(_with_links_of_the_site(token.children or [], file))
    sections = tuple(_sections_of(tokens))
    html = _MARKDOWN.renderer.render(_without_title(tokens), _MARKDOWN.options, {})
    return Document(
        name=_name_of(file),
        title=sections[0].title,
        lede=_first_sentence(tokens),
        html=mark_safe(html),  # the parser escapes what is not Markdown
        sections=sections,
    )


def _name_headings(tokens: Sequence[Token]) -> None:
    """Give each heading the id that it has on GitHub, so that links work in both places."""
    n_of: dict[str, int] = {}
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            anchor = re.sub(r"[^\w\- ]", "", _words(inline).lower()).replace(" ", "-")
            n = n_of[anchor] = n_of.get(anchor, -1) + 1
            token.attrSet("id", f"{anchor}-{n}" if n else anchor)


def _name_terms(tokens: Sequence[Token]) -> None:
    """Give each term of the glossary an id: the bold words in a table's first column."""
    for token, inline in pairwise(tokens):
        if token.type == "td_open":
            for mark, word in pairwise(inline.children or []):
                if mark.type == "strong_open":
                    mark.attrSet("id", anchor_of(word.content))


def _empty_heads_to_cells(tokens: Sequence[Token]) -> None:
    """Make an empty head of a column an empty cell, because a head without words names nothing."""
    for token, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token.type == "th_open" and not inline.content:
            token.tag = closing.tag = "td"


def _with_links_of_the_site(tokens: Iterable[Token], file: Path) -> Iterator[Token]:
    """Yield tokens whose links lead to pages of the site. A link to other files becomes text."""
    is_text = False
    for token in tokens:
        if token.type == "link_open":
            address = _address_of(str(token.attrGet("href")), file)
            is_text = address is None
            token.attrSet("href", address or "")
        if not (is_text and token.type in ("link_open", "link_close")):
            yield token


def _address_of(link: str, file: Path) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or not parts.path:
        return link
    linked = Path(os.path.normpath(file.parent / parts.path))
    if linked.suffix != ".md" or not linked.is_relative_to(DOCS) or not linked.is_file():
        return None
    return address_of(_name_of(linked), parts.fragment)


def _sections_of(tokens: Sequence[Token]) -> Iterator[Section]:
    title, anchor, level, texts = "", "", 1, list[str]()
    for before, token in pairwise([Token("", "", 0), *tokens]):
        if before.type == "heading_open":
            if title:
                yield Section(title, anchor, level, " ".join(texts))
            title, level, texts = _words(token), int(before.tag[1]), []
            anchor = str(before.attrGet("id")) if level > 1 else ""
        elif token.type in ("inline", "fence", "code_block"):
            texts.append(_words(token))
    yield Section(title, anchor, level, " ".join(texts))


def _words(token: Token) -> str:
    """Return the text of a heading, a paragraph, a cell or a block of code."""
    if token.type != "inline":
        return " ".join(token.content.split())
    return "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in token.children or []
    )


def _without_title(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens below the heading of level 1, which stands in the page's head."""
    return list(tokens[3:])


def _first_sentence(tokens: Sequence[Token]) -> str:
    """Return the first sentence of the paragraph below the title; "" where there is none."""
    if len(tokens) < 5 or tokens[3].type != "paragraph_open":
        return ""
    found = re.match(r".+?[.!?](?=\s|$)", _words(tokens[4]))
    return found[0] if found else ""


# --- what differs from plain HTML -----------------------------------------------------------


def _table_open(self: Any, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    env["n_tables"] = env.get("n_tables", 0) + 1
    name = f"Table {env['n_tables']}"
    return (
        f'<div class="scroll-x" tabindex="0" role="group" aria-label="{name}">'
        f'<table class="table"><caption class="vh">{name}</caption>'
    )


def _table_close(self: Any, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    return "</table></div>"


def _code(self: Any, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    env["n_codes"] = env.get("n_codes", 0) + 1
    name = f"Text to type or copy, {env['n_codes']}"
    text = escape(tokens[place].content)
    return f'<pre tabindex="0" role="group" aria-label="{name}"><code>{text}</code></pre>'


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
_MARKDOWN.add_render_rule("table_open", _table_open)
_MARKDOWN.add_render_rule("table_close", _table_close)
_MARKDOWN.add_render_rule("fence", _code)
_MARKDOWN.add_render_rule("code_block", _code)
