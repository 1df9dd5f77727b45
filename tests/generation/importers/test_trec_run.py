"""A TREC run: which lines are read, and how the passages of an example rank."""

import gzip
import zipfile

import pytest

from generation.importers import DatasetError, open_material, recognise
from generation.records import Problem, RankedPassageRecord


def read(tmp_path, text, name="bm25.run"):
    """Return the ranked passages of a run as (ranking, example, passage, rank), and problems."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with open_material(path, format="trec-run") as material:
        records = list(material.records("rankings"))
    ranked = [tuple(each[1:]) for each in records if isinstance(each, RankedPassageRecord)]
    return ranked, [each for each in records if isinstance(each, Problem)]


def test_passages_rank_by_score_whatever_rank_and_place_the_file_gives_them(tmp_path):
    lines = "q1 Q0 a 1 0.5 dense\nq1 Q0 b 2 1.5 dense\nq2 Q0 a 7 -3 dense\nq1 Q0 c 3 1e0 dense\n"

    ranked, problems = read(tmp_path, lines)

    # q1: b 1.5, c 1.0, a 0.5
    assert ranked == [
        ("dense", "q1", "b", 1),
        ("dense", "q1", "c", 2),
        ("dense", "q1", "a", 3),
        ("dense", "q2", "a", 1),
    ]
    assert not problems


def test_equal_scores_rank_by_docid_the_last_first(tmp_path):
    """The order is by bytes, like trec_eval's strcmp: é (C3 A9) comes after every ASCII letter."""
    lines = "".join(f"q1 Q0 {docid} 1 2.0 t\n" for docid in ("d10", "d9", "D99", "é"))

    ranked, _ = read(tmp_path, lines)

    assert [passage for _, _, passage, _ in ranked] == ["é", "d9", "d10", "D99"]


def test_scores_that_differ_in_no_32_bit_number_are_equal(tmp_path):
    """A 32-bit number has 24 bits before its exponent: 2**24 + 1 is read as 2**24."""
    ranked, _ = read(tmp_path, "q1 Q0 a 1 16777217 t\nq1 Q0 b 2 16777216 t\n")

    assert [passage for _, _, passage, _ in ranked] == ["b", "a"]


def test_each_tag_is_a_ranking(tmp_path):
    ranked, _ = read(tmp_path, "q1 Q0 a 1 1 dense\nq1 Q0 a 1 1 sparse\nq1 Q0 b 2 2 sparse\n")

    assert ranked == [("dense", "q1", "a", 1), ("sparse", "q1", "b", 1), ("sparse", "q1", "a", 2)]


def test_tabs_and_blanks_blank_lines_and_comments_are_read_as_trec_eval_reads_them(tmp_path):
    text = "# made in May\n\nq1\tQ0\ta\t1\t2\tt\r\n   \n  q1  0  b\t 2 1  t \nq1 Q0 c\u00a0d 3 0 t"

    ranked, problems = read(tmp_path, text)

    assert [passage for _, _, passage, _ in ranked] == ["a", "b", "c\u00a0d"]
    assert not problems


@pytest.mark.parametrize(
    ("line", "field", "said"),
    [
        ("q1 Q0 a 1 2.0", "", 'found "q1 Q0 a 1 2.0"; expected 6 fields with blanks between: qid'),
        ("q1 Q0 a b 1 2.0 t", "", "expected 6 fields"),
        ("q1 Q0 a 1 high t", "score", 'found "high"; expected a finite number'),
        ("q1 Q0 a 1 nan t", "score", "expected a finite number"),
        ("q1 Q0 a 1 1e300 t", "score", "expected a number from"),
        (f"{'q' * 201} Q0 a 1 2 t", "qid", "expected at most 200"),
        (f"q1 Q0 {'a' * 201} 1 2 t", "docid", "expected at most 200"),
        (f"q1 Q0 a 1 2 {'t' * 101}", "tag", "expected at most 100"),
        ("q1 Q0 a\0 1 2 t", "", "expected text without this character"),
    ],
)
def test_a_line_that_cannot_be_read_is_a_problem_and_has_no_rank(tmp_path, line, field, said):
    ranked, [problem] = read(tmp_path, f"q1 Q0 b 1 3 t\n{line}\nq1 Q0 c 1 1 t\n")

    assert [passage for _, _, passage, _ in ranked] == ["b", "c"]
    assert (problem.where.line, problem.field) == (2, field)
    assert said in str(problem)


RUN = "\n# a comment\n301 Q0 FT934-5418 0 12.25 bm25\n301 Q0 FT934-1 1 11 bm25\n"


def test_a_run_is_told_by_its_first_line_whatever_its_name(tmp_path):
    plain, packed, archive = (tmp_path / name for name in ("a.txt", "b.run.gz", "c.zip"))
    plain.write_text(RUN)
    packed.write_bytes(gzip.compress(RUN.encode()))
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("runs/bm25.trec", RUN)
        file.writestr("runs/LICENSE", "CC BY")

    assert {recognise(path) for path in (plain, packed, archive)} == {"trec-run"}


@pytest.mark.parametrize(
    "line", ["301 0 FT934-5418 1", "q1 Q0 a first 2.0 t", "q1 Q0 a 1 high t", "q1 0 a 1 2.0 t", ""]
)
def test_what_has_not_six_fields_with_q0_rank_and_score_is_no_run(tmp_path, line):
    (tmp_path / "qrels.txt").write_text(f"{line}\n")

    with pytest.raises(DatasetError, match=r"a TREC run \(trec-run\)|an empty file"):
        recognise(tmp_path / "qrels.txt")
