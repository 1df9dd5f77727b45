"""The two entities that two names mean, determined by hand; no endpoint is asked."""

import pytest

from generation.retrieval.disambiguation import (
    MOST_NAMESAKES,
    EntityPair,
    Named,
    Unsettled,
    Why,
    pairs_between,
    settled,
)
from generation.retrieval.relations import Relation
from generation.retrieval.wikibase import Edge, Match

SPOUSE = Relation("spouse", ("P26",), ("P26",))
CHILD = Relation("child", ("P40",), ("P22", "P25"))
MOTHER = Relation("mother", ("P25",), ())  # its only way back, P40, says parent


def named(name, *qids, by="label"):
    return Named(name, [Match(qid, by) for qid in qids])


WIFE_OR_ACTRESS = named("Anne Hathaway", "Q2", "Q3")
WILL = named("William Shakespeare", "Q9")


@pytest.mark.parametrize(
    ("edges", "relation", "found"),
    [
        ([Edge("Q2", "P40", "Q9")], CHILD, EntityPair("Q2", "Q9", "P40")),
        ([Edge("Q9", "P25", "Q3")], CHILD, EntityPair("Q3", "Q9", "P25")),
        # Both directions say the same pair: it is one, by the edge from name 1.
        ([Edge("Q9", "P22", "Q2"), Edge("Q2", "P40", "Q9")], CHILD, EntityPair("Q2", "Q9", "P40")),
        ([Edge("Q9", "P26", "Q2"), Edge("Q2", "P26", "Q9")], SPOUSE, EntityPair("Q2", "Q9", "P26")),
        ([Edge("Q9", "P26", "Q2")], SPOUSE, EntityPair("Q2", "Q9", "P26")),
        # Edges of another relation between the other namesakes, to others, of a person to herself.
        ([Edge("Q2", "P26", "Q9"), Edge("Q3", "P40", "Q9")], SPOUSE, EntityPair("Q2", "Q9", "P26")),
        ([Edge("Q2", "P26", "Q9"), Edge("Q3", "P26", "Q7")], SPOUSE, EntityPair("Q2", "Q9", "P26")),
        ([Edge("Q2", "P26", "Q9"), Edge("Q2", "P26", "Q2")], SPOUSE, EntityPair("Q2", "Q9", "P26")),
    ],
    ids=["on", "back", "child twice", "spouse twice", "spouse back", "relation", "others", "self"],
)
def test_the_edge_says_which_of_the_namesakes_is_meant(edges, relation, found):
    assert settled(WIFE_OR_ACTRESS, WILL, edges, relation) == found


def test_an_alias_is_as_good_as_a_label():
    of_both = Named("Artemisia Lomi", [Match("Q1", "alias"), Match("Q5", "label")])
    assert settled(of_both, WILL, [Edge("Q1", "P26", "Q9")], SPOUSE) == EntityPair(
        "Q1", "Q9", "P26"
    )


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (named("Nobody Here"), WILL, "“Nobody Here”"),
        (WILL, named("Nobody Here"), "“Nobody Here”"),
        (named("No One"), named("Nobody Here"), "“No One” and “Nobody Here”"),
    ],
    ids=["first", "second", "both"],
)
def test_a_name_that_nobody_has(one, other, said):
    detail = f"found no entity named {said}; expected one or more"
    assert settled(one, other, [], SPOUSE) == Unsettled(Why.NOT_FOUND, detail)


def test_namesakes_without_an_edge():
    assert settled(WIFE_OR_ACTRESS, WILL, [Edge("Q2", "P26", "Q7")], CHILD) == Unsettled(
        Why.NOT_CONNECTED,
        "found no edge between Anne Hathaway (Q2, Q3) and William Shakespeare (Q9); expected P40 "
        "from name 1 to name 2, or P22, P25 from name 2 to name 1",
    )


def test_an_edge_of_another_relation():
    """Her child, but the entry says mother; P40 back says parent of either kind."""
    edges = [Edge("Q9", "P40", "Q2"), Edge("Q2", "P22", "Q9")]
    assert settled(WIFE_OR_ACTRESS, WILL, edges, MOTHER) == Unsettled(
        Why.WRONG_RELATION,
        "found Q2 P22 Q9, Q9 P40 Q2; expected P25 from name 1 to name 2",
    )


def test_the_relation_the_other_way_round_is_another():
    outcome = settled(WIFE_OR_ACTRESS, WILL, [Edge("Q9", "P40", "Q2")], CHILD)
    assert isinstance(outcome, Unsettled)
    assert outcome.why == Why.WRONG_RELATION


def test_two_couples_of_the_same_names():
    """Either couple's edges lead both ways; each couple is one pair."""
    edges = [
        *(Edge("Q3", "P26", "Q11"), Edge("Q11", "P26", "Q3")),
        *(Edge("Q2", "P26", "Q9"), Edge("Q9", "P26", "Q2")),
    ]
    two = named("William Shakespeare", "Q9", "Q11")
    assert settled(WIFE_OR_ACTRESS, two, edges, SPOUSE) == Unsettled(
        Why.AMBIGUOUS, "found 2 pairs: Q2 and Q9 (P26), Q3 and Q11 (P26); expected one"
    )


def test_the_same_person_by_both_names_is_no_pair():
    lomi, gentileschi = named("Artemisia Lomi", "Q1", by="alias"), named("Artemisia", "Q1")
    assert pairs_between(lomi, gentileschi) == []
    assert settled(lomi, gentileschi, [Edge("Q1", "P26", "Q1")], SPOUSE) == Unsettled(
        Why.NOT_CONNECTED, "found Q1 alone by both names; expected two entities"
    )


def test_father_and_son_of_the_same_name():
    hans = named("Hans Klein", "Q1", "Q2")
    assert set(pairs_between(hans, hans)) == {("Q1", "Q2"), ("Q2", "Q1")}
    edges = [Edge("Q2", "P40", "Q1"), Edge("Q1", "P22", "Q2")]
    assert settled(hans, hans, edges, CHILD) == EntityPair("Q2", "Q1", "P40")


def test_a_pair_is_looked_at_in_both_directions():
    assert pairs_between(WIFE_OR_ACTRESS, WILL) == [
        *(("Q2", "Q9"), ("Q9", "Q2")),
        *(("Q3", "Q9"), ("Q9", "Q3")),
    ]


def test_of_many_namesakes_those_with_the_lowest_numbers_are_looked_at():
    """52 of them: the edge of the 51st is not seen, and the message says how many were not."""
    many = named("Maria Weber", *(f"Q{100 + n}" for n in range(MOST_NAMESAKES + 2)))
    assert len(pairs_between(many, WILL)) == 2 * MOST_NAMESAKES

    outcome = settled(many, WILL, [Edge("Q150", "P26", "Q9")], SPOUSE)

    assert isinstance(outcome, Unsettled)
    assert outcome.why == Why.NOT_CONNECTED
    assert "Q100, Q101, Q102, Q103, Q104 and 45 more) (2 more namesakes were not" in outcome.detail
    last = settled(many, WILL, [Edge("Q149", "P26", "Q9")], SPOUSE)
    assert last == EntityPair("Q149", "Q9", "P26")
