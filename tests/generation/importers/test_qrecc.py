"""QReCC: rewrites or questions as user turns, who spoke in a context, and the published sample."""

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from generation.importers import DatasetError, open_material, recognise
from generation.records import Problem

URL = "https://example.org/mill"


def entry(turn=1, context=(), conversation=7, **more):
    return {
        "Context": list(context),
        "Question": f"Question {turn}?",
        "Rewrite": f"Rewrite {turn}?",
        "Answer": f"Answer {turn}.",
        "Answer_URL": URL,
        "Conversation_no": conversation,
        "Turn_no": turn,
        "Conversation_source": "quac",
    } | more


def write(folder, entries, passages=None):
    folder.mkdir(exist_ok=True)
    (folder / "qrecc_test.json").write_text(json.dumps(entries), encoding="utf-8")
    if passages is not None:
        lines = "".join(json.dumps(passage) + "\n" for passage in passages)
        (folder / "collection.jsonl").write_text(lines, encoding="utf-8")
    return folder


def read(folder, entries, passages=None, format=None) -> dict[str, Any]:
    with open_material(write(folder, entries, passages), format) as material:
        assert material.format == (format or "qrecc")
        return {kind: list(material.records(kind)) for kind in material.kinds}


def passage(id, text="The mill closed in 1971.", **more):
    return {"id": id, "contents": text} | more


def examples_of(tmp_path, entries, passages=None, format=None):
    return {e.key: e for e in read(tmp_path, entries, passages, format)["examples"]}


def said(example):
    """Return the turns as 'u: text' and 'a: text'."""
    return [f"{turn.speaker[0]}: {turn.text}" for turn in example.turns]


CONVERSATION = [
    entry(1),
    entry(2, ["Rewrite 1?", "Answer 1."], Answer=""),
    entry(3, ["Rewrite 1?", "Answer 1.", "Rewrite 2?"], Rewrite="Tell me of rewrite 3."),
    entry(4, ["Rewrite 1?", "Answer 1.", "Rewrite 2?", "Tell me of rewrite 3.", "Answer 3."]),
]


# Turns


def test_an_entry_is_an_example_of_its_conversation(tmp_path):
    example = examples_of(tmp_path, CONVERSATION)["7_2"]

    assert (example.dialog, example.where.line) == ("7", 2)
    assert said(example) == ["u: Rewrite 1?", "a: Answer 1.", "u: Rewrite 2?"]
    assert [turn.parent for turn in example.turns] == [-1, 0, 1]
    assert example.evidence == ()
    assert example.meta == {
        "conversation_source": "quac",
        "answer_url": URL,
        "question": "Question 2?",
        "rewrite": "Rewrite 2?",
    }


def test_an_empty_answer_is_no_golden_answer_and_no_turn(tmp_path):
    examples = examples_of(tmp_path, CONVERSATION)

    assert [e.golden_answer for e in examples.values()] == [
        "Answer 1.",
        None,
        "Answer 3.",
        "Answer 4.",
    ]
    assert said(examples["7_4"]) == [
        "u: Rewrite 1?",
        "a: Answer 1.",
        "u: Rewrite 2?",  # the answer is left out: two turns of the user in a row
        "u: Tell me of rewrite 3.",  # no '?', but its record says that it was asked
        "a: Answer 3.",
        "u: Rewrite 4?",
    ]


def test_questions_as_they_were_asked_stand_in_the_dialog_too(tmp_path):
    example = examples_of(tmp_path, CONVERSATION, format="qrecc-as-asked")["7_4"]

    assert said(example) == [
        "u: Question 1?",
        "a: Answer 1.",
        "u: Question 2?",
        "u: Question 3?",
        "a: Answer 3.",
        "u: Question 4?",
    ]


def test_a_rewrite_whose_record_is_missing_stays(tmp_path):
    example = examples_of(tmp_path, CONVERSATION[1:], format="qrecc-as-asked")["7_4"]

    assert said(example)[:3] == ["u: Rewrite 1?", "a: Answer 1.", "u: Question 2?"]


