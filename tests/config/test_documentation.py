"""The pages of the documentation: what they show, who may read them, links, anchors and search."""

import re
from collections import Counter
from urllib.parse import urlsplit

import pytest
from django.urls import reverse

from accounts.search_words import words_of
from config import documentation
from config.documentation import DOCS, document_of, documents, search
from tests.shown import markup, shown

NAMES = sorted(file.relative_to(DOCS).with_suffix("").as_posix() for file in DOCS.rglob("*.md"))
each_document = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def small_docs(tmp_path, monkeypatch):
    """Use a folder with one document instead of docs/, and return its file."""
    monkeypatch.setattr(documentation, "DOCS", tmp_path)
    file = tmp_path / "guide.md"
    file.write_text(
        "# Guide\n\nOne sentence. Another.\n\n## The end\n\n<b>x</b> ![a](b.png)\n\n"
        "[code](../config/urls.py) [list](#the-end) [none](gone.md)\n\n"
        "### The end\n\nLast words.\n",
        encoding="utf-8",
    )
    return file


# --- files to pages -------------------------------------------------------------------------


def test_a_document_has_a_title_its_first_sentence_and_the_sections_of_its_headings(small_docs):
    [document] = documents()

    assert (document.name, document.title, document.lede) == ("guide", "Guide", "One sentence.")
    assert [(each.title, each.anchor, each.level) for each in document.sections] == [
        ("Guide", "", 1),
        ("The end", "the-end", 2),
        ("The end", "the-end-1", 3),
    ]
    assert [each.anchor for each in document.contents] == ["the-end"]


def test_markup_and_images_are_text_and_links_to_other_files_too(small_docs):
    html = document_of("guide").html

    assert "<b>" not in html
    assert "<img" not in html
    assert re.findall(r'href="([^"]*)"', html) == ["#the-end"]
    assert "code" in html
    assert "none" in html


def test_a_changed_file_is_read_again(small_docs):
    assert document_of("guide").title == "Guide"

    small_docs.write_text("# Other\n\nNew words.\n", encoding="utf-8")

    assert document_of("guide").title == "Other"


def test_headings_have_the_ids_that_github_gives_them():
    anchors = {section.anchor for section in document_of("metrics").sections}

    assert {"text-quality-g-eval", "humanauto-agreement", "mode-authors_code", "na"} <= anchors


@each_document
def test_no_page_has_an_id_twice(name: str):
    ids = Counter(re.findall(r' id="([^"]+)"', document_of(name).html))

    assert [anchor for anchor, n in ids.items() if n > 1] == []


def test_terms_of_the_glossary_have_ids():
    html = document_of("glossary").html

    for anchor in ("ceiling", "uncertainty-rate", "merged", "na"):
        assert f'<strong id="{anchor}">' in html


# --- search ---------------------------------------------------------------------------------


def test_a_search_finds_sections_with_all_words_and_marks_them(small_docs):
    [hit] = search("LAST wor")

    assert (hit.section.anchor, hit.address) == ("the-end-1", "/docs/guide/#the-end-1")
    assert hit.excerpt == "<mark>Last</mark> <mark>wor</mark>ds."
    assert search("ast") == []  # no word begins so
    assert search("last sentence") == []  # no section has both
    assert search("  ") == []


def test_only_the_first_eight_different_words_are_looked_for(small_docs):
    first, ninth = "t th the e en end LAST last words", "nothing"
    small_docs.write_text("# Guide\n\n## The end\n\nLast words.\n", encoding="utf-8")

    [hit] = search(f"{first} {ninth}")

    assert words_of(f"{first} {ninth}").left_out == (ninth,)
    assert hit.excerpt == "<mark>Last</mark> <mark>words</mark>."


def test_sections_with_a_word_in_their_heading_come_first():
    first = search("ceiling")[0]

    assert (first.document.name, first.section.title) == ("metrics", "Ceiling")


def test_signs_in_a_search_are_looked_for_as_they_are():
    assert search("[NA]")[0].section.title == "[NA]"
    assert search("(((") == []


