"""Texts of a unit, which a study shows plain or as rendered Markdown."""

import pytest
from django.urls import reverse
from lxml import html

from annotation.models import Study
from tests.annotation.makers import material, opened, planned, researcher
from tests.annotation.rating.desk import alignment, filled_in
from tests.graph_material import ANSWER, cited_row, hathaways
from tests.makers import example_row, response_row
from tests.shown import shown

pytestmark = pytest.mark.once

MARKDOWN = "It closed in **1971**.\n\n- <b>flood</b>\n- ![map](https://example.org/map.png)\n"
ARABIC = "أغلق المصنع عام 1971."
LAYOUTS = [("separate", "side_by_side"), ("merged", "side_by_side"), ("merged", "in_turn")]


def tree(answer):
    return html.document_fromstring(answer.text)


def marked_up(folder, n_responses=2):
    turns = [
        {"speaker": "user", "text": "A **user** types."},
        {"speaker": "assistant", "text": "**Earlier** answer."},
        {"speaker": "user", "text": "When?"},
    ]
    evidence = [{"id": "p", "text": "The *passage*.", "title": "Mill"}]
    return material(
        folder,
        examples=[example_row("e1", turns=turns, evidence=evidence)],
        responses=[
            response_row(f"r{n}", "e1", setup=f"s{n}", text=MARKDOWN, evidence_shown=["p"])
            for n in range(n_responses)
        ],
    )


@pytest.mark.parametrize(("arm", "layout"), LAYOUTS)
@pytest.mark.parametrize("scheme", ["AIS", "SSA", "QUALITY"])
def test_raters_read_rendered_markdown(tmp_path, db, sit_down, arm, layout, scheme):
    study = opened(
        marked_up(tmp_path / "m"),
        scheme=scheme,
        arms=[arm],
        merged_layout=layout,
        text_format="markdown",
    )

    answer = sit_down(study).get()

    root = tree(answer)
    n_responses = 1 if arm == "separate" else 2
    assert root.xpath("//strong[.='1971']/ancestor::*[@class='response'][1]")
    assert len(root.xpath("//strong[.='1971']")) == n_responses
    assert root.xpath("//strong[.='Earlier']")  # an earlier answer is read as the response is
    assert not root.xpath("//strong[.='user']")  # what a user typed is plain
    assert bool(root.xpath("//em[.='passage']")) == (scheme != "SSA")  # SSA shows no evidence
    assert not root.xpath("//main//img | //li//b")
    assert "<b>flood</b>" in shown(answer).text
    assert "Image: map" in shown(answer).text


def test_in_a_plain_study_markdown_is_shown_as_typed(tmp_path, db, sit_down):
    page = sit_down(opened(marked_up(tmp_path / "m"))).page()

    assert "It closed in **1971**." in page.text
    assert "The *passage*." in page.text


@pytest.mark.parametrize("text_format", ["plain", "markdown"])
def test_each_paragraph_has_its_own_direction(tmp_path, db, sit_down, text_format):
    mixed = f"{ARABIC}\n\nIt closed in 1971."
    row = example_row("e1", evidence=[{"id": "p", "text": mixed, "title": "Mill"}])
    row["turns"][0]["text"] = mixed
    dataset = material(
        tmp_path / "m",
        examples=[row],
        responses=[response_row("r1", "e1", text=mixed, evidence_shown=["p"])],
    )

    root = tree(sit_down(opened(dataset, text_format=text_format)).get())

    # the user's turn, the passage, and the response
    assert root.xpath("//p[@dir='auto']/text()").count(ARABIC) == 3
    assert root.xpath("//p[@dir='auto']/text()").count("It closed in 1971.") == 3


def test_a_response_whose_citations_lead_to_the_evidence_stays_plain_and_says_so(
    tmp_path, db, sit_down
):
    dataset = hathaways(tmp_path, "cited", responses=[cited_row("a0", text=f"**Bold** {ANSWER}")])

    answer = sit_down(opened(dataset, text_format="markdown")).get()

    assert "**Bold**" in shown(answer).text
    assert "plain text, so that its citations lead to the evidence." in shown(answer).text
    assert tree(answer).xpath("//a[@class='cite-mark']")


def test_a_sentence_with_a_citation_is_plain_and_its_whole_answer_is_rendered(
    tmp_path, db, sit_down
):
    study = alignment(tmp_path)
    study.text_format = Study.TextFormat.MARKDOWN
    study.save()
    response = study.dataset.responses.get()
    response.text = f"**He** was there. {response.text}"
    response.save()

    root = tree(sit_down(study).get())

    assert root.xpath("//*[@id='whole']//strong[.='He']")
    assert not root.xpath("//p[@class='judge-sentence']//strong")


def test_the_excerpt_beside_the_answers_has_no_marks(tmp_path, db, sit_down):
    study = opened(marked_up(tmp_path / "m"), arms=["merged"], text_format="markdown")

    [excerpt, *_] = tree(sit_down(study).get()).xpath("//td/@data-excerpt")

    assert excerpt.startswith("It closed in 1971. <b>flood</b>")


def test_a_preview_shows_what_raters_will_see(tmp_path, db, client_for):
    study = planned(marked_up(tmp_path / "m"), text_format="markdown")

    address = reverse("annotation:preview", args=[study.slug])
    root = tree(client_for(researcher()).get(address))

    assert root.xpath("//strong[.='1971']")


def test_settings_say_how_texts_are_read(tmp_path, db, client_for):
    study = planned(marked_up(tmp_path / "m"), text_format="markdown")

    page = shown(
        client_for(researcher()).get(reverse("annotation:study-settings", args=[study.slug]))
    )

    assert page.facts["Texts"] == "rendered Markdown"


def test_a_rater_s_answers_show_the_text_as_it_was_read(tmp_path, db, sit_down):
    study = opened(marked_up(tmp_path / "m"), arms=["merged"], text_format="markdown")
    desk = sit_down(study)
    desk.post(filled_in(2))

    answer = desk.client.get(reverse("annotation:my-answers", args=[study.slug]))

    assert len(tree(answer).xpath("//strong[.='1971']")) == 2


def test_a_rendered_page_costs_no_further_query(
    tmp_path, db, sit_down, django_assert_max_num_queries
):
    plain = sit_down(opened(marked_up(tmp_path / "a"), name="a"))
    rendered = sit_down(opened(marked_up(tmp_path / "b"), name="b", text_format="markdown"))

    with django_assert_max_num_queries(14) as queries:
        plain.get()
    with django_assert_max_num_queries(len(queries)):
        rendered.get()
