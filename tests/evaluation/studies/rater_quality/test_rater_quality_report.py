"""The report on the quality of raters over small studies, with every figure worked out by hand."""

import json
import re

import pytest
from django.core.management import call_command

from annotation.models import Vote
from annotation.schemes import built_in_schemes
from annotation.services.gold import set_gold
from annotation.services.rating import flag_responses, skip_unit
from annotation.services.studies import open_study
from annotation.services.study_raters import set_excluded
from evaluation.studies.rater_quality import reports
from evaluation.studies.rater_quality.reasons import TOO_FEW
from evaluation.studies.rater_quality.reports import made_anew, rater_quality
from evaluation.votes.export import export_folder
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    planned,
    rate,
    rate_next,
    raters_of,
    researcher,
)
from tests.evaluation.studies.hand_made import FIVE_STARS, PAIR, votes
from tests.evaluation.studies.rater_quality.rater_votes import (
    flags,
    in_order,
    make_gold,
    numbered,
    row_about,
)
from tests.makers import forget, import_path, rated, scheme_of, statements

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]

# 24 responses with the answers of w1, w2 and w3.
WITH_TIES = ["yyy"] * 10 + ["nnn"] * 10 + ["ynn", "yyn"] * 2


def study_of(folder, patterns, **more):
    """Import a study with one question; a pattern has the answers of w1, w2, … to a response."""
    return rated(folder, votes(**numbered(patterns)), **more)


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

    # w1 agrees with aab, aba and baa; differs from aaa and from bcc; abc has no majority.
    assert row["agreement"] == pytest.approx(3 / 5)
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


# --- who stands out -------------------------------------------------------------------------


ALWAYS_YES = ["yyyyy"] * 20 + ["nnnny"] * 20  # the answers of w5 are all yes


def test_who_always_says_yes_stands_out_among_good_raters_and_the_page_says_why(tmp_path):
    study = study_of(tmp_path, ALWAYS_YES)

    reasons = rater_quality(study).reasons

    # Yes is expected on all of the first 20, and on 1 in 5 of the others: 24 of 40. Agreement is
    # expected on the first 20 and on 4 in 5 of the others: 36 of 40. The probability of 20 times
    # 1 in 5 is 1e-14.
    assert set(reasons) == {"w5"}
    assert {reason.short: reason.sentence for reason in reasons["w5"]} == {
        "says yes more often (q)": (
            "Q: the answer is yes in 100 % of 40 responses; the other raters’ answers to the same "
            "responses make one expect 60 % (p <.001 after correction)."
        ),
        "agrees less with the others (q)": (
            "Q: of the answers to 40 responses, 50 % agree with the majority of the others, where "
            "there is one; 90 % would be expected (p <.001 after correction)."
        ),
    }
    row = row_about(study, "w5")
    assert row["stands_out"] == "; ".join(reason.short for reason in reasons["w5"])
    assert row["reasons"] == " ".join(reason.sentence for reason in reasons["w5"])
    assert row_about(study, "w1")["stands_out"] == ""


def test_the_reason_with_the_smallest_probability_comes_first(tmp_path):
    # p of agreement is .2^20. That of the share of yes is twice as much, because it is two-sided.
    [reasons] = rater_quality(study_of(tmp_path, ALWAYS_YES)).reasons.values()

    assert [reason.short for reason in reasons] == [
        "agrees less with the others (q)",
        "says yes more often (q)",
    ]


def test_nobody_is_compared_with_a_rater_who_stands_out(tmp_path):
    study = study_of(tmp_path, ALWAYS_YES)

    # With w5 the others of w1 would have said yes on 20 and one in four times on 20: 25 of 40.
    assert rater_quality(study).reference == {"w1", "w2", "w3", "w4"}
    assert row_about(study, "w1")["q_others_mean"] == 20 / 40


# w1 and w2 always give the same answers; w3 and w4 differ from each other on half of the responses.
# All say yes to half of the responses.
COPIED = (["yynn", "nnyy"] * 2 + ["yyyn", "yyny", "nnny", "nnyn"]) * 5


def test_who_copies_stands_out_with_the_code_of_the_partner(tmp_path):
    study = study_of(tmp_path, COPIED)

    found = rater_quality(study).reasons

    assert {code: [each.short for each in reasons] for code, reasons in found.items()} == {
        "w1": ["same answers as w2"],
        "w2": ["same answers as w1"],
    }
    # Two of the forms y y n n are equal with 1/3, two of y y y n with 1/2: (20/3 + 20/2) / 40.
    assert found["w1"][0].sentence == (
        "All answers are the same as those of w2 in 100 % of 40 responses that both judged; 42 % "
        "would be expected (p <.001 after correction)."
    )


