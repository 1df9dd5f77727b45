"""Guidelines: their pages and versions; no text of a guideline becomes markup."""

import re
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.urls import reverse

from annotation.guidelines import (
    changed_lines,
    default_guideline,
    not_asked,
    render_guideline,
)
from annotation.schemes import built_in_schemes, load_scheme
from annotation.services.studies import close_study, write_guideline
from tests.annotation.planned import make_dataset, make_open_study, make_raters, make_study
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def raters(db):
    return make_raters(5)


@pytest.fixture
def study(tmp_path, rosa, raters):
    text = default_guideline("AIS")
    return make_open_study(make_dataset(tmp_path), rosa, raters, text=text)


def page_of(study):
    return reverse("annotation:guidelines", args=[study.slug])


def edit_of(study):
    return reverse("annotation:edit-guidelines", args=[study.slug])


def preview_of(study):
    return reverse("annotation:preview-guidelines", args=[study.slug])


# --- text -----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", sorted(built_in_schemes()))
def test_every_scheme_of_ours_comes_with_a_text_that_names_its_source(key):
    text = default_guideline(key)

    assert text.startswith("You read ")
    assert "\n\n**Source.** " in text


def test_a_long_text_is_plain_until_it_is_asked_for():
    text = "## Rules\n\n" + "word " * 4000

    plain, none = render_guideline(text, QueryDict())
    html, headings = render_guideline(text, QueryDict("render=all"))

    assert "?render=all" in plain
    assert "<h2" not in plain
    assert (none, [heading.text for heading in headings]) == ([], ["Rules"])
    assert "<h2" in html


def test_a_scheme_of_ones_own_begins_with_no_text():
    assert default_guideline("own") == ""


def test_text_becomes_headings_lists_and_quotes():
    html, headings = render_guideline("# Task\n\n- **one**\n\n> quoted\n\n## Rules\n", QueryDict())

    # The page's own heading is the only one of the first rank.
    assert '<h2 dir="auto" id="text-1-task">Task</h2>' in html
    assert '<li dir="auto"><strong>one</strong></li>' in html
    assert "<blockquote>" in html
    assert [heading.text for heading in headings] == ["Task", "Rules"]


def test_a_heading_at_the_end_of_a_text_is_closed():
    html, _ = render_guideline("# Task", QueryDict())

    assert html == '<h2 dir="auto" id="text-1-task">Task</h2>\n'


def test_a_heading_in_a_quote_is_a_line_of_the_quote():
    html, headings = render_guideline("> # Response\n> It closed.\n", QueryDict())

    assert '<p dir="auto" class="heading-line">Response</p>' in html
    assert headings == []


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "[link](javascript:alert(1))",
        "<javascript:alert(1)>",
        "![](http://elsewhere.example/pixel.png)",
        "[x]: javascript:alert(1)\n\n[x]",
        "# <b>head</b>",
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
    ],
)
def test_nothing_in_a_text_becomes_markup_of_its_own(text):
    html, _ = render_guideline(text, QueryDict())

    assert not re.search(r"<(script|img|b)\b", html)
    assert not re.search(r'href="(javascript|data)', html)


def test_two_headings_of_one_name_have_two_anchors():
    _, headings = render_guideline("## Rules\n\n## Rules\n", QueryDict())

    assert len({heading.anchor for heading in headings}) == 2


def test_what_is_not_asked_comes_from_gates_and_impossible_answers():
    rows = not_asked(load_scheme(built_in_schemes()["AIS"]))

    # As the design's page has it; the last row is the scheme's second impossible pair.
    assert [tuple(row) for row in rows] == [
        ("1 understand: no", "2, 3, 4, 5, 6, 7", "implied no"),
        ("4 evidence relevant: no", "5, 6, 7", "implied no"),
        (
            "5 evidence contradicts: yes and 7 attributable: yes",
            "the form asks you to change one",
            "not stored",
        ),
        (
            "6 evidence supports: no and 7 attributable: yes",
            "the form asks you to change one",
            "not stored",
        ),
    ]


