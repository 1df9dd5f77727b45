"""The report on raters over small studies, with every figure worked out by hand."""

import pytest

from annotation.models import Vote
from evaluation.reports.base import Choices, study_counts
from evaluation.reports.formats import write_report
from evaluation.studies.reports.raters import by_rater_of, raters_report
from tests.evaluation.studies.hand_made import FIVE_STARS, PAIR, only_row, row_of, votes
from tests.makers import example_row, import_rows, rated, response_row, scheme_of

pytestmark = pytest.mark.once


# --- means, majorities, ties ----------------------------------------------------------------


def test_every_figure_of_a_yes_no_question(tmp_path):
    study = rated(tmp_path, votes(a="yyn", b="yy-", c="nn-", d="yn-", e="n--"))

    row = only_row(study)

    # Majorities: yes, yes, no, none, no: the mean is over four items, and d is tied.
    assert (row["n"], row["waiting"], row["tied"], row["mean"]) == (5, 0, 1, 2 / 4)
    assert row["mean_ties_half"] == pytest.approx((2 + 0.5) / 5)
    assert (row["majority_yes"], row["majority_no"]) == (2, 2)
    # Pairs: a has 3 (1 agrees), b 1 (1), c 1 (1), d 1 (0), e none: 3 of 6.
    assert row["percent_agreement"] == pytest.approx(3 / 6)
    # Yes votes: 2 + 2 + 0 + 1 + 0 of 3 + 2 + 2 + 2 + 1.
    assert row["share_yes"] == pytest.approx(5 / 10)
    assert row["n_votes"] == 10
    # Kappa over b, c, d (two votes each is the most frequent number): P = 2/3, shares ½, so
    # (2/3 - 1/2) / (1 - 1/2) = 1/3.
    assert row["fleiss_kappa"] == pytest.approx(1 / 3)
    assert (row["fleiss_items"], row["fleiss_votes_per_item"]) == (3, 2)
    # Alpha over a, b, c, d. Coincidences: a: o_yy = 2·1/2 = 1, o_yn = o_ny = 1 (2·1/2); b: o_yy 2;
    # c: o_nn 2; d: o_yn = o_ny = 1. So n_y = 1 + 1 + 2 + 1 = 5, n_n = 1 + 2 + 1 = 4, n = 9;
    # observed 4/9, expected 2·5·4/(9·8) = 5/9; alpha = 1 - 4/5.
    assert row["alpha"] == pytest.approx(1 - 4 / 5)
    assert (row["alpha_level"], row["alpha_items"]) == ("nominal", 4)


def test_a_majority_is_more_than_half_of_the_planned_raters(tmp_path):
    study = rated(tmp_path, votes(a="yy-", b="yyy", c="nyn"), study={"raters_per_unit": 4})

    row = only_row(study)

    # a: 2 of 4 is no majority though both said yes; b: 3 of 4; c: 2 of 4 said no. The fourth vote
    # is still to come.
    assert (row["majority_yes"], row["majority_no"]) == (1, 0)
    assert (row["waiting"], row["tied"], row["mean_ties_half"]) == (2, 0, None)


def test_a_tied_gate_lets_half_of_an_item_through(tmp_path):
    answers = {
        "a": {"clear": ["yes", "yes"], "true": ["yes", "yes"]},
        "b": {"clear": ["yes", "no"], "true": ["no", "no"]},
        "c": {"clear": ["yes", "yes"], "true": ["yes", "no"]},
        "d": {"clear": ["no", "no"], "true": ["no", "no"]},
    }
    scheme = scheme_of({"clear": "yes_no", "true": "yes_no"})
    scheme["questions"][1]["after"] = ["clear"]

    row = row_of(rated(tmp_path, answers, scheme=scheme), "true")

    # Only a passed with a label. With ties as half: a is 1, c is ½, and b counts half as a no.
    assert row["mean_after_gates"] == 1
    assert row["mean_after_gates_ties_half"] == pytest.approx((1 + 0.5 + 0.5 * 0) / (1 + 1 + 0.5))


def test_an_item_with_more_votes_than_planned_raters_counts_all_of_them(tmp_path):
    study = rated(tmp_path, votes(a="yyynn"), study={"raters_per_unit": 3})

    assert only_row(study)["majority_yes"] == 1


