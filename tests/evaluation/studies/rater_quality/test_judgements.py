"""The votes of a study one by one: which of them count, and what is left out and counted."""

from datetime import UTC, datetime

import numpy as np
import pytest

from annotation.models import Vote
from annotation.services.rating import flag_responses
from evaluation.studies.rater_quality.comparison import beside_others, share_of
from evaluation.studies.rater_quality.judgements import judgements_of
from tests.annotation.makers import claimed, material, opened, rate_next, raters_of
from tests.evaluation.studies.hand_made import PAIR, votes
from tests.evaluation.studies.rater_quality.rater_votes import flags, in_order, make_gold
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


def responses_of(judged):
    return [item.response for item in judged.items]


def agreement_of(judged, code):
    """Return a rater's share of agreement with the majority of the others."""
    place = [rater.code for rater in judged.raters].index(code)
    own = judged.of_rater == place
    same = beside_others(judged, judged.counted, 0).same[own]
    return share_of(same, judged.dialogs[own])


# --- votes in their order -------------------------------------------------------------------


def test_votes_are_in_the_order_of_raters_items_and_questions(tmp_path):
    # Items are sorted by arm, response and citation: merged comes before separate.
    more = [
        vote_row("a", "w1", "no", "q", citation=2),
        vote_row("a", "w1", "yes", "q", arm="merged"),
    ]
    study = rated(tmp_path, votes(b="yn", a="ny"), more_votes=more)

    judged = judgements_of(study)

    names = [(item.arm, item.response, item.citation) for item in judged.items]
    assert names == [
        ("merged", "a", 0),
        ("separate", "a", 0),
        ("separate", "a", 2),
        ("separate", "b", 0),
    ]
    assert judged.of_rater.tolist() == [0, 0, 0, 0, 1, 1]
    assert judged.of_item.tolist() == [0, 1, 2, 3, 1, 3]
    assert judged.answers.tolist() == [1, 0, 0, 1, 1, 0]


def test_each_response_alone_is_a_unit_and_its_turn_follows_from_its_moment(tmp_path):
    rows = [*in_order("w1", {"c": "y", "a": "n", "b": "y"}), *in_order("w2", {"b": "y", "a": "y"})]

    judged = judgements_of(rated(tmp_path, votes(a="", b="", c="", d="y"), more_votes=rows))

    # w1: a came second, b third, c first, and of d the moment is not known; w2: a second, b first.
    assert judged.turns.tolist() == [1, 2, 0, -1, 1, 0]
    assert len(set(judged.units.tolist())) == 6
    assert judged.is_first.all()


def test_responses_that_were_submitted_together_are_one_unit_with_one_turn(tmp_path):
    """Two responses of one example in the merged arm; the second was shown first."""
    merged = [
        vote_row(key, "w1", "yes", "q", arm="merged", position=place, at=f"2026-03-02T09:0{at}Z")
        for key, place, at in [("a1", 2, 5), ("a2", 1, 5), ("b1", 1, 1)]
    ]
    examples = [example_row("e-a"), example_row("e-b")]
    responses = [response_row("a1", "e-a"), response_row("a2", "e-a"), response_row("b1", "e-b")]
    outcome = import_rows(
        tmp_path,
        examples=examples,
        responses=responses,
        votes=merged,
        scheme=scheme_of({"q": "yes_no"}),
    )

    assert outcome.study is not None
    judged = judgements_of(outcome.study)

    assert responses_of(judged) == ["a1", "a2", "b1"]
    a1, a2, b1 = judged.units.tolist()
    assert a1 == a2 != b1
    assert judged.turns.tolist() == [1, 1, 0]
    assert judged.is_first.tolist() == [False, True, True]
    # Only what was shown first stands for its unit in the rater's order.
    assert judged.forms().turns.tolist() == [-1, 1, 0]


def test_the_first_vote_of_a_form_says_when_it_was_made(tmp_path):
    """A rater changed the second answer a day later."""
    both = [
        vote_row("a", "w1", "yes", "p", at="2026-03-02T09:00Z", seconds=7),
        vote_row("a", "w1", "no", "q", at="2026-03-03T09:00Z", seconds=7),
    ]
    answers = {"a": {"p": ["", "yes"], "q": ["", "yes"]}}

    judged = judgements_of(rated(tmp_path, answers, more_votes=both))

    assert judged.moments[:2].tolist() == [datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()] * 2
    assert judged.seconds[:2].tolist() == [7, 7]
    assert np.isnan(judged.moments[2:]).all()


