"""TREC CAsT topics: each user turn is an example, with the parents that the file gives."""

import copy
import json
from typing import Any

import pytest

from generation.importers import DatasetError, open_material, recognise
from generation.records import ExampleRecord, Problem
from generation.text.native_dialog import native_dialog

LINEAR: list[dict[str, Any]] = [
    {
        "number": 106,
        "turn": [
            {
                "number": 1,
                "raw_utterance": "Why did the mill close?",
                "automatic_rewritten_utterance": "Why did the mill of Bath close?",
                "passage": "A flood destroyed the wheel.",
                "canonical_result_id": "MARCO_D1",
                "passage_id": 0,
            },
            {
                "number": 2,
                "raw_utterance": "When?",
                "automatic_rewritten_utterance": "When did the mill of Bath close?",
                "passage": "It closed in 1971.",
                "canonical_result_id": "MARCO_D1",
                "passage_id": 3,
            },
        ],
    }
]
# 1-1 ─ 1-2 ─ 1-3 (has no answer)
#          └─ 2-1 ─ 2-2 (asks back, names no passage)
#                └─ 3-1
TREE: list[dict[str, Any]] = [
    {
        "number": 132,
        "turn": [
            {"number": "1-1", "participant": "User", "utterance": "What is COP26?"},
            {
                "number": "1-2",
                "parent": "1-1",
                "participant": "System",
                "response": "A summit.",
                "provenance": ["KILT_1-2", "MARCO_3-4"],
            },
            {"number": "1-3", "parent": "1-2", "participant": "User", "utterance": "Thanks."},
            {
                "number": "2-1",
                "parent": "1-2",
                "participant": "User",
                "utterance": "Where was it?",
                "automatic_rewritten_utterance": "Where was COP26?",
            },
            {
                "number": "2-2",
                "parent": "2-1",
                "participant": "System",
                "response": "City or country?",
                "provenance": [],
            },
            {
                "number": "3-1",
                "parent": "2-1",
                "participant": "System",
                "response": "In Glasgow.",
                "provenance": ["WAPO_5"],
            },
        ],
    }
]


def read(tmp_path, topics):
    path = tmp_path / "topics.json"
    path.write_text(json.dumps(topics))
    with open_material(path, format="treccast") as material:
        return material, list(material.records("examples"))


def turns_of(example):
    return [(turn.speaker, turn.text, turn.parent) for turn in example.turns]


def test_the_passages_of_2021_are_both_the_system_turns_and_golden(tmp_path):
    _, (first, second) = read(tmp_path, LINEAR)

    assert (first.key, second.key) == ("106_1", "106_2")
    assert first.dialog == second.dialog == "106"
    assert turns_of(first) == [("user", "Why did the mill close?", -1)]
    assert turns_of(second) == [
        ("user", "Why did the mill close?", -1),
        ("assistant", "A flood destroyed the wheel.", 0),
        ("user", "When?", 1),
    ]
    assert second.evidence == (("MARCO_D1-3", "It closed in 1971.", "", "", True),)
    assert second.golden_answer is None
    assert second.meta == {
        "document": "MARCO_D1",
        "passage": 3,
        "rewrite": "When did the mill of Bath close?",
    }


def test_a_passage_id_with_a_second_text_is_told_apart(tmp_path):
    topics = copy.deepcopy(LINEAR)
    topics[0]["turn"][1]["passage_id"] = 0  # the number of the first turn's passage
    topics.append(copy.deepcopy(topics[0]) | {"number": 107})

    _, examples = read(tmp_path, topics)

    keys = [passage.key for example in examples for passage in example.evidence]
    assert keys == ["MARCO_D1-0", "MARCO_D1-0|2", "MARCO_D1-0", "MARCO_D1-0|2"]


def test_a_document_with_a_long_name_gets_a_short_key_for_each_passage(tmp_path):
    topics = copy.deepcopy(LINEAR)
    for turn in topics[0]["turn"]:
        turn["canonical_result_id"] = "D" * 200  # the longest key, without '-<passage>'

    _, examples = read(tmp_path, topics)

    keys = [example.evidence[0].key for example in examples]
    assert [len(key) for key in keys] == [200, 200]
    assert keys[0] != keys[1]
    assert all(key.startswith("D" * 183 + "~") for key in keys)


def test_an_entry_that_is_no_topic_is_told_and_stops_no_other(tmp_path):
    _, (problem, *examples) = read(tmp_path, ["topic 1", *LINEAR])

    assert isinstance(problem, Problem)
    assert (problem.where.line, problem.found) == (1, '"topic 1"')
    assert problem.expected == "a topic: an object with 'number', 'turn'"
    assert len(examples) == 2


def test_a_dialog_of_2022_is_every_earlier_turn_with_the_parents_of_the_file(tmp_path):
    _, examples = read(tmp_path, TREE)

    assert [example.key for example in examples] == ["132_1-1", "132_1-3", "132_2-1"]
    assert turns_of(examples[2]) == [
        ("user", "What is COP26?", -1),
        ("assistant", "A summit.", 0),
        ("user", "Thanks.", 1),
        ("user", "Where was it?", 1),
    ]


