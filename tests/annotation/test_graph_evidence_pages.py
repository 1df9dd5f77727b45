"""Rating pages whose evidence is a graph: what raters see of it, and what they do not see."""

from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Study
from annotation.schemes import built_in_schemes
from tests.annotation.makers import claimed, opened, planned, rate, raters_of
from tests.graph_material import SHOWN, hathaways
from tests.makers import response_row, statements
from tests.shown import shown

pytestmark = pytest.mark.once

# Correct, wrong, incomplete, and none; in the order of SHOWN: spouse is row 1, date of death row 2.
TEXT = (
    "She died in 1623 [Q1, date of death: 1623]. She was a queen [Q1, occupation: queen]. "
    "It is said [spouse]. Her mother was named [NA] [sic]."
)
BARE = "She died in 1623. She was a queen. It is said. Her mother was named [sic]."


def cited(key: str = "a1", **more: Any) -> dict[str, Any]:
    return response_row(key, "k1", text=TEXT, graph_shown=SHOWN, evidence_shown=[]) | more


@pytest.fixture
def desk_of(client_for, db):
    """Return a function from a study to the unit that its first rater gets, as a page."""

    def desk(study: Study):
        rater = raters_of(study)[0]
        unit = claimed(rater)
        url = reverse("annotation:rate-unit", args=[study.slug, unit.unit_id])
        return client_for(rater.user).get(url)

    return desk


def graph_tables(page):
    return {table.caption: table.rows for table in page.tables if ", Q" in table.caption}


# --- beside all questions -------------------------------------------------------------------


def test_a_graph_is_a_table_per_entity_with_relation_and_value(tmp_path, desk_of):
    graph = [*SHOWN, ["Q3", "name", "William Shakespeare"], ["Q3", "notable_work", "Hamlet"]]
    page = shown(desk_of(opened(hathaways(tmp_path, responses=[cited(graph_shown=graph)]))))

    assert [table.caption for table in page.tables] == [
        "Anne Hathaway, Q1",
        "William Shakespeare, Q3",
    ]
    anne, william = page.tables
    assert anne.columns == ["Relation", "Value"]
    assert anne.column("Relation") == ["spouse", "date of death"]
    assert anne.row("spouse")["Value"] == "William Shakespeare"
    # As the shown text spells it.
    assert william.row("notable_work")["Value"] == "Hamlet"


def test_a_right_citation_leads_to_its_row_and_back_and_the_others_are_text(tmp_path, desk_of):
    answer = desk_of(opened(hathaways(tmp_path, responses=[cited()])))

    page = shown(answer)
    assert page.addresses.count("#fact-1-2") == 1
    assert page.addresses.count("#cite-1") == 1
    assert 'id="fact-1-2"' in answer.text
    assert 'id="cite-1"' in answer.text
    assert not [link for link in page.addresses if link in ("#cite-2", "#cite-3", "#fact-1-1")]
    for bracket in ("[Q1, date of death: 1623]", "[Q1, occupation: queen]", "[spouse]", "[NA]"):
        assert bracket in page.text
    assert page.table("Anne").row("date of death")["Value"] == "1623 1"  # the way back


def test_a_rater_sees_no_verdict_and_no_setup(tmp_path, desk_of):
    setup = {"model": "secret-model", "temperature": 0.7, "prompt": "secret-prompt"}
    removed = [["Q1", "place of birth", "Xanadu"]]
    dataset = hathaways(tmp_path, responses=[cited(setup=setup, removed=removed)])

    text = desk_of(opened(dataset)).text

    for word in ("secret", "Xanadu", "verdict", "in minimum", "tag--bad", "✓", "✗"):
        assert word not in text, word