def test_a_gate_closes_what_its_own_gates_close():
    questions = [
        {"key": "a", "scale": "yes_no"},
        {"key": "b", "scale": "yes_no", "after": ["a"]},
        {"key": "c", "scale": {"ordinal": [1, 3]}, "after": ["b"]},
    ]

    rows = not_asked(load_scheme({"key": "K", "questions": questions}))

    assert [row[:2] for row in rows] == [("1 a: no", "2, 3"), ("2 b: no", "3")]


def test_a_comparison_has_a_line_around_each_change_and_leaves_out_the_rest():
    lines = changed_lines("a\nb\nc\nd\ne\nf\n", "a\nb\nX\nd\ne\nf\ng\n")

    assert [tuple(line) for line in lines] == [
        ("same", "b"),
        ("removed", "c"),
        ("added", "X"),
        ("same", "d"),
        ("gap", ""),
        ("same", "f"),
        ("added", "g"),
    ]


def test_the_same_text_has_no_changes():
    assert changed_lines("a\n", "a\n") == []


# --- the page -------------------------------------------------------------------------------


def test_raters_of_the_study_and_researchers_read_them(client_for, raters, researcher, study):
    for client in (client_for(raters[0]), researcher):
        page = shown(client.get(page_of(study)))
        question = page.part("q-understand")
        assert "Version 1, in use" in page.text
        assert "The evidence is the only source." in page.text
        assert question.headings == ["1 Can you understand the response?"]
        assert "Yes It was for her work on radium. Short, but clear" in question.text
        assert ["4 evidence relevant: no", "5, 6, 7", "implied no"] in page.table().rows


def test_other_raters_find_nothing(client_for, rachel, study):
    assert client_for(rachel).get(page_of(study)).status_code == 404


def test_the_page_is_not_for_everybody(client, study):
    assert client.get(page_of(study)).status_code == 302


def test_ends_of_a_scale_are_said(researcher, tmp_path, rosa):
    scheme = built_in_schemes()["QUALITY"]
    study = make_study(make_dataset(tmp_path), rosa, scheme=scheme)

    page = shown(researcher.get(page_of(study)))

    assert "1 = hard to comprehend, 5 = comprehended effortlessly" in page.part("q-fluency").text


def test_an_older_version_says_which_one_is_in_use(researcher, study, rosa):
    write_guideline(study, "Entirely new.\n", rosa)

    newest = shown(researcher.get(page_of(study)))
    older = shown(researcher.get(f"{page_of(study)}?version=1"))

    assert "Entirely new." in newest.text
    assert "version 2 is in use" in older.text
    assert older.links["version 2"] == page_of(study)
    assert "Entirely new." not in older.text


@pytest.mark.parametrize("version", ["2", "0", "x", "-1", "1.0"])
def test_a_version_that_does_not_exist_is_404(researcher, study, version):
    assert researcher.get(page_of(study), {"version": version}).status_code == 404


def test_what_changed_is_said_in_words_too(client_for, raters, study, rosa):
    write_guideline(study, default_guideline("AIS").replace("Four rules", "Three rules"), rosa)

    changes = shown(client_for(raters[0]).get(page_of(study))).part("changes")

    assert "version 1" in changes.headings[0]
    assert "removed ## Four rules" in changes.text
    assert "added ## Three rules" in changes.text


def test_a_page_costs_the_same_however_many_versions_there_are(researcher, study, rosa):
    def cost():
        return len(statements(lambda: researcher.get(page_of(study))))

    before = cost()
    for number in range(20):
        write_guideline(study, f"Version {number}.\n", rosa)

    assert cost() == before


# --- writing --------------------------------------------------------------------------------


