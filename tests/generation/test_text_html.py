"""Texts as pages show them: plain paragraphs, and rendered Markdown."""

import re
import time
from typing import NamedTuple
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.http import QueryDict
from django.template import Context, RequestContext
from django.utils.safestring import mark_safe
from lxml import html

from generation.templatetags.texts import as_read, by_paragraph
from generation.text_html import (
    DELETED,
    KEEPER,
    LONGEST_KEPT,
    LONGEST_RENDERED,
    LOOK_EVERY,
    forget_texts,
    markdown_html,
    markdown_words,
    plain_html,
)

ARABIC = "أغلق المصنع."


class Piece(NamedTuple):
    """A piece of a text, which may have links."""

    text: str
    links: tuple[str, ...] = ()


def directions(text: str) -> list[tuple[str, str | None]]:
    """Return each element that has text of its own, in order, and its direction."""
    root = html.fromstring(f"<div>{text}</div>")
    return [(each.tag, each.get("dir")) for each in root.iter() if (each.text or "").strip()]


# --- plain paragraphs ------------------------------------------------------------------------


def test_each_paragraph_has_its_own_direction_and_keeps_its_line_ends():
    shown = plain_html(f"One\ntwo\r\n\r\n{ARABIC}\n \nthree\n")

    assert shown == (
        '<p dir="auto">One<br>two</p>\n'
        f'<p lang="ar" dir="auto">{ARABIC}</p>\n<p dir="auto">three</p>'
    )


def test_markup_in_a_plain_text_is_shown_as_typed():
    assert plain_html("<b>a</b> & **b**") == ('<p dir="auto">&lt;b&gt;a&lt;/b&gt; &amp; **b**</p>')


@pytest.mark.parametrize(
    ("n_more", "query", "is_marked_up"),
    [(0, "", True), (1, "", False), (1, "page=2", False), (1, "page=2&render=all", True)],
)
def test_long_markdown_is_rendered_only_where_that_was_asked_for(rf, n_more, query, is_marked_up):
    text = "**a** <b>" + "x" * (LONGEST_RENDERED - 9 + n_more)
    shown = as_read(RequestContext(rf.get(f"/rate/?{query}")), text, "markdown")

    root = html.fromstring(f"<div>{shown}</div>")
    assert bool(root.xpath("//strong")) == is_marked_up
    assert bool(root.xpath("//a")) != is_marked_up
    assert not root.xpath("//b")
    for link in root.xpath("//a/@href"):
        assert QueryDict(link[1:]).dict() == QueryDict(query).dict() | {"render": "all"}


@pytest.mark.parametrize("text", ["", "  \n\n ", None])
def test_an_empty_text_has_no_paragraph(text):
    assert as_read(Context(), text, "plain") == as_read(Context(), text, "") == ""


def test_pieces_are_grouped_by_paragraph_and_a_mark_may_span_two():
    pieces = [Piece("One "), Piece("two\n\nthree"), Piece(" four\n\n")]

    grouped = by_paragraph(pieces)

    assert grouped == [[Piece("One "), Piece("two")], [Piece("three"), Piece(" four")]]


def test_a_piece_with_links_is_not_cut_because_its_links_have_one_place():
    cited = Piece("[Q1,\n\nborn: 1809]", ("cite-1",))

    assert by_paragraph([Piece("He. "), cited], "links") == [[Piece("He. "), cited]]


# --- Markdown --------------------------------------------------------------------------------


