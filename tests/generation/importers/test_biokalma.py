"""BioKaLMA: entities once, questions with what was retrieved; the published files in full."""

import gzip
import json
import zipfile
from collections import Counter
from typing import Any

import pytest

from generation.importers import DatasetError, Limits, open_material, recognise
from generation.records import EntityRecord, EntityTriple, KGQuestionRecord, Problem
from tests.published import shared_folder

PUBLISHED = shared_folder() / "data" / "biokalma"
ADA: dict[str, Any] = {
    "instance of": "human",
    "place of birth": "London",
    "notable works": "Notes: on the engine, with [G]",
    "name": "Ada Lovelace",
    "date_of_birth": "1815-12-10",
    "date_of_death": "",
    "qid": "Q7259",
}
HESIOD: dict[str, Any] = {
    "instance of": "human",
    "name": "Hesiod",
    "date_of_birth": "-0764-01-01",
    "date_of_death": "",
    "qid": "Q44233",
}
ITEMS: list[Any] = [
    ["question: Who was Ada Lovelace?", [ADA]],
    ["Who came first, Hesiod or Ada?", [HESIOD, ADA]],
    ["Who is it?", []],
]


def read(tmp_path, items):
    path = tmp_path / "items.json"
    path.write_text(items if isinstance(items, str) else json.dumps(items), encoding="utf-8")
    with open_material(path, "biokalma") as material:
        entities = list(material.records("entities"))
        questions = list(material.records("kg_questions"))
    return material, entities, questions


def problems(rows):
    return [(row.where.line, row.field, row.found) for row in rows if isinstance(row, Problem)]


def test_an_entity_comes_once_with_its_properties_but_name_and_qid(tmp_path):
    _, (ada, hesiod), _ = read(tmp_path, ITEMS)

    assert (ada.qid, ada.label, ada.type, ada.aliases) == ("Q7259", "Ada Lovelace", "human", ())
    assert ada.where.line == 1
    assert ada.triples == (
        EntityTriple("instance of", "human", ""),
        EntityTriple("place of birth", "London", ""),
        EntityTriple("notable works", "Notes: on the engine, with [G]", ""),
        # The spelling is kept; an empty date is left out.
        EntityTriple("date_of_birth", "1815-12-10", ""),
    )
    assert hesiod.triples[1] == EntityTriple("date_of_birth", "-0764-01-01", "")


def test_a_question_has_what_was_retrieved_and_neither_gold_nor_a_minimum(tmp_path):
    _, _, questions = read(tmp_path, ITEMS)

    assert [question.key for question in questions] == ["question-1", "question-2", "question-3"]
    assert [question.question for question in questions] == [
        "Who was Ada Lovelace?",
        "Who came first, Hesiod or Ada?",
        "Who is it?",
    ]
    assert [question.retrieved for question in questions] == [
        ("Q7259",),
        ("Q44233", "Q7259"),
        (),
    ]
    assert {question.entities for question in questions} == {()}
    assert {question.minimum for question in questions} == {None}


def test_what_is_odd_about_the_file_is_counted_once_however_often_it_is_read(tmp_path):
    material, _, _ = read(tmp_path, ITEMS)

    # Three sub-graphs: Ada twice, Hesiod once, each without a date of death.
    assert material.n_left_out == {"empty values in the sub-graphs (no triple)": 3}
    assert material.notes == {
        "sub-graphs": 3,
        "questions with 0 sub-graphs": 1,
        "questions with 1 sub-graph": 1,
        "questions with 2 sub-graphs": 1,
        "'question: ' taken off before a question": 1,
        "dates before Christ in the sub-graphs, kept as text": 1,
        "values in the sub-graphs with ', '": 2,
        "values in the sub-graphs with ': '": 2,
        "values in the sub-graphs with ']'": 2,
    }


def test_another_name_of_an_entity_is_an_alias(tmp_path):
    items = [["Who?", [ADA]], ["Who?", [ADA | {"name": "Ada Byron"}]], ["Who?", [ADA]]]

    _, (ada,), questions = read(tmp_path, items)

    assert (ada.label, ada.aliases) == ("Ada Lovelace", ("Ada Byron",))
    assert len(questions) == 3


def test_other_triples_of_an_entity_are_a_problem_that_says_both(tmp_path):
    items = [["Who?", [ADA]], ["Who?", [ADA | {"place of birth": "Paris"}]]]

    _, entities, (_, problem) = read(tmp_path, items)

    assert [(entity.qid, entity.triples[1].value) for entity in entities] == [("Q7259", "London")]
    assert str(problem) == (
        'items.json, line 2, graphs[1].place of birth: found "Paris" (Q7259); '
        'expected "London", as in entry 1'
    )


def test_a_property_that_only_one_sub_graph_has_is_told_too(tmp_path):
    shorter = {name: value for name, value in ADA.items() if name != "place of birth"}

    _, _, (_, problem) = read(tmp_path, [["Who?", [ADA]], ["Who?", [shorter]]])

    assert problem.found == "nothing (Q7259)"


