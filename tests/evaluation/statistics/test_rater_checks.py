"""Checks of raters: p-values against SciPy and by hand, and who is compared with whom."""

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from evaluation.statistics import rater_checks
from evaluation.statistics.exact_tails import few_runs_p
from evaluation.statistics.rater_checks import Paces, StudyVotes, check_raters
from evaluation.statistics.rater_forms import Forms, form_draws
from evaluation.statistics.rater_pairs import chances_of_equal, pairs_of
from evaluation.statistics.rater_tests import LEVEL, Check
from evaluation.statistics.rater_votes import (
    RaterVotes,
    agrees,
    as_agreement,
    draws_of,
    longest_run,
    others_mean,
)

NO_PACES = Paces(np.zeros(0, np.int64), np.zeros(0, bool))
YES_NO, STARS = (0, 1), (1, 2, 3, 4, 5)


def votes_of(table, kind="yes_no", values=YES_NO):
    """Return the votes of a table: a row of answers for each item, None for no vote."""
    rows = [
        (rater, item, values.index(answer))
        for item, answers in enumerate(table)
        for rater, answer in enumerate(answers)
        if answer is not None
    ]
    raters, items, answers = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return RaterVotes(raters, items, answers, kind, values)


def study_of(votes, moments=None, paces=NO_PACES, in_order=False, is_random=True):
    """Return a study with one question; with `in_order`, items were judged one after another."""
    moments = np.full(len(votes.raters), math.nan) if moments is None else moments
    turns = votes.items if in_order else np.full(len(votes.items), -1)
    forms = Forms(votes.raters, votes.items, votes.answers, turns, moments)
    n_raters = int(max(votes.raters.max(initial=-1), paces.raters.max(initial=-1))) + 1
    return StudyVotes(n_raters, {"q": votes}, forms, paces, is_random)


def compared(study, reference):
    """Return the tests of all raters against a reference."""
    everyone = np.ones(study.n_raters, bool)
    return rater_checks.tests_with_others(study, pairs_of(study.forms), reference, everyone)


def all_tests(study, reference=None):
    """Return all tests by their kind; every rater is in the reference unless it is given."""
    reference = np.ones(study.n_raters, bool) if reference is None else np.array(reference)
    found = [
        *rater_checks.tests_alone(study),
        *compared(study, reference),
    ]
    return {each.kind: each for each in found}


def marks_of(study, counted=None):
    counted = np.ones(study.n_raters, bool) if counted is None else np.array(counted)
    return {(mark.rater, mark.kind): mark for mark in check_raters(study, counted).marks}


# --- what a vote is drawn from --------------------------------------------------------------


def test_a_vote_is_drawn_from_the_votes_of_the_reference_and_itself():
    """One item with yes, yes, no and no; the last rater is not in the reference.

    So the first three votes are drawn from 1 no and 2 yes, the last from 2 no and 2 yes.
    """
    votes = votes_of([[1, 1, 0, 0]])

    draws = draws_of(votes, np.array([True, True, True, False]))

    assert draws.counts[draws.places].tolist() == [[1, 2], [1, 2], [1, 2], [2, 2]]
    # For the first rater the others are yes and no; for the third yes and yes.
    assert others_mean(draws, votes).tolist() == pytest.approx([1 / 2, 1 / 2, 1, 2 / 3])


def test_agreement_is_with_more_than_half_of_the_others():
    """Yes yes no: the others of a yes are yes and no, a tie; those of the no say yes."""
    votes = votes_of([[1, 1, 0]])

    draws = as_agreement(draws_of(votes, np.ones(3, bool)), votes)

    assert draws.observed(votes).tolist() == [0, 0, -1]
    assert np.isnan(agrees(draws.observed(votes), "yes_no")).tolist() == [True, True, False]


def test_a_name_needs_a_majority_of_the_others_too():
    """The votes are a b c c. The others of the a say b c c, with a majority of c; of a c, a b c."""
    votes = votes_of([["a", "b", "c", "c"]], "nominal", ("a", "b", "c"))

    draws = as_agreement(draws_of(votes, np.ones(4, bool)), votes)

    assert draws.observed(votes).tolist() == [-1, -1, 0, 0]


