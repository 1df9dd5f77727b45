"""Schemes: what the built-in ones ask, what is refused in a file, and what is made from votes."""

import copy
from typing import Any

import pytest

from annotation.schemes import (
    YES_NO,
    Scale,
    SchemeError,
    built_in_schemes,
    load_scheme,
    matching_scheme,
    read_scheme,
)

AIS_KEYS = (
    "understand",
    "relevant",
    "consistent",
    "evidence_relevant",
    "evidence_contradicts",
    "evidence_supports",
    "attributable",
)
KEYS = {
    "AIS": AIS_KEYS,
    "AIS_2": ("interpretable", "attributable"),
    "SSA": ("sensible", "specific"),
    "ALIGNMENT": ("supports",),
    "QUALITY": ("coherence", "consistency", "fluency", "relevance"),
}
each_built_in = pytest.mark.parametrize("key", KEYS)
ONE_TO_FOUR = Scale("ordinal", (1, 2, 3, 4), ("1", "2", "3", "4"))


def scale_of(data, question="q"):
    found = load_scheme(data).question(question)
    assert found
    return found.scale


# --- the built-in schemes -------------------------------------------------------------------


def test_there_are_just_the_five_built_in_schemes():
    assert set(built_in_schemes()) == set(KEYS)


@each_built_in
def test_a_built_in_scheme_asks_its_questions_in_their_order(key):
    assert load_scheme(built_in_schemes()[key]).keys == KEYS[key]


@each_built_in
def test_every_built_in_question_is_explained_with_examples_for_both_ends(key):
    for question in load_scheme(built_in_schemes()[key]).questions:
        answers = [example.answer for example in question.examples]
        ends = {"yes", "no"} if question.scale == YES_NO else {"1", "5"}

        assert question.wording.endswith("?")
        assert question.help
        assert ends <= set(answers), question.key
        assert all(question.scale.answer(answer) is not None for answer in answers)
        assert all(example.text and example.reason for example in question.examples)


def test_ais_closes_after_a_response_that_cannot_be_understood():
    questions = load_scheme(built_in_schemes()["AIS"]).questions

    assert questions[0].after == ()
    assert all("understand" in question.after for question in questions[1:])


def test_ais_asks_three_questions_only_about_relevant_evidence():
    questions = load_scheme(built_in_schemes()["AIS"]).questions

    gated = [question.key for question in questions if "evidence_relevant" in question.after]
    assert gated == ["evidence_contradicts", "evidence_supports", "attributable"]


def test_ais_has_two_stages_of_three_and_four_questions():
    stages = [question.stage for question in load_scheme(built_in_schemes()["AIS"]).questions]

    assert len(set(stages)) == 2
    assert [stages.count(stage) for stage in dict.fromkeys(stages)] == [3, 4]
    assert stages == sorted(stages, key=stages.index)


def test_the_gates_of_a_question_are_also_those_that_its_gates_stand_behind():
    chain = {"scale": "yes_no"}
    scheme = load_scheme(
        {
            "key": "chain",
            "questions": [
                {"key": "first", **chain},
                {"key": "second", "after": ["first"], **chain},
                {"key": "aside", **chain},
                {"key": "third", "after": ["second"], **chain},
            ],
        }
    )

    gates = {question.key: set(scheme.gates_of(question)) for question in scheme.questions}

    assert gates == {
        "first": set(),
        "second": {"first"},
        "aside": set(),
        "third": {"first", "second"},
    }


def test_in_ais_only_contradiction_speaks_against_a_response():
    better = {q.key: q.better for q in load_scheme(built_in_schemes()["AIS"]).questions}

    assert better == dict.fromkeys(AIS_KEYS, "yes") | {"evidence_contradicts": "no"}


def test_ais_knows_the_two_pairs_of_answers_that_cannot_stand_together():
    impossible = load_scheme(built_in_schemes()["AIS"]).impossible

    assert list(impossible) == [
        {"attributable": 1, "evidence_contradicts": 1},
        {"attributable": 1, "evidence_supports": 0},
    ]


