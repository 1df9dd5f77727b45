"""The properties that stand for a relation between two people, and files with other ones."""

import json

import pytest

from generation.importers.errors import DatasetError
from generation.retrieval.relations import (
    Relation,
    read_relations,
    relation_called,
    usual_relations,
)


def usual(name: str) -> Relation:
    relation = relation_called(name, usual_relations())
    assert relation
    return relation


@pytest.mark.parametrize(
    ("name", "properties", "inverse"),
    [
        # Wikidata: P26 spouse, P40 child, P22 father, P25 mother, P8810 parent, P3373 sibling,
        # P802 student, P185 doctoral student, P1066 student of, P184 doctoral advisor.
        ("spouse", {"P26"}, {"P26"}),
        ("Wife", {"P26"}, {"P26"}),
        ("child", {"P40"}, {"P22", "P25", "P8810"}),
        ("hasChild", {"P40"}, {"P22", "P25", "P8810"}),
        ("parent", {"P22", "P25", "P8810"}, {"P40"}),
        ("father", {"P22"}, set()),  # a person with this child may be the mother
        (" Half-Brother ", {"P3373"}, {"P3373"}),
        ("student_of", {"P1066", "P184"}, {"P802", "P185"}),
        ("teacher", {"P1066", "P184"}, {"P802", "P185"}),  # name 2 is the teacher of name 1
        ("teacher of", {"P802", "P185"}, {"P1066", "P184"}),
        ("succeeded  by", {"P1366", "P156"}, {"P1365", "P155"}),
    ],
)
def test_usual_relations_by_any_spelling(name, properties, inverse):
    relation = usual(name)

    assert (set(relation.properties), set(relation.inverse)) == (properties, inverse)


def test_what_runs_both_ways_is_the_other_relation_turned_round():
    for one, other in [
        ("child", "parent"),
        ("student", "student of"),
        ("successor", "predecessor"),
    ]:
        forth, back = usual(one), usual(other)
        assert (forth.properties, forth.inverse) == (back.inverse, back.properties)


def test_no_relation_is_guessed():
    assert relation_called("alma mater", usual_relations()) is None


def test_a_file_of_ones_own_replaces_them():
    own = {"taught": {"properties": ["P7"], "also": ["Taught_By me"]}}

    relations = read_relations(json.dumps({"relations": own, "source": "our Wikibase"}))

    taught = Relation("taught", ("P7",), ())
    assert relations == {"taught": taught, "taught by me": taught}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "own.json: found an empty text"),
        ("[]", 'own.json: found []; expected {"relations": '),
        ('{"relations": {}}', 'own.json: found {"relations": {}}; expected {"relations": '),
        ('{"relations": {"a": ["P1"]}}', 'own.json, relations, "a": found ["P1"]; expected an'),
        ('{"relations": {"a": {}}}', 'own.json, relations, "a": found no property'),
        ('{"relations": {"a": {"property": ["P1"]}}}',
         'own.json, relations, "a": found "property"; expected one of properties, inverse, also'),
        ('{"relations": {"a": {"inverse": "P1"}}}',
         'own.json, relations, "a", inverse: found "P1"; expected a list of texts'),
        ('{"relations": {"a": {"properties": ["wdt:P1 ?x"]}}}',
         'own.json, relations, "a": found "wdt:P1 ?x"; expected the id of a property'),
        ('{"relations": {" ": {"properties": ["P1"]}}}',
         'own.json, relations, " ": found " "; expected a name'),
        ('{"relations": {"a": {"properties": ["P1"]}, "A": {"properties": ["P2"]}}}',
         'own.json, relations, "A": found "A", which also means "a"; expected each spelling'),
        ('{"relations": {"a": {"properties": ["P1"]}, "a": {"properties": ["P2"]}}}',
         'own.json: found the key "a" twice'),
        (f'{{"relations": "{"a" * 1024**2}"}}', "own.json: found more than 1,048,576 bytes"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_says_where_what_and_what_was_expected(text, message):
    with pytest.raises(DatasetError) as error:
        read_relations(text, "own.json")

    assert str(error.value).startswith(message)