def test_points_are_compared_with_the_median_of_the_others():
    """2 3 5: medians of the others 4, 3.5 and 2.5, distances 2, ½ and 2½, twice and negative."""
    votes = votes_of([[2, 3, 5]], "ordinal", STARS)

    draws = as_agreement(draws_of(votes, np.ones(3, bool)), votes)

    assert draws.observed(votes).tolist() == [-4, -1, -5]
    assert agrees(draws.observed(votes), "ordinal").tolist() == [0, 1, 0]


def test_a_vote_without_another_is_not_compared():
    votes = votes_of([[1, None], [1, 0]])

    assert draws_of(votes, np.ones(2, bool)).which.tolist() == [1, 2]
    assert draws_of(votes, np.array([False, False])).which.tolist() == []


def test_the_longest_run_is_of_equal_answers():
    assert longest_run([]) == 0
    assert longest_run([1]) == 1
    assert longest_run([0, 1, 1, 1, 0, 0]) == 3


# --- p-values -------------------------------------------------------------------------------


def test_with_two_raters_the_share_of_yes_is_tested_by_signs():
    """30 items: both yes on 12, the first alone on 16, the second alone on 2."""
    table = [[1, 1]] * 12 + [[1, 0]] * 16 + [[0, 1]] * 2

    test = all_tests(study_of(votes_of(table)))[Check.YES]

    assert test.p.tolist() == pytest.approx([binomtest(16, 18).pvalue] * 2)
    assert test.observed.tolist() == pytest.approx([28 / 30, 14 / 30])
    assert test.expected.tolist() == pytest.approx([21 / 30] * 2)


def test_differing_from_two_others_has_a_binomial_tail():
    """24 items with two yes and one no. The no is the third rater's on 18 of them.

    The no is each rater's with ⅓, and differs from a majority; a yes has a tie beside it. So the
    lower tail is that of 18 or more of 24.
    """
    table = [[1, 1, 0]] * 18 + [[0, 1, 1]] * 3 + [[1, 0, 1]] * 3

    test = all_tests(study_of(votes_of(table)))[Check.AGREEMENT]

    assert test.p[2] == pytest.approx(binom.sf(17, 24, 1 / 3))
    assert test.observed.tolist() == [0, 0, 0]


def test_the_expected_share_is_that_of_votes_drawn_at_random():
    """20 items yes yes yes no, all four by one rater: others yes yes yes, or yes yes no.

    A yes agrees with its others (2 of 3), the no differs: ¾ agree by chance.
    """
    test = all_tests(study_of(votes_of([[1, 1, 1, 0]] * 20)))[Check.AGREEMENT]

    assert test.expected.tolist() == pytest.approx([0.75] * 4)
    assert test.observed.tolist() == [1, 1, 1, 0]
    assert test.p[3] == pytest.approx(0.25**20)


def test_points_far_from_the_median_have_the_tail_of_their_draws():
    """20 items 3 3 5 of three raters: the 5 is two points away, a 3 has 4 as its median (1 away).

    Each rater draws distance 2 with ⅓ and 1 with ⅔. The third has 2 each time: (⅓)^20.
    """
    test = all_tests(study_of(votes_of([[3, 3, 5]] * 20, "ordinal", STARS)))[Check.AGREEMENT]

    assert test.observed.tolist() == [1, 1, 2]
    assert test.expected.tolist() == pytest.approx([4 / 3] * 3)
    assert test.p[2] == pytest.approx((1 / 3) ** 20)


def test_equal_forms_of_a_pair_have_a_binomial_tail():
    """20 items a a b: two of three forms drawn without putting back are equal with 2 / 6."""
    study = study_of(votes_of([["a", "a", "b"]] * 20, "nominal", ("a", "b")))

    test = all_tests(study)[Check.COPIES]

    assert test.n.tolist() == [20, 20, 20]
    assert test.observed.tolist() == [1, 0, 0]
    assert test.expected.tolist() == pytest.approx([1 / 3] * 3)
    assert test.p[0] == pytest.approx((1 / 3) ** 20)


