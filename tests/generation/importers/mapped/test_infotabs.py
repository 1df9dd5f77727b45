"""InfoTabS: the published votes where they are, and rows typed here for what can be wrong."""

import json

import pytest

from generation.records import Problem
from tests.generation.importers.reading import opened

HEADER = (
    "table_id\thypothesis\torignal_worker_id\tfirst_human_label\tmajoritylabel"
    "\tother_human_labels\tother_worker_id"
)
LIGHT = {
    "title": ["Ansel Light"],
    "Built": ["1846"],
    "Builder": ["Ilva Marren", " Tomas Sund"],
}


def claim(text="It was built in 1846.", table="T1", labels="[0, 0, 2]", workers="VW1 VW2 VW3"):
    return f"{table}\t{text}\tGW1\t0\t0\t{labels}\t{workers.split()!r}"


def votes_file(*claims):
    return "\n".join((HEADER, *claims)) + "\n"


def written(folder, *claims, tables=None):
    (folder / "infotabs_valid_dev.tsv").write_text(votes_file(*claims))
    for name, content in (tables or {}).items():
        (folder / name).write_text(json.dumps(content))
    return folder


def read(path):
    with opened(path) as material:
        return material, {kind: list(material.records(kind)) for kind in material.kinds}


def problem_of(folder, *claims, tables=None):
    _, found = read(written(folder, *claims, tables=tables))
    [problem] = [each for each in found["responses"] if isinstance(each, Problem)]
    return problem


def test_the_published_file_has_its_claims_tables_and_votes(shared):
    folder = shared / "data/infotabs_votes"
    material, found = read(folder)

    assert material.look.recipe == "InfoTabS"
    assert {kind: len(records) for kind, records in found.items()} == {
        "passages": 200,
        "examples": 200,
        "responses": 1_791,
        "votes": 8_997,  # 1,779 claims with 5, 9 with 10 and 3 with 4
    }
    assert not material.n_left_out
    assert material.ignored == ["LICENSE", "PROVENANCE.md", "infotabs_dev.tsv"]


def test_the_votes_alone_have_no_evidence(shared):
    material, found = read(shared / "data/infotabs_votes/infotabs_valid_dev.tsv")

    assert (len(found["responses"]), len(found["votes"])) == (1_791, 8_997)
    assert "passages" not in found
    assert found["responses"][0].evidence_shown is None
    assert material.notes["responses without evidence, so that AIS cannot be rated"] == 1_791


@pytest.mark.parametrize("tables", [{"tables_dev.json": {"T1": LIGHT}}, {"T1.json": LIGHT}])
def test_a_claim_is_a_response_and_its_table_the_evidence_shown(tmp_path, tables):
    _, found = read(written(tmp_path, claim('So "it" was.'), tables=tables))

    [passage] = found["passages"]
    assert passage.title == "Ansel Light"
    assert passage.text == "Built: 1846\nBuilder: Ilva Marren; Tomas Sund"
    [response] = found["responses"]
    assert (response.text, response.setup.name) == ('So "it" was.', "crowd")
    assert response.evidence_shown == (passage.key,)
    assert response.meta == {"first_human_label": "0", "majoritylabel": "0"}
    assert [(vote.rater, vote.question, vote.answer) for vote in found["votes"]] == [
        ("VW1", "entailment", "entailed"),
        ("VW2", "entailment", "entailed"),
        ("VW3", "entailment", "contradicted"),
    ]


def test_a_worker_who_votes_twice_on_a_claim_is_two_raters(tmp_path):
    _, found = read(written(tmp_path, claim(workers="VW1 VW2 VW1")))

    assert [vote.rater for vote in found["votes"]] == ["VW1", "VW2", "VW1#2"]


def test_a_claim_without_votes_is_a_response_all_the_same(tmp_path):
    _, found = read(written(tmp_path, claim(labels="[]", workers="")))

    assert (len(found["responses"]), found["votes"]) == (1, [])


@pytest.mark.parametrize(
    ("wrong", "field", "what", "expected"),
    [
        (claim(workers="VW1 VW2"), "other_worker_id", "2 workers", "3, one for each vote"),
        (claim(labels="[0, 3, 1]"), "other_human_labels", "3", "0, 1 or 2"),
        (claim(labels="0, 1"), "other_human_labels", '"0, 1"', "JSON"),
        (claim().replace("['VW1'", "['VW1"), "other_worker_id", "VW1, 'VW2'", "a list of ids"),
        (claim(table="T9"), "table_id", '"T9"', "the id of a table that was uploaded too"),
    ],
)
def test_what_is_wrong_is_said_of_the_line(tmp_path, wrong, field, what, expected):
    problem = problem_of(tmp_path, claim(), wrong, tables={"tables_dev.json": {"T1": LIGHT}})

    assert (problem.where.line, problem.field) == (3, field)
    assert what in problem.found
    assert expected in problem.expected
