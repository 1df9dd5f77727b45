"""The report on the quality of raters over small studies, with every figure worked out by hand."""

import json
import re

import pytest
from django.core.management import call_command

from annotation.models import Vote
from evaluation.studies.rater_quality import reports
from evaluation.studies.rater_quality.reasons import TOO_FEW
from evaluation.studies.rater_quality.reports import made_anew, rater_quality
from tests.evaluation.studies.hand_made import FIVE_STARS, PAIR, votes
from tests.evaluation.studies.rater_quality.rater_votes import (
    ALWAYS_YES,
    flags,
    in_order,
    make_gold,
    numbered,
    row_about,
    study_of,
)
from tests.makers import rated, scheme_of, statements

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]

# 24 responses with the answers of w1, w2 and w3.
WITH_TIES = ["yyy"] * 10 + ["nnn"] * 10 + ["ynn", "yyn"] * 2


# --- agreement with the others --------------------------------------------------------------


def test_agreement_is_with_the_majority_of_the_others_and_ties_are_left_out(tmp_path):
    study = study_of(tmp_path, WITH_TIES)

    # w1: agrees on 20, differs on ynn, and beside yyn the others are tied: 20 of 22.
    # w2: beside ynn and beside yyn the others are tied: 20 of 20.
    # w3: beside ynn tied, on yyn differs: 20 of 22.
    found = {code: row_about(study, code) for code in ("w1", "w2", "w3")}
    assert found["w1"]["agreement"] == pytest.approx(20 / 22)
    assert found["w2"]["agreement"] == 1
    assert found["w3"]["agreement"] == pytest.approx(20 / 22)
    assert found["w1"]["q_agreement"] == found["w1"]["agreement"]
    assert [row["n_compared"] for row in found.values()] == [24, 24, 24]
    assert [row["stands_out"] for row in found.values()] == ["", "", ""]


def test_the_interval_holds_the_agreement_and_needs_two_dialogs(tmp_path):
    patterns = numbered(WITH_TIES)
    many = rated(tmp_path / "many", votes(**patterns), name="many")
    same = dict.fromkeys(patterns, "d")
    one = rated(tmp_path / "one", votes(**patterns), name="one", dialogs=same)

    row, of_one_dialog = row_about(many, "w1"), row_about(one, "w1")

    assert row["agreement_low"] < row["agreement"] < row["agreement_high"] < 1
    assert of_one_dialog["agreement"] == row["agreement"]
    assert (of_one_dialog["agreement_low"], of_one_dialog["agreement_high"]) == (None, None)


def test_the_mean_of_the_others_is_over_the_same_responses(tmp_path):
    row = row_about(study_of(tmp_path, [*WITH_TIES, "y--"]), "w1")

    # w1 said yes to 10 + 4 of the 24 that others judged; r25 has no other vote. The others: yes on
    # 10, no on 10, no on both of ynn, and half of them yes on both of yyn.
    assert (row["n"], row["n_compared"], row["q_n"]) == (25, 24, 24)
    assert row["q_mean"] == pytest.approx(14 / 24)
    assert row["q_others_mean"] == pytest.approx((10 + 2 * 0.5) / 24)


def test_points_agree_with_a_median_that_is_at_most_half_a_point_away(tmp_path):
    study = study_of(tmp_path, ["334", "433", "343"] * 8, scheme=scheme_of({"q": FIVE_STARS}))

    row = row_about(study, "w1")

    # The medians of the others are 3.5, 3 and 3.5, which are ½, 1 and ½ away: 2 of 3 agree.
    assert row["agreement"] == pytest.approx(2 / 3)
    assert row["q_mean"] == pytest.approx((3 + 4 + 3) / 3)
    assert row["q_others_mean"] == pytest.approx((3.5 + 3 + 3.5) / 3)


def test_names_agree_with_the_majority_of_the_others_and_have_no_mean(tmp_path):
    patterns = ["aaab", "aaba", "abaa", "baaa", "abcc", "aabc"] * 4
    scheme = scheme_of({"q": {"nominal": ["a", "b", "c"]}})

    row = row_about(study_of(tmp_path, patterns, scheme=scheme), "w1")

    # w1 agrees with aab, aba and baa; differs from aaa and from bcc; abc has no majority, 4 times.
    assert row["agreement"] == pytest.approx(3 / 5)
    assert (row["n_left_out_waiting"], row["n_left_out_tied"]) == (0, 4)
    assert row["agreement_ties_half"] == pytest.approx(3.5 / 6)
    assert (row["q_n"], row["q_mean"], row["q_others_mean"]) == (24, None, None)


