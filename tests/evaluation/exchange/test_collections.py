"""Import and export of a collection: passages that may be evidence of no example at all."""

import json
from typing import Any

import pytest

from evaluation.exchange.interchange import BadRows
from evaluation.votes.export import export_folder
from generation.models import Dataset, Example, ExamplePassage, Passage, ResponsePassage, Turn
from generation.records import CollectionPassageRecord, Where
from generation.services.datasets import store_passages
from tests.makers import (
    contents,
    example_row,
    forget,
    import_path,
    import_rows,
    is_empty,
    problems_of,
    response_row,
    row_counts,
    statements,
    write_files,
)

pytestmark = pytest.mark.both

MILL = {"id": "m1", "text": "The mill closed.", "title": "Mill", "url": "https://example.org/mill"}
FLOOD = {"id": "m2", "text": "A flood came."}


def facts():
    """Return what an import brought, without ids and digests."""
    return {
        "passages": sorted(Passage.objects.values_list("key", "text", "title", "url")),
        "examples": list(
            Example.objects.order_by("key").values_list("key", "dialog", "golden_answer", "meta")
        ),
        "turns": sorted(
            Turn.objects.values_list("example__key", "index", "parent_index", "speaker", "text")
        ),
        "evidence": sorted(
            ExamplePassage.objects.values_list("example__key", "passage__key", "is_golden")
        ),
    }


def test_passages_are_stored_without_examples_and_once(tmp_path):
    first = import_rows(tmp_path / "a", passages=[MILL, FLOOD])

    again = import_rows(tmp_path / "b", passages=[FLOOD, {"id": "m3", "text": "It rained."}])

    assert first.counts == {"passages": {"new": 2, "unchanged": 0, "bad": 0}}
    assert again.counts == {"passages": {"new": 1, "unchanged": 1, "bad": 0}}
    assert first.preview["passages"][0] == {
        "line": "1",
        "id": "m1",
        "title": "Mill",
        "text": "The mill closed.",
    }
    assert [p[0] for p in facts()["passages"]] == ["m1", "m2", "m3"]
    assert facts()["passages"][0] == tuple(MILL[name] for name in ("id", "text", "title", "url"))


def test_a_passage_with_other_content_or_a_second_time_is_a_problem(tmp_path):
    import_rows(tmp_path / "a", passages=[MILL])

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "b", passages=[MILL | {"title": ""}, FLOOD, FLOOD])

    assert problems_of(error.value) == [("passages.jsonl", 1, ""), ("passages.jsonl", 3, "")]
    assert [problem.found for problem in error.value.outcome.problems] == [
        'passage "m1", which is stored with other content: title nothing',
        'passage "m2" again',
    ]
    assert error.value.outcome.problems[0].expected == 'title "Mill", as stored, or another id'


@pytest.mark.parametrize("at_once", [True, False])
def test_an_example_may_name_a_passage_of_the_collection(tmp_path, at_once):
    rows: dict[str, Any] = {"passages": [MILL, FLOOD], "examples": [example_row(evidence=[MILL])]}
    if at_once:
        import_rows(tmp_path / "a", **rows)
    else:
        for kind, content in rows.items():
            import_rows(tmp_path / kind, **{kind: content})

    assert [p[0] for p in facts()["passages"]] == ["m1", "m2"]
    assert [link[:2] for link in facts()["evidence"]] == [("e1", "m1")]


def test_an_example_may_not_give_a_passage_of_the_collection_another_text(tmp_path):
    changed = example_row(evidence=[MILL | {"text": "The mill opened."}])

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "a", passages=[MILL], examples=[changed])

    assert problems_of(error.value) == [("examples.jsonl", 1, "evidence")]


@pytest.mark.parametrize(
    ("is_stored", "expected"),
    [
        (False, "the title and url that an earlier row has for this id"),
        (True, 'title "Mill", url "https://example.org/mill", as stored'),
    ],
    ids=["in one file", "in the database"],
)
def test_of_a_passage_that_has_changed_it_is_said_what_was_found_and_what_was_before(
    tmp_path, is_stored, expected
):
    moved = MILL | {"title": "Watermill", "url": "https://example.org/water"}
    passages: dict[str, Any] = {"passages": [MILL]}
    if is_stored:
        import_rows(tmp_path / "a", **passages)
        passages = {}

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "b", **passages, examples=[example_row(evidence=[moved])])

    problem = error.value.outcome.problems[0]
    found = 'title "Watermill", url "https://example.org/water"'
    assert problem.found == f'"m1" with other content than before: {found}'
    assert problem.expected == expected


def test_of_long_texts_the_place_is_shown_where_they_part(tmp_path):
    long = "x" * 100 + " closed in 1971."
    import_rows(tmp_path / "a", passages=[FLOOD | {"text": long}])

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "b", passages=[FLOOD | {"text": long.replace("1971", "1972")}])

    problem = error.value.outcome.problems[0]
    # From 20 characters before the last digit of the year.
    assert problem.found.endswith(': text "…xxxxxx closed in 1972."')
    assert problem.expected == 'text "…xxxxxx closed in 1971.", as stored, or another id'


