"""Triples as a table: one row a triple, the rows of an entity anywhere."""

import gzip
import random
import zipfile

import pytest

from generation.importers import open_material, recognise, triples
from generation.records import EntityTriple, Problem

HEADER = "qid,relation,value,label,type,aliases,value_qid\n"
TABLE = HEADER + (
    "Q1,instance of,human,Ada Lovelace,,Ada Byron|Lady Lovelace,Q5\n"
    "Q2,date of birth,-0764-01-01,Hesiod,person,,\n"
    "Q1,place of birth,London,,,,Q84\n"
    'Q2,known for,"Works, and: Days",Hesiod,,the poet,\n'
)


def read(tmp_path, text, name="graph.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with open_material(path) as material:
        assert material.format == "triples"
        return material, list(material.records("entities"))


def test_rows_of_an_entity_may_be_scattered(tmp_path):
    material, (ada, hesiod) = read(tmp_path, TABLE)

    assert (ada.qid, ada.label, ada.where.line) == ("Q1", "Ada Lovelace", 2)
    assert ada.type == "human"  # what it is an instance of, since no row gives a type
    assert ada.aliases == ("Ada Byron", "Lady Lovelace")
    assert ada.triples == (
        EntityTriple("instance of", "human", "Q5"),
        EntityTriple("place of birth", "London", "Q84"),
    )
    assert (hesiod.type, hesiod.aliases) == ("person", ("the poet",))
    assert hesiod.triples == (
        EntityTriple("date of birth", "-0764-01-01", ""),
        EntityTriple("known for", "Works, and: Days", ""),
    )
    assert material.n_left_out == material.notes == {}


def test_three_columns_are_enough_and_an_entity_without_a_label_is_its_qid(tmp_path):
    material, (ada,) = read(tmp_path, "value\tqid\trelation\nLondon\tQ1\tplace of birth\n", "g.tsv")

    assert (ada.qid, ada.label, ada.type, ada.aliases) == ("Q1", "Q1", "", ())
    assert ada.triples == (EntityTriple("place of birth", "London", ""),)
    assert material.notes == {"entities without a label, named by their qid": 1}


def test_what_makes_no_triple_is_counted(tmp_path):
    rows = "Q1,,,Ada,human,,\nQ1,died,,,,,\nQ1,born,1815,,,,\nQ1,born,1815,,,,\n"

    material, (ada,) = read(tmp_path, HEADER + rows)

    assert (ada.label, ada.triples) == ("Ada", (EntityTriple("born", "1815", ""),))
    assert material.n_left_out == {
        "rows with a relation and no value": 1,
        "repeated triples": 1,
    }


def test_an_entity_may_have_a_name_and_no_triple(tmp_path):
    _, (ada,) = read(tmp_path, HEADER + "Q1,,,Ada,human,,\n")

    assert (ada.label, ada.type, ada.triples) == ("Ada", "human", ())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (",born,1815,,,,", "line 3, qid: found nothing; expected text that is not empty"),
        ("Q1,,1815,,,,", 'line 3, relation: found nothing; expected the relation to "1815"'),
        ("Q1,born,1815,Eve,,,", 'line 3, label: found "Eve"; expected "Ada", as a row of Q1'),
        ("Q1,born,1815,,robot,,", 'line 3, type: found "robot"; expected "human", as a row'),
        ("Q1,born,1815,,,", "line 3: found 6 cells; expected 7, as the header has"),
        (f"{'Q' * 101},born,1815,,,,", "line 3, qid: found 101 characters"),
        (f"Q1,{'b' * 301},1815,,,,", "line 3, relation: found 301 characters"),
        (f"Q1,born,1815,,,{'A' * 501},", "at most 500 characters each"),
    ],
)
def test_a_bad_row_is_told_and_stops_no_other(tmp_path, row, message):
    rows = f"Q1,died,1852,Ada,human,,\n{row}\nQ1,father,Byron,,,,\n"

    _, (problem, ada) = read(tmp_path, HEADER + rows)

    assert isinstance(problem, Problem)
    assert message in str(problem)
    assert [triple.value for triple in ada.triples] == ["1852", "Byron"]


def test_columns_that_are_not_known_are_named(tmp_path):
    material, _ = read(tmp_path, "QID,Relation,Value,rank\nQ1,born,1815,preferred\n")

    assert material.ignored == ["graph.csv: column 'rank'"]


def test_more_entities_than_are_remembered_change_nothing(tmp_path, monkeypatch):
    draw = random.Random(5)
    rows = [
        f"Q{n},relation {k},value {k},{f'Entity {n}' if k == n % 3 else ''},,,"
        for n in range(40)
        for k in range(3)
    ]
    draw.shuffle(rows)
    text = HEADER + "\n".join(rows) + "\n"
    _, expected = read(tmp_path, text)
    monkeypatch.setattr(triples, "MOST_REMEMBERED", 4)

    _, found = read(tmp_path, text)

    assert found == expected
    assert {(entity.qid, entity.label) for entity in found} == {
        (f"Q{n}", f"Entity {n}") for n in range(40)
    }
    assert all(len(entity.triples) == 3 for entity in found)


def test_the_format_is_told_by_its_columns_gzipped_or_in_a_zip(tmp_path):
    plain, packed, archive = (tmp_path / name for name in ("a.csv", "b.csv.gz", "c.zip"))
    plain.write_text(TABLE)
    packed.write_bytes(gzip.compress(TABLE.replace(",", ";").encode()))
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("d/graph.tsv", "relation\tqid\tvalue\n")

    assert {recognise(path) for path in (plain, packed, archive)} == {"triples"}


def test_entities_of_the_interchange_format_are_not_taken_for_it(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text('qid,label,triples\nQ1,Ada,"[]"\n')

    assert recognise(path) == "interchange"