def test_the_chance_of_equal_forms_counts_the_pair_and_the_reference():
    """On 20 items a a b b of raters 0 to 3. The reference is 0 and 2: a, b.

    Pair (0, 2): of a b, none equal. (0, 1): of a b a, 2 / 6. (1, 3): of a b a b, 4 / 12.
    """
    votes = votes_of([["a", "a", "b", "b"]] * 20, "nominal", ("a", "b"))
    forms = study_of(votes).forms
    pairs = pairs_of(forms)

    chances = chances_of_equal(forms, pairs, np.array([True, False, True, False]))

    of_pair = {
        (int(first), int(second)): set(chances[pairs.pairs == place].round(9).tolist())
        for place, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True))
    }
    assert of_pair[0, 2] == {0}
    assert of_pair[0, 1] == {round(1 / 3, 9)}
    assert of_pair[1, 3] == {round(1 / 3, 9)}


def test_time_has_the_tail_of_a_coin():
    paces = Paces(np.array([0] * 30 + [1] * 30), np.array([True] * 24 + [False] * 6 + [False] * 30))

    test = all_tests(study_of(votes_of([[1, 1]]), paces=paces))[Check.FAST]

    expected = binomtest(24, 30, alternative="greater").pvalue
    assert test.p.tolist() == pytest.approx([expected, 1])
    assert test.observed.tolist() == [0.8, 0]