def test_citations_of_merged_responses_have_the_number_of_their_response(tmp_path, desk_of):
    study = opened(
        hathaways(tmp_path, responses=[cited(), cited("a2", setup="b")]),
        arms=["merged"],
        response_order="fixed",
    )

    page = shown(desk_of(study))

    assert page.addresses.count("#fact-1-2") == 2
    assert [a for a in page.addresses if a.startswith("#cite")] == ["#cite-1.1", "#cite-2.1"]
    assert page.table("Anne").row("date of death")["Value"] == "1623 1.1 2.1"


def test_golden_shows_the_sub_graphs_of_the_gold_entities(tmp_path, desk_of):
    study = opened(hathaways(tmp_path, responses=[cited()]), evidence_choice="golden")

    page = shown(desk_of(study))

    # k1's gold entities are Q1 and Q3, with all that the graph has of them.
    tables = graph_tables(page)
    assert list(tables) == ["Anne Hathaway, Q1", "William Shakespeare, Q3"]
    assert [row[0] for row in tables["Anne Hathaway, Q1"]] == [
        "spouse",
        "place of birth",
        "date of death",
    ]
    assert page.addresses.count("#fact-1-3") == 1


def test_a_document_node_has_its_text_above_its_table(tmp_path, desk_of):
    node = [["Q4", "name", "Globe"], ["Q4", "document text", "A theatre. A theatre."]]
    graph = [*node, *SHOWN, ["Q2", "name", "Anne Hathaway"]]
    page = shown(desk_of(opened(hathaways(tmp_path, responses=[cited(graph_shown=graph)]))))

    evidence = page.part("evidence").text
    assert "A theatre. A theatre." in evidence
    assert evidence.index("A theatre.") < evidence.index("spouse")
    # The Globe has no triple here, and the actress nothing but her name.
    assert evidence.count("Only its name is given.") == 1
    assert list(graph_tables(page)) == ["Anne Hathaway, Q1"]


def test_passages_and_a_graph_stand_together(tmp_path, desk_of):
    passages = [{"id": "p1", "text": "She was born in Shottery."}]
    dataset = hathaways(tmp_path, passages=passages, responses=[cited(evidence_shown=["p1"])])

    page = shown(desk_of(opened(dataset)))

    assert "1 passage, 1 entity" in page.text
    assert "Passage 1 of 1" in page.text
    assert list(graph_tables(page)) == ["Anne Hathaway, Q1"]


def test_where_no_evidence_is_judged_no_graph_is_shown(tmp_path, desk_of):
    page = shown(desk_of(opened(hathaways(tmp_path, responses=[cited()]), scheme="SSA")))

    assert not page.tables
    assert "[Q1, date of death: 1623]" in page.text


def test_what_a_graph_says_is_shown_as_text(tmp_path, desk_of):
    script = "<script>alert(1)</script> <b>bold</b>"
    graph = [["Q1", "name", script], ["Q1", script, script]]
    row = cited(text=f"{script} [Q1, {script}: {script}] {script}", graph_shown=graph)

    answer = desk_of(opened(hathaways(tmp_path, responses=[row])))

    assert "<script>alert" not in answer.text
    assert "<b>bold" not in answer.text
    assert '#fact-1-1"' in answer.text


# --- QUALITY: what the metric sees ----------------------------------------------------------


def test_quality_takes_citations_out_and_shows_the_graph_beside_consistency_alone(
    tmp_path, desk_of
):
    answer = desk_of(opened(hathaways(tmp_path, responses=[cited()]), scheme="QUALITY"))

    page = shown(answer)
    assert BARE in page.text  # `[sic]` cites nothing and so stays
    assert "[Q1" not in page.text
    assert 'id="evidence"' not in answer.text
    assert page.text.count("Evidence for question 2 alone") == 1
    first, second = page.text.index("well-organized?"), page.text.index("self-consistent?")
    third = page.text.index("written in fluent language?")
    assert first < second < page.text.index("date of death") < third
    assert list(graph_tables(page)) == ["Anne Hathaway, Q1"]