def test_of_two_with_the_same_answers_the_later_one_is_marked(tmp_path):
    keys = list(numbered(COPIED))
    by_rater = {f"w{n + 1}": [pattern[n] for pattern in COPIED] for n in range(4)}
    early = in_order("w1", dict(zip(keys, by_rater["w1"], strict=True)))
    late = [
        row | {"at": row["at"].replace("2026-03-02", "2026-03-03")}
        for row in in_order("w2", dict(zip(keys, by_rater["w2"], strict=True)))
    ]
    answers = votes(**{key: "--" + COPIED[place][2:] for place, key in enumerate(keys)})

    found = rater_quality(rated(tmp_path, answers, more_votes=[*early, *late])).reasons

    assert {code: [each.short for each in reasons] for code, reasons in found.items()} == {
        "w2": ["same answers as w1"]
    }


def test_good_raters_do_not_stand_out(tmp_path):
    # Each of four raters differs from the others on 4 of 40.
    patterns = ["nyyy", "ynnn", "ynyy", "nynn", "yyny", "nnyn", "yyyn", "nnny"] * 2
    found = rater_quality(study_of(tmp_path, patterns + ["yyyy", "nnnn"] * 12))

    assert found.reasons == {}
    assert found.reference == {"w1", "w2", "w3", "w4"}


def test_equal_answers_in_a_row_stand_out_where_units_come_in_random_order(tmp_path):
    keys = list(numbered(["y"] * 40))
    answers = {key: "y" if n < 20 else "n" for n, key in enumerate(keys)}
    others = {key: {"q": ["", "yes" if answers[key] == "y" else "no"]} for key in keys}
    rows = in_order("w1", answers)

    any_order = rated(tmp_path / "a", others, name="any", more_votes=rows)
    random = rated(
        tmp_path / "b", others, name="random", more_votes=rows, study={"mixing": "raters"}
    )

    assert rater_quality(any_order).reasons == {}
    [reason] = rater_quality(random).reasons["w1"]
    # 20 yes and 20 no in random order have 1 + 2 · 20 · 20 / 40 runs on average.
    assert reason.sentence == (
        "Equal answers follow each other: there are 2 runs in 40 responses; 21 would be expected "
        "of the same answers in random order (p <.001 after correction)."
    )
    assert row_about(random, "w1")["longest_run"] == 20


def test_who_agrees_less_and_less_stands_out(tmp_path):
    # w1 agrees with four others on the first 20 responses, and differs on the last 20.
    keys = list(numbered(["y"] * 40))
    truth = {key: "yn"[n % 2] for n, key in enumerate(keys)}
    rows = in_order(
        "w1", {key: truth[key] if n < 20 else "ny"[n % 2] for n, key in enumerate(keys)}
    )

    found = rater_quality(
        rated(tmp_path, votes(**{key: "-" + truth[key] * 4 for key in keys}), more_votes=rows)
    )

    assert set(found.reasons) == {"w1"}
    assert (
        "Agreement with the majority of the others falls from 100 % in the first half of 40 "
        "responses to 0 % in the second (p <.001 after correction)."
    ) in [reason.sentence for reason in found.reasons["w1"]]


def test_a_study_without_votes_has_a_row_for_each_rater_without_figures(tmp_path):
    study = opened(material(tmp_path, n_examples=1), scheme="SSA", raters=2)

    rows = rater_quality(study).report.records

    assert [(row["n"], row["agreement"], row["stands_out"]) for row in rows] == [
        (0, None, TOO_FEW),
        (0, None, TOO_FEW),
    ]


def test_if_all_raters_are_excluded_nobody_is_compared(tmp_path):
    excluded = [{"rater": rater, "excluded": "yes"} for rater in ("w1", "w2")]

    study = study_of(tmp_path, ["yy", "yn"] * 10, raters=excluded)

    assert rater_quality(study).reference == set()
    row = row_about(study, "w1")
    assert (row["n"], row["n_compared"], row["agreement"], row["stands_out"]) == (20, 0, None, "")


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


# --- a study that is rated here -------------------------------------------------------------


@pytest.fixture
def rated_here(tmp_path):
    """Two arms, eight raters: one flags a response, one skips a unit, one is excluded.

    There is a gold item, which is not sensible. Two raters say so, of it and of all others.
    """
    study = planned(
        material(tmp_path / "data", n_examples=24),
        scheme={**built_in_schemes()["SSA"], "evidence": "needed"},
        arms=["separate", "merged"],
        raters=8,
        raters_per_unit=3,
        seed=3,
    )
    set_gold(study, {"e1-cool": {"sensible": 0}}, researcher(), n_qualifying=1)
    open_study(study, researcher())
    first, second, third, *_ = raters = raters_of(study)
    for rater in (first, second):  # the gold item comes first
        rate_next(rater)
    unit = claimed(first).unit
    flag_responses(unit, first, [unit.targets.all()[0].pk], "cut off")
    skip_unit(claimed(second).unit, second, "other")
    busy = list(enumerate(raters))
    while busy:
        busy = [
            (place, rater)
            for place, rater in busy
            if rate_next(rater, {"sensible": 0} if place % 3 == 2 else None)
        ]
    Vote.objects.update(seconds=12.5)
    set_excluded(third, True, "Clicks without reading.", researcher())
    return study