def test_with_two_texts_for_each_earlier_turn_user_and_system_alternate(tmp_path):
    context = ["Tell me.", "What do you mean?", "Never mind?", "Fine."]

    example = examples_of(tmp_path, [entry(3, context)])["7_3"]

    assert said(example)[:4] == [
        "u: Tell me.",
        "a: What do you mean?",
        "u: Never mind?",
        "a: Fine.",
    ]


def test_without_the_earlier_records_a_question_mark_tells_who_asks(tmp_path):
    context = ["Tell me of mills.", "They grind.", "Which is oldest?", "Is it far?", "No."]

    example = examples_of(tmp_path, [entry(4, context)])["7_4"]

    assert said(example)[:5] == [
        "u: Tell me of mills.",  # the first is always the user's
        "a: They grind.",
        "u: Which is oldest?",
        "u: Is it far?",
        "a: No.",
    ]


def test_speakers_that_are_not_certain_are_marked(tmp_path):
    entries = [
        *CONVERSATION,
        entry(3, ["Who?", "Me.", "Why?"], conversation=8),  # the first or the second is answered
        entry(1, ["Too early."], conversation=9),  # nothing can have been said before turn 1
        entry(4, [], conversation=9),  # too few turns, but no speaker has to be guessed
    ]

    examples = examples_of(tmp_path, entries)

    marked = {key for key, e in examples.items() if e.meta.get("speakers") == "guessed"}
    assert marked == {"8_3", "9_1"}
    assert said(examples["8_3"])[:3] == ["u: Who?", "a: Me.", "u: Why?"]
    assert said(examples["9_1"])[0] == "u: Too early."


def test_another_conversation_says_nothing_about_this_one(tmp_path):
    other = entry(1, conversation=6, Rewrite="Answer 1.")  # here it is a question
    entries = [other, entry(3, ["Rewrite 1?", "Answer 1.", "Rewrite 2?"])]

    assert said(examples_of(tmp_path, entries)["7_3"])[1] == "a: Answer 1."


def test_a_question_without_a_rewrite_stands_as_it_was_asked_and_blank_texts_are_no_turns(tmp_path):
    example = examples_of(tmp_path, [entry(2, ["Rewrite 1?", " "], Rewrite="")])["7_2"]

    assert said(example) == ["u: Rewrite 1?", "u: Question 2?"]


def test_fields_that_are_not_known_are_kept(tmp_path):
    assert examples_of(tmp_path, [entry(1, Note="x")])["7_1"].meta["Note"] == "x"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"Conversation_no": None}, "Conversation_no"),
        ({"Turn_no": 0}, "Turn_no"),
        ({"Turn_no": "2"}, "Turn_no"),
        ({"Context": "Why?"}, "Context"),
        ({"Context": ["Why?", 2]}, "Context[2]"),
        ({"Question": " "}, "Question"),
        ({"Answer": [5]}, "Answer"),
    ],
)
def test_an_entry_that_cannot_be_read_is_a_problem_with_its_number(tmp_path, change, field):
    found = read(tmp_path, [entry(1), entry(2) | change, entry(3)])["examples"]

    problem = found[1]
    assert isinstance(problem, Problem)
    assert (problem.where.file, problem.where.line, problem.field) == ("qrecc_test.json", 2, field)
    assert [item.key for item in (found[0], found[2])] == ["7_1", "7_3"]


def test_the_reader_says_what_it_does_not_read(tmp_path):
    folder = write(tmp_path / "q", [entry(1)], [passage(URL, docs=3)])
    (folder / "README.md").write_text("QReCC")

    with open_material(folder) as material:
        assert material.kinds == ("passages", "examples")
        for kind in material.kinds:
            list(material.records(kind))
        assert material.ignored == ["README.md", "collection.jsonl: key 'docs'"]
        assert material.bytes_read == material.bytes_total


