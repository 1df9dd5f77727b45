"""Gates, impossible answers, and majorities that can no longer change."""

import pytest

from annotation.schemes import built_in_schemes, load_scheme
from annotation.voting import Answer, is_decided, with_implied

AIS = load_scheme(built_in_schemes()["AIS"])
ALL_WELL = {
    "understand": 1,
    "relevant": 1,
    "consistent": 1,
    "evidence_relevant": 1,
    "evidence_contradicts": 0,
    "evidence_supports": 1,
    "attributable": 1,
}


def implied(judgement):
    return [key for key, answer in judgement.answers.items() if answer.is_implied]


def test_a_full_form_has_nothing_implied_missing_or_impossible():
    judgement = with_implied(AIS, ALL_WELL)

    assert judgement.answers == {key: Answer(value, False) for key, value in ALL_WELL.items()}
    assert (judgement.missing, judgement.impossible) == ([], [])


def test_what_cannot_be_understood_closes_the_form_whatever_else_was_typed():
    judgement = with_implied(AIS, ALL_WELL | {"understand": 0})

    assert implied(judgement) == list(AIS.keys)[1:]
    assert {answer.value for answer in judgement.answers.values()} == {0}
    assert judgement.missing == []


def test_evidence_about_something_else_implies_noes_for_the_last_three():
    given = {"understand": 1, "relevant": 0, "consistent": 1, "evidence_relevant": 0}

    judgement = with_implied(AIS, given)

    assert implied(judgement) == ["evidence_contradicts", "evidence_supports", "attributable"]
    assert judgement.missing == []


def test_behind_an_unanswered_gate_nothing_is_missing_but_the_gate():
    judgement = with_implied(AIS, {"relevant": 1, "attributable": 0})

    assert judgement.missing == ["understand"]
    assert judgement.waiting == [
        "consistent",
        "evidence_relevant",
        "evidence_contradicts",
        "evidence_supports",
    ]


def test_a_question_asked_and_not_answered_is_missing():
    given = dict(ALL_WELL)
    del given["consistent"], given["attributable"]

    assert with_implied(AIS, given).missing == ["consistent", "attributable"]


@pytest.mark.parametrize(
    ("change", "n_impossible"),
    [
        ({"evidence_contradicts": 1}, 1),  # attributable and contradicted
        ({"evidence_supports": 0}, 1),  # attributable and not supported
        ({"evidence_contradicts": 1, "evidence_supports": 0}, 2),
        ({"evidence_contradicts": 1, "attributable": 0}, 0),
    ],
)
def test_attributable_to_evidence_that_contradicts_or_does_not_support_is_impossible(
    change, n_impossible
):
    assert len(with_implied(AIS, ALL_WELL | change).impossible) == n_impossible


@pytest.mark.parametrize(
    ("counts", "decided"),
    [
        ({"a": {1: 3}}, True),  # three of five: the other two change nothing
        ({"a": {1: 2, 0: 2}}, False),
        ({"a": {1: 3}, "b": {1: 2}}, False),
        ({"a": {1: 3, 0: 2}, "b": {0: 3}}, True),
        ({"a": {}}, False),
        ({}, False),
    ],
)
def test_a_vote_is_decided_when_one_answer_has_more_than_half_of_all_raters(counts, decided):
    assert is_decided(counts, 5) is decided


def test_half_of_an_even_number_of_raters_decides_nothing():
    assert not is_decided({"q": {1: 1}}, 2)
    assert not is_decided({"q": {0: 1, 1: 2}}, 4)
    assert is_decided({"q": {1: 3}}, 4)