def test_the_golden_answer_of_2022_is_the_first_one_that_names_passages(tmp_path):
    _, (first, thanks, where) = read(tmp_path, TREE)

    assert first.golden_answer == "A summit."
    assert first.meta == {"provenance": ["KILT_1-2", "MARCO_3-4"]}
    assert (thanks.golden_answer, thanks.meta) == (None, {})
    assert where.golden_answer == "In Glasgow."
    assert where.meta == {"rewrite": "Where was COP26?", "provenance": ["WAPO_5"]}
    assert first.evidence == thanks.evidence == where.evidence == ()


@pytest.mark.parametrize(
    ("topics", "turn", "change", "field", "found"),
    [
        (LINEAR, 1, {"raw_utterance": None}, "turn[2].raw_utterance", "nothing"),
        (LINEAR, 1, {"passage": " "}, "turn[2].passage", '" "'),
        (LINEAR, 1, {"passage_id": None}, "turn[2].passage_id", "nothing"),
        (LINEAR, 1, {"number": 1}, "turn", '"1" twice'),
        (TREE, 3, {"parent": "2-2"}, "turn[4].parent", '"2-2"'),  # a later turn
        (TREE, 3, {"parent": "9-9"}, "turn[4].parent", '"9-9"'),
        (TREE, 3, {"parent": None}, "turn[4].parent", "nothing"),
        (TREE, 3, {"participant": "Judge"}, "turn[4].participant", '"Judge"'),
        (TREE, 3, {"participant": None}, "turn[4].participant", "nothing"),
        (TREE, 1, {"response": None}, "turn[2].response", "nothing"),
        (TREE, 1, {"provenance": "KILT_1-2"}, "turn[2].provenance", '"KILT_1-2"'),
    ],
)
def test_a_topic_with_a_bad_turn_says_where_and_stops_no_other(
    tmp_path, topics, turn, change, field, found
):
    bad = copy.deepcopy(topics)
    bad[0]["turn"][turn] |= change

    _, items = read(tmp_path, [*bad, topics[0] | {"number": 200}])

    problems = [item for item in items if isinstance(item, Problem)]
    assert (("topics.json", 1), field, found) in [(p.where, p.field, p.found) for p in problems]
    examples = [item for item in items if isinstance(item, ExampleRecord)]
    assert {example.dialog for example in examples} == {"200"}


def test_keys_that_are_not_read_are_named_once(tmp_path):
    topics = copy.deepcopy(LINEAR)
    topics[0]["title"] = "Mills"
    for turn in topics[0]["turn"]:
        turn["comment"] = "long"

    material, _ = read(tmp_path, topics)

    assert material.ignored == ["topics.json: key 'title'", "topics.json: key 'comment'"]


def test_topics_are_told_by_what_they_hold(tmp_path):
    path = tmp_path / "download"
    for topics in (LINEAR, TREE):
        path.write_text(json.dumps(topics))
        assert recognise(path) == "treccast"


def test_something_else_than_a_list_stops_the_import(tmp_path):
    with pytest.raises(DatasetError, match="a JSON list of topics"):
        read(tmp_path, {"turn": []})


OF_2021 = "2021_automatic_evaluation_topics_v1.0.json"
OF_2022 = "2022_automatic_evaluation_topics_tree_v1.0.json"


def raw(shared, name):
    """Return the topics of a published file, number → turns."""
    topics = json.loads((shared / "data/treccast" / name).read_text("utf-8"))
    return {str(topic["number"]): topic["turn"] for topic in topics}


def published(shared, name) -> dict[str, Any]:
    with open_material(shared / "data/treccast" / name) as material:
        assert material.format == "treccast"
        items: list[Any] = list(material.records("examples"))
        assert material.ignored == []
    assert not [item for item in items if isinstance(item, Problem)]
    return {item.key: item for item in items}


def test_the_published_topics_of_2021_are_read_whole(shared):
    topics, examples = raw(shared, OF_2021), published(shared, OF_2021)

    # PROVENANCE.md: 26 dialogues, 239 turns
    assert len(examples) == sum(map(len, topics.values())) == 239
    assert {example.dialog for example in examples.values()} == set(topics)
    assert len(topics) == 26
    for topic, turns in topics.items():
        said = [text for turn in turns for text in (turn["raw_utterance"], turn["passage"])]
        for place, turn in enumerate(turns):
            example = examples[f"{topic}_{turn['number']}"]
            assert [each.text for each in example.turns] == said[: 2 * place + 1]
            assert [each.parent for each in example.turns] == list(range(-1, 2 * place))
            assert [each.text for each in example.evidence] == [turn["passage"]]
            assert example.meta["rewrite"] == turn["automatic_rewritten_utterance"]
    # 234 ids, of which MARCO_D684519-2 has two texts
    keys = {passage.key for example in examples.values() for passage in example.evidence}
    assert len(keys) == 235
    assert {key for key in keys if "|" in key} == {"MARCO_D684519-2|2"}

    # The row that PROVENANCE.md prints
    assert turns_of(examples["106_2"])[2] == (
        "user",
        "Once it breaks out, how likely is it to spread?",
        1,
    )
    assert [passage.key for passage in examples["106_2"].evidence] == ["MARCO_D684514-1"]


