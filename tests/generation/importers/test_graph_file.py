"""Graphs put in order on disk: read once, in memory that does not grow, and gone in the end."""

import gzip
import sqlite3
import tracemalloc

import pytest

from generation.importers import (
    DatasetError,
    disk_database,
    graph_file,
    ntriples,
    open_material,
    rdf_store,
)
from generation.importers import triples as table
from generation.records import EntityRecord, EntityTriple, Problem

EX = "http://example.org/"
GRAPH = (
    f'<{EX}Ada> <{EX}born> "1815" .\n'
    f'<{EX}Mary> <{EX}born> "1797" .\n'
    "no triple\n"
    f'<{EX}Ada> <{EX}born> "1815" .\n'
)
TABLE = "qid,relation,value\nAda,born,1815\nMary,born,1797\nMary,,1\nAda,born,1815\n"
KNOWS = f"<{EX}Ada> <{EX}knows> <{EX}Mary> .\n"
FILES = pytest.mark.parametrize(("name", "text"), [("a.nt", GRAPH), ("a.csv", TABLE)])


def opened(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return open_material(path)


def checked(row):
    assert isinstance(row, EntityRecord)
    return row


@pytest.fixture
def databases(monkeypatch):
    """Return the private databases that are made, to be asked whether they are closed."""
    made = []
    make = disk_database.temporary_database

    def remembered(cache):
        made.append(make(cache))
        return made[-1]

    monkeypatch.setattr(graph_file, "temporary_database", remembered)
    return made


def are_closed(databases):
    for database in databases:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            database.execute("SELECT 1")
    return len(databases)


# --- once, and gone in the end --------------------------------------------------------------


@FILES
def test_a_file_is_parsed_once_however_often_it_is_read(tmp_path, databases, name, text):
    with opened(tmp_path, name, text) as material:
        material.prepare()
        n_bytes = material.bytes_read
        first, counts = list(material.records("entities")), (material.n_left_out, material.notes)
        again = list(material.records("entities"))

        problem, ada, mary = first
        assert isinstance(problem, Problem)
        assert isinstance(ada, EntityRecord)
        assert ada.triples == (EntityTriple("born", "1815", ""),)
        assert mary.triples == (EntityTriple("born", "1797", ""),)
        assert counts[0] == {"repeated triples": 1}
        assert again == first
        assert (material.n_left_out, material.notes) == counts
        assert material.bytes_read == n_bytes == len(text)
    assert are_closed(databases) == 1


@FILES
def test_reading_that_is_given_up_half_way_leaves_no_file(tmp_path, databases, name, text):
    with opened(tmp_path, name, text) as material:
        next(iter(material.records("entities")))

    assert are_closed(databases) == 1


@FILES
def test_an_import_that_is_cancelled_leaves_no_file(tmp_path, databases, name, text):
    def cancel():
        raise InterruptedError

    with opened(tmp_path, name, text) as material:
        material.on_work = cancel
        with pytest.raises(InterruptedError):
            material.prepare()

        assert are_closed(databases) == 1


@FILES
def test_a_damaged_file_leaves_no_file(tmp_path, databases, name, text):
    path = tmp_path / f"{name}.gz"
    lines = text + "".join(f"{line}\n" for line in text.splitlines()[1:2] * 100_000)
    path.write_bytes(gzip.compress(lines.encode())[:-20])

    with open_material(path) as material:
        with pytest.raises(DatasetError, match="damaged data"):
            material.prepare()

        assert are_closed(databases) == 1


# --- memory ---------------------------------------------------------------------------------


def test_long_lines_are_read_a_few_at_a_time(tmp_path):
    """40 values of 1 MB: together 40 MB, and about 4 MiB of lines are parsed at once."""
    path = tmp_path / "long.nt"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f'<{EX}{n}> <{EX}says> "{"x" * 1_000_000}" .\n' for n in range(40))

    tracemalloc.start()
    try:
        with open_material(path) as material:
            rows = map(checked, material.records("entities"))
            n_characters = [len(row.triples[0].value) for row in rows]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert n_characters == [1_000_000] * 40
    assert peak < 25_000_000


def test_a_chunk_ends_where_its_lines_are_long_enough_together(tmp_path, monkeypatch):
    monkeypatch.setattr(ntriples, "CHARACTERS_AT_ONCE", 2 * len(KNOWS))
    n_lots = 0

    def count():
        nonlocal n_lots
        n_lots += 1

    with opened(tmp_path, "a.nt", KNOWS * 5) as material:
        material.on_work = count
        list(material._fill(material._new_store()))

    assert n_lots == 3  # lines 1 and 2, 3 and 4, 5


@pytest.mark.parametrize("kind", ["nt", "csv"])
def test_an_entity_that_memory_should_not_hold_is_a_problem_and_stops_no_other(
    tmp_path, monkeypatch, kind
):
    """With 500 characters at most, two triples of 100 and as much overhead fit, three do not."""
    for module in (rdf_store, table, graph_file):
        monkeypatch.setattr(module, "LONGEST_ENTITY", 500)
    stated = [(qid, letter * 100) for qid in ("a", "b") for letter in "xyz"][1:]
    text = "".join(f'<{EX}{qid}> <{EX}says> "{value}" .\n' for qid, value in stated)
    if kind == "csv":
        rows = "".join(f"{qid},says,{value}\n" for qid, value in stated)
        text = f"qid,relation,value\n{rows}"

    with opened(tmp_path, f"graph.{kind}", text) as material:
        found, problem = material.records("entities")

    assert [triple.value[0] for triple in found.triples] == ["y", "z"]
    assert isinstance(problem, Problem)
    assert "more than 500 characters" in problem.found


def test_an_iri_without_end_is_no_name(tmp_path):
    """Subjects and predicates are remembered."""
    endless = EX + "x" * (2001 - len(EX))
    text = f'<{EX}Ada> <{endless}> "1" .\n<{endless}> <{EX}p> "2" .\n<{EX}Ada> <{EX}p> "3" .\n'

    with opened(tmp_path, "a.nt", text) as material:
        first, second, ada = material.records("entities")

    for line, problem in enumerate((first, second), start=1):
        assert (problem.where.line, problem.found) == (line, "an IRI of 2,001 characters")
    assert ada.triples == (EntityTriple("p", "3", ""),)


def test_iris_of_many_characters_are_remembered_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(rdf_store, "MOST_CHARACTERS", 100)
    text = "".join(f"<{EX}{n % 7}> <{EX}knows> <{EX}{n % 5}> .\n" for n in range(35))

    with opened(tmp_path, "a.nt", text) as material:
        entities = {row.qid: row for row in material.records("entities")}

    assert len(entities) == 7
    # 35 pairs of remainders of 7 and 5: each thing knows each of five others, once.
    assert {t.value_qid for t in entities["6"].triples} == {"0", "1", "2", "3", "4"}