def test_the_mean_of_an_ordinal_question_is_over_medians(tmp_path):
    scheme = scheme_of({"q": FIVE_STARS})

    row = only_row(rated(tmp_path, votes(a="345", b="34-", c="115"), scheme=scheme))

    # Medians 4, 3.5 and 1.
    assert row["mean"] == pytest.approx((4 + 3.5 + 1) / 3)
    assert row["alpha_level"] == "ordinal"
    assert [row[f"majority_{n}"] for n in range(1, 6)] == [1, 0, 0, 0, 0]
    # All three raters judged a and c. pingouin 0.6.1, intraclass_corr: ICC(A,1) and ICC(A,k).
    assert (row["icc_raters"], row["icc_items"], row["icc_left_out"]) == (3, 2, 1)
    assert (row["icc"], row["icc_of_mean"]) == (pytest.approx(6 / 25), pytest.approx(18 / 37))


def test_an_ordinal_scale_from_0_has_means_from_0(tmp_path):
    study = rated(
        tmp_path, votes(a="00", b="02", c="22"), scheme=scheme_of({"q": {"ordinal": [0, 2]}})
    )

    assert only_row(study)["mean"] == pytest.approx((0 + 1 + 2) / 3)


def test_a_nominal_question_has_majorities_and_shares_but_no_mean(tmp_path):
    scheme = scheme_of({"q": {"nominal": ["a", "b", "c"]}})

    report = raters_report(rated(tmp_path, votes(r="aab", s="abc"), scheme=scheme))
    [row] = report.records

    assert row["mean"] is None
    assert (row["waiting"], row["tied"]) == (0, 1)
    assert [row[f"majority_{label}"] for label in "abc"] == [1, 0, 0]
    assert [row[f"share_{label}"] for label in "abc"] == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    assert ",—," not in write_report(report, "csv")


def test_a_question_that_nobody_answered_has_no_figures(tmp_path):
    scheme = scheme_of({"q": "yes_no", "other": "yes_no"})
    study = rated(tmp_path, votes(a="yy"), scheme=scheme)

    row = row_of(study, "other")

    assert (row["n"], row["n_votes"], row["n_dialogs"], row["tied"]) == (0, 0, 0, 0)
    for name in ("mean", "mean_low", "percent_agreement", "fleiss_kappa", "alpha", "share_yes"):
        assert row[name] is None, name
    assert not row["no_variation"]


def test_one_rater_alone_gives_means_and_no_agreement(tmp_path):
    row = only_row(rated(tmp_path, votes(a="y", b="n", c="y")))

    assert row["mean"] == pytest.approx(2 / 3)
    assert (row["percent_agreement"], row["fleiss_kappa"], row["alpha"]) == (None, None, None)
    assert (row["alpha_items"], row["fleiss_items"], row["no_variation"]) == (0, 0, False)


def test_without_any_variation_agreement_is_whole_and_kappa_and_alpha_undefined(tmp_path):
    row = only_row(rated(tmp_path, votes(a="yyy", b="yyy")))

    assert row["percent_agreement"] == 1
    assert (row["fleiss_kappa"], row["alpha"]) == (None, None)
    assert row["no_variation"] is True


# --- gates and implied votes ----------------------------------------------------------------


@pytest.fixture
def gated(tmp_path):
    """Two responses are sensible by majority; the third is not, and its specific is implied."""
    answers = {
        "a": {"sensible": ["yes", "yes"], "specific": ["yes", "yes"]},
        "b": {"sensible": ["yes", "yes"], "specific": ["no", "no"]},
        "c": {"sensible": ["no", "no"], "specific": []},
    }
    implied = [
        {"response": "c", "rater": f"w{n}", "question": "specific", "answer": "no", "implied": "1"}
        for n in (1, 2)
    ]
    return rated(tmp_path, answers, scheme=PAIR, more_votes=implied)


def test_implied_votes_count_for_the_mean_and_not_for_agreement(gated):
    row = row_of(gated, "specific")

    assert (row["n"], row["n_votes"], row["n_implied"]) == (3, 6, 2)
    assert row["mean"] == pytest.approx(1 / 3)
    assert row["alpha_items"] == 2
    assert row["share_yes"] == pytest.approx(2 / 4)