def test_nothing_is_taken_for_questions_as_asked_unless_one_says_so(tmp_path):
    assert recognise(write(tmp_path / "q", [entry(1)])) == "qrecc"


def test_train_and_test_are_imported_one_by_one(tmp_path):
    folder = write(tmp_path / "q", [entry(1)])
    (folder / "qrecc_train.json").write_text(json.dumps([entry(1)]))

    with pytest.raises(DatasetError, match="2 files of questions"):
        open_material(folder)


def test_one_file_of_passages_belongs_to_it(tmp_path):
    folder = write(tmp_path / "q", [entry(1)], [])
    (folder / "more.jsonl").write_text("")

    with pytest.raises(DatasetError, match="2 files of passages"):
        open_material(folder)


def test_another_list_is_no_qrecc_file(tmp_path):
    (tmp_path / "list.json").write_text('[{"Question": "Why?"}]')

    for format in ("qrecc", "qrecc-as-asked"):
        with pytest.raises(DatasetError, match="as QReCC publishes it"):
            open_material(tmp_path, format)


def test_memory_does_not_grow_with_the_file(tmp_path):
    n_bytes, n_entries = 20_000, 800  # 16 MB of entries, and as much of passages
    entries = [
        entry(1, conversation=n, Answer="x" * n_bytes, Answer_URL=f"https://example.org/{n}")
        for n in range(n_entries)
    ]
    passages = [passage(f"https://example.org/{n}_p1", "x" * n_bytes) for n in range(n_entries)]
    folder = write(tmp_path / "q", entries, passages)
    del entries, passages

    tracemalloc.start()
    try:
        with open_material(folder) as material:
            examples: Iterator[Any] = material.records("examples")
            n_golden = sum(bool(example.evidence) for example in examples)
        highest = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert n_golden == n_entries
    assert highest < 12_000_000


# Published


@pytest.fixture(scope="module")
def sample(shared) -> tuple[Any, list[Any]]:
    path = shared / "data/qrecc_sample/qrecc_test_sample.json"
    with open_material(path) as material:
        examples = list(material.records("examples"))
    return json.loads(path.read_text("utf-8")), examples


def test_the_published_sample_is_read_whole(sample):
    raw, examples = sample

    # PROVENANCE.md beside the file: eleven conversations, 70 turn records.
    assert not [item for item in examples if isinstance(item, Problem)]
    assert len(examples) == len({e.key for e in examples}) == 70
    assert len({e.dialog for e in examples}) == 11
    assert [e.turns[-1].text for e in examples] == [record["Rewrite"] for record in raw]
    for record, example in zip(raw, examples, strict=True):
        assert [turn.text for turn in example.turns[:-1]] == record["Context"]


def test_in_the_published_sample_every_turn_before_has_one_question_of_the_user(sample):
    raw, examples = sample

    n_questions = [sum(turn.speaker == "user" for turn in e.turns) for e in examples]

    assert n_questions == [record["Turn_no"] for record in raw]
    for example in examples:
        pairs = zip(example.turns, example.turns[1:], strict=False)
        assert not any(a.speaker == b.speaker == "assistant" for a, b in pairs)


def test_in_the_published_sample_empty_answers_leave_two_questions_in_a_row(sample):
    _, examples = sample

    doubled = {
        e.key
        for e in examples
        if any(a.speaker == b.speaker for a, b in zip(e.turns, e.turns[1:], strict=False))
    }

    # By hand: 1113:8, 1118:6, 1126:3 and 1128:5 have no answer; what follows in their conversation.
    assert doubled == {"1113_9", "1113_10", "1113_11", "1126_4", "1126_5", "1126_6"}
    assert {e.key for e in examples if e.golden_answer is None} == {
        "1113_8",
        "1118_6",
        "1126_3",
        "1128_5",
    }