def test_agreement_is_over_the_given_votes_on_all_questions(tmp_path):
    # 20 times both say yes to both; 5 times w2 says no to `specific`. On 4 responses both say no
    # to the first question, which implies a no to the second.
    yes, no = ["yes", "yes"], ["yes", "no"]
    answers = {
        f"r{n:02}": {"sensible": yes, "specific": no if n < 5 else yes} for n in range(25)
    } | {f"s{n}": {"sensible": ["no", "no"], "specific": []} for n in range(4)}
    implied = [
        {"response": f"s{n}", "rater": rater, "question": "specific", "answer": "no"}
        | {"implied": "1"}
        for n in range(4)
        for rater in ("w1", "w2")
    ]
    study = rated(tmp_path, answers, scheme=PAIR, more_votes=implied)

    row = row_about(study, "w1")

    # `sensible`: 29 of 29 agree; `specific`: 20 of 25.
    assert (row["sensible_n"], row["sensible_agreement"]) == (29, 1)
    assert (row["specific_n"], row["specific_agreement"]) == (25, pytest.approx(20 / 25))
    assert row["agreement"] == pytest.approx((29 + 20) / (29 + 25))
    assert row["n"] == 29
    assert rater_quality(study).report.left_out["implied_votes"] == 8


# --- too few --------------------------------------------------------------------------------

OF_ANSWERS = ["agreement", "first_half", "second_half", "longest_run", "q_agreement", "q_mean"]
OF_ANSWERS += ["q_others_mean", "q_longest_run", "median_seconds", "reading_seconds", "fast_share"]


def timed_pair(folder, n, **more):
    """Import a study in which w1 and w2 agree on n responses, judged in order in 10 seconds."""
    patterns = numbered(["y", "n"] * n)
    answers = dict(list(patterns.items())[:n])
    rows = [row for rater in ("w1", "w2") for row in in_order(rater, answers, seconds=10)]
    return rated(folder, {key: {"q": []} for key in answers}, more_votes=rows, **more)


def test_below_20_responses_nothing_is_said_but_that_there_are_too_few(tmp_path):
    row = row_about(timed_pair(tmp_path, 19), "w1")

    assert {name: row[name] for name in OF_ANSWERS} == dict.fromkeys(OF_ANSWERS)
    assert (row["n"], row["q_n"], row["stands_out"]) == (19, 19, TOO_FEW)
    assert TOO_FEW == "fewer than 20 responses"


def test_from_20_responses_on_every_figure_is_there(tmp_path):
    row = row_about(timed_pair(tmp_path, 20), "w1")

    found = {name: row[name] for name in OF_ANSWERS[:-2]}
    assert found == {
        "agreement": 1,
        "first_half": 1,
        "second_half": 1,
        "longest_run": 1,  # y n y n …
        "q_agreement": 1,
        "q_mean": 0.5,
        "q_others_mean": 0.5,
        "q_longest_run": 1,
        "median_seconds": 10,
    }
    assert row["stands_out"] == ""


def test_with_20_responses_of_which_19_have_another_vote_agreement_is_not_said(tmp_path):
    row = row_about(study_of(tmp_path, ["yy"] * 19 + ["y-"]), "w1")

    assert (row["n"], row["n_compared"], row["agreement"]) == (20, 19, None)
    assert row["stands_out"] == ""


# --- in the order of the rater --------------------------------------------------------------


def test_the_longest_run_is_in_the_order_of_the_rater(tmp_path):
    # By key: 7 no, 13 yes. In time: r01 to r20 come in the order 5 yes, 7 no, 8 yes.
    keys = [f"r{n:02}" for n in range(1, 21)]
    no, yes = keys[:7], keys[7:]
    order = {key: "n" if key in no else "y" for key in [*yes[:5], *no, *yes[5:]]}
    rows = in_order("w1", order)

    study = rated(tmp_path, {key: {"q": ["", "yes"]} for key in keys}, more_votes=rows)

    assert row_about(study, "w1")["longest_run"] == 8


def test_without_moments_there_is_no_run_and_no_half(tmp_path):
    row = row_about(study_of(tmp_path, ["yy"] * 20), "w1")

    assert (row["agreement"], row["longest_run"]) == (1, None)
    assert (row["first_half"], row["second_half"]) == (None, None)


def test_the_longest_run_is_the_longest_of_all_questions(tmp_path):
    keys = [f"r{n:02}" for n in range(20)]
    rows = in_order("w1", {key: "yn"[n % 2] for n, key in enumerate(keys)}, "p")
    rows += in_order("w1", {key: "y" if n < 6 else "yn"[n % 2] for n, key in enumerate(keys)}, "q")
    study = rated(tmp_path, {key: {"p": ["", "yes"], "q": []} for key in keys}, more_votes=rows)

    row = row_about(study, "w1")

    # q: places 0 to 6 are yes (6 is even), then they alternate.
    assert (row["p_longest_run"], row["q_longest_run"], row["longest_run"]) == (1, 7, 7)


def test_agreement_in_each_half_of_the_order(tmp_path):
    # 21 units: the first 10 are the first half. w1 differs on 1 of 10, and then on 5 of 11.
    keys = [f"r{n:02}" for n in range(21)]
    differs = {0, 11, 12, 13, 14, 15}
    rows = in_order("w1", {key: "n" if n in differs else "y" for n, key in enumerate(keys)})
    answers = {key: {"q": ["", "yes", "yes"]} for key in reversed(keys)}

    row = row_about(rated(tmp_path, answers, more_votes=rows), "w1")

    assert row["first_half"] == pytest.approx(9 / 10)
    assert row["second_half"] == pytest.approx(6 / 11)
    assert row["agreement"] == pytest.approx(15 / 21)


