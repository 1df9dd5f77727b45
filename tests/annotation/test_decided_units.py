"""Units that stop when they are decided: the slots let go, and units that still get all raters."""

from collections import Counter

import pytest

from annotation.models import Assignment, Rater, Vote
from annotation.services.claiming import claim_next_unit
from annotation.services.rating import (
    skip_unit,
)
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    rate,
    rate_all,
    rate_next,
    raters_of,
)

pytestmark = pytest.mark.both


def test_a_study_that_stops_when_decided_lets_the_last_two_slots_go(tmp_path):
    dataset = material(tmp_path, n_examples=1, setups=["cool"])
    study = opened(dataset, scheme="SSA", stops_when_decided=True, full_share=0.0)
    raters = raters_of(study)

    for rater in raters[:3]:
        rate_next(rater)

    assert Assignment.objects.filter(is_let_go=True).count() == 2
    assert claim_next_unit(raters[3]) is None
    # A third rater who changes their mind opens the question again: 2 yes, 1 no of five.
    third = Assignment.objects.get(rater=raters[2])
    rate(raters[2], third, {"sensible": 0})
    assert not Assignment.objects.filter(is_let_go=True).exists()
    assert claim_next_unit(raters[3]) is not None


def test_an_excluded_rater_s_votes_decide_nothing(tmp_path):
    dataset = material(tmp_path, n_examples=1, setups=["cool"])
    study = opened(dataset, scheme="SSA", stops_when_decided=True, full_share=0.0)
    careless, *others = raters_of(study)
    rate_next(careless)
    Rater.objects.filter(pk=careless.pk).update(is_excluded=True)

    for rater in others[:2]:
        rate_next(rater)

    # Two of five count.
    assert not Assignment.objects.filter(is_let_go=True).exists()


def test_a_random_share_of_examples_gets_all_raters_all_the_same(tmp_path):
    dataset = material(tmp_path, n_examples=40, setups=["cool"])
    study = opened(dataset, scheme="SSA", stops_when_decided=True, full_share=0.5)

    rate_all(study)

    n_votes = Counter(Vote.objects.filter(question="sensible").values_list("target", flat=True))
    per_item = Counter(n_votes.values())
    assert per_item[3] + per_item[5] == 40
    # Binomial(40, 1/2): outside 9 .. 31 with a probability below 0.0004
    assert 9 <= per_item[5] <= 31


def test_a_slot_of_a_decided_unit_that_is_given_back_goes_to_nobody(tmp_path):
    dataset = material(tmp_path, n_examples=1, setups=["cool"])
    study = opened(dataset, scheme="SSA", stops_when_decided=True, full_share=0.0)
    raters = raters_of(study)
    slow = claimed(raters[4])
    for rater in raters[:3]:
        rate_next(rater)

    assert skip_unit(slow.unit, raters[4], "Another reason")

    assert claim_next_unit(raters[3]) is None