def test_a_collection_may_hold_what_an_example_has_brought(tmp_path):
    import_rows(tmp_path / "a", examples=[example_row(evidence=[FLOOD])])

    outcome = import_rows(tmp_path / "b", passages=[FLOOD, MILL])

    assert outcome.counts["passages"] == {"new": 1, "unchanged": 1, "bad": 0}


def test_a_response_may_show_a_passage_that_no_example_names(tmp_path):
    shown = [response_row(evidence_shown=["m2", "p-e1"])]
    rows: dict[str, Any] = {
        "passages": [MILL, FLOOD],
        "examples": [example_row()],
        "responses": shown,
    }

    dataset = import_rows(tmp_path / "a", **rows).dataset
    assert dataset
    counts, before = row_counts(), facts()
    export_folder(dataset, None, tmp_path / "export")
    forget(dataset)
    assert is_empty()
    import_path(tmp_path / "export")

    assert (row_counts(), facts()) == (counts, before)
    links = ResponsePassage.objects.order_by("position").values_list("passage__key", flat=True)
    assert list(links) == ["m2", "p-e1"]


def test_the_export_says_each_passage_once(tmp_path):
    rows: dict[str, Any] = {"passages": [MILL, FLOOD], "examples": [example_row(evidence=[MILL])]}
    dataset = import_rows(tmp_path / "a", **rows).dataset
    assert dataset

    export_folder(dataset, None, tmp_path / "export")

    assert json.loads((tmp_path / "export/passages.jsonl").read_text("utf-8")) == FLOOD
    again = import_path(tmp_path / "export")
    assert {kind: count["new"] for kind, count in again.counts.items()} == {
        "passages": 0,
        "examples": 0,
        "responses": 0,
    }


def test_without_further_passages_there_is_no_file_of_them(tmp_path):
    dataset = import_rows(tmp_path / "a", examples=[example_row()]).dataset
    assert dataset

    export_folder(dataset, None, tmp_path / "export")

    assert not (tmp_path / "export/passages.jsonl").exists()


def test_a_table_of_passages_is_told_by_its_columns(tmp_path):
    path = tmp_path / "mills.csv"
    path.write_text("id,text,title\nm1,The mill closed.,Mill\n")

    import_path(path)

    assert facts()["passages"] == [("m1", "The mill closed.", "Mill", "")]


def test_storing_passages_costs_the_same_for_many():
    def records(n):
        return [
            CollectionPassageRecord(Where("p", i), f"{n}-{i}", f"Text {i}.", "", "")
            for i in range(n)
        ]

    dataset = Dataset.objects.create(name="mills", slug="mills")
    few = len(statements(lambda: store_passages(dataset, records(2))))

    assert len(statements(lambda: store_passages(dataset, records(150)))) == few
    assert store_passages(dataset, records(150)) == 0


# QReCC


@pytest.fixture
def qrecc(tmp_path, shared):
    """The published sample with a page of two passages and a passage for one question."""
    entries = (shared / "data/qrecc_sample/qrecc_test_sample.json").read_text("utf-8")
    page = "https://explorehealthcareers.org/career/medicine/physician-assistant/"
    passages = [
        {"id": f"{page}_p0", "contents": "Explore health careers."},
        {"id": f"{page}_p1", "contents": "Physician assistants are licensed providers."},
        {"id": "1_2", "contents": "Complete your bachelor's degree."},
        {"id": "elsewhere_p0", "contents": "Nothing of it."},
    ]
    folder = write_files(tmp_path / "qrecc", collection=passages)
    (folder / "qrecc_test.json").write_text(entries, encoding="utf-8")
    return folder


def test_qrecc_comes_with_its_collection_and_comes_back_from_an_export(qrecc, tmp_path):
    outcome = import_path(qrecc, "qrecc")
    assert outcome.dataset
    before = facts()
    export_folder(outcome.dataset, None, tmp_path / "export")
    forget(outcome.dataset)
    import_path(tmp_path / "export", "qrecc")

    assert facts() == before
    assert outcome.counts == {
        "passages": {"new": 4, "unchanged": 0, "bad": 0},
        "examples": {"new": 70, "unchanged": 0, "bad": 0},
    }
    page = "https://explorehealthcareers.org/career/medicine/physician-assistant/"
    assert before["evidence"] == [("1_1", f"{page}_p1", True), ("1_2", "1_2", True)]
    meta = {key: meta for key, _, _, meta in before["examples"]}
    assert [meta[key].get("golden") for key in ("1_1", "1_2", "1_3")] == ["guessed", None, None]


def test_qrecc_again_changes_nothing(qrecc):
    import_path(qrecc, "qrecc")
    before = contents()

    again = import_path(qrecc, "qrecc")

    assert [(c["new"], c["unchanged"]) for c in again.counts.values()] == [(0, 4), (0, 70)]
    assert contents() == before