def test_the_order_of_properties_and_empty_ones_make_no_other_triples(tmp_path):
    turned = dict(reversed(ADA.items())) | {"date_of_death": "  "}

    _, entities, questions = read(tmp_path, [["Who?", [ADA]], ["Who?", [turned]]])

    assert len(entities) == 1
    assert not problems(questions)


@pytest.mark.parametrize(
    ("item", "field", "found"),
    [
        ({"question": "Who?"}, "", '{"question": "Who?"}'),
        (["Who?"], "", '["Who?"]'),
        (["Who?", [], []], "", '["Who?", [], []]'),
        ([[7], []], "question", "[7]"),
        (["  ", []], "question", '"  "'),
        (["question: ", []], "question", '"question: "'),
        (["Who?", {}], "graphs", "{}"),
        (["Who?", None], "graphs", "nothing"),
        (["Who?", ["Q1"]], "graphs[1]", '"Q1"'),
        (["Who?", [HESIOD, {"name": "Ada"}]], "graphs[2].qid", "nothing"),
        (["Who?", [{"qid": "Q1", "name": " "}]], "graphs[1].name", '" "'),
        (["Who?", [ADA | {"spouse": ["a", "b"]}]], "graphs[1].spouse", '["a", "b"]'),
        (["Who?", [ADA | {"age": [36]}]], "graphs[1].age", "[36]"),
        (["Who?", [ADA | {" ": "x"}]], "graphs[1].", 'a property " "'),
        (["Who?", [ADA, ADA]], "graphs[2]", '"Q7259" a second time'),
        (["Who?", [ADA | {"qid": "Q" * 101}]], "graphs[1].qid", f'101 characters ("{"Q" * 78}…)'),
    ],
)
def test_a_bad_entry_is_told_once_and_stops_no_other(tmp_path, item, field, found):
    _, entities, questions = read(tmp_path, [item, ITEMS[1]])

    assert problems(entities) == []
    assert problems(questions) == [(1, field, found)]
    assert [entity.qid for entity in entities] == ["Q44233", "Q7259"]
    assert [row.key for row in questions[1:]] == ["question-2"]


def test_an_entry_that_is_no_json_is_told_with_its_number(tmp_path):
    text = json.dumps(ITEMS).replace('"Who is it?"', "nan")

    _, entities, questions = read(tmp_path, text)

    assert len(entities) == 2
    assert [line for line, _, _ in problems(questions)] == [3]


@pytest.mark.parametrize("indent", [None, 1])
def test_the_format_is_told_by_content_alone_gzipped_or_in_a_zip(tmp_path, indent):
    text = json.dumps(ITEMS, indent=indent)
    plain, packed, archive = (tmp_path / name for name in ("a.json", "b.json.gz", "c.zip"))
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("dataset/d.json", text)
        file.writestr("dataset/LICENSE", "S-Lab")

    assert {recognise(path) for path in (plain, packed, archive)} == {"biokalma"}


@pytest.mark.parametrize("text", ["[]", "[[]]", '[["q", {}]]', '[["q", "a"]]', '[{"q": []}]'])
def test_other_lists_are_not_taken_for_it(tmp_path, text):
    path = tmp_path / "items.json"
    path.write_text(text)

    with pytest.raises(DatasetError, match=r'does not recognise|the columns \["(q|1)"'):
        recognise(path)


def test_a_file_too_large_for_memory_is_refused(tmp_path):
    path = tmp_path / "items.json"
    path.write_text(json.dumps(ITEMS))

    with pytest.raises(DatasetError, match="more than 100 bytes"):
        open_material(path, limits=Limits(max_whole_json_bytes=100))


# --- the published files --------------------------------------------------------------------


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="BioKaLMA is not there")
@pytest.mark.parametrize(("name", "n_prefixes"), [("simple", 492), ("complex", None)])
def test_the_published_files_are_read_in_full(name, n_prefixes):
    with open_material(PUBLISHED / f"{name}_question_graph.json") as material:
        rows = [row for kind in material.kinds for row in material.records(kind)]

    assert material.format == "biokalma"
    assert not problems(rows)
    entities = [row for row in rows if isinstance(row, EntityRecord)]
    questions = [row for row in rows if isinstance(row, KGQuestionRecord)]
    assert (len(questions), len(entities)) == (543, 574)
    sizes = Counter(len(question.retrieved or ()) for question in questions)
    assert sizes == {0: 55, 1: 375, 2: 99, 3: 12, 4: 2}  # 375 + 2·99 + 3·12 + 4·2 = 617
    assert material.notes["sub-graphs"] == sum(n * size for size, n in sizes.items()) == 617
    assert material.n_left_out == {"empty values in the sub-graphs (no triple)": 321}
    assert material.notes["dates before Christ in the sub-graphs, kept as text"] == 56
    assert material.notes["values in the sub-graphs with ', '"] == 98
    assert material.notes["values in the sub-graphs with ': '"] == 8
    assert material.notes["values in the sub-graphs with ']'"] == 1
    prefixes = "'question: ' taken off before a question"
    assert material.notes.get(prefixes) == n_prefixes
    assert not any(question.question.startswith("question:") for question in questions)
    known = {entity.qid for entity in entities}
    assert known.issuperset(qid for question in questions for qid in question.retrieved or ())
    assert all(triple.value for entity in entities for triple in entity.triples)