def test_a_study_rated_here_gives_the_same_rows_after_export_and_import(rated_here, tmp_path):
    before = made_anew(rated_here)

    export_folder(rated_here.dataset, rated_here, tmp_path / "out")
    forget(rated_here.dataset)
    again = import_path(tmp_path / "out", "again").study

    assert again is not None
    after = made_anew(again)
    assert after.report.rows == before.report.rows
    assert (after.reasons, after.reference) == (before.reasons, before.reference)
    assert after.report.left_out == before.report.left_out
    assert after.report.left_out["gold_items"] == 1
    assert after.report.signature == before.report.signature
    assert all(row["first_half"] is not None for row in before.report.records)
    assert all(row["reading_seconds"] > 0 for row in before.report.records)


def test_the_rows_have_what_is_known_of_the_raters_beside_their_votes(rated_here):
    rows = [row_about(rated_here, rater.code) for rater in raters_of(rated_here)]

    assert [row["n_flags"] for row in rows] == [1, *[0] * 7]
    assert [row["n_skips"] for row in rows] == [0, 1, *[0] * 6]
    assert {row["n_surplus"] for row in rows} == {0}
    assert [row["is_excluded"] for row in rows] == [False, False, True, *[False] * 5]
    assert [row["gold_score"] for row in rows] == [0, 0, 1, 0, 0, 1, 0, 0]
    assert {row["qualified"] for row in rows} == {"yes"}  # there is no threshold


def test_it_takes_at_most_15_statements_for_a_study_that_is_rated_here(rated_here):
    assert len(statements(lambda: made_anew(rated_here))) <= 15


# --- the cache ------------------------------------------------------------------------------


@pytest.fixture
def three_raters(tmp_path):
    """Three raters who said yes to all of 22 responses; the first has one still to judge."""
    study = opened(material(tmp_path, n_examples=22, setups=["a"]), scheme="SSA", raters=3)
    for rater, n in zip(raters_of(study), (21, 22, 22), strict=True):
        for _ in range(n):
            rate_next(rater)
    return study


def figures(study, name):
    """Return a figure of each rater, in the order of `raters_of`."""
    return [row_about(study, rater.code)[name] for rater in raters_of(study)]


def say_no(rater, n, like):
    """Change a rater's answers to no, on n responses that another rater has judged too."""
    judged = like.assignments.filter(submitted_at__isnull=False).order_by("pk")
    for unit in judged.values_list("unit", flat=True)[:n]:
        rate(rater, rater.assignments.get(unit=unit), {"sensible": 0})


def test_the_report_follows_a_new_unit(three_raters):
    assert figures(three_raters, "n") == [21, 22, 22]

    rate_next(raters_of(three_raters)[0])

    assert figures(three_raters, "n") == [22, 22, 22]


def test_the_report_follows_a_changed_vote(three_raters):
    assert figures(three_raters, "sensible_mean") == [1, 1, 1]

    first, *_ = raters_of(three_raters)
    say_no(first, 1, like=first)

    # The two others said yes. Beside each of those there is a yes and a no, which is a tie.
    assert figures(three_raters, "sensible_mean") == [pytest.approx(20 / 21), 1, 1]
    assert figures(three_raters, "sensible_agreement") == [pytest.approx(20 / 21), 1, 1]


def test_the_report_follows_a_gold_score(three_raters):
    assert figures(three_raters, "gold_score") == [None, None, None]

    three_raters.raters.filter(pk=raters_of(three_raters)[2].pk).update(gold_score=0.25)

    assert figures(three_raters, "gold_score") == [None, None, 0.25]


def test_the_report_follows_an_exclusion(three_raters):
    first, second, third = raters_of(three_raters)
    say_no(third, 2, like=first)
    # A no beside a yes makes the others' mean one half: twice of 22.
    assert figures(three_raters, "sensible_others_mean")[1] == pytest.approx(1 - 2 * 0.5 / 22)

    set_excluded(third, True, "Clicks.", researcher())

    # The only other of the second is now the first, who said yes to all.
    assert figures(three_raters, "sensible_others_mean")[1] == 1
    assert figures(three_raters, "is_excluded") == [False, False, True]
    assert rater_quality(three_raters).reference == {first.code, second.code}


def test_the_report_follows_a_skip(three_raters):
    assert figures(three_raters, "n_skips") == [0, 0, 0]
    first, *_ = raters_of(three_raters)

    skip_unit(claimed(first).unit, first, "other")

    assert figures(three_raters, "n_skips") == [1, 0, 0]


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