def test_a_switch_lets_implied_votes_count_for_agreement_too(gated):
    row = row_of(gated, "specific", with_implied=True)

    assert row["alpha_items"] == 3
    assert row["share_yes"] == pytest.approx(2 / 6)
    report = raters_report(gated, Choices(with_implied=True))
    assert report.left_out["implied_votes"] == 0
    assert "agreement over given and implied votes" in report.signature


def test_left_out_counts_the_implied_votes(gated):
    assert raters_report(gated).left_out["implied_votes"] == 2


# --- answers behind a gate that their own rater closed ---------------------------------------


@pytest.fixture
def behind(tmp_path):
    """On a, w2 said 'specific' although not 'sensible'; on b, w1 said no only in the other arm."""
    answers = {
        "a": {"sensible": ["yes", "no"], "specific": ["yes", "yes"]},
        "b": {"sensible": ["yes", "yes"], "specific": ["no", "no"]},
        "c": {"sensible": ["yes", "yes"], "specific": ["yes", "yes"]},
    }
    elsewhere = {"response": "b", "rater": "w1", "question": "sensible", "answer": "no"}
    return rated(tmp_path, answers, scheme=PAIR, more_votes=[elsewhere | {"arm": "merged"}])


def specific_of(study, **choices):
    rows = raters_report(study, Choices(**choices)).records
    [row] = (row for row in rows if (row["question"], row["arm"]) == ("specific", "separate"))
    return row


def test_an_answer_behind_a_gate_that_its_rater_closed_counts_as_given(behind):
    row = specific_of(behind)

    assert row["percent_agreement"] == 1  # a yes yes, b no no, c yes yes
    assert (row["share_yes"], row["n_implied"]) == (pytest.approx(4 / 6), 0)


def test_by_gates_it_is_implied_and_no_part_of_agreement(behind):
    row = specific_of(behind, by_gates=True)

    # a has one given vote left, so no pair: b agrees, c agrees.
    assert (row["percent_agreement"], row["alpha_items"]) == (1, 2)
    assert (row["share_yes"], row["n_implied"]) == (pytest.approx(3 / 5), 1)
    report = raters_report(behind, Choices(by_gates=True))
    assert report.left_out["implied_votes"] == 2  # one of them in the merged arm, for w1's no to b
    assert "given votes, answers behind closed gates implied" in report.signature


def test_by_gates_and_with_implied_it_is_the_no_that_the_gate_implies(behind):
    row = specific_of(behind, by_gates=True, with_implied=True)

    assert row["percent_agreement"] == pytest.approx(2 / 3)  # a yes no, b no no, c yes yes
    assert row["share_yes"] == pytest.approx(3 / 6)


def test_by_gates_votes_and_their_mean_stay_as_they_were_given(behind):
    for choices in ({}, {"by_gates": True}, {"by_gates": True, "with_implied": True}):
        row = specific_of(behind, **choices)

        assert (row["n_votes"], row["mean"]) == (6, pytest.approx(2 / 3))  # a yes, b no, c yes


@pytest.mark.parametrize("with_implied", [False, True])
@pytest.mark.parametrize("by_gates", [False, True])
def test_votes_by_rater_are_those_that_agreement_counts(behind, by_gates, with_implied):
    choices = Choices(by_gates=by_gates, with_implied=with_implied)

    [separate, _] = by_rater_of(behind, choices, study_counts(behind, choices))

    votes = separate["specific"]
    row = specific_of(behind, by_gates=by_gates, with_implied=with_implied)
    assert votes.answers.mean() == pytest.approx(row["share_yes"])


def test_a_gate_also_closes_what_stands_behind_the_questions_it_closes(tmp_path):
    # w2 said no to `first`, nothing to `second`, and yes to `third`, whose gate is `second`.
    scheme = scheme_of(
        dict.fromkeys(("first", "second", "third"), "yes_no"),
        second={"after": ["first"]},
        third={"after": ["second"]},
    )
    answers = {"a": {"first": ["yes", "no"], "second": ["yes"], "third": ["yes", "yes"]}}

    row = row_of(rated(tmp_path, answers, scheme=scheme), "third", by_gates=True)

    assert (row["n_implied"], row["percent_agreement"]) == (1, None)


