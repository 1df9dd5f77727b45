"""Simulated raters keep the rules of the scheme and of a study."""

from collections import Counter, defaultdict
from itertools import combinations
from random import Random

import pytest

from annotation.schemes import Scheme, built_in_schemes, load_scheme
from evaluation.exchange.simulation import (
    JudgedResponse,
    simulated_answers,
    simulated_raters,
    simulated_votes,
)

AIS = load_scheme(built_in_schemes()["AIS"])
SSA = load_scheme(built_in_schemes()["SSA"])
# Answers at odds with each other, so that gates close and impossible combinations come up.
DOUBTFUL = dict.fromkeys(AIS.keys + SSA.keys, 0.5)


def judged(n_examples: int, truth: dict[str, float] = DOUBTFUL) -> list[JudgedResponse]:
    return [
        JudgedResponse(f"e{number}-{temperature}", f"e{number}", temperature, 20, truth)
        for number in range(n_examples)
        for temperature in (0.0, 0.7)
    ]


def votes_of(scheme: Scheme = AIS, n_examples: int = 30, seed: int = 3, is_merged_too: bool = True):
    random = Random(seed)
    raters = simulated_raters(12, random)
    return list(
        simulated_votes(scheme, judged(n_examples), raters, random, is_merged_too=is_merged_too)
    )


def test_a_closed_gate_implies_no_and_nothing_else_is_implied():
    random = Random(1)
    n_implied = 0
    for _ in range(500):
        answers, implied = simulated_answers(AIS, DOUBTFUL, 1.0, 0.0, random)

        assert tuple(answers) == AIS.keys
        for question in AIS.questions:
            is_closed = not all(answers[gate] for gate in question.after)
            assert (question.key in implied) == is_closed
            assert not (is_closed and answers[question.key])
        n_implied += len(implied)
    assert n_implied


def test_impossible_combinations_are_not_answered():
    random = Random(2)
    for _ in range(2000):
        answers, _ = simulated_answers(AIS, DOUBTFUL, 0.1, 0.0, random)

        assert not (answers["attributable"] and answers["evidence_contradicts"])
        assert not (answers["attributable"] and not answers["evidence_supports"])


def test_answers_go_together():
    """Two even questions that nothing ties would agree in half of the cases."""
    random = Random(3)
    truth = {"understand": 1.0, "relevant": 0.5, "consistent": 0.5} | dict.fromkeys(AIS.keys[3:], 1)
    answers = [simulated_answers(AIS, truth, 1.0, 0.0, random)[0] for _ in range(1000)]

    n_alike = sum(answer["relevant"] == answer["consistent"] for answer in answers)

    assert n_alike > 600


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_careful_raters_answer_yes_as_often_as_the_truth_says(share: float):
    random = Random(4)
    truth = {"sensible": share, "specific": 0.05}
    answers = [simulated_answers(SSA, truth, 1.0, 0.0, random)[0] for _ in range(4000)]

    found = sum(answer["sensible"] for answer in answers) / 4000

    # Four standard errors of a share of 0.5 in 4000: 4 * sqrt(0.25 / 4000) = 0.032.
    assert found == pytest.approx(share, abs=0.032)


def test_each_response_has_five_raters_in_each_arm_and_nobody_has_it_twice():
    raters: dict[tuple[str, str], set[str]] = defaultdict(set)
    for vote in votes_of():
        raters[vote.response, vote.arm].add(vote.rater)

    assert len(raters) == 30 * 2 * 2
    assert {len(found) for found in raters.values()} == {5}
    for response in {response for response, _ in raters}:
        assert not raters[response, "separate"] & raters[response, "merged"]


def test_every_question_is_answered_once_by_each_rater_of_a_response():
    votes = votes_of()

    given = Counter((vote.response, vote.rater, vote.question, vote.arm) for vote in votes)

    assert set(given.values()) == {1}
    assert len(votes) == 30 * 2 * 2 * 5 * len(AIS.keys)


def test_merged_votes_know_their_position_and_separate_ones_have_none():
    shown: dict[tuple[str, str], dict[str, int | None]] = defaultdict(dict)
    for vote in votes_of():
        if vote.arm == "separate":
            assert vote.position is None
        else:
            example, _, temperature = vote.response.partition("-")
            shown[example, vote.rater][temperature] = vote.position

    orders = {(positions["0.0"], positions["0.7"]) for positions in shown.values()}
    assert orders == {(1, 2), (2, 1)}


def test_merged_favours_temperature_0():
    """Planted: every question of SSA has `better: yes`, so T 0.0 gains and T 0.7 loses."""
    yes: Counter[tuple[str, str]] = Counter()
    for vote in votes_of(SSA, n_examples=400):
        if vote.question == "sensible":
            yes[vote.arm, vote.response.rpartition("-")[2]] += vote.answer == "yes"

    assert yes["merged", "0.0"] > yes["separate", "0.0"]
    assert yes["merged", "0.7"] < yes["separate", "0.7"]


def test_the_work_is_shared_evenly():
    units = Counter(
        vote.rater for vote in votes_of(SSA, is_merged_too=False) if vote.question == "sensible"
    )

    assert len(units) == 12
    assert max(units.values()) - min(units.values()) <= 1


def test_time_is_positive_and_merged_is_quicker():
    seconds: dict[str, list[float]] = defaultdict(list)
    for vote in votes_of(n_examples=200):
        seconds[vote.arm].append(vote.seconds)

    means = {arm: sum(found) / len(found) for arm, found in seconds.items()}

    assert min(map(min, seconds.values())) > 0
    assert means["merged"] < means["separate"]


def test_the_same_seed_gives_the_same_votes():
    assert votes_of(seed=5) == votes_of(seed=5)
    assert votes_of(seed=5) != votes_of(seed=6)


def test_raters_differ_in_care_and_leniency():
    raters = simulated_raters(12, Random(1))

    assert all(one.code != other.code for one, other in combinations(raters, 2))
    assert len({rater.care for rater in raters}) > 6
    assert len({rater.leniency for rater in raters}) == 12


def test_too_few_raters_are_refused():
    random = Random(1)

    with pytest.raises(ValueError, match="9 raters; expected 10 or more"):
        list(
            simulated_votes(AIS, judged(1), simulated_raters(9, random), random, is_merged_too=True)
        )


def test_other_than_yes_no_questions_are_refused():
    quality = load_scheme(built_in_schemes()["QUALITY"])

    with pytest.raises(ValueError, match="has ordinal answers"):
        simulated_answers(quality, {}, 1.0, 0.0, Random(1))


def test_no_simulated_rater_gets_a_response_in_two_of_three_arms():
    random = Random(8)
    raters = simulated_raters(15, random)

    votes = list(
        simulated_votes(SSA, judged(20), raters, random, is_merged_too=True, is_repeated=True)
    )

    by_arm: dict[tuple[str, str], set[str]] = defaultdict(set)
    for vote in votes:
        by_arm[vote.response, vote.arm].add(vote.rater)
    for response in {response for response, _ in by_arm}:
        arms = [by_arm[response, arm] for arm in ("separate", "separate_2", "merged")]
        assert [len(panel) for panel in arms] == [5, 5, 5]
        assert len(set.union(*arms)) == 15
    assert {vote.arm for vote in votes if vote.position is None} == {"separate", "separate_2"}


def test_a_replicate_needs_a_panel_of_its_own():
    random = Random(8)
    raters = simulated_raters(14, random)

    with pytest.raises(ValueError, match="expected 15 or more"):
        list(simulated_votes(SSA, [], raters, random, is_merged_too=True, is_repeated=True))
