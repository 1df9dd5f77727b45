"""Entries of the construction: a paragraph and two people that it relates."""

import gzip
import json

import pytest

from generation.importers.entries import EntryRecord, is_complete_name, read_entries
from generation.importers.errors import DatasetError
from generation.importers.limits import Limits
from generation.importers.sources import Source
from generation.records import Problem, Where

SHAKESPEARE = (
    "William Shakespeare married Anne Hathaway, at 18.",
    "William Shakespeare",
    "Spouse",
    "Anne Hathaway",
)


def read(tmp_path, text, name, **more):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return list(read_entries(Source(path), **more))


CSV = '"{}",{},{},{}\n'.format(*SHAKESPEARE)
TSV = "\t".join(SHAKESPEARE) + "\n"
OBJECT = dict(zip(("paragraph", "name_1", "relation", "name_2"), SHAKESPEARE, strict=True))


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("entries.csv", f"paragraph,name_1,relation,name_2\n{CSV}", 2),
        ("Entries.CSV.gz", f"Paragraph, Name 1 ,Relation,NAME_2\n{CSV}", 2),
        ("entries.csv", f"paragraph;name 1;relation;name 2\n{CSV.replace(',', ';')}".replace(
            "Hathaway; at", "Hathaway, at"), 2),
        ("entries.tsv", f"paragraph\tname 1\trelation\tname 2\n\n{TSV}", 3),
        ("entries.jsonl", f"\n{json.dumps(OBJECT)}\n", 2),
        ("entries.json", json.dumps(OBJECT), 1),
    ],
)  # fmt: skip
def test_entries_of_each_kind_of_file(tmp_path, name, text, line):
    assert read(tmp_path, text, name) == [EntryRecord(Where(name, line), *SHAKESPEARE)]


def test_white_space_is_one_space(tmp_path):
    row = {**OBJECT, "paragraph": " William\n\nmarried\tAnne. ", "name_1": "William \n Shakespeare"}

    (entry,) = read(tmp_path, json.dumps(row), "entries.jsonl")

    assert (entry.paragraph, entry.name_1) == ("William married Anne.", "William Shakespeare")


def test_quotes_are_characters_of_a_plain_tsv(tmp_path):
    text = 'paragraph\tname_1\trelation\tname_2\n"Will" wed.\tW S\tspouse\tA H\n'

    (entry,) = read(tmp_path, text, "entries.tsv")

    assert entry.paragraph == '"Will" wed.'


def test_further_columns_are_told_and_not_read(tmp_path):
    told: list[str] = []
    text = f"paragraph,name_1,relation,name_2,source\n{CSV.strip()},here\n"

    (entry,) = read(tmp_path, text, "entries.csv", unknown=told.append)

    assert entry[1:] == SHAKESPEARE
    assert told == ["source"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name_2": " "}, 'name_2: found " "; expected text that is not empty'),
        ({"relation": None}, "relation: found nothing; expected text that is not empty"),
        ({"paragraph": "a" * 10_001}, "paragraph: found 10,001 characters"),
        ({"name_1": "a" * 501}, "name_1: found 501 characters"),
        ({"name_1": ["W"]}, 'name_1: found ["W"]; expected text'),
    ],
)
def test_a_row_that_cannot_be_read_is_a_problem_and_stops_no_other(tmp_path, change, message):
    rows = [{**OBJECT, **change}, OBJECT]

    problem, entry = read(tmp_path, "\n".join(map(json.dumps, rows)), "entries.jsonl")

    assert isinstance(problem, Problem)
    assert str(problem).startswith(f"entries.jsonl, line 1, {message}")
    assert entry == EntryRecord(Where("entries.jsonl", 2), *SHAKESPEARE)


def test_a_header_that_lacks_a_column_is_the_one_problem(tmp_path):
    (problem,) = read(tmp_path, f"paragraph,name_1,name_2,relates\n{CSV}{CSV}", "entries.csv")

    assert (problem.field, problem.expected) == (
        "relation", "columns paragraph, name_1, relation, name_2",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("entries.jsonl", ""),
        ("entries.jsonl", "\n \n"),
        ("entries.tsv", ""),
        ("entries.csv", "paragraph,name_1,relation,name_2\n"),
        ("entries.tsv", "paragraph\tname_1\trelation\tname_2\n"),
    ],
)
def test_a_file_without_entries_is_an_error(tmp_path, name, text):
    with pytest.raises(DatasetError, match=r"found no entries; expected one or more rows with par"):
        read(tmp_path, text, name)


def test_an_empty_table_has_the_header_as_its_problem(tmp_path):
    (problem,) = read(tmp_path, "", "entries.csv")

    assert str(problem) == (
        "entries.csv, line 1: found an empty file; "
        "expected a header line with paragraph, name_1, relation, name_2"
    )


def test_other_files_are_refused(tmp_path):
    with pytest.raises(DatasetError, match=r"graph\.nt: found \.nt; expected one CSV, TSV or JSON"):
        read(tmp_path, "<a> <b> <c> .\n", "graph.nt")
    (tmp_path / "more.csv").write_text("")
    with pytest.raises(DatasetError, match="found 2 files; expected one CSV"):
        list(read_entries(Source(tmp_path)))


def test_a_file_of_too_many_rows_is_refused(tmp_path):
    (tmp_path / "entries.jsonl").write_text(f"{json.dumps(OBJECT)}\n" * 3)

    with pytest.raises(DatasetError, match="more than 2 rows"):
        list(read_entries(Source(tmp_path / "entries.jsonl", Limits(max_rows=2))))


@pytest.mark.parametrize(
    ("name", "is_complete"),
    [
        ("William Shakespeare", True),
        ("Prudenzia di Ottaviano Montoni", True),
        ("J. Austen", True),
        ("Élisabeth Vigée-Le Brun", True),
        ("Ōe Kenzaburō", True),
        ("Shakespeare", False),
        ("  Shakespeare ", False),
        ("Elizabeth 2", False),
        ("Shakespeare , .", False),
        ("", False),
    ],
)
def test_a_complete_name_has_two_words_with_letters(name, is_complete):
    assert is_complete_name(name) == is_complete