def test_answers_in_blocks_have_few_runs():
    table = [[int(n // 10 % 2), int(n % 2)] for n in range(40)]
    study = study_of(votes_of(table), in_order=True)

    test = all_tests(study)[Check.RUNS]

    assert test.observed.tolist() == [4, 40]
    assert test.expected.tolist() == [21, 21]
    assert test.p.tolist() == pytest.approx([few_runs_p([20, 20], 4), 1])


def test_drift_is_late_disagreement():
    """40 items yes yes yes no; the no is the first rater's on the last 15 and else the last's.

    On the late items he draws the no with ¼ each, so that 15 of 15 have (¼)^15. The weights of the
    test let the earlier ones count less, so p is a little larger; it may not be smaller.
    """
    table = [[1, 1, 1, 0]] * 25 + [[0, 1, 1, 1]] * 15

    test = all_tests(study_of(votes_of(table), in_order=True))[Check.DRIFT]

    assert 0.25**15 <= test.p[0] < 1e-4
    assert (test.observed[0], test.expected[0]) == (5 / 20, 1)  # second half, first half
    assert test.p[3] == 1  # his agreement rises


def test_a_rater_who_is_always_bad_does_not_drift():
    table = [[1, 1, 1, 0]] * 40

    tests = all_tests(study_of(votes_of(table), in_order=True))

    assert tests[Check.AGREEMENT].p[3] < 1e-20
    assert tests[Check.DRIFT].p[3] == 1


def test_without_an_order_there_is_no_test_of_order():
    tests = all_tests(study_of(votes_of([[1, 1, 0]] * 30)))

    assert tests[Check.DRIFT].n.size == tests[Check.RUNS].n.size == 0


def test_runs_need_an_order_that_was_drawn():
    study = study_of(votes_of([[1, 1, 0]] * 30), in_order=True, is_random=False)

    assert Check.RUNS not in all_tests(study)
    assert all_tests(study)[Check.DRIFT].n.tolist() == [30] * 3


def test_nothing_is_judged_below_20_responses():
    tests = all_tests(study_of(votes_of([[1, 1, 1, 0]] * 19), in_order=True))

    assert all(test.n.size == 0 for test in tests.values())


def test_names_have_no_share_of_yes():
    votes = votes_of([["a", "b", "b"]] * 30, "nominal", ("a", "b"))

    assert Check.YES not in all_tests(study_of(votes))


def test_what_is_not_suspicious_could_not_have_been_significant():
    """A p of .05 / 6 or less lies beyond 1.5 standard deviations: tried with 3,000 random sums."""
    random = np.random.default_rng(5)
    for _ in range(3_000):
        n, top = int(random.integers(1, 60)), float(random.choice([0.02, 0.1, 0.5, 1]))
        p = random.random(n) * top
        null = np.ones(1)
        for each in p:
            null = np.convolve(null, [1 - each, each])
        below = null.cumsum()
        significant = np.flatnonzero(below <= LEVEL / 6)
        if significant.size:
            z = (significant.max() - p.sum()) / math.sqrt((p * (1 - p)).sum())
            assert z <= -1.5


# --- who is compared with whom --------------------------------------------------------------


def careless(n_items=60, excluded=0):
    """Return votes of five raters who agree, but for one who always says no (rater 4)."""
    return [[n % 3 > 0] * 4 + [False] * (1 + excluded) for n in range(n_items)]


def as_numbers(table):
    return [[None if answer is None else int(answer) for answer in row] for row in table]


def test_one_who_says_always_no_is_marked_and_nobody_else():
    study = study_of(votes_of(as_numbers(careless())))

    outcome = check_raters(study, np.ones(5, bool))

    assert {mark.rater for mark in outcome.marks} == {4}
    assert outcome.reference.tolist() == [True] * 4 + [False]
    by_kind = {mark.kind: mark for mark in outcome.marks}
    # 40 of 60 items are yes yes yes yes no: the share expected of him is 40 · ⅘ / 60.
    assert by_kind[Check.YES].observed == 0
    assert by_kind[Check.YES].expected == pytest.approx(40 * 0.8 / 60)
    # Five raters, one question: p is (⅕)^40, both sides, times 5 tests and 6 kinds.
    assert by_kind[Check.YES].p == pytest.approx(2 * 0.2**40 * 5 * 6)


def test_excluded_raters_are_compared_and_change_nothing_for_others():
    alone = study_of(votes_of(as_numbers(careless())))
    beside = study_of(votes_of(as_numbers(careless(excluded=2))))

    marks = marks_of(beside, [True] * 5 + [False] * 2)

    assert {rater for rater, _ in marks} == {4, 5, 6}
    four, same = marks[4, Check.YES], marks_of(alone)[4, Check.YES]
    assert four._replace(p=0) == same._replace(p=0)
    assert four.p == pytest.approx(same.p * 7 / 5)  # more tests are corrected for


def test_several_bad_raters_do_not_hide_behind_each_other():
    """Two of seven raters always say no and one always yes; the other four have the majority."""
    table = [[n % 2, n % 2, n % 2, n % 2, 0, 0, 1] for n in range(80)]

    outcome = check_raters(study_of(votes_of(table)), np.ones(7, bool))

    assert outcome.reference.tolist() == [True] * 4 + [False] * 3
    # The two give the same answers each time, but this is no more than both noes explain: against
    # the reference and each other, they are marked for their noes.
    assert {4, 5, 6} == {mark.rater for mark in outcome.marks if mark.kind is Check.YES}


def test_of_two_raters_who_differ_nobody_knows_who_is_right():
    study = study_of(votes_of([[1, 1]] * 20 + [[1, 0]] * 20))

    outcome = check_raters(study, np.ones(2, bool))

    assert {(mark.rater, mark.kind) for mark in outcome.marks} == {(0, Check.YES), (1, Check.YES)}
    assert outcome.reference.all()


def copied(n_items=60, late=None):
    """Return votes of five: 0 and 1 are the same, the others differ on other items each."""
    random = np.random.default_rng(3)
    table = (random.random((n_items, 5)) < 0.5).astype(int)
    table[:, 1] = table[:, 0]
    votes = votes_of(table.tolist())
    moments = None if late is None else votes.items + 0.5 * (votes.raters == late)
    return study_of(votes, moments)


def test_who_answered_later_is_the_one_who_may_have_copied():
    later, earlier = marks_of(copied(late=1)), marks_of(copied(late=0))

    assert [(rater, m.partner) for (rater, _), m in later.items()] == [(1, 0)]
    assert [(rater, m.partner) for (rater, _), m in earlier.items()] == [(0, 1)]


def test_without_times_both_of_a_pair_are_marked():
    marks = marks_of(copied())

    assert sorted((rater, m.partner) for (rater, _), m in marks.items()) == [(0, 1), (1, 0)]


def test_no_votes_and_no_raters_are_no_trouble():
    none = np.zeros(0, np.int64)
    votes = RaterVotes(none, none, none, "yes_no", YES_NO)
    study = StudyVotes(0, {"q": votes}, Forms(none, none, none, none, np.zeros(0)), NO_PACES, True)

    assert check_raters(study, np.zeros(0, bool)).marks == []


# --- forms with several questions -----------------------------------------------------------


def two_questions(forms_on_items):
    """Return a study in which each rater answers two questions: a row of forms for each item."""
    first, second = (
        votes_of([[form[place] for form in row] for row in forms_on_items]) for place in (0, 1)
    )
    codes = np.arange(len(first.raters))  # no two forms need to be equal here
    turns = np.full(len(codes), -1)
    forms = Forms(first.raters, first.items, codes, turns, np.full(len(codes), math.nan))
    n_raters = int(first.raters.max()) + 1
    return StudyVotes(n_raters, {"a": first, "b": second}, forms, NO_PACES, True)


def test_agreement_adds_up_over_questions():
    """20 items: yes yes, yes yes, no no. The third differs from both others, twice: -2.

    The others of a yes are a yes and a no, a tie: 0. A form drawn at random has -2 with ⅓.
    """
    study = two_questions([[(1, 1), (1, 1), (0, 0)]] * 20)

    tests = compared(study, np.ones(3, bool))

    [over_all] = [each for each in tests if each.kind is Check.AGREEMENT and not each.question]
    assert over_all.p.tolist() == pytest.approx([1, 1, (1 / 3) ** 20])
    assert over_all.observed[2] == 0


def test_answers_to_several_questions_may_depend_on_each_other():
    """Both answers of a form are the same. So 20 items say as much as one question would."""
    both = two_questions([[(1, 1), (1, 1), (1, 1), (0, 0)]] * 20)
    one = study_of(votes_of([[1, 1, 1, 0]] * 20))

    tests = compared(both, np.ones(4, bool))
    [over_all] = [each for each in tests if each.kind is Check.AGREEMENT and not each.question]

    assert over_all.p.tolist() == pytest.approx(all_tests(one)[Check.AGREEMENT].p.tolist())


def test_a_form_outside_the_reference_is_drawn_from_it_and_the_reference():
    """One item, forms yes yes, yes no, no no; the last rater is not in the reference.

    First question, reference yes yes: each agrees with the other. Second, yes no: each differs.
    With the third (yes yes no, yes no no) a yes of the first question has a tie, and the no
    differs. In the second the yes differs, and each no has a tie.
    """
    study = two_questions([[(1, 1), (1, 0), (0, 0)]])

    draws = form_draws(study.forms, study.questions, np.array([True, True, False]))

    of_form = {
        int(rater): sorted(draws.values[start : start + size].tolist())
        for rater, start, size in zip(draws.raters, draws.start, draws.size, strict=True)
    }
    own = dict(zip(draws.raters.tolist(), draws.values[draws.own].tolist(), strict=True))
    assert of_form == {0: [0, 0], 1: [0, 0], 2: [-1, -1, 0]}
    assert own == {0: 0, 1: 0, 2: -1}


def test_a_question_that_was_not_asked_counts_for_nothing():
    """A gate closed the second question for the last rater; the others agree on both."""
    study = two_questions([[(1, 1), (1, 1), (1, 1), (0, None)]])

    draws = form_draws(study.forms, study.questions, np.ones(4, bool))

    assert draws.agreeing[draws.own].tolist() == [2, 2, 2, 0]
    assert draws.differing[draws.own].tolist() == [0, 0, 0, 1]
