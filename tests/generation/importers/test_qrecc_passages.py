"""QReCC: passages that join the questions by address or id, and what stays without one."""

import pytest

from generation.importers import open_material
from generation.records import CollectionPassageRecord, Problem
from tests.generation.importers.test_qrecc import (
    URL,
    entry,
    examples_of,
    passage,
    read,
    write,
)


@pytest.mark.parametrize(
    "joined",
    [
        passage("p1", url=URL),
        passage(URL),
        passage(f"{URL}_p12"),
        passage("7_1"),
        passage(f"http://web.archive.org/web/20191127id_/{URL}_p0"),
        passage(f"{URL}#history_p3"),
        {"id": "p1", "text": "The mill closed in 1971.", "url": URL, "title": "Mill"},
    ],
    ids=["url", "id", "part", "question", "archive", "anchor", "text"],
)
def test_a_single_passage_that_joins_is_golden(tmp_path, joined):
    found = read(tmp_path, [entry(1)], [passage("https://example.org/other_p0"), joined])

    (golden,) = found["examples"][0].evidence
    assert (golden.text, golden.is_golden) == ("The mill closed in 1971.", True)
    assert golden.key == joined["id"]
    assert "golden" not in found["examples"][0].meta
    assert [p.key for p in found["passages"]] == ["https://example.org/other_p0", joined["id"]]
    assert all(isinstance(p, CollectionPassageRecord) for p in found["passages"])


def test_what_does_not_join_is_in_the_collection_only(tmp_path):
    strangers = [passage(f"{URL}s_p1"), passage("7_10"), passage("x", url="https://example.org/")]

    found = read(tmp_path, [entry(1)], strangers)

    assert found["examples"][0].evidence == ()
    assert len(found["passages"]) == 3


def test_of_several_passages_the_one_that_holds_most_of_the_answer_is_guessed(tmp_path):
    answer = "It closed in 1971 in March."  # 6 tokens, 'in' twice
    several = [
        passage(f"{URL}_p0", "A mill stood in the valley."),  # in: 1/6
        passage(f"{URL}_p1", "In 1971 it closed."),  # in, 1971, it, closed: 4/6
        passage(
            f"{URL}_p2", "Closed in March, it says, in 1970."
        ),  # closed, in, March, it, in: 5/6
        passage(f"{URL}_p3", "It closed in March, in winter."),  # the same number, but later
    ]

    example = examples_of(tmp_path, [entry(1, Answer=answer)], several)["7_1"]

    assert [p.key for p in example.evidence] == [f"{URL}_p2"]
    assert example.meta["golden"] == "guessed"


def test_a_passage_named_after_its_question_is_golden_before_all_of_its_page(tmp_path):
    several = [passage(f"{URL}_p0", "Answer 1."), passage("7_1", "Nothing of it.")]

    example = examples_of(tmp_path, [entry(1)], several)["7_1"]

    assert [p.key for p in example.evidence] == ["7_1"]
    assert "golden" not in example.meta


def test_without_an_answer_nobody_can_tell_which_of_several_is_golden(tmp_path):
    several = [passage(f"{URL}_p0"), passage(f"{URL}_p1")]

    example = examples_of(tmp_path, [entry(1, Answer=" ")], several)["7_1"]

    assert example.evidence == ()
    assert example.meta["golden"] == "unknown"


def test_an_answer_may_come_from_several_pages(tmp_path):
    both = f"https://example.org/one {URL}"
    several = [passage("https://example.org/one_p0", "Something."), passage(URL, "Answer 1.")]

    example = examples_of(tmp_path, [entry(1, Answer_URL=both)], several)["7_1"]

    assert [p.key for p in example.evidence] == [URL]
    assert example.meta["golden"] == "guessed"


def test_a_long_address_is_cut_to_a_key_of_its_own_and_still_joins(tmp_path):
    url = "https://example.org/" + "a" * 300
    found = read(
        tmp_path, [entry(1, Answer_URL=url)], [passage(f"{url}_p0"), passage(f"{url}b_p0")]
    )

    keys = [p.key for p in found["passages"]]
    assert [len(key) for key in keys] == [200, 200]
    assert keys[0] != keys[1]
    (golden,) = found["examples"][0].evidence
    assert (golden.key, golden.url) == (keys[0], url)


def test_of_two_passages_with_one_id_the_second_joins_nothing(tmp_path):
    twice = [passage("p1", url="https://example.org/other"), passage("p1", url=URL)]

    assert read(tmp_path, [entry(1)], twice)["examples"][0].evidence == ()


def test_an_empty_text_leaves_room_for_the_contents(tmp_path):
    found = read(tmp_path, [entry(1)], [passage(URL, text="The mill.") | {"text": None}])

    assert [p.text for p in found["passages"]] == ["The mill."]


def test_what_the_join_found_is_counted(tmp_path):
    pages = ("one", "two", "two_unanswered", "none")
    entries = [
        entry(1, conversation=n, Answer_URL=f"https://example.org/{page}")
        for n, page in enumerate(pages)
    ]
    entries[2]["Answer"] = ""
    several = [
        passage(f"https://example.org/{page}_p{n}")
        for page, n_passages in zip(pages, (1, 2, 2, 0), strict=True)
        for n in range(n_passages)
    ]

    with open_material(write(tmp_path / "q", entries, several)) as material:
        for _ in range(2):  # a second pass counts anew
            list(material.records("examples"))
        notes = material.notes

    assert notes == {
        "questions with a golden passage": 2,
        "of them guessed among several passages": 1,
        "questions with several passages and no answer to guess by": 1,
        "questions without a passage": 1,
    }


def test_without_a_file_of_passages_nothing_is_said_of_them(tmp_path):
    with open_material(write(tmp_path / "q", [entry(1)])) as material:
        list(material.records("examples"))
        assert material.notes == {}


def test_a_passage_that_cannot_be_read_is_reported_once_and_joins_nothing(tmp_path):
    found = read(tmp_path, [entry(1)], [{"id": URL}, passage(f"{URL}_p1"), {"contents": "x"}])

    problems = [item for items in found.values() for item in items if isinstance(item, Problem)]
    assert [(p.where.file, p.where.line, p.field) for p in problems] == [
        ("collection.jsonl", 1, "contents"),
        ("collection.jsonl", 3, "id"),
    ]
    assert [p.key for p in found["examples"][0].evidence] == [f"{URL}_p1"]


# Files
