"""The reports on time and position, with every figure worked out by hand."""

import pytest

from annotation.models import Study
from evaluation.reports.base import Choices
from evaluation.studies.reports.timing import position_report, time_report
from evaluation.votes.export import export_folder
from tests.annotation.makers import material, opened
from tests.evaluation.studies.hand_made import COOL, WARM, rows_by, two_arms, votes
from tests.evaluation.studies.test_rated_here import rate_by_care
from tests.makers import (
    example_row,
    forget,
    import_path,
    import_rows,
    rated,
    response_row,
    scheme_of,
    statements,
    vote_row,
)

pytestmark = pytest.mark.once


def timed(response, rater, seconds, arm="separate", question="q", answer="yes", **more):
    return vote_row(response, rater, answer, question, arm=arm, seconds=seconds, **more)


def study_of(folder, *given, keys=("a", "b"), dialogs=None, setups=None, **rows) -> Study:
    """Import the given votes on questions p and q about responses of a dialog each."""
    dialogs, setups = dialogs or {}, setups or {}
    outcome = import_rows(
        folder,
        examples=[example_row(f"e-{key}", dialog=dialogs.get(key, key)) for key in keys],
        responses=[response_row(key, f"e-{key}", setup=setups.get(key, COOL)) for key in keys],
        votes=given,
        scheme=scheme_of({"p": "yes_no", "q": "yes_no"}),
        **rows,
    )
    assert outcome.study is not None
    return outcome.study


# --- time -----------------------------------------------------------------------------------


def test_time_is_per_judgement_whatever_the_number_of_questions(tmp_path):
    study = study_of(
        tmp_path,
        timed("a", "w1", 10, question="p"),
        timed("a", "w1", 10),
        timed("a", "w2", 30),
        timed("b", "w1", 40),
        timed("b", "w2", ""),
        timed("a", "m1", 12, "merged"),
        timed("b", "m1", 20, "merged"),
    )

    rows = rows_by(time_report(study), "arm")

    separate, merged, saved = rows["separate"], rows["merged"], rows["saved"]
    # Judgements of 10 (two votes), 30, 40 seconds and one without: median 30, mean 80/3.
    assert (separate["n_judgements"], separate["n_without_seconds"]) == (4, 1)
    assert (separate["median_seconds"], separate["mean_seconds"]) == (30, pytest.approx(80 / 3))
    assert (merged["median_seconds"], merged["mean_seconds"]) == (16, 16)
    assert saved["saved_share"] == pytest.approx(1 - 16 / 30)
    assert time_report(study).left_out["judgements_without_seconds"] == 1


def test_a_share_saved_in_every_dialog_has_no_interval(tmp_path):
    keys = [f"r{n}" for n in range(8)]
    given = [timed(key, "w1", 20 + n) for n, key in enumerate(keys)]
    given += [timed(key, "m1", (20 + n) / 2, "merged") for n, key in enumerate(keys)]

    saved = rows_by(time_report(study_of(tmp_path, *given, keys=keys)), "arm")["saved"]

    # Both arms keep the same dialogs in a resample, so the ratio of medians never varies.
    assert saved["saved_share"] == pytest.approx(0.5)
    assert saved["saved_share_low"] is saved["saved_share_high"] is None


def test_one_arm_has_a_time_and_nothing_saved(tmp_path):
    study = rated(tmp_path, votes(a="yy", b="yn"))

    [row] = time_report(study).records

    assert (row["arm"], row["n_judgements"], row["n_without_seconds"]) == ("separate", 4, 4)
    assert row["median_seconds"] is row["median_seconds_low"] is row["mean_seconds"] is None


def test_excluded_raters_flagged_responses_and_other_setups_have_no_time(tmp_path):
    study = study_of(
        tmp_path,
        timed("a", "w1", 10),
        timed("a", "w2", 90),
        timed("b", "w1", 50),
        timed("c", "w1", 70),
        keys=("a", "b", "c"),
        setups={"b": WARM},
        raters=[{"rater": "w2", "excluded": "yes"}],
        flags=[{"response": "c", "rater": "w1"}],
    )

    def median(**choices):
        return time_report(study, Choices(**choices)).records[0]["median_seconds"]

    assert median() == 30  # 10 and 50
    assert median(setup="m · T 0.0") == 10
    assert median(setup="m · T 0.0", with_excluded=True) == 50  # 10 and 90


# --- position -------------------------------------------------------------------------------


def test_the_effect_of_the_first_position_is_against_all_later_ones(tmp_path):
    given = [
        timed("a", "m1", 1, "merged", position=1, answer="yes"),
        timed("b", "m1", 1, "merged", position=2, answer="no"),
        timed("a", "m2", 1, "merged", position=2, answer="yes"),
        timed("b", "m2", 1, "merged", position=1, answer="yes"),
        timed("c", "m1", 1, "merged", position=3, answer="no"),
        timed("c", "m2", 1, "merged", answer="no"),
        timed("a", "w1", 1, position=1, answer="no"),  # in the other arm
    ]
    report = position_report(study_of(tmp_path, *given, keys=("a", "b", "c")))

    rows = rows_by(report, "question", "position")

    assert [(rows["q", n]["n_votes"], rows["q", n]["mean_vote"]) for n in (1, 2, 3)] == [
        (2, 1.0),
        (2, 0.5),
        (1, 0.0),
    ]
    # First: 2 of 2; later: 1 of 3.
    assert rows["q", None]["effect"] == pytest.approx(1 - 1 / 3)
    assert rows["q", None]["n_votes"] == 5
    assert {row["order"] for row in report.records} == {"unknown"}
    assert report.left_out["votes_without_position"] == 1
    assert ("p", None) not in rows  # no rater was asked


def test_ordinal_votes_have_mean_votes_and_nominal_ones_no_rows(tmp_path):
    def rows(scale, *answers):
        given = [
            vote_row("a", f"m{n}", answer, "q", arm="merged", position=n)
            for n, answer in enumerate(answers, start=1)
        ]
        study = two_arms(
            tmp_path / str(scale)[2:5], {"a": ("", "")}, scale=scale, better=None, more_votes=given
        )
        return position_report(study).records

    assert [row.get("mean_vote") for row in rows({"ordinal": [1, 5]}, "4", "2")] == [4, 2, None]
    assert rows({"nominal": ["4", "2"]}, "4", "2") == []


@pytest.mark.parametrize("order", ["random", "fixed"])
def test_every_row_says_how_responses_were_ordered(tmp_path, order):
    dataset = material(tmp_path / "data", n_examples=3)
    study = opened(dataset, scheme="SSA", arms=["merged"], raters=5, response_order=order)
    rate_by_care(study)
    here, times_here = position_report(study), time_report(study).records

    export_folder(dataset, study, tmp_path / "out")
    forget(dataset)
    again = import_path(tmp_path / "out", "again").study

    assert again is not None
    assert {row.order for row in here.rows} == {order}
    assert position_report(again).rows == here.rows
    assert time_report(again).records == times_here
    assert times_here[0]["n_judgements"] == 3 * 2 * 5  # examples, setups, raters


# --- cost -----------------------------------------------------------------------------------


@pytest.mark.parametrize("report", [time_report, position_report])
def test_they_cost_as_many_statements_for_a_large_study_as_for_a_small_one(tmp_path, report):
    def n_statements(n):
        answers = {f"r{i}": ("yn", "yy") for i in range(n)}
        study = two_arms(tmp_path / f"{n}-responses", answers)
        return len(statements(lambda: report(study)))

    assert n_statements(2) == n_statements(30) <= 40
