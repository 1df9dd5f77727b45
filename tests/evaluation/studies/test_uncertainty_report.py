"""The report on uncertainty: merged against separate, with every figure worked out by hand."""

from pathlib import Path
from typing import Any

import pytest

from annotation.models import Study
from annotation.ordering import share_is_drawn
from evaluation.reports.base import Choices
from evaluation.reports.report import Record
from evaluation.studies.reports.uncertainty import uncertainty_report
from tests.evaluation.studies.hand_made import COOL, WARM, rows_by, two_arms, votes
from tests.makers import (
    example_row,
    import_rows,
    rated,
    response_row,
    scheme_of,
    statements,
    vote_row,
)

pytestmark = pytest.mark.once
COOL_NAME, WARM_NAME = "m · T 0.0", "m · T 0.7"


def by_setup(study: Study, **choices: Any) -> dict[str | None, Record]:
    """Return the rows of a study with one question by setup; None is the row over all."""
    return rows_by(uncertainty_report(study, Choices(**choices)), "setup")


def dialogs_of(folder, n=8, more=None, **by_setup):
    """Import n dialogs with a response by each setup: name → votes of both arms in all of them."""
    setups = {"cool": COOL, "warm": WARM, "hot": {"model": "m", "temperature": 1.0}}
    keys = {f"{name}-{i}": (name, i) for i in range(n) for name in by_setup}
    return two_arms(
        folder / f"{n}-dialogs",
        {key: by_setup[name] for key, (name, _) in keys.items()},
        setups={key: setups[name] for key, (name, _) in keys.items()},
        dialogs={key: f"d{i}" for key, (_, i) in keys.items()},
        **(more or {}),
    )


def of_questions(folder: Path, **questions: tuple[int, dict[str, tuple[str, str]]]) -> Study:
    """Import questions by two setups: name → the number of dialogs, and votes of both arms.

    Yes is better, unless a name ends in `none_better`.
    """
    numbers = range(max(n for n, _ in questions.values()))
    setups = {"cool": COOL, "warm": WARM}
    keys = {f"{setup}-{number}": (setup, number) for setup in setups for number in numbers}
    given = [
        vote_row(key, f"{arm}-{rater}", {"y": "yes", "n": "no"}[letter], question, arm=arm)
        for question, (n, by_setup) in questions.items()
        for key, (setup, number) in keys.items()
        if number < n
        for arm, letters in zip(("separate", "merged"), by_setup[setup], strict=True)
        for rater, letter in enumerate(letters)
    ]
    better: dict[str, Any] = {
        name: {"better": "yes"} for name in questions if not name.endswith("none_better")
    }
    outcome = import_rows(
        folder / "s",
        examples=[example_row(f"e-{key}", dialog=f"d{n}") for key, (_, n) in keys.items()],
        responses=[
            response_row(key, f"e-{key}", setup=setups[setup]) for key, (setup, _) in keys.items()
        ],
        votes=given,
        scheme=scheme_of(dict.fromkeys(questions, "yes_no"), **better),
    )
    assert outcome.study is not None
    return outcome.study


# --- accuracy, shift and McNemar's test -----------------------------------------------------


def test_accuracy_is_the_share_of_merged_majorities_that_separate_ones_confirm(tmp_path):
    answers = {"a": ("yyn", "yyy"), "b": ("yyy", "nny"), "c": ("nnn", "nny"), "d": ("yn", "yy")}
    study = two_arms(tmp_path / "s", answers)

    overall, cool = by_setup(study).values()

    # a yes and yes, b yes and no, c no and no; d is tied where rated alone, and a yes side by side.
    assert overall["n"] == 3
    assert (overall["n_left_out_waiting"], overall["n_left_out_tied"]) == (0, 1)
    assert overall["accuracy"] == pytest.approx(2 / 3)
    assert overall["disagreement"] == pytest.approx(1 / 3)
    assert overall["disagreement_low"] == pytest.approx(1 - overall["accuracy_high"])
    assert (cool["n"], cool["n_up"], cool["n_down"]) == (3, 0, 1)
    assert cool["shift"] == pytest.approx(-1 / 3)
    assert (cool["p"], cool["p_holm"], cool["is_significant"]) == (1.0, 1.0, False)
    assert cool["visible_shift"] is None  # one discordant pair is never significant
    assert uncertainty_report(study).left_out["tied"] == 1
    # With ties as half, d agrees by ½ and shifts from ½ to 1.
    assert overall["accuracy_ties_half"] == pytest.approx(2.5 / 4)
    assert overall["disagreement_ties_half"] == pytest.approx(1.5 / 4)
    assert (cool["n_left_out_waiting"], cool["n_left_out_tied"]) == (0, 1)
    assert cool["shift_ties_half"] == pytest.approx((-1 + 0.5) / 4)


