"""The report on scenarios: letters, question means by setup and arm, and what is left out."""

from typing import Any

import pytest

from annotation.schemes import built_in_schemes
from evaluation.reports.base import Choices
from evaluation.studies.reports.scenarios import scenario_letters, scenarios_report
from generation.models import Setup
from tests.evaluation.studies.hand_made import COOL, WARM, rows_by, two_arms, votes
from tests.makers import example_row, import_rows, rated, response_row, scheme_of, vote_row

pytestmark = pytest.mark.once


def test_each_setup_in_each_arm_has_its_letter_and_its_mean(tmp_path):
    study = two_arms(
        tmp_path / "s",
        {"a": ("yyn", "yyy"), "b": ("nny", "yyn"), "c": ("yyy", "nnn"), "d": ("yn", "yy")},
        setups={"a": WARM, "b": WARM, "c": COOL, "d": COOL},
    )

    rows = rows_by(scenarios_report(study), "scenario")

    # Coolest first, separate before merged: A and B at T 0.0 (c, d), C and D at T 0.7 (a, b).
    assert {letter: (row["temperature"], row["arm"]) for letter, row in rows.items()} == {
        "A": (0.0, "separate"),
        "B": (0.0, "merged"),
        "C": (0.7, "separate"),
        "D": (0.7, "merged"),
    }
    # A: c yes, d tied. B: c no, d yes. C: a yes, b no. D: both yes.
    assert [(row["n"], row["tied"], row["mean"]) for row in rows.values()] == [
        (2, 1, 1.0),
        (2, 0, 0.5),
        (2, 0, 0.5),
        (2, 0, 1.0),
    ]
    assert [row["n_mean"] for row in rows.values()] == [1, 2, 2, 2]  # the tied one is not in it
    # With ties as half, A has a yes and ½.
    assert [row["mean_ties_half"] for row in rows.values()] == [0.75, None, None, None]
    assert rows["D"]["n_dialogs"] == 2
    assert rows["D"]["mean_low"] < 1.0 == rows["D"]["mean_high"]
    assert scenarios_report(study).left_out["tied"] == 1


def test_one_arm_has_no_letters_and_setups_without_a_temperature_come_last(tmp_path):
    setups: dict[str, Any] = {"a": "plain", "b": WARM, "c": "another"}
    study = rated(tmp_path, votes(a="y", b="n", c="y"), setups=setups)

    rows = scenarios_report(study).records

    assert [(row["scenario"], row["setup"], row["temperature"]) for row in rows] == [
        (None, "m · T 0.7", 0.7),
        (None, "another", None),
        (None, "plain", None),
    ]


BOTH = ["separate", "merged"]


@pytest.mark.parametrize(
    ("temperatures", "arms", "letters"),
    [
        ([0.0, 0.7], BOTH, ["A", "B", "C", "D"]),
        ([0.0, 0.7], ["separate", "separate_2", "merged"], ["A", "A2", "B", "C", "C2", "D"]),
        ([0.0, 0.7], ["separate"], []),  # B is T 0.0 merged in [A] 4.3, and not T 0.7
        ([0.0, 0.7], ["separate", "separate_2"], []),
        ([0.0, 0.7], ["merged"], []),
        ([0.7], BOTH, []),
        ([0.7, 0.7], BOTH, []),
        ([0.7, None], BOTH, []),
        ([0.0, 0.0, 0.7], BOTH, []),  # two setups would be A
    ],
)
def test_letters_are_those_of_the_paper_or_there_are_none(temperatures, arms, letters):
    setups = [Setup(name=f"s{n}", temperature=each) for n, each in enumerate(temperatures)]

    assert list(scenario_letters(setups, arms).values()) == letters


def test_one_setup_alone_keeps_its_letters(tmp_path):
    study = two_arms(
        tmp_path / "s", {"a": ("y", "n"), "b": ("n", "y")}, setups={"a": COOL, "b": WARM}
    )

    rows = scenarios_report(study, Choices(setup="m · T 0.7")).records

    assert [(row["scenario"], row["mean"]) for row in rows] == [("C", 0.0), ("D", 1.0)]


def test_ordinal_questions_have_means_of_medians_and_nominal_ones_none(tmp_path):
    scheme = scheme_of({"stars": {"ordinal": [1, 5]}, "kind": {"nominal": ["x", "y"]}})
    answers = {
        "a": {"stars": ["1", "4", "5"], "kind": ["x", "x", "y"]},
        "b": {"stars": ["2", "3"], "kind": ["x", "y"]},
    }

    stars, kind = scenarios_report(rated(tmp_path, answers, scheme=scheme)).records

    assert stars["mean"] == pytest.approx((4 + 2.5) / 2)
    assert (kind["mean"], kind["tied"], kind["n"]) == (None, 1, 2)


def test_responses_that_were_shown_nothing_are_counted_as_assumed_not_as_unrated(tmp_path):
    shown = [response_row("r1", evidence_shown=["p-e1"]), response_row("r4", evidence_shown=[])]
    outcome = import_rows(
        tmp_path,
        examples=[example_row("e1"), example_row("e2"), example_row("e3")],
        responses=[*shown, response_row("r2", "e2", evidence_shown=[]), response_row("r3", "e3")],
        # r4 was shown nothing and was rated all the same; r2 and r3 were not rated.
        votes=[
            vote_row(response, "anna", question=question)
            for response in ("r1", "r4")
            for question in ("interpretable", "attributable")
        ],
        scheme=built_in_schemes()["AIS_2"],
    )
    assert outcome.study is not None

    left_out = scenarios_report(outcome.study).left_out

    assert (left_out["assumed"], left_out["unrated_responses"]) == (1, 1)