# --- what is left out -----------------------------------------------------------------------


def test_gold_flagged_and_surplus_responses_are_left_out_of_the_figures(tmp_path):
    # w1 differs on each of the three that are left out, and agrees on the 20 others.
    study = study_of(
        tmp_path,
        ["yy"] * 10 + ["nn"] * 10 + ["yn"] * 3,
        flags=flags(("r21", "w1"), ("r21", "w2")),
    )
    make_gold(study, "r22")
    Vote.objects.filter(target__response__key="r23", rater__code="w2").update(is_surplus=True)

    row, left_out = row_about(study, "w1"), rater_quality(study).report.left_out

    # r23 has w1's vote alone, so that it is a response that is not compared.
    assert (row["n"], row["n_compared"], row["agreement"]) == (21, 20, 1)
    assert left_out == {
        "flagged_responses": 1,
        "gold_items": 1,
        "surplus_votes": 1,
        "items_outside_full_share": 0,
        "implied_votes": 0,
    }


def test_an_excluded_rater_is_compared_and_no_other_is_compared_with_them(tmp_path):
    # w3 is excluded and differs from w1 and w2 on 5 of 20.
    excluded = [{"rater": "w3", "excluded": "yes"}]
    study = study_of(tmp_path, ["yyy"] * 8 + ["nnn"] * 7 + ["yny"] * 5, raters=excluded)

    rows = {code: row_about(study, code) for code in ("w1", "w2", "w3")}

    # w1 has w2 alone to be compared with, and differs from them on 5.
    assert rows["w1"]["agreement"] == rows["w2"]["agreement"] == pytest.approx(15 / 20)
    assert rows["w1"]["q_others_mean"] == pytest.approx(8 / 20)
    # w3 agrees on 15; on the others w1 and w2 are tied.
    assert (rows["w3"]["is_excluded"], rows["w3"]["agreement"]) == (True, 1)
    assert rows["w3"]["q_others_mean"] == pytest.approx((8 + 5 / 2) / 20)
    assert rater_quality(study).reference == {"w1", "w2"}


# --- the signature --------------------------------------------------------------------------


def test_the_signature_follows_an_answer_a_time_and_the_order(tmp_path):
    keys = numbered(["y"] * 20)
    there = {key: {"q": ["", "yes"]} for key in keys}
    rows = {
        "first": in_order("w1", keys, seconds=10),
        "answer": in_order("w1", keys | {"r01": "n"}, seconds=10),
        "seconds": in_order("w1", keys, seconds=11),
        "order": in_order("w1", dict(reversed(keys.items())), seconds=10),
    }

    signatures = [
        rater_quality(rated(tmp_path / name, there, name=name, more_votes=votes)).report.signature
        for name, votes in rows.items()
    ]

    assert len(set(signatures)) == 4


# --- the cache ------------------------------------------------------------------------------


def test_the_report_is_not_made_again_while_nothing_changes(tmp_path, monkeypatch):
    study = study_of(tmp_path, WITH_TIES)
    before = rater_quality(study)
    monkeypatch.setattr(reports, "made_anew", lambda study: pytest.fail("made again"))

    assert rater_quality(study) == before


# --- cost, command, API ---------------------------------------------------------------------


def test_it_takes_as_many_statements_with_30_raters_as_with_3(tmp_path):
    patterns = ["yyy", "nnn"] * 12
    few = study_of(tmp_path / "few", patterns, name="few")
    many = study_of(tmp_path / "many", [pattern * 10 for pattern in patterns], name="many")

    n_few, n_many = (
        len(statements(lambda: made_anew(few))),
        len(statements(lambda: made_anew(many))),
    )

    assert many.raters.count() == 30
    assert n_few == n_many <= 15


def test_the_command_prints_a_row_for_each_rater(tmp_path, capsys):
    study_of(tmp_path, ALWAYS_YES)

    call_command("report", "rater_quality", "--study", "pilot")
    table = capsys.readouterr().out

    for words in ("pilot: rater_quality", "w1", "w5", "agrees", "100.0 ["):
        assert words in table
    call_command("report", "rater_quality", "--study", "pilot", "--format", "json")
    found = json.loads(capsys.readouterr().out)
    assert [row["rater"] for row in found["rows"]] == ["w1", "w2", "w3", "w4", "w5"]
    assert re.search("Q: the answer is yes in 100 % of 40 responses", found["rows"][4]["reasons"])


def test_the_api_answers_what_the_command_prints(tmp_path, capsys, rosa, client_for):
    study = study_of(tmp_path, WITH_TIES)
    call_command("report", "rater_quality", "--study", "pilot", "--format", "json")

    answer = client_for(rosa).get(f"/api/v1/studies/{study.slug}/reports/rater_quality/")

    assert answer.status_code == 200
    assert answer.json() == json.loads(capsys.readouterr().out)