def test_a_pair_waits_if_one_of_its_labels_does_even_where_the_other_is_tied(tmp_path):
    answers = {"a": ("yyy", "yyy"), "b": ("yynn", "yn"), "c": ("yn", "yynn"), "d": ("yyy", "yynn")}
    study = two_arms(tmp_path / "s", answers, study={"raters_per_unit": 4})

    overall = by_setup(study)[None]

    # N is 4. b waits side by side, c alone; d is tied side by side; a has two labels.
    assert overall["n"] == 1
    assert (overall["n_left_out_waiting"], overall["n_left_out_tied"]) == (2, 1)
    assert (overall["accuracy"], overall["accuracy_ties_half"]) == (1.0, pytest.approx(1.5 / 2))


def test_six_of_eight_that_all_turn_to_yes_are_significant(tmp_path):
    answers = {f"r{i}": ("nnn", "yyy") for i in range(6)} | {
        f"s{i}": ("yyy", "yyy") for i in range(2)
    }

    cool = by_setup(two_arms(tmp_path / "s", answers))[COOL_NAME]

    assert (cool["n_up"], cool["n_down"], cool["shift"]) == (6, 0, pytest.approx(6 / 8))
    # Two-sided: 2 · (1/2)^6. With one of them the other way it would be 2 · 7 / 64 = .22.
    assert cool["p"] == pytest.approx(2 / 64)
    assert (cool["p_holm"], cool["is_significant"]) == (pytest.approx(2 / 64), True)
    assert cool["visible_shift"] == pytest.approx(6 / 8)


def test_holm_counts_the_questions_of_a_setup(tmp_path):
    both = {"q": ["no"], "other": ["no"]}
    turned = [
        {"response": f"r{i}", "rater": "m1", "question": question, "answer": answer}
        | {"arm": "merged"}
        for i in range(6)
        for question, answer in (("q", "yes"), ("other", "no"))
    ]
    study = rated(tmp_path, {f"r{i}": both for i in range(6)}, more_votes=turned)

    rows = rows_by(uncertainty_report(study), "question", "setup")

    # q: 2/64 for two questions is no longer below .05, though six of six turned; other: p = 1.
    assert rows["q", "model-a"]["p"] == pytest.approx(2 / 64)
    assert rows["q", "model-a"]["p_holm"] == pytest.approx(4 / 64)
    assert not rows["q", "model-a"]["is_significant"]
    assert rows["q", "model-a"]["visible_shift"] is None  # at .05 / 2
    assert rows["other", "model-a"]["p_holm"] == 1.0


def test_only_responses_rated_in_both_arms_are_compared(tmp_path):
    answers = {"a": ("yy", "yy"), "b": ("yy", ""), "c": ("", "nn")}

    report = uncertainty_report(two_arms(tmp_path / "s", answers))

    assert report.records[0]["n"] == 1
    assert report.left_out["rated_in_one_arm"] == 2


def test_a_response_flagged_in_one_arm_is_left_out(tmp_path):
    flags = [{"response": "b", "rater": f"m{n}", "arm": "merged"} for n in (1, 2)]
    study = two_arms(tmp_path / "s", {"a": ("yy", "yy"), "b": ("yy", "nn")}, flags=flags)

    report = uncertainty_report(study)

    assert (report.records[0]["n"], report.records[0]["accuracy"]) == (1, 1.0)
    assert report.left_out["flagged_responses"] == 1


def test_a_study_of_one_arm_has_no_rows_and_says_why(tmp_path):
    report = uncertainty_report(rated(tmp_path, votes(a="yy")))

    assert (report.records, report.left_out["arms"]) == ([], 1)


# --- direction ------------------------------------------------------------------------------


def test_merging_favours_a_setup_that_gains_while_the_other_loses(tmp_path):
    study = dialogs_of(tmp_path, cool=("nnnnn", "yynnn"), warm=("yyyyy", "yyyyn"))

    overall = by_setup(study)[None]

    # Rater scores: T 0.0 shifts from 0 to 2/5, T 0.7 from 1 to 4/5; the contrast is 2/5 + 1/5.
    assert overall["direction_setup"] == COOL_NAME
    assert overall["direction_shift"] == pytest.approx(0.6)
    # All eight dialogs say the same: 2 of 2^8 patterns of signs are as far from 0.
    assert overall["direction_p"] == pytest.approx(2 / 2**8, abs=0.003)
    assert overall["direction_p_holm"] == overall["direction_p"]
    assert (overall["favours"], overall["helps"]) == (COOL_NAME, None)