def test_an_implied_vote_is_part_of_a_form_and_no_vote_on_its_question(tmp_path):
    answers = {"a": {"sensible": ["no", "yes"], "specific": ["", "no"]}}
    implied = vote_row("a", "w1", "no", "specific", implied="1")

    judged = judgements_of(rated(tmp_path, answers, scheme=PAIR, more_votes=[implied]))

    sensible, specific = judged.votes(0), judged.votes(1)
    assert (sensible.raters.tolist(), specific.raters.tolist()) == ([0, 1], [1])
    assert judged.is_implied.tolist() == [False, True, False, False]
    # no no is another form than yes no.
    assert len(set(judged.forms().codes.tolist())) == 2


def test_where_a_study_may_have_stopped_asking_votes_are_not_compared(tmp_path):
    stops = {"stops_when_decided": True, "full_share": 0.0}

    judged = judgements_of(rated(tmp_path, votes(a="yy", b="yn"), study=stops))

    assert not judged.is_compared.any()
    assert judged.votes(0).items.tolist() == [-1] * 4
    assert judged.left_out["items_outside_full_share"] == 2


def test_the_order_of_an_import_is_not_known_to_be_random(tmp_path):
    imported = rated(tmp_path / "a", votes(a="y"), name="imported")
    exported = rated(tmp_path / "b", votes(a="y"), name="exported", study={"mixing": "raters"})

    assert not judgements_of(imported).has_random_order
    assert judgements_of(exported).has_random_order


# --- about one rater ------------------------------------------------------------------------


@pytest.fixture
def four_raters(tmp_path):
    """The rater w1 votes on a to d. The others agree with w1 on a, differ on b, and tie on c.

    On d the rater w4 alone is left to compare with; e to g are not about w1.
    """
    answers = votes(a="yyyn", b="ynn-", c="yyn-", d="n--n", e="-ynn", f="-yy-", g="--nn")
    flagged = flags(("b", "w1"), ("g", "w3"), ("g", "w4"), ("d", "w2"))
    return rated(tmp_path, answers, flags=flagged)


def test_about_a_rater_are_the_votes_of_all_raters_on_the_items_of_this_rater(four_raters):
    judged = judgements_of(four_raters, about=four_raters.raters.get(code="w1"))

    assert responses_of(judged) == ["a", "b", "c", "d"]
    # a has 4 votes, b and c have 3 each, d has 2.
    assert np.bincount(judged.of_rater).tolist() == [4, 3, 3, 2]
    assert [rater.code for rater in judged.raters] == ["w1", "w2", "w3", "w4"]


def test_the_agreement_of_a_rater_is_the_same_without_the_responses_of_others(four_raters):
    w1 = four_raters.raters.get(code="w1")

    about, of_all = (judgements_of(four_raters, about=rater) for rater in (w1, None))

    # a: the others say yes, yes, no; b: no, no; c: yes, no, a tie; d: no. So 2 of 3 agree.
    assert agreement_of(about, "w1").value == pytest.approx(2 / 3)
    assert agreement_of(about, "w1") == agreement_of(of_all, "w1")


def test_with_about_only_what_is_left_out_of_the_items_of_the_rater_is_counted(tmp_path):
    # w1 and w2 flagged a, w2 and w3 flagged e; b and f are gold; w2's votes on c and g are surplus.
    answers = votes(a="yyn", b="yyy", c="yny", d="nn-", e="-yy", f="-yy", g="-yn")
    flagged = flags(("a", "w1"), ("a", "w2"), ("e", "w2"), ("e", "w3"))
    study = rated(tmp_path, answers, flags=flagged)
    make_gold(study, "b")
    make_gold(study, "f")
    Vote.objects.filter(rater__code="w2", target__response__key__in="cg").update(is_surplus=True)

    about, of_all = (
        judgements_of(study, about=rater) for rater in (study.raters.get(code="w1"), None)
    )

    assert responses_of(about) == ["c", "d"]
    assert about.left_out == {
        "flagged_responses": 1,
        "gold_items": 1,
        "surplus_votes": 1,
        "items_outside_full_share": 0,
    }
    assert responses_of(of_all) == ["c", "d", "g"]
    assert [of_all.left_out[name] for name in list(of_all.left_out)[:3]] == [2, 2, 2]


