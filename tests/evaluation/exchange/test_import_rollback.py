"""Import: all of a file or nothing, at a fixed number of statements a batch."""

import sqlite3
from typing import Any

import pytest
from django.db import connection

from annotation.models import Flag, Vote
from evaluation.exchange import interchange
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import import_dataset
from generation.importers import DatasetError, open_material
from generation.models import (
    Dataset,
    Example,
    Passage,
    Response,
)
from generation.services import record_keys
from tests.makers import (
    contents,
    example_row,
    import_path,
    is_empty,
    pilot_rows,
    response_row,
    row_counts,
    statements,
    vote_row,
    write_files,
)

pytestmark = pytest.mark.both


@pytest.fixture
def pilot(tmp_path):
    return write_files(tmp_path / "pilot", **pilot_rows())


# --- all or nothing -------------------------------------------------------------------------


class Broken(Exception):
    pass


def fail(*args: object) -> None:
    raise Broken


@pytest.mark.parametrize("callback", ["before_commit", "on_progress"])
def test_a_failure_while_storing_rolls_everything_back(pilot, callback):
    options: dict[str, Any] = {callback: fail}

    with pytest.raises(Broken):
        import_path(pilot, **options)

    assert is_empty()


@pytest.mark.parametrize("n_batches", [1, 2, 5, 9])
def test_a_failure_in_any_batch_rolls_everything_back(pilot, monkeypatch, n_batches):
    monkeypatch.setattr(interchange, "BATCH", 1)
    calls = []

    def fail_later(n_rows: int, share: float) -> None:
        calls.append((n_rows, share))
        if len(calls) == n_batches:
            raise Broken

    with open_material(pilot) as material:
        plan = plan_import(material, "pilot")
        with pytest.raises(Broken):
            import_dataset(material, plan, on_progress=fail_later)

    assert len(calls) == n_batches
    assert is_empty()


def test_a_failure_in_an_addition_leaves_what_was_there(tmp_path, pilot):
    import_path(pilot)
    before = contents()
    more = write_files(tmp_path / "more", examples=[example_row("e3")])

    with pytest.raises(Broken):
        import_path(more, before_commit=fail)

    assert contents() == before


def test_progress_counts_rows_and_ends_at_the_whole(pilot, monkeypatch):
    monkeypatch.setattr(interchange, "BATCH", 2)
    calls = []

    with open_material(pilot) as material:
        plan = plan_import(material, "pilot")
        import_dataset(material, plan, on_progress=lambda *call: calls.append(call))

    rows, shares = zip(*calls, strict=True)
    assert rows[-1] == 2 + 3 + 1 + 5 + 1 + 1
    assert list(shares) == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize("batch", [1, 2, 7])
def test_the_size_of_a_batch_changes_nothing_that_is_stored(pilot, monkeypatch, batch):
    def facts():
        votes = Vote.objects.order_by("pk").values_list(
            "arm__kind", "target__response__key", "rater__code", "question", "answer"
        )
        return [list(votes), list(Example.objects.values_list("key")), row_counts()]

    import_path(pilot)
    expected = facts()
    Vote.objects.all().delete()
    Flag.objects.all().delete()
    Dataset.objects.all().delete()

    monkeypatch.setattr(interchange, "BATCH", batch)
    import_path(pilot)

    assert facts() == expected


# --- what it costs --------------------------------------------------------------------------


def many_rows(n: int) -> dict[str, Any]:
    return {
        "examples": [example_row(f"e{i}") for i in range(n)],
        "responses": [response_row(f"r{i}", f"e{i}", evidence_shown=[f"p-e{i}"]) for i in range(n)],
        "votes": [vote_row(f"r{i}", rater, citation=1) for i in range(n) for rater in "ab"],
        "flags": [{"response": f"r{i}", "rater": "a"} for i in range(n)],
        "raters": [{"rater": f"w{i}"} for i in range(n)],
        "scores": [{"response": f"r{i}", "metric": "m", "score": i} for i in range(n)],
        "entities": [
            {"qid": f"Q{i}", "label": "L", "triples": [{"relation": "r", "value": "v"}]}
            for i in range(n)
        ],
        "kg_questions": [
            {"id": f"k{i}", "question": "Who?", "entities": [f"Q{i}"], "minimum": [["Q", "r", "v"]]}
            for i in range(n)
        ],
    }


@pytest.mark.parametrize("is_repeat", [False, True], ids=["new rows", "the same again"])
def test_the_number_of_statements_does_not_grow_with_the_rows_of_a_batch(tmp_path, is_repeat):
    def cost(name: str, n: int) -> list[str]:
        folder = write_files(tmp_path / name, **many_rows(n))
        if is_repeat:
            import_path(folder, name)
        return statements(lambda: import_path(folder, name))

    few, many = cost("few", 10), cost("many", 200)

    # SQLite's driver splits large inserts at 999 values.
    if connection.vendor == "sqlite":
        few, many = (
            [sql for sql in found if not sql.startswith("INSERT")] for found in (few, many)
        )
    assert len(many) == len(few)


@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_a_batch_with_many_passages_asks_for_them_in_several_statements(tmp_path, monkeypatch):
    monkeypatch.setattr(record_keys, "MOST_KEYS", 500)
    n = 60  # 60 examples × 20 passages = 1,200 keys in one batch
    examples = [
        example_row(f"e{i}", evidence=[{"id": f"p{i}-{j}", "text": "T."} for j in range(20)])
        for i in range(n)
    ]
    shown = [f"p{i}-{j}" for i in range(n) for j in range(20)]
    responses = [response_row("r1", "e1", evidence_shown=shown)]
    first = write_files(tmp_path / "a", examples=examples)
    again = write_files(tmp_path / "b", examples=[*examples, example_row("e")], responses=responses)
    connection.ensure_connection()
    usual = connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 1000)

    try:
        import_path(first)
        import_path(again)
    finally:
        connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, usual)

    assert Passage.objects.count() == 20 * n + 1
    assert Response.objects.get().evidence_shown.count() == 20 * n


def test_of_two_imports_that_make_the_same_dataset_the_later_is_told_so(pilot, tmp_path):
    other = write_files(tmp_path / "other", examples=[example_row("e9")])
    with open_material(pilot) as first, open_material(other) as second:
        plans = [plan_import(first, "pilot"), plan_import(second, "pilot")]
        import_dataset(first, plans[0])
        before = contents()

        with pytest.raises(DatasetError, match="another import stored at the same time"):
            import_dataset(second, plans[1])

    assert contents() == before