def test_where_a_no_is_better_the_other_setup_is_favoured(tmp_path):
    more = {"better": "no"}
    study = dialogs_of(tmp_path, cool=("nnnnn", "yynnn"), warm=("yyyyy", "yyyyn"), more=more)

    overall = by_setup(study)[None]

    assert (overall["direction_setup"], overall["favours"]) == (WARM_NAME, WARM_NAME)
    assert overall["direction_shift"] == pytest.approx(-0.6)


def test_merging_only_helps_a_setup_that_gains_while_the_other_stays(tmp_path):
    study = dialogs_of(tmp_path, cool=("nnnnn", "yynnn"), warm=("yyyyn", "yyyyn"))

    overall = by_setup(study)[None]

    assert (overall["favours"], overall["helps"], overall["harms"]) == (None, COOL_NAME, None)


@pytest.mark.parametrize("cool", [("yyyyy", "yyyyn"), ("yyyyn", "yyyyn")])
def test_a_setup_that_only_loses_less_is_not_helped_and_the_other_is_harmed(tmp_path, cool):
    study = dialogs_of(tmp_path, cool=cool, warm=("yyyyy", "yynnn"))

    overall = by_setup(study)[None]

    # T 0.0 shifts by -1/5 or 0, T 0.7 by -3/5.
    assert overall["direction_setup"] == COOL_NAME
    assert overall["direction_p_holm"] < 0.05
    assert (overall["favours"], overall["helps"], overall["harms"]) == (None, None, WARM_NAME)


def test_of_three_setups_each_is_tested_against_the_rest(tmp_path):
    gained, lost = ("nnnnn", "yynnn"), ("yyyyy", "nnnnn")
    study = dialogs_of(tmp_path, cool=gained, warm=gained, hot=lost)

    overall = by_setup(study)[None]

    # Contrasts: 2/5 - (2/5 - 1)/2 = .7 twice, and -1 - 2/5 for T 1.0, all with 2 of 2^8 patterns.
    assert overall["favours"] == f"{COOL_NAME}, {WARM_NAME}"
    assert (overall["helps"], overall["harms"]) == (None, "m · T 1.0")
    assert overall["direction_setup"] == "m · T 1.0"
    assert overall["direction_shift"] == pytest.approx(-1.4)
    assert overall["direction_p"] == pytest.approx(3 * 2 / 2**8, abs=0.008)


def test_the_visible_contrast_is_that_of_the_level_that_is_tested_at(tmp_path):
    same = ("yyyyn", "yyyyn")
    two = dialogs_of(tmp_path, n=16, cool=same, warm=("nnnnn", "yynnn"))
    three = dialogs_of(tmp_path, n=9, cool=same, warm=("nnnnn", "yynnn"), hot=same)

    # Each of n dialogs adds .4 / n; normal quantiles of 1 - .05/2 and of 1 - .05/3/2.
    for study, quantile, deviation in ((two, 1.960, 0.4 / 4), (three, 2.394, 0.4 / 3)):
        visible = by_setup(study)[None]["visible_direction"]
        assert visible == pytest.approx((quantile + 0.842) * deviation, rel=1e-3)


def test_the_visible_contrast_counts_the_questions_that_are_tested(tmp_path):
    gains = {"cool": ("nn", "yn"), "warm": ("nn", "nn")}
    study = of_questions(tmp_path, one=(8, gains), two=(8, gains), none_better=(8, gains))

    one, two, none_better = uncertainty_report(study).records[:3]

    # T 0.0 gains 1/2 in each dialog; two questions of three have a better answer.
    assert one["helps"] == COOL_NAME
    visible = (2.241 + 0.842) * 0.5 / 8 * 8**0.5  # 2.241: the quantile of 1 - .05 / 2 / 2
    assert one["visible_direction"] == pytest.approx(visible, rel=1e-3)
    assert two["visible_direction"] == one["visible_direction"]
    assert none_better["visible_direction"] is None


def test_of_two_setups_the_harmed_one_needs_no_test_of_its_own(tmp_path):
    loses = {"cool": ("yy", "yy"), "warm": ("yy", "nn")}
    study = of_questions(tmp_path, one=(12, loses), two=(6, loses))

    one, two = uncertainty_report(study).records[:2]

    # 2 of 2^12 patterns, and 2 of 2^6: .031 by Holm, though twice as much would be .062.
    assert 0.025 < two["direction_p_holm"] == two["direction_p"] < 0.037
    assert one["harms"] == two["harms"] == WARM_NAME


def test_of_three_setups_the_largest_contrast_counts_for_three(tmp_path):
    same = ("yyyyn", "yyyyn")
    study = dialogs_of(tmp_path, cool=same, warm=("nnnnn", "yynnn"), hot=same)

    overall = by_setup(study)[None]

    assert overall["direction_setup"] == WARM_NAME
    assert overall["direction_shift"] == pytest.approx(0.4)  # against the mean of the rest, 0
    assert overall["direction_p"] == pytest.approx(3 * 2 / 2**8, abs=0.008)