@pytest.mark.parametrize(
    ("key", "first", "gated"),
    [("AIS_2", "interpretable", "attributable"), ("SSA", "sensible", "specific")],
)
def test_the_second_question_of_a_pair_is_asked_only_after_a_yes(key, first, gated):
    scheme = load_scheme(built_in_schemes()[key])

    assert [q.after for q in scheme.questions] == [(), (first,)]
    assert scheme.question(gated)


@each_built_in
def test_a_built_in_scheme_is_found_by_its_questions_in_any_order(key):
    data = matching_scheme(list(reversed(KEYS[key])))

    assert data
    assert data["key"] == key


@pytest.mark.parametrize("questions", [["attributable"], [*KEYS["SSA"], "fluent"], []])
def test_other_questions_match_no_built_in_scheme(questions):
    assert matching_scheme(questions) is None


# --- files that are refused -----------------------------------------------------------------


def question_with(**keys):
    return {"key": "s", "questions": [{"key": "q", "scale": "yes_no"} | keys]}


TWO: dict[str, Any] = {
    "key": "s",
    "questions": [{"key": "a", "scale": "yes_no"}, {"key": "b", "scale": {"ordinal": [1, 4]}}],
}


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (["a"], ["scheme", 'found ["a"]', "expected an object"]),
        ({"questions": []}, ["scheme, key", "found nothing", "expected text"]),
        ({"key": 7, "questions": []}, ["scheme, key", "found 7", "expected text"]),
        ({"key": "s" * 101, "questions": [{}]}, ["scheme, key", "101 characters", "100 at most"]),
        ({"key": "s"}, ["scheme 's', questions", "found nothing"]),
        ({"key": "s", "questions": []}, ["scheme 's', questions", "found []"]),
        ({"key": "s", "questions": "understand"}, ["scheme 's', questions", 'found "understand"']),
        ({"key": "s", "questions": ["understand"]}, ["question 1", '"understand"', "an object"]),
        ({"key": "s", "questions": [{"scale": "yes_no"}]}, ["question 1, key", "found nothing"]),
        ({"key": "s", "questions": [{"key": " "}]}, ["question 1, key", 'found " "']),
        (question_with(key="q" * 65), ["question 'qqq", "65 characters", "64 at most"]),
        (
            {"key": "s", "questions": [TWO["questions"][0]] * 2},
            ["question 'a'", "found the key twice", "each key once"],
        ),
        (question_with(wording=3), ["question 'q', wording", "found 3", "expected text"]),
        (question_with(help=[]), ["question 'q', help", "found []", "expected text"]),
        (question_with(stage=None), ["question 'q', stage", "found nothing", "expected text"]),
        (question_with(better="maybe"), ["question 'q', better", '"maybe"', "yes, no or nothing"]),
        (question_with(ends=["bad"]), ["question 'q', ends", '["bad"]', "the words of both ends"]),
        (question_with(after="q"), ["question 'q', after", '"q"', "keys of earlier yes/no"]),
        (question_with(after=["q"]), ["question 'q', after", '["q"]', "earlier yes/no questions"]),
        (
            question_with(after=[["q"]]),
            ["question 'q', after", '[["q"]]', "earlier yes/no questions"],
        ),
        (question_with(after=[{}]), ["question 'q', after", "[{}]", "earlier yes/no questions"]),
        (question_with(scale=None), ["question 'q', scale", "found nothing", '"yes_no"']),
        (question_with(scale="ordinal"), ["question 'q', scale", 'found "ordinal"', '"yes_no"']),
        (question_with(scale={"ordinal": [4, 1]}), ["question 'q', scale", "[4, 1]", "[1, 4]"]),
        (question_with(scale={"ordinal": [1, 1]}), ["question 'q', scale", "[1, 1]"]),
        (question_with(scale={"ordinal": [1.5, 4]}), ["question 'q', scale", "[1.5, 4]"]),
        (
            question_with(scale={"ordinal": [1, 102]}),
            ["question 'q', scale", "[1, 102]", "2 to 101 points"],
        ),
        (question_with(scale={"ordinal": [32766, 32768]}), ["question 'q', scale", "32768"]),
        (question_with(scale={"ordinal": [True, 4]}), ["question 'q', scale", "[true, 4]"]),
        (question_with(scale={"nominal": ["a"]}), ["question 'q', scale", '["a"]', "2 to 50"]),
        (question_with(scale={"nominal": ["a", "A"]}), ["question 'q', scale", '["a", "A"]']),
        (question_with(scale={"nominal": ["a", " a"]}), ["question 'q', scale", '["a", " a"]']),
        (question_with(scale={"nominal": ["a", ""]}), ["question 'q', scale", '["a", ""]']),
        (question_with(scale={"nominal": ["a", 2]}), ["question 'q', scale", '["a", 2]']),
        (
            question_with(scale={"nominal": [str(n) for n in range(51)]}),
            ["question 'q', scale", "2 to 50"],
        ),
        (question_with(examples=["yes"]), ["question 'q', examples", '"yes"', "objects"]),
        (question_with(examples=5), ["question 'q', examples", "5", "list"]),
        (question_with(examples=None), ["question 'q', examples", "nothing", "list"]),
        (
            question_with(examples=[{"answer": "yes", "text": "It is."}]),
            ["question 'q', examples, reason", "found nothing", "expected text"],
        ),
        (TWO | {"impossible": {}}, ["impossible", "found {}", "questions and their answers"]),
        (TWO | {"impossible": ["a"]}, ["impossible", '"a"', "questions and their answers"]),
        (
            TWO | {"impossible": [{"c": "yes"}]},
            ["impossible", '"c"', "questions and their answers"],
        ),
        (
            TWO | {"impossible": [{"a": "maybe"}]},
            ["impossible", '"maybe"', "questions and their answers"],
        ),
        (TWO | {"impossible": [{"b": "5"}]}, ["impossible", '"5"', "questions and their answers"]),
        (TWO | {"main": "a"}, ["main", '"a"', "a list of keys of the scheme's questions"]),
        (TWO | {"main": None}, ["main", "nothing", "a list of keys of the scheme's questions"]),
        (
            TWO | {"main": ["a", "c"]},
            ["main", '["a", "c"]', "a list of keys of the scheme's questions"],
        ),
        (TWO | {"main": [1]}, ["main", "[1]", "a list of keys of the scheme's questions"]),
        (TWO | {"main": [["a"]]}, ["main", '[["a"]]', "a list of keys of the scheme's questions"]),
        (TWO | {"title": 4}, ["scheme 's', title", "found 4", "expected text"]),
        (
            question_with(with_evidence="yes"),
            ["question 'q', with_evidence", '"yes"', "true or false"],
        ),
        (
            question_with(with_evidence=True) | {"evidence": "none"},
            ["question 'q', with_evidence", "true", "evidence is none"],
        ),
        (TWO | {"citations": "gone"}, ["citations", '"gone"', "shown, removed"]),
        (
            TWO | {"citations": "removed", "target": "citation"},
            ["citations", "'removed'", "expected shown"],
        ),
    ],
)
def test_a_mistake_in_a_scheme_is_one_error_that_says_where_and_what(data, parts):
    with pytest.raises(SchemeError) as error:
        load_scheme(data)

    for part in parts:
        assert part in str(error.value)


