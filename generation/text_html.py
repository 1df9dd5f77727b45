"""The HTML of texts of the material: plain paragraphs, or rendered Markdown.

Each paragraph has a language and a direction of its own, because one text may have paragraphs in
Arabic and in English. HTML in a text is always shown as it was typed.

Where a text is `said` to be in a language, that is what its dataset says.
"""

import re
import time
from collections.abc import Sequence
from functools import lru_cache, wraps
from html import unescape
from typing import Any, Protocol
from uuid import uuid4

from django.core.cache import cache
from django.http import QueryDict
from django.utils.formats import number_format
from django.utils.html import escape, format_html, format_html_join, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import normalize_newlines
from django.utils.translation import get_language, gettext
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from generation.text.languages import NOT_SAID, language_of

# Pages of raters show the same texts again and again, so each process keeps the HTML of some. Texts
# of a few thousand characters take some megabytes. If all had 20,000, they and their HTML would
# take 80 MB, and twice as much in scripts whose letters take two bytes.
MOST_KEPT = 1000  # texts, plain and Markdown each
LONGEST_KEPT = 20_000  # characters; a longer text is drawn each time
DELETED = "texts.deleted"  # an entry of the cache, which every deletion of texts changes
LONGEST_RENDERED = 20_000  # characters of Markdown; a longer one takes seconds, and is asked for
RENDER = "render"  # the choice in an address that renders long Markdown
LOOK_EVERY = 1.0  # seconds
BLANK_LINES = re.compile(r"\n\s*\n")
WITH_DIRECTION = {"paragraph_open", "heading_open", "list_item_open", "th_open", "td_open"}


class Draw(Protocol):
    """A way of drawing a text, whose dataset may say its language."""

    def __call__(self, text: str, said: str = NOT_SAID) -> SafeString: ...


class _Keeper:
    """The HTML that this process keeps by text, for each way of drawing, until texts are deleted.

    A deletion in another process is seen a second later, with the next text that is drawn.
    """

    def __init__(self) -> None:
        self.kept: list[Any] = []
        self.deletion: str | None = None
        self.looked_at = 0.0

    def keep(self, draw: Draw) -> Draw:
        """Decorate a way of drawing, so that each text is drawn once."""

        @lru_cache(MOST_KEPT)
        def html_of(text: str, said: str, language: str | None) -> SafeString:
            return draw(text, said)

        self.kept.append(html_of)

        @wraps(draw)
        def draw_once(text: str, said: str = NOT_SAID) -> SafeString:
            if len(text) > LONGEST_KEPT:
                return draw(text, said)
            self.look_for_deletion()
            return html_of(text, said, get_language())  # some HTML has words of its own

        return draw_once

    def look_for_deletion(self) -> None:
        if time.monotonic() - self.looked_at < LOOK_EVERY:
            return
        deletion = cache.get(DELETED)
        if deletion != self.deletion:
            self.empty()
        self.deletion, self.looked_at = deletion, time.monotonic()

    def empty(self) -> None:
        for kept in self.kept:
            kept.cache_clear()


KEEPER = _Keeper()


def forget_texts() -> None:
    """Empty the kept HTML of texts in all processes, because texts were deleted."""
    cache.set(DELETED, uuid4().hex, timeout=None)
    KEEPER.empty()