def test_an_excerpt_is_short_and_begins_near_the_first_word(small_docs):
    text = "word " * 100 + "needle " + "word " * 100
    small_docs.write_text(f"# Guide\n\n{text}\n", encoding="utf-8")

    [hit] = search("needle")

    # 80 characters stand before the word, which is 16 times 'word '. Of 260 characters, 173 are
    # left behind 'needle ', which is 34 times 'word ' and a part of the next.
    before, after = "word " * 16, " word" * 34
    assert hit.excerpt == f"… {before}<mark>needle</mark>{after} …"


# --- pages ----------------------------------------------------------------------------------

pages = pytest.mark.once


@pages
def test_the_list_has_every_document_and_the_decisions_last(client_for, rachel):
    page = shown(client_for(rachel).get("/docs/"))

    addresses = [link for link in page.addresses if link.startswith("/docs/") and link != "/docs/"]
    assert sorted(addresses) == sorted(f"/docs/{name}/" for name in NAMES)
    assert addresses[-1].startswith("/docs/decisions/")
    assert "/docs/decisions/" not in addresses[0]
    assert "one for each" not in page.text
    assert "Each term has one meaning" in page.text


@pages
def test_everyone_who_is_signed_in_may_read(
    client_for, client, rachel, rosa, adam, django_user_model
):
    without_role = django_user_model.objects.create_user("new")

    for user in (rachel, rosa, adam, without_role):
        assert client_for(user).get("/docs/").status_code == 200
        assert client_for(user).get("/docs/glossary/").status_code == 200
    for path in ("/docs/", "/docs/glossary/"):
        assert client.get(path).url.startswith("/accounts/sign-in/")
    assert client_for(rosa).post("/docs/").status_code == 405


@pages
@pytest.mark.parametrize(
    "path",
    [
        "none",
        "glossary.md",
        "../README",
        "..%2FREADME",
        "decisions",
        "decisions/../glossary",
        "/etc/x",
    ],
)
def test_no_other_file_is_a_page(client_for, rosa, path):
    assert client_for(rosa).get(f"/docs/{path}/").status_code == 404


@pages
def test_each_page_has_one_title_and_a_list_of_its_sections(client_for, rosa):
    page = shown(client_for(rosa).get("/docs/rating/"))

    assert page.headings[0] == "How a study is rated"
    assert page.headings.count("How a study is rated") == 1
    assert page.links["Gold items"] == "#gold-items"


@pages
def test_every_link_between_pages_leads_somewhere(client_for, rosa):
    browser = client_for(rosa)
    anchors = {}
    links = set()
    for name in NAMES:
        answer = browser.get(reverse("docs-page", args=[name]))
        anchors[answer.request["PATH_INFO"]] = set(re.findall(r' id="([^"]+)"', answer.text))
        body = shown(answer).parts("docs-text")[0]
        links |= {(answer.request["PATH_INFO"], link) for link in body.addresses}

    assert len(links) > 60
    for page, link in links:
        parts = urlsplit(link)
        if not parts.scheme:
            assert (parts.path or page) in anchors, f"{page}: {link}"
            assert not parts.fragment or parts.fragment in anchors[parts.path or page], link


@pages
def test_what_is_found_is_shown_with_its_place(client_for, rosa):
    answer = client_for(rosa).get("/docs/", {"q": "crossover design"})

    assert shown(answer).links["Who gets which unit"] == "/docs/rating/#who-gets-which-unit"
    assert "<mark>crossover</mark>" in markup(answer)


@pages
def test_a_search_without_a_hit_says_so_and_shows_words_as_text(client_for, rosa):
    answer = client_for(rosa).get("/docs/", {"q": "<script>zzz"})

    assert "Nothing found" in shown(answer).messages[0]
    assert "<script>zzz" not in answer.text


@pages
def test_pages_take_the_queries_of_a_sign_in_alone(client_for, rosa, django_assert_num_queries):
    browser = client_for(rosa)

    for path in ("/docs/", "/docs/metrics/", "/docs/?q=ceiling"):
        with django_assert_num_queries(2):  # user, groups
            browser.get(path)


@pytest.mark.parametrize(
    "name", ["gone", "", ".", "../README", "../docs/../README", "/etc/hostname", "a" * 300]
)
def test_what_is_not_in_the_folder_is_no_document(name):
    with pytest.raises(LookupError, match="docs/ has no document"):
        document_of(name)