def test_only_a_yes_no_question_can_be_a_gate():
    data = copy.deepcopy(TWO)
    data["questions"].append({"key": "c", "scale": "yes_no", "after": ["b"]})

    with pytest.raises(SchemeError, match=r"question 'c', after: found \[.b.\].*yes/no"):
        load_scheme(data)


def test_a_question_needs_only_a_key_and_a_scale():
    question = load_scheme(question_with(key="well_put")).questions[0]

    assert question.wording == "Well put"
    assert (question.help, question.examples, question.after, question.better) == ("", (), (), None)
    assert not question.with_evidence


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (TWO, ["a", "b"]),
        (TWO | {"main": []}, ["a", "b"]),
        (TWO | {"main": ["b"]}, ["b"]),
        (TWO | {"main": ["b", "a"]}, ["a", "b"]),  # in the order in which they are asked
    ],
)
def test_a_scheme_names_its_main_questions_or_all_of_them_are(data, keys):
    assert [question.key for question in load_scheme(data).main_questions] == keys


def test_attributable_is_the_main_question_unless_the_scheme_names_others():
    data = {"key": "s", "questions": [*TWO["questions"], {"key": "attributable"}]}
    data["questions"][2]["scale"] = "yes_no"

    usual, named = (load_scheme(each) for each in (data, data | {"main": ["a", "b"]}))

    assert [question.key for question in usual.main_questions] == ["attributable"]
    assert [question.key for question in named.main_questions] == ["a", "b"]