def test_saving_makes_a_version_and_keeps_the_old_one(researcher, study):
    form = researcher.get(edit_of(study))
    answer = researcher.post(edit_of(study), {"text": "Read.\r\nThen judge.", "based_on": 1})

    assert shown(form).fields["based_on"] == "1"
    assert answer.url == page_of(study)
    assert [(g.version, g.text) for g in study.guidelines.all()] == [
        (1, default_guideline("AIS")),
        (2, "Read.\nThen judge.\n"),
    ]


def test_the_same_text_makes_no_version(researcher, study):
    text = default_guideline("AIS").replace("\n", "\r\n")  # browsers send such line ends

    answer = researcher.post(edit_of(study), {"text": text, "based_on": 1}, follow=True)

    [message] = shown(answer).messages
    assert "no new version" in message
    assert study.guidelines.count() == 1


def test_of_two_who_write_at_once_the_second_is_told(researcher, study, rosa):
    write_guideline(study, "Meanwhile.\n", rosa)

    refused = researcher.post(edit_of(study), {"text": "Mine.", "based_on": 1})
    again = researcher.post(edit_of(study), {"text": "Mine.", "based_on": 2})

    page = shown(refused)
    assert refused.status_code == 422
    assert "Version 2 was saved" in page.errors["text"]
    assert page.fields["text"] == "Mine."
    assert page.fields["based_on"] == "2"
    assert again.status_code == 302
    assert study.guidelines.count() == 3


def test_a_preview_stores_nothing(researcher, study):
    answer = researcher.post(edit_of(study), {"text": "## My rules", "based_on": 1, "preview": "1"})

    assert answer.status_code == 200
    assert "My rules" in shown(answer).headings
    assert study.guidelines.count() == 1


def test_the_preview_beside_the_text_is_the_text_alone(researcher, study):
    answer = researcher.post(preview_of(study), {"text": "## My rules\n\n<b>Read.</b>"})

    assert answer.status_code == 200
    assert shown(answer).text == "My rules <b>Read.</b>"
    assert study.guidelines.count() == 1


def test_the_preview_of_nothing_says_so(researcher, study):
    assert shown(researcher.post(preview_of(study))).text == "Nothing is written yet."


def test_a_text_that_is_too_long_has_no_preview(researcher, study):
    answer = researcher.post(preview_of(study), {"text": "x" * 100_001})

    assert answer.status_code == 422
    assert "The text has 100,001 characters. At most 100,000" in shown(answer).text


def test_the_preview_is_for_researchers_and_takes_posts(client_for, raters, researcher, study):
    assert client_for(raters[0]).post(preview_of(study), {"text": "Mine."}).status_code == 403
    assert researcher.get(preview_of(study)).status_code == 405


@pytest.mark.parametrize("text", ["", "   \r\n", "x" * 100_001])
def test_a_text_that_is_empty_or_too_long_is_refused(researcher, study, text):
    body = urlencode({"text": text, "based_on": 1})
    form = "application/x-www-form-urlencoded"
    answer = researcher.post(edit_of(study), body, content_type=form)

    assert answer.status_code == 422
    assert study.guidelines.count() == 1


@pytest.mark.parametrize("based_on", ["", "x"])
def test_a_form_that_does_not_say_what_it_is_based_on_is_refused(researcher, study, based_on):
    answer = researcher.post(edit_of(study), {"text": "Mine.", "based_on": based_on})

    assert answer.status_code == 422
    assert study.guidelines.count() == 1


def test_a_closed_study_has_its_last_guidelines(researcher, study, rosa):
    close_study(study, rosa)

    answer = researcher.post(edit_of(study), {"text": "Late.", "based_on": 1}, follow=True)

    [message] = shown(answer).messages
    assert "Mills is closed" in message
    assert study.guidelines.count() == 1


def test_raters_do_not_write_them(client_for, raters, study):
    client = client_for(raters[0])

    assert client.get(edit_of(study)).status_code == 403
    assert client.post(edit_of(study), {"text": "Mine.", "based_on": 1}).status_code == 403
