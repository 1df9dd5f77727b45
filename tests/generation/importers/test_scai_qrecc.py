"""SCAI-QReCC-21: its script's files are read completely, with a guessed golden passage."""

import json
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from generation.importers import open_material
from generation.records import ExampleRecord, Problem, ResponseRecord
from tests.scai_qrecc import ITEMS, write_scai


@pytest.fixture(scope="module")
def raw(shared):
    """The items of the file by conversation and turn."""
    items = json.loads((shared / ITEMS).read_text("utf-8"))
    return {f"{item['conversation_no']}_{item['turn_no']}": item for item in items}


@pytest.fixture(scope="module")
def read(shared, tmp_path_factory) -> dict[str, Any]:
    """Examples and responses by key."""
    with open_material(write_scai(shared, tmp_path_factory.mktemp("scai"))) as material:
        found: dict[str, Any] = {
            kind: list(material.records(kind)) for kind in ("examples", "responses")
        }
        assert material.ignored == []
    assert not [each for some in found.values() for each in some if isinstance(each, Problem)]
    return found


@pytest.fixture(scope="module")
def examples(read) -> dict[str, ExampleRecord]:
    return {example.key: example for example in read["examples"]}


@pytest.fixture(scope="module")
def responses(read) -> list[ResponseRecord]:
    return list(read["responses"])


def words(text):
    return Counter(re.findall(r"\w+", text.lower()))


def share_found(wanted, text):
    """Return the share of a text's words that another has; a word said twice must occur twice."""
    return Fraction((words(wanted) & words(text)).total(), words(wanted).total())


def test_every_turn_passage_and_answer_of_the_file_is_there(raw, examples, responses):
    # The folder's PROVENANCE.md: 95 turns, 499 answers; passages counted in the file: 348, of 326
    # addresses.
    assert len(examples) == len(raw) == 95
    evidence = [passage for example in examples.values() for passage in example.evidence]
    assert len(evidence) == 348
    assert len({passage.key for passage in evidence}) == 326
    assert len({response.key for response in responses}) == 499
    assert len({response.setup.name for response in responses}) == 20

    for key, item in raw.items():
        texts = [passage.text for passage in examples[key].evidence]
        assert texts == [passage["text"] for passage in item["passages"]]
        assert examples[key].golden_answer == item["gold_answer"]
        assert examples[key].dialog == str(item["conversation_no"])
        said = {r.setup.name: r.text for r in responses if r.example == key}
        assert said == {answer["system"]: answer["text"] for answer in item["answers"]}


def test_what_systems_were_shown_is_not_said(responses):
    assert {response.evidence_shown for response in responses} == {None}


def test_golden_is_the_passage_that_holds_most_of_the_answer_and_marked_as_guessed(raw, examples):
    for key, item in raw.items():
        shares = [share_found(item["gold_answer"], each["text"]) for each in item["passages"]]
        best = next(place for place, share in enumerate(shares) if share == max(shares))
        golden = [place for place, each in enumerate(examples[key].evidence) if each.is_golden]
        assert golden == [best], key
        assert examples[key].meta["golden"] == "guessed"

    # By hand. 'Made from soybeans, tofu is also known as bean curd': 10 words, of which the first
    # passage has from, tofu, is and as; the second has tofu, is and as.
    first, second = raw["13_1"]["passages"]
    answer = raw["13_1"]["gold_answer"]
    assert share_found(answer, first["text"]) == Fraction(4, 10)
    assert share_found(answer, second["text"]) == Fraction(3, 10)
    assert [passage.is_golden for passage in examples["13_1"].evidence] == [True, False]


def test_a_history_that_is_not_known_is_marked(raw, examples):
    unknown = {key for key, example in examples.items() if example.meta.get("history") == "unknown"}

    assert unknown == {key for key, item in raw.items() if item["history"] is None}
    assert len(unknown) == 66
    assert {len(examples[key].turns) for key in unknown} == {1}
    assert not [key for key in unknown if key.endswith("_1")]  # before a first turn is nothing
    # a known one has a question and an answer for each turn before
    for key in examples.keys() - unknown:
        assert len(examples[key].turns) == 2 * raw[key]["turn_no"] - 1
    assert [turn[:2] for turn in examples["13_2"].turns] == [
        ("user", "What is tofu exactly?"),
        ("assistant", "Made from soybeans, tofu is also known as bean curd."),
        ("user", "How is tofu made?"),
    ]


def test_passages_whose_text_was_cut_are_named(raw, examples):
    n_cut = sum(len(example.meta.get("cut_passages", [])) for example in examples.values())

    assert n_cut == sum(each["truncated"] for item in raw.values() for each in item["passages"])
    assert n_cut == 19
    # The first turn about wages has five passages, two of them cut at 4,000 characters.
    cut = [each.key for each in examples["1_4"].evidence if len(each.text) == 4000]
    assert examples["1_4"].meta["cut_passages"] == cut
    assert len(cut) == 2
