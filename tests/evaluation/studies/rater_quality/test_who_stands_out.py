"""The raters who stand out in small studies, and the sentences that say why."""

import pytest

from evaluation.studies.rater_quality.reasons import TOO_FEW
from evaluation.studies.rater_quality.reports import rater_quality
from tests.annotation.makers import (
    material,
    opened,
)
from tests.evaluation.studies.hand_made import votes
from tests.evaluation.studies.rater_quality.rater_votes import (
    ALWAYS_YES,
    in_order,
    numbered,
    row_about,
    study_of,
)
from tests.makers import rated

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]


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