def test_two_hundred_questions_are_a_scheme_too():
    rows = [{"key": f"q{n}", "scale": "yes_no"} for n in range(200)]

    assert len(load_scheme({"key": "long", "questions": rows}).questions) == 200


# --- scales ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scale",
    [
        "yes_no",
        {"ordinal": [1, 4]},
        {"ordinal": [0, 2]},
        {"ordinal": [-2, 2]},
        {"nominal": ["Neutral", "entailed", "Größe / ∞"]},
    ],
)
def test_a_stored_answer_is_written_and_read_back_as_itself(scale):
    found = scale_of(question_with(scale=scale))

    assert [found.answer(found.label(value)) for value in found.values] == list(found.values)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("YES ", 1),
        (" No", 0),
        ("1", 1),
        ("0", 0),
        ("True", 1),
        ("FALSE", 0),
        ("y", 1),
        ("Nein", 0),
        ("x", None),
        ("1.0", 1),
        ("0,0", 0),
        ("01", 1),
        ("1.5", None),
        ("NA", None),
        ("2", None),
        ("", None),
    ],
)
def test_a_yes_no_answer_has_a_few_spellings(text, answer):
    assert YES_NO.answer(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("1", 1),
        (" 4 ", 4),
        ("0", None),
        ("5", None),
        ("4.0", 4),
        ("03", 3),
        ("2,0", 2),
        ("2.5", None),
        ("x", None),
    ],
)
def test_an_ordinal_answer_is_a_whole_number_of_the_scale(text, answer):
    assert ONE_TO_FOUR.answer(text) == answer


def test_a_nominal_answer_is_a_label_in_any_case():
    scale = Scale("nominal", (0, 1), ("Entailed", "Neutral"))

    assert [scale.answer(word) for word in ("entailed", " NEUTRAL ", "0")] == [0, 1, None]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (YES_NO, "expected no or yes"),
        (ONE_TO_FOUR, "expected a whole number from 1 to 4"),
        (Scale("nominal", (0, 1, 2), ("a", "b", "c")), "expected a, b or c"),
    ],
)
def test_a_wrong_answer_says_what_was_expected(scale, expected):
    with pytest.raises(ValueError, match=f'answer "perhaps"; {expected}'):
        scale.number("perhaps")


def test_a_scheme_has_at_most_two_hundred_questions():
    questions = [{"key": f"q{n}", "scale": "yes_no"} for n in range(201)]

    with pytest.raises(SchemeError, match="found 201 questions; expected 200 at most"):
        load_scheme({"key": "K", "questions": questions})


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5_000, "{'", "", '{"a": NaN}'])
def test_what_is_no_json_is_no_scheme(text):
    with pytest.raises(SchemeError, match="expected a scheme as JSON"):
        read_scheme(text)