def test_a_closed_gate_implies_nothing_about_a_question_without_yes_and_no(tmp_path):
    scheme = scheme_of({"sensible": "yes_no", "stars": FIVE_STARS}, stars={"after": ["sensible"]})
    answers = {"a": {"sensible": ["yes", "yes", "no"], "stars": ["4", "4", "1"]}}

    study = rated(tmp_path, answers, scheme=scheme)

    assert row_of(study, "stars")["percent_agreement"] == pytest.approx(1 / 3)
    for with_implied in (False, True):
        row = row_of(study, "stars", by_gates=True, with_implied=with_implied)
        assert row["percent_agreement"] == 1  # 4 and 4
        assert row["icc_raters"] == 2


# --- means after gates ----------------------------------------------------------------------


def test_the_mean_after_gates_is_over_items_whose_gate_has_a_majority_yes(gated):
    row = row_of(gated, "specific")

    assert row["mean_after_gates"] == pytest.approx(1 / 2)  # a yes, b no; c was not sensible
    assert row_of(gated, "sensible")["mean_after_gates"] is None


def test_an_item_that_nobody_was_asked_the_gate_about_has_not_passed_it(tmp_path):
    answers = {
        "a": {"sensible": ["yes", "yes"], "specific": ["no", "no"]},
        "b": {"specific": ["yes", "yes"]},
        "c": {"sensible": ["yes", "no"], "specific": ["yes", "yes"]},
    }

    row = row_of(rated(tmp_path, answers, scheme=PAIR), "specific")

    assert row["mean"] == pytest.approx(2 / 3)
    assert row["mean_after_gates"] == 0  # over a alone


# --- what is left out -----------------------------------------------------------------------


def flags(*pairs, arm="separate"):
    return [{"response": r, "rater": rater, "arm": arm} for r, rater in pairs]


def test_a_response_that_most_of_its_raters_flagged_leaves_every_denominator(tmp_path):
    two_of_three = flags(("a", "w1"), ("a", "w2"))

    report = raters_report(rated(tmp_path, votes(a="yyy", b="nnn", c="nnn"), flags=two_of_three))
    [row] = report.records

    assert (row["n"], row["mean"], row["n_votes"], row["share_yes"]) == (2, 0, 6, 0)
    assert report.left_out["flagged_responses"] == 1


def test_a_response_that_half_of_its_raters_flagged_stays(tmp_path):
    report = raters_report(
        rated(tmp_path, votes(a="yyyy", b="nnnn"), flags=flags(("a", "w1"), ("a", "w2")))
    )

    assert report.records[0]["n"] == 2
    assert report.left_out["flagged_responses"] == 0


def test_who_flagged_without_voting_is_one_of_the_raters_of_that_response(tmp_path):
    # a: w1 voted, w8 and w9 only flagged: 2 of 3. b: w1, w2 voted, w8, w9 flagged: 2 of 4.
    flagged = flags(("a", "w8"), ("a", "w9"), ("b", "w8"), ("b", "w9"))

    report = raters_report(rated(tmp_path, votes(a="y-", b="nn"), flags=flagged))

    assert report.records[0]["n"] == 1
    assert report.left_out["flagged_responses"] == 1


def test_with_planned_raters_flags_need_more_than_half_of_those(tmp_path):
    flagged = flags(("a", "w1"), ("a", "w2"), ("b", "w1"), ("b", "w2"), ("b", "w3"))

    report = raters_report(
        rated(tmp_path, votes(a="yy-", b="yyy"), flags=flagged, study={"raters_per_unit": 5})
    )

    assert report.left_out["flagged_responses"] == 1  # b: 3 of 5
    assert report.records[0]["n"] == 1


def test_flags_of_excluded_raters_count_as_little_as_their_votes(tmp_path):
    excluded = [{"rater": rater, "excluded": "yes"} for rater in ("w1", "w2")]
    flagged = flags(("a", "w1"), ("a", "w2"))
    study = rated(tmp_path, votes(a="yyy", b="nnn"), flags=flagged, raters=excluded)

    assert raters_report(study).left_out["flagged_responses"] == 0
    counted = raters_report(study, Choices(with_excluded=True))
    assert counted.left_out["flagged_responses"] == 1