class SafeMarkdown(MarkdownIt):
    """The site's only Markdown: no HTML, no images, and links to http, https and mailto only."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.enable("table")
        self.add_render_rule("image", _image)
        self.add_render_rule("link_open", _link_open)
        self.add_render_rule("table_open", _table_open)
        self.add_render_rule("table_close", _table_close)
        self.add_render_rule("th_open", _cell_open)
        self.add_render_rule("td_open", _cell_open)

    def validateLink(self, url: str) -> bool:
        """Return whether a link may lead to this address; if not, it is shown as it was typed."""
        return url.lower().startswith(("http://", "https://", "mailto:"))


def _image(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any
) -> str:
    """Return the name of an image. If it were loaded, its server would learn who reads the page."""
    name = renderer.renderInlineAsText(tokens[place].children, options, env)
    said = gettext("Image: {name}").format(name=name or gettext("without a name"))
    return format_html('<span class="image-name">{}</span>', said)


def _link_open(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any
) -> str:
    tokens[place].attrSet("rel", "noopener nofollow")
    tokens[place].attrSet("target", "_blank")  # a half-answered page stays open
    return renderer.renderToken(tokens, place, options, env)


def _table_open(*args: Any) -> str:
    frame = '<div class="scroll-x" tabindex="0" role="group" aria-label="{}">'
    return format_html(frame + '<table class="text-table">', gettext("Table"))


def _table_close(*args: Any) -> str:
    return "</table></div>"


def _cell_open(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any
) -> str:
    if tokens[place].attrs.pop("style", "") == "text-align:right":  # the site has no inline styles
        tokens[place].attrSet("class", "r")
    return renderer.renderToken(tokens, place, options, env)


MARKDOWN = SafeMarkdown()


def language_and_direction(text: str, said: str = NOT_SAID) -> SafeString:
    """Return the attributes of an element with a text: `lang`, if it is known, and `dir`."""
    language = language_of(text, said)
    said_so = format_html(' lang="{}"', language) if language else ""
    return format_html('{} dir="auto"', said_so)


def said_of_part(text: str, said: str) -> str:
    """Return what is said of the language of a text's parts: the language of the whole first.

    A part that is too short to tell, such as a name in Han, follows the whole.
    """
    return language_of(text, said) or said


def give_languages(tokens: Sequence[Token], said: str = NOT_SAID) -> None:
    """Give paragraphs, headings, list items and cells of Markdown their language and direction."""
    n_items = 0  # the number of list items that a token is in; an item has one direction
    for place, token in enumerate(tokens):
        if token.type in WITH_DIRECTION and not n_items:
            if language := language_of(_words_from(tokens, place), said):
                token.attrSet("lang", language)
            token.attrSet("dir", "auto")
        if token.type in ("list_item_open", "list_item_close"):
            n_items += token.nesting


def _words_from(tokens: Sequence[Token], place: int) -> str:
    """Return the words of the first line of Markdown from a token on."""
    line = next((token for token in tokens[place:] if token.type == "inline"), None)
    parts = (line.children or []) if line else []
    return "".join(part.content for part in parts if part.type == "text")


@KEEPER.keep
def markdown_html(text: str, said: str = NOT_SAID) -> SafeString:
    """Return Markdown as HTML. Its headings are lines in bold: pages have headings of their own."""
    tokens = MARKDOWN.parse(text)
    give_languages(tokens, said_of_part(text, said))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "p"
            if token.nesting > 0:
                token.attrSet("class", "heading-line")
    html = MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})
    return mark_safe(f'<div class="markdown">{html}</div>')  # the parser escapes the text


def is_rendered(text: str, asked: QueryDict) -> bool:
    """Return whether Markdown is rendered on a page: if it is not long, or if that was asked for.

    Args:
        asked: the choices in the address of the page.
    """
    return len(text) <= LONGEST_RENDERED or RENDER in asked


def unrendered_html(text: str, asked: QueryDict, said: str = NOT_SAID) -> SafeString:
    """Return long Markdown as plain paragraphs below a link to the same page with it rendered."""
    choices = asked.copy()
    choices[RENDER] = "all"
    note = format_html(
        '<p class="format-note">{} '
        '<a class="btn btn--small" href="?{}" target="_blank" rel="noopener">{}</a></p>',
        gettext("This text has {n} characters, so it is shown as plain text.").format(
            n=number_format(len(text), use_l10n=True, force_grouping=True)
        ),
        choices.urlencode(),
        gettext("Show it as rendered Markdown, in a new tab"),
    )
    return note + plain_html(text, said)


def markdown_words(text: str) -> str:
    """Return the words of Markdown, without its marks."""
    return unescape(strip_tags(markdown_html(text)))


@KEEPER.keep
def plain_html(text: str, said: str = NOT_SAID) -> SafeString:
    """Return a text as paragraphs, which blank lines separate. Single line ends are kept."""
    said = said_of_part(text, said)
    rows = (
        (language_and_direction(part, said), line_ends_kept(part)) for part in paragraphs_of(text)
    )
    return format_html_join("\n", "<p{}>{}</p>", rows)


def line_ends_kept(text: str) -> SafeString:
    """Return a text as HTML in which each line end is a new line."""
    return mark_safe(escape(text).replace("\n", "<br>"))


def paragraphs_of(text: str) -> list[str]:
    """Return the paragraphs of a text that are not empty."""
    parts = BLANK_LINES.split(normalize_newlines(text))
    return [part.strip() for part in parts if part.strip()]