def test_quality_side_by_side_has_the_graph_above_the_answers_about_consistency(tmp_path, desk_of):
    study = opened(
        hathaways(tmp_path, responses=[cited(), cited("a2", setup="b")]),
        scheme="QUALITY",
        arms=["merged"],
    )

    answer = desk_of(study)

    page = shown(answer)
    assert page.text.count(BARE) == 2
    assert page.text.count("Evidence for question 2 alone") == 1
    assert 'id="evidence"' not in answer.text
    assert list(graph_tables(page)) == ["Anne Hathaway, Q1"]


def test_quality_in_turn_has_the_graph_with_each_response(tmp_path, desk_of):
    study = opened(
        hathaways(tmp_path, responses=[cited(), cited("a2", setup="b")]),
        scheme="QUALITY",
        arms=["merged"],
        merged_layout="in_turn",
    )

    page = shown(desk_of(study))

    assert page.text.count("Evidence for question 2 alone") == 2


def test_quality_without_evidence_says_so_beside_consistency(tmp_path, desk_of):
    row = cited(text="She died long ago.", graph_shown=None)

    page = shown(desk_of(opened(hathaways(tmp_path, responses=[row]), scheme="QUALITY")))

    assert page.text.count("There is no evidence for this unit.") == 1


def test_a_study_keeps_the_scheme_that_it_was_made_with(tmp_path, desk_of):
    """A study of an earlier version: neither key is in its scheme."""
    data = dict(built_in_schemes()["QUALITY"])
    del data["citations"]
    data["questions"] = [
        {key: value for key, value in row.items() if key != "with_evidence"}
        for row in data["questions"]
    ]

    answer = desk_of(opened(hathaways(tmp_path, responses=[cited()]), scheme=data))

    assert "[Q1, date of death: 1623]" in shown(answer).text
    assert 'id="evidence"' in answer.text


def test_my_answers_have_the_texts_that_were_rated(tmp_path, client_for, db):
    study = opened(hathaways(tmp_path, responses=[cited()]), scheme="QUALITY")
    rater = raters_of(study)[0]
    rate(rater, claimed(rater))

    page = shown(client_for(rater.user).get(reverse("annotation:my-answers", args=[study.slug])))

    assert "She died in 1623. She was a queen." in page.text
    assert "[Q1" not in page.text


# --- previews and costs ---------------------------------------------------------------------


@pytest.mark.parametrize("make", [planned, opened])
def test_a_preview_shows_the_graph_as_raters_will_see_it(tmp_path, client_for, rosa, make):
    study = make(hathaways(tmp_path, responses=[cited()]))

    preview = reverse("annotation:preview", args=[study.slug])
    page = shown(client_for(rosa).get(preview, {"arm": "separate"}))

    assert page.table("Anne").row("date of death")["Value"] == "1623 1"
    assert "#fact-1-2" in page.addresses


def test_a_unit_of_an_earlier_version_with_two_graphs_shows_none(tmp_path, desk_of):
    rows = [cited(), cited("a2", setup="b")]
    study = opened(hathaways(tmp_path, responses=rows), scheme="QUALITY", arms=["merged"])
    study.dataset.responses.filter(key="a2").update(graph_shown=SHOWN[:2])

    page = shown(desk_of(study))

    assert not graph_tables(page)
    assert "There is no evidence for this unit." in page.text


@pytest.mark.parametrize("choice", ["shown", "golden"])
def test_a_page_costs_the_same_for_one_response_and_for_eight(tmp_path, client_for, db, choice):
    def cost(n: int) -> int:
        rows = [cited(f"a{number}", setup=f"s{number}") for number in range(n)]
        study = opened(
            hathaways(tmp_path, f"of {n}", responses=rows),
            name=f"of {n}",
            arms=["merged" if n > 1 else "separate"],
            evidence_choice=choice,
        )
        rater = raters_of(study)[0]
        unit = claimed(rater)
        url = reverse("annotation:rate-unit", args=[study.slug, unit.unit_id])
        client = client_for(rater.user)
        return len(statements(lambda: client.get(url)))

    assert cost(1) == cost(8) <= 17