def test_an_answer_that_is_missing_behind_an_open_gate_is_counted(tmp_path):
    # w1, w2 and w3 answered the gate. w2 left the question behind it empty; w3 closed the gate.
    answers = {"a": {"sensible": ["yes", "yes", "no"], "specific": ["yes", "", ""]}}

    report = raters_report(rated(tmp_path, answers, scheme=PAIR))

    assert report.left_out["missing_behind_gates"] == 1


def test_kappa_says_when_its_own_items_have_no_variation(tmp_path):
    # Items of three votes are all yes; the item of two votes brings alpha its variation.
    row = only_row(rated(tmp_path, votes(a="yyy", b="yyy", c="yn")))

    assert (row["fleiss_kappa"], row["fleiss_no_variation"]) == (None, True)
    assert row["alpha"] is not None
    assert row["no_variation"] is False


def test_excluded_raters_are_left_out_unless_the_switch_counts_them(tmp_path):
    excluded = [{"rater": "w3", "excluded": "yes"}]
    study = rated(tmp_path, votes(a="yyn", b="nny", c="--y"), raters=excluded)

    without, with_them = raters_report(study), raters_report(study, Choices(with_excluded=True))

    assert (without.records[0]["n"], without.records[0]["n_votes"]) == (2, 4)
    assert without.records[0]["percent_agreement"] == 1
    assert without.left_out["excluded_raters"] == 1
    assert without.left_out["excluded_votes"] == 3
    assert without.left_out["unrated_responses"] == 1
    assert "excluded raters left out" in without.signature
    assert (with_them.records[0]["n"], with_them.records[0]["n_votes"]) == (3, 7)
    assert with_them.records[0]["percent_agreement"] == pytest.approx(2 / 6)
    assert with_them.left_out["excluded_votes"] == with_them.left_out["excluded_raters"] == 0
    assert "excluded raters counted" in with_them.signature


def test_late_votes_whose_slot_was_gone_are_left_out_and_counted(tmp_path):
    study = rated(tmp_path, votes(a="yyn"))
    Vote.objects.filter(rater__code="w3").update(is_surplus=True)

    report = raters_report(study)

    assert (report.records[0]["n_votes"], report.records[0]["percent_agreement"]) == (2, 1)
    assert report.left_out["surplus_votes"] == 1


def test_responses_without_a_vote_are_counted(tmp_path):
    study = rated(tmp_path, votes(a="yy"))
    import_rows(
        tmp_path / "more",
        examples=[example_row("e9")],
        responses=[response_row("r9", "e9"), response_row("r8", "e9", setup="not in the study")],
    )

    assert raters_report(study).left_out["unrated_responses"] == 1


def test_a_response_with_several_rated_citations_is_one_rated_response(tmp_path):
    on_citations = [
        {"response": "a", "rater": "w1", "question": "q", "answer": "yes", "citation": n}
        for n in (1, 2, 3)
    ]
    study = rated(tmp_path, votes(a="y", b="-", c="-"), more_votes=on_citations)

    report = raters_report(study)

    assert report.records[0]["n"] == 4  # the response and three citations of it
    assert report.left_out["unrated_responses"] == 2


def test_a_response_flagged_in_both_arms_is_one_response_that_is_out(tmp_path):
    flagged = [*flags(("a", "w1")), *flags(("a", "w1"), arm="merged")]
    study = rated(tmp_path, votes(a="-", b="y", c="-"), flags=flagged)

    left_out = raters_report(study).left_out

    assert left_out["flagged_responses"] == 1
    assert left_out["unrated_responses"] == 1  # c


def test_left_out_names_every_reason_that_there_is(tmp_path):
    left_out = raters_report(rated(tmp_path, votes(a="yy", b="yn"))).left_out

    assert left_out == {
        "waiting": 0,
        "tied": 1,
        "flagged_responses": 0,
        "implied_votes": 0,
        "missing_behind_gates": 0,
        "items_outside_full_share": 0,
        "gold_items": 0,
        "surplus_votes": 0,
        "excluded_raters": 0,
        "excluded_votes": 0,
        "unrated_responses": 0,
        "assumed": 0,
    }
