"""Restricted context: which turns and sentences are kept, counted by hand."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.records import TurnRecord
from generation.text.native_dialog import native_dialog
from generation.text.prompt_types import SHARES
from generation.text.restricted_context import Restricted, Shares, restricted, shares_kept
from generation.text.sentences import split_sentences
from generation.text.tokens import count_tokens

# Tokens: 5, 5, 4 and 6 (the question) of 20, so that the newest n have the shares
# 0, 0.30, 0.50, 0.75 and 1.
TURNS = (
    TurnRecord("user", "Who built the mill?", -1),
    TurnRecord("assistant", "Monks built it then.", 0),
    TurnRecord("user", "It burnt once.", 1),
    TurnRecord("user", "When did the mill close?", 2),
)
# Sentences of 2, 3, 2 and 3 tokens: the first n have the shares 0, 0.2, 0.5, 0.7 and 1.
FACTS = ("One. Two three.", "Four. Five six.")


def kept(share, turns=TURNS, facts=FACTS):
    """Return how many turns, and how many sentences, are kept."""
    left = restricted(turns, facts, share)
    return len(left.turns), sum(fact.count(".") for fact in left.facts)


@pytest.mark.parametrize(
    ("share", "n_turns", "n_sentences"),
    [
        # Dialog: 0, 0.30, 0.50, 0.75, 1. Evidence: 0, 0.2, 0.5, 0.7, 1.
        (1.0, 4, 0),
        (0.9, 4, 0),  # 1 − 0.9 < 0.9 − 0.75: the whole dialog, which leaves nothing
        (0.8, 3, 1),  # 0.8 − 0.75 < 1 − 0.8; it leaves 0.25, and 0.25 − 0.2 < 0.5 − 0.25
        (0.7, 3, 1),  # 0.75 − 0.7; the same rest
        (0.6, 2, 2),  # 0.6 − 0.5 < 0.75 − 0.6; it leaves 0.5
        (0.5, 2, 2),
        (0.4, 2, 2),  # 0.4 is between 0.3 and 0.5: the tie keeps more, which leaves 0.5
        (0.3, 1, 3),  # it leaves 0.7
        (0.2, 1, 3),  # 0.3 − 0.2 < 0.2; the same rest
        (0.1, 0, 4),  # 0.1 < 0.3 − 0.1: no turn, which leaves all
        (0.0, 0, 4),
    ],
)
def test_what_is_nearest_to_its_share_is_kept(share, n_turns, n_sentences):
    assert kept(share) == (n_turns, n_sentences)


def test_a_rest_between_two_shares_keeps_more():
    # Two of four tokens leave 0.5, between the 0.25 and the 0.75 of the first and second sentence.
    turns = (TurnRecord("user", "One.", -1), TurnRecord("user", "Two.", 0))

    assert kept(0.5, turns, ("Ada. Bob came in. Eve.",)) == (1, 2)


def test_the_newest_turns_stay_and_are_counted_from_0():
    left = restricted(TURNS, FACTS, 0.5)

    assert native_dialog(left.turns) == (
        "0 -1 0 It burnt once. [eot]\n1 0 0 When did the mill close? [eot]\n2 1 1"
    )


def test_with_a_share_of_0_not_even_the_question_is_left():
    left = restricted(TURNS, FACTS, 0.0)

    assert left == Restricted((), FACTS, (0, 1))
    assert native_dialog(left.turns) == "0 -1 1"


def test_with_a_share_of_1_there_is_no_evidence():
    assert restricted(TURNS, FACTS, 1.0) == Restricted(TURNS, (), ())


def test_a_fact_of_which_nothing_is_left_is_not_shown():
    assert restricted(TURNS, FACTS, 0.8)[1:] == (("One.",), (0,))
    assert restricted(TURNS, FACTS, 0.3)[1:] == (("One. Two three.", "Four."), (0, 1))
    # A fact without a sentence is nothing to show.
    assert restricted(TURNS, (" ", *FACTS), 0.0)[1:] == (FACTS, (1, 2))


def test_a_dialog_of_one_turn_is_kept_or_gone():
    question, fact = TURNS[-1:], ("One.",)

    assert [kept(share, question, fact) for share in (1.0, 0.6, 0.5, 0.4, 0.0)] == [
        *((1, 0), (1, 0)),
        (1, 0),  # one half is as near to none as to all: it is kept, and leaves nothing
        *((0, 1), (0, 1)),
    ]


def test_a_turn_that_says_nothing_goes_with_those_before_it():
    silent = TurnRecord("assistant", "", 0)

    assert restricted((*TURNS, silent), FACTS, 0.0).turns == ()
    # 0.1 is nearer to 0 than to 0.3: as much is kept with the silent turn as without it.
    assert len(restricted((*TURNS, silent), FACTS, 0.1).turns) == 1


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_out_of_range_is_an_error(share):
    with pytest.raises(ValueError, match="expected from 0 to 1"):
        restricted(TURNS, FACTS, share)


def test_the_real_shares_are_those_of_the_tokens():
    left = restricted(TURNS, FACTS, 0.7)

    # 15 of 20 tokens of the dialog, 2 of 10 of the evidence
    shares = shares_kept(left[:2], (TURNS, FACTS))
    assert shares == Shares(0.75, 0.2)
    assert shares.off_budget == pytest.approx(0.05)  # 1 − 0.75 − 0.2


@pytest.mark.parametrize(("turns", "facts"), [((), FACTS), (TURNS, ())])
def test_of_nothing_there_is_no_share(turns, facts):
    with pytest.raises(ValueError, match="expected some of both"):
        shares_kept((turns, facts), (turns, facts))


texts = st.lists(
    st.sampled_from(["a", "b.", "c d", "e. F g.", "H i j. K!"]), min_size=1, max_size=8
)


@given(texts, texts)
def test_less_of_the_dialog_is_never_less_of_the_evidence(said, facts):
    turns = tuple(TurnRecord("user", text, place - 1) for place, text in enumerate(said))

    left = [restricted(turns, facts, share) for share in SHARES]
    shares = [shares_kept(each[:2], (turns, facts)) for each in left]

    sizes = [count_tokens(each.text) for fact in facts for each in split_sentences(fact)]
    assert max(each.off_budget for each in shares) <= max(sizes) / sum(sizes) / 2 + 1e-9
    assert shares[0] == (1, 0)
    assert shares[-1] == (0, 1)
    for more, less in pairwise(shares):
        assert more.dialog >= less.dialog
        assert more.evidence <= less.evidence
    for each in left:
        assert each.turns or each.facts
        assert [turn.text for turn in each.turns] == said[len(said) - len(each.turns) :]
        assert list(each.shown) == list(range(len(each.shown)))
        for place, fact in zip(each.shown, each.facts, strict=True):
            assert facts[place].startswith(fact)