def test_with_about_a_surplus_vote_makes_no_item_of_the_rater(tmp_path):
    study = rated(tmp_path, votes(a="yy", b="yn"))
    w1 = study.raters.get(code="w1")
    Vote.objects.filter(rater=w1, target__response__key="b").update(is_surplus=True)

    judged = judgements_of(study, about=w1)

    assert (responses_of(judged), judged.left_out["surplus_votes"]) == (["a"], 1)


def test_with_about_flags_are_weighed_against_all_raters_of_the_response(tmp_path):
    """The raters w1 and w2 vote on one citation of a, and three others on the other.

    Two of the five raters flagged the response, which is less than half. Of w1 and w2 alone it
    would be all.
    """
    answers = votes(a="-", b="yn")
    more = [
        {"response": "a", "rater": rater, "question": "q", "answer": "yes", "citation": citation}
        for rater, citation in [("w1", 1), ("w2", 1), ("w3", 2), ("w4", 2), ("w5", 2)]
    ]
    study = rated(tmp_path, answers, more_votes=more, flags=flags(("a", "w1"), ("a", "w2")))

    judged = judgements_of(study, about=study.raters.get(code="w1"))

    assert [(item.response, item.citation) for item in judged.items] == [("a", 1), ("b", 0)]
    assert judged.left_out["flagged_responses"] == 0


def test_about_a_rater_without_votes_is_nothing(four_raters):
    four_raters.raters.create(code="w9", study=four_raters)

    judged = judgements_of(four_raters, about=four_raters.raters.get(code="w9"))

    assert (list(judged.items), len(judged.answers)) == ([], 0)


def test_about_a_rater_takes_as_many_statements_as_about_all(four_raters):
    w1 = four_raters.raters.get(code="w1")

    about = statements(lambda: judgements_of(four_raters, about=w1))

    assert len(about) <= len(statements(lambda: judgements_of(four_raters)))


# --- flags ----------------------------------------------------------------------------------


def test_a_response_that_half_of_its_raters_flagged_stays(tmp_path):
    flagged = flags(("a", "w1"), ("a", "w2"), ("b", "w1"), ("b", "w2"))

    judged = judgements_of(rated(tmp_path, votes(a="yyyy", b="yyy"), flags=flagged))

    assert (responses_of(judged), judged.left_out["flagged_responses"]) == (["a"], 1)


def test_flags_and_votes_of_excluded_raters_do_not_weigh(tmp_path):
    # Of a: w1's flag is one of two that count, w2 and w3 being excluded. Of b: two of two.
    excluded = [{"rater": rater, "excluded": "yes"} for rater in ("w2", "w3")]
    flagged = flags(("a", "w1"), ("a", "w2"), ("a", "w3"), ("b", "w1"), ("b", "w4"))

    judged = judgements_of(
        rated(tmp_path, votes(a="yyyy", b="yyyy"), flags=flagged, raters=excluded)
    )

    assert (responses_of(judged), judged.left_out["flagged_responses"]) == (["a"], 1)


def test_a_flag_leaves_out_the_response_in_its_own_arm_only(tmp_path):
    merged = [vote_row("a", "m1", "yes", "q", arm="merged")]

    judged = judgements_of(
        rated(tmp_path, votes(a="yy"), more_votes=merged, flags=flags(("a", "m1"), arm="merged"))
    )

    assert [(item.arm, item.response) for item in judged.items] == [("separate", "a")]
    assert judged.left_out["flagged_responses"] == 1


def test_a_flag_on_a_unit_that_is_not_submitted_does_not_count(tmp_path):
    """The second and the third rater have the unit in hand, and flagged its response."""
    dataset = material(tmp_path, n_examples=1, setups=["a"])
    study = opened(dataset, scheme="SSA", raters=3, raters_per_unit=3)
    first, *others = raters_of(study)
    rate_next(first)
    for rater in others:
        unit = claimed(rater).unit
        flag_responses(unit, rater, [unit.targets.get().pk], "cut off")

    judged = judgements_of(study)

    assert (responses_of(judged), judged.left_out["flagged_responses"]) == (["e1-a"], 0)


# --- gold items -----------------------------------------------------------------------------


def test_an_import_says_how_many_gold_items_the_study_had(tmp_path):
    study = rated(tmp_path, votes(a="yy"), study={"n_gold_items": 3})

    assert judgements_of(study).left_out["gold_items"] == 3