def test_the_published_tree_of_2022_is_read_whole(shared):
    topics, examples = raw(shared, OF_2022), published(shared, OF_2022)

    # PROVENANCE.md: 18 dialogues, 408 turns; 205 of these with "participant": "User"
    assert sum(map(len, topics.values())) == 408
    assert {example.dialog for example in examples.values()} == set(topics)
    assert len(topics) == 18
    assert len(examples) == 205
    for topic, turns in topics.items():
        numbers = [turn["number"] for turn in turns]
        parents = [numbers.index(turn["parent"]) if "parent" in turn else -1 for turn in turns]
        said = [turn.get("utterance") or turn.get("response") for turn in turns]
        for place, turn in enumerate(turns):
            if turn["participant"] == "User":
                example = examples[f"{topic}_{turn['number']}"]
                assert [each.text for each in example.turns] == said[: place + 1]
                assert [each.parent for each in example.turns] == parents[: place + 1]
                assert example.meta["rewrite"] == turn["automatic_rewritten_utterance"]


def test_golden_answers_of_the_published_tree_name_passages(shared):
    topics, examples = raw(shared, OF_2022), published(shared, OF_2022)

    answers = {
        f"{topic}_{turn['parent']}": (turn["response"], turn["provenance"])
        for topic, turns in topics.items()
        for turn in reversed(turns)  # the first one stays
        if turn.get("provenance")
    }
    for key, example in examples.items():
        found = (example.golden_answer, example.meta.get("provenance"))
        assert found == answers.get(key, (None, None)), key
    unanswered = {key for key in examples if key not in answers}
    # By hand: nothing follows these turns of topic 142, or only the user again.
    of_142 = {"142_1-5", "142_3-5", "142_4-1", "142_5-9", "142_6-3", "142_8-1"}
    assert of_142 < unanswered
    assert len(unanswered) == 12
    # 1-5 of topic 133 is answered by 1-6, which names a passage, and by 3-1, which asks back
    assert examples["133_1-5"].meta["provenance"] == ["MARCO_30_194675946-2"]


@pytest.mark.parametrize(
    ("key", "openings", "last"),
    [
        (
            # 1-1 to 1-8 are the turns 0 to 7, 2-1 to 2-4 are 8 to 11. 2-1 follows 1-4; 3-1, which
            # asks back, follows 1-5, and 3-2 is the answer to that.
            "133_3-2",
            """
            0 -1 0 I’d like to appreciate my mom
            1 0 1 Beauty Products.
            2 1 0 Can I make them at home? [eot]
            3 2 1 Yes. You can make body scrubs
            4 3 0 I’ve never done something like this
            5 4 1 Well there are a lot of recipes
            6 5 0 How much would this cost? [eot]
            7 6 1 There are deodorants for women
            8 3 0 Can you tell me how to make the first one at home? [eot]
            9 8 1 Making your body scrub is so simple
            10 9 0 Cool. What about the second one? [eot]
            11 10 1 To make a natural face moisturizer
            12 4 1 What beauty product would you like to make? [eot]
            13 12 0 My mum loves a good, scented lotion. Let’s make that [eot]
            """,
            "14 13 1",
        ),
        (
            # 1-1 to 1-5 are the turns 0 to 4, 2-1 to 2-5 are 5 to 9, 3-1 to 3-5 are 10 to 14, and
            # 4-1 is 15. 2-1 answers 1-3 too; 3-1 follows 2-3, 4-1 follows 2-1, 5-1 follows 1-2.
            "142_5-1",
            """
            0 -1 0 What should I know about Argentina? [eot]
            1 0 1 There’s a lot to know about Argentina.
            2 1 0 What makes it the capital? [eot]
            3 2 1 The United Provinces of the Rio de la Plata
            4 3 0 That’s not what I meant.
            5 2 1 Buenos Aires is a grandiose city
            6 5 0 What makes their culture distinct
            7 6 1 The Argentine people take great pride
            8 7 0 What’s Merienda? [eot]
            9 8 1 Merienda is a light meal
            10 7 0 You’ve mentioned that several times now. Tell me more. [eot]
            11 10 1 I’m not sure I understand.
            12 11 0 I meant the tango. [eot]
            13 12 1 What kind of clothing women should wear
            14 13 0 Thanks, but I’m not asking about clothing.
            15 5 0 What are they known for? [eot]
            16 1 0 Mmm, meat sweats. I’ve heard it’s good there, tell me more. [eot]
            """,
            "17 16 1",
        ),
    ],
)
def test_native_prompts_of_2022_have_the_parents_of_the_tree(shared, key, openings, last):
    *lines, open_line = native_dialog(published(shared, OF_2022)[key].turns).split("\n")

    expected = [line.strip() for line in openings.strip().split("\n")]
    assert len(lines) == len(expected)
    for line, opening in zip(lines, expected, strict=True):
        assert line.startswith(opening)
        assert line.endswith(" [eot]")
    assert open_line == last