def test_markdown_is_rendered_with_lists_tables_and_bold_words():
    shown = markdown_html("A **mill**.\n\n- one\n- two\n\n|a|b|\n|-|-:|\n|1|2|\n")
    root = html.fromstring(shown)

    assert root.xpath("string(//strong)") == "mill"
    assert root.xpath("//li/text()") == ["one", "two"]
    assert root.xpath("//td/text()") == ["1", "2"]
    assert root.xpath("//td[2]/@class") == ["r"]  # aligned right, without an inline style
    assert not root.xpath("//@style")
    assert root.xpath("//table/parent::div/@tabindex") == ["0"]  # a wide table scrolls


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<style>p {color: red}</style>",
        "[link](javascript:alert(1))",
        "[link](JaVaScRiPt:alert(1))",
        "[link](data:text/html;base64,PHNjcmlwdD4=)",
        "[link](ftp://example.org/)",
        "[link](/accounts/sign-out/)",
        "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
        '[a](http://x.example "onmouseover=alert(1)")',
        '![" onerror="alert(1)](http://elsewhere.example/pixel.png)',
        "![](http://elsewhere.example/pixel.png)",
        "```html onload=alert(1)\n<script>\n```",
        "|<b>a</b>|\n|-|\n|<script>|\n",
        "# <b>head</b>",
    ],
)
def test_nothing_in_a_text_becomes_markup_of_its_own(text):
    root = html.fromstring(markdown_html(text))

    tags = {each.tag for each in root.iter()}
    assert not tags & {"script", "img", "style", "b", "iframe", "h1"}
    attributes = {name for each in root.iter() for name in each.attrib}
    assert not {name for name in attributes if name.startswith("on") or name in ("src", "style")}
    assert all(re.match(r"https?://|mailto:", link) for link in root.xpath("//@href"))


def test_a_link_leads_out_of_the_page_and_tells_nothing():
    [link] = html.fromstring(markdown_html("[mill](https://example.org/mill)")).xpath("//a")

    assert link.get("href") == "https://example.org/mill"
    assert set(link.get("rel").split()) == {"noopener", "nofollow"}
    assert link.get("target") == "_blank"


def test_an_image_is_named_and_not_loaded():
    root = html.fromstring(markdown_html("![The mill](https://example.org/mill.png)"))

    assert root.text_content().strip() == "Image: The mill"


def test_a_heading_of_a_text_is_no_heading_of_the_page():
    root = html.fromstring(markdown_html("# The mill\n\nIt closed.\n"))

    assert [each.text for each in root.xpath("//p")] == ["The mill", "It closed."]
    assert not root.xpath("//h1 | //h2")


def test_direction_is_set_by_paragraph_item_and_cell():
    shown = markdown_html(f"{ARABIC}\n\nEnglish.\n\n- {ARABIC}\n- item\n\n|a|{ARABIC}|\n|-|-|\n")

    assert directions(shown) == [
        ("p", "auto"),
        ("p", "auto"),
        ("li", "auto"),
        ("li", "auto"),
        ("th", "auto"),
        ("th", "auto"),
    ]


def test_citations_stay_as_they_are_written():
    text = "It closed [1][2]. He died [Q1, died: 1863]."

    assert html.fromstring(markdown_html(text)).text_content().strip() == text


def test_words_of_markdown_have_no_marks():
    assert " ".join(markdown_words("**It** [closed](http://a.b) & <b>\n\n- so").split()) == (
        "It closed & <b> so"
    )


# --- kept texts -----------------------------------------------------------------------------


@pytest.fixture
def drawn():
    """Return the texts that were drawn, and not kept, by a way of drawing of its own."""
    texts = []

    @KEEPER.keep
    def draw(text, said=""):
        texts.append(text)
        return mark_safe(text)

    yield draw, texts
    KEEPER.kept.pop()


@pytest.mark.parametrize("text_format", ["plain", "markdown"])
def test_a_text_is_drawn_once(text_format):
    KEEPER.empty()

    first, second = (as_read(Context(), "**once**", text_format) for _ in range(2))

    assert first is second


def test_a_long_text_is_not_kept(drawn):
    draw, texts = drawn

    for text in ("a" * LONGEST_KEPT, "b" * (LONGEST_KEPT + 1)) * 2:
        assert draw(text) == text

    assert [text[0] for text in texts] == ["a", "b", "b"]


def test_what_is_kept_is_forgotten_when_texts_are_deleted(drawn):
    draw, texts = drawn
    draw("once")
    plain = plain_html("once")

    forget_texts()
    draw("once")

    assert texts == ["once", "once"]
    assert plain_html("once") is not plain


def test_a_deletion_in_another_process_is_seen_a_second_later(drawn, monkeypatch):
    draw, texts = drawn
    draw("once")
    monkeypatch.setattr(KEEPER, "looked_at", time.monotonic() + 60)  # this process has just looked
    cache.set(DELETED, uuid4().hex, timeout=None)
    draw("once")
    assert texts == ["once"]

    monkeypatch.setattr(KEEPER, "looked_at", time.monotonic() - LOOK_EVERY)
    draw("once")

    assert texts == ["once", "once"]
