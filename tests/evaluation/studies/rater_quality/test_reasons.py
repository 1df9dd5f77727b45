"""The sentences that say why a rater stands out, for each kind of check."""

import pytest

from annotation.schemes import load_scheme
from evaluation.statistics.rater_checks import RaterMark
from evaluation.statistics.rater_tests import Check
from evaluation.studies.rater_quality.reasons import reason_of
from tests.evaluation.studies.hand_made import FIVE_STARS
from tests.makers import scheme_of

SCHEME = load_scheme(scheme_of({"well_sourced": "yes_no", "stars": FIVE_STARS}))


def reason(kind, question="", *, observed, expected, n=40, p=0.0123, partner=""):
    mark = RaterMark(kind, 0, question, 1 if partner else -1, n, observed, expected, p)
    return reason_of(mark, SCHEME, partner)


def test_a_share_of_yes_is_said_with_what_one_would_expect():
    more = reason(Check.YES, "well_sourced", observed=0.975, expected=0.614)
    less = reason(Check.YES, "well_sourced", observed=0.1, expected=0.614)

    assert (more.short, less.short) == (
        "says yes more often (well sourced)",
        "says yes less often (well sourced)",
    )
    assert more.sentence == (
        "Well sourced: the answer is yes in 98 % of 40 responses; the other raters’ answers to the "
        "same responses make one expect 61 % (p = .012 after correction)."
    )


def test_points_are_said_as_a_mean():
    higher = reason(Check.YES, "stars", observed=4.5, expected=3.25)
    lower = reason(Check.YES, "stars", observed=2, expected=3.25)

    assert (higher.short, lower.short) == ("higher points (stars)", "lower points (stars)")
    assert higher.sentence == (
        "Stars: the mean answer is 4.50 in 40 responses; the other raters’ answers to the same "
        "responses make one expect 3.25 (p = .012 after correction)."
    )


def test_little_agreement_is_said_as_a_share_or_as_a_distance():
    of_shares = reason(Check.AGREEMENT, "well_sourced", observed=0.5, expected=0.9)
    of_points = reason(Check.AGREEMENT, "stars", observed=1.75, expected=0.5)

    assert of_shares == (
        "agrees less with the others (well sourced)",
        "Well sourced: of the answers to 40 responses, 50 % agree with the majority of the others, "
        "where there is one; 90 % would be expected (p = .012 after correction).",
    )
    assert of_points == (
        "far from the others (stars)",
        "Stars: the answer is 1.75 points away from the median of the others on average in 40 "
        "responses; 0.50 would be expected (p = .012 after correction).",
    )


@pytest.mark.parametrize(
    ("kind", "figures", "short", "sentence"),
    [
        (
            Check.AGREEMENT,
            {"observed": 0.5, "expected": 0.9},
            "agrees less with the others",
            "Of the answers to 40 responses, 50 % agree with the majority of the others, where "
            "there is one; 90 % would be expected",
        ),
        (
            Check.DRIFT,
            {"observed": 0.55, "expected": 0.9},
            "agrees less and less",
            "Agreement with the majority of the others falls from 90 % in the first half of 40 "
            "responses to 55 % in the second",
        ),
        (
            Check.RUNS,
            {"observed": 4, "expected": 19.2},
            "equal answers in a row",
            "Equal answers follow each other: there are 4 runs in 40 responses; 19 would be "
            "expected of the same answers in random order",
        ),
        (
            Check.FAST,
            {"observed": 0.9, "expected": 0.5, "n": 1200},
            "faster than reading",
            "90 % of 1,200 units took less than 25 % of the time that reading what is new in them "
            "takes",
        ),
        (
            Check.COPIES,
            {"observed": 1, "expected": 0.42, "partner": "w2"},
            "same answers as w2",
            "All answers are the same as those of w2 in 100 % of 40 responses that both judged; "
            "42 % would be expected",
        ),
    ],
)
def test_a_reason_about_all_questions_is_a_sentence_that_begins_with_a_capital(
    kind, figures, short, sentence
):
    found = reason(kind, **figures)

    assert found == (short, f"{sentence} (p = .012 after correction).")


def test_every_kind_of_check_has_words():
    for kind in Check:
        assert reason(kind, observed=1, expected=0.5).sentence.endswith(" after correction).")


def test_a_very_small_p_is_said_to_be_below_a_thousandth():
    found = reason(Check.DRIFT, observed=0.5, expected=0.9, p=1e-9)

    assert found.sentence.endswith(" in the second (p <.001 after correction).")


def test_the_code_of_a_partner_may_have_braces():
    found = reason(Check.COPIES, observed=1, expected=0.5, partner="{w}")

    assert found.short == "same answers as {w}"
    assert "those of {w} in 100 % of 40 responses" in found.sentence