@pytest.mark.parametrize("how", ["nothing is better", "one setup"])
def test_without_a_better_answer_or_a_second_setup_there_is_no_direction(tmp_path, how):
    if how == "one setup":
        study = dialogs_of(tmp_path, cool=("nnn", "yyy"))
    else:
        more = {"better": None}
        study = dialogs_of(tmp_path, cool=("nnn", "yyy"), warm=("yyy", "nnn"), more=more)

    overall = by_setup(study)[None]

    undefined = ("favours", "helps", "harms", "direction_setup", "visible_direction")
    for name in (*undefined, "direction_p", "direction_p_holm", "direction_shift"):
        assert overall[name] is None, name


def test_the_directions_p_values_are_corrected_for_the_questions_that_have_one(tmp_path):
    study = dialogs_of(tmp_path, n=4, cool=("nnn", "yyy"), warm=("yyy", "nnn"))

    overall = by_setup(study)[None]

    # Four dialogs: 2 of 2^4 patterns, .125, is what can be reached.
    assert overall["direction_p"] == pytest.approx(2 / 2**4, abs=0.015)
    assert (overall["favours"], overall["helps"]) == (None, None)


def test_where_a_study_stops_when_decided_direction_is_taken_from_its_full_share(tmp_path):
    same, gained = ("yyynn", "yyynn"), ("nnnnn", "yyyyy")
    drawn = {i for i in range(12) if share_is_drawn(2, f"e-cool-{i}", "full", 0.5)}
    answers = {f"cool-{i}": gained if i in drawn else same for i in range(12)}
    answers |= {f"warm-{i}": same for i in range(12)}
    study = two_arms(
        tmp_path / "s",
        answers,
        setups={key: COOL if key.startswith("cool") else WARM for key in answers},
        study={"stops_when_decided": True, "full_share": 0.5, "seed": 2},
    )

    overall = by_setup(study)[None]

    # Every drawn response of T 0.0 went from 0 to 1; over all of them it would be less.
    assert 0 < len(drawn) < 12
    assert overall["direction_shift"] == pytest.approx(1.0)
    assert overall["n"] == 24  # majorities are those of all raters anyway


# --- other scales ---------------------------------------------------------------------------


def test_ordinal_votes_are_cut_in_the_middle_or_where_the_study_says(tmp_path):
    answers = {"a": ("45", "55"), "b": ("33", "44"), "c": ("12", "22")}
    scale = {"ordinal": [1, 5]}
    middle = two_arms(tmp_path / "m", answers, scale=scale, better=None)
    low = two_arms(
        tmp_path / "l", answers, scale=scale, better=None, study={"cuts": {"q": 2.5}, "name": "l"}
    )

    assert {row["label"] for row in uncertainty_report(middle).records} == {"median above 3"}
    assert by_setup(low)[None]["label"] == "median above 2.5"
    # Cut at 3: a yes and yes, b on it, c no and no. At 2.5: b is a yes in both.
    assert (by_setup(middle)[None]["n"], by_setup(middle)[None]["n_left_out_tied"]) == (2, 1)
    assert (by_setup(low)[None]["n"], by_setup(low)[None]["accuracy"]) == (3, 1.0)


def test_nominal_votes_need_a_label_that_is_named_as_positive(tmp_path):
    answers = {"a": ("xx", "xz"), "b": ("zz", "xx")}
    scale = {"nominal": ["x", "z"]}
    without = two_arms(tmp_path / "a", answers, scale=scale, better=None)
    named = two_arms(
        tmp_path / "b", answers, scale=scale, better=None, study={"positive": {"q": "X"}}
    )

    assert by_setup(without)[None]["n"] == 0
    assert by_setup(without)[None]["why"] == (
        "no label of this question is named as the positive one"
    )
    assert (by_setup(without)[None]["label"], by_setup(named)[None]["label"]) == (
        None,
        "majority says x",
    )
    # a: x and tied; b: z and x.
    assert (by_setup(named)[None]["n"], by_setup(named)[None]["accuracy"]) == (1, 0.0)
    assert by_setup(named)[COOL_NAME]["n_up"] == 1


# --- cost -----------------------------------------------------------------------------------


def test_it_costs_as_many_statements_for_a_large_study_as_for_a_small_one(tmp_path):
    def n_statements(n):
        study = dialogs_of(tmp_path, n=n, cool=("yy", "yy"), warm=("yy", "yy"))
        return len(statements(lambda: uncertainty_report(study)))

    assert n_statements(2) == n_statements(9) <= 24
