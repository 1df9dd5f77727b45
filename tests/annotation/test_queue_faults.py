"""The queue when raters come all at once, come twice, come too late, or die half-way."""

import threading
from collections import Counter
from functools import partial

import pytest
from django.db import connection, transaction
from django.db.models import Count

from accounts.models import AuditEntry
from annotation.models import Assignment, Flag, Rater, Study, Vote
from annotation.ordering import start_of
from annotation.services.claiming import claim_next_unit
from annotation.services.rating import SubmitOutcome
from annotation.services.refilling import refill_units
from annotation.services.study_raters import set_excluded
from generation.models import Dataset
from tests.annotation.crowd import (
    acknowledged,
    answers_of,
    at_once,
    change_ones_mind,
    rate_as_a_crowd,
)
from tests.annotation.makers import claimed, material, opened, rate, rate_next, raters_of
from tests.annotation.promises import broken_promises, lost_votes

pytestmark = pytest.mark.both

N_RATERS = 5  # per unit
CROWD_EXAMPLES = 134  # × 2 responses apart and together × 5 raters = 2,010 slots
CROWD = 50
KILLS = 100
EXCLUDING_EXAMPLES = 80  # × 3 units × 5 raters = 1,200 slots
EXCLUDING_CROWD = 30
WATCHED = 8  # raters of this crowd who are excluded and included
CHANGES = 60  # a researcher who is killed begins again, so there are more


def _claim_and_submit_twice(rater: Rater) -> list[SubmitOutcome]:
    """Ask for a unit until every slot is filled, and submit it from two tabs at once."""
    slots = Assignment.objects.filter(study=rater.study_id)
    while slots.filter(submitted_at=None).exists():
        held = claim_next_unit(rater)
        if held:
            held.unit.arm  # noqa: B018 - read once, not by two threads
            answers = answers_of(rater, held.unit_id)
            return at_once(*[partial(rate, rater, held, answers)] * 2)
    return []


def rush(dataset: Dataset, number: int) -> None:
    """Let 20 raters go for the 5 slots of one unit at the same moment."""
    study = opened(dataset, scheme="SSA", raters=20, name=f"Rush {number}")
    raters = raters_of(study)

    outcomes = at_once(*[partial(_claim_and_submit_twice, rater) for rater in raters])

    came_through = [tuple(sorted(o.value for o in pair)) for pair in outcomes if pair]
    assert came_through == [("stored", "unchanged")] * N_RATERS
    assert Vote.objects.filter(arm__study=study).count() == N_RATERS * 2
    assert len(Vote.objects.filter(arm__study=study).values("rater").distinct()) == N_RATERS
    assert broken_promises(study) == {}


@pytest.mark.both(transaction=True)
def test_twenty_raters_at_once_fill_five_slots(tmp_path):
    dataset = material(tmp_path, n_examples=1, setups=["cool"])

    for number in range(3):
        rush(dataset, number)


@pytest.mark.faults
@pytest.mark.both(transaction=True)
def test_twenty_raters_at_once_fill_five_slots_again_and_again(tmp_path):
    dataset = material(tmp_path, n_examples=1, setups=["cool"])

    for number in range(20):
        rush(dataset, number)


@pytest.mark.faults
@pytest.mark.both(transaction=True)
@pytest.mark.parametrize("may_meet", [False, True])
def test_twenty_raters_at_once_keep_both_separate_arms_apart(tmp_path, may_meet):
    study = opened(
        material(tmp_path, n_examples=6),
        scheme="SSA",
        raters=20,
        arms=["separate", "separate_2", "merged"],
        may_meet_both_arms=may_meet,
    )

    at_once(*[partial(_rate_until_none_is_left, rater) for rater in raters_of(study)])

    assert not Assignment.objects.filter(submitted_at=None).exists()
    alone = Vote.objects.filter(arm__study=study).exclude(arm__kind="merged").order_by()
    of_rater = alone.values("target", "rater").annotate(n=Count("arm", distinct=True))
    assert not of_rater.filter(n__gt=1).exists()
    promises = broken_promises(study)
    promises.pop("responses rated in both arms by one rater", 0)  # may_meet: alone and merged
    assert promises == {}


def _rate_until_none_is_left(rater: Rater) -> None:
    slots = Assignment.objects.filter(study=rater.study_id, group=rater.group)
    while slots.filter(submitted_at=None).exists():
        rate_next(rater)


@pytest.mark.both(transaction=True)
def test_two_tabs_that_ask_at_once_get_the_same_unit(tmp_path):
    study = opened(material(tmp_path, n_examples=10), scheme="SSA")

    for rater in raters_of(study):
        one, other = at_once(*[partial(claim_next_unit, rater)] * 2)
        assert one == other

    assert Assignment.objects.filter(rater__isnull=False).count() == 5


@pytest.mark.both(transaction=True)
def test_whoever_takes_one_of_the_last_two_units_leaves_the_other_to_be_found(tmp_path):
    study = opened(material(tmp_path), scheme="SSA", raters=20, raters_per_unit=1)
    first, second = _the_last_two(study)
    between = [r for r in raters_of(study) if first < start_of(study.seed, r.code) <= second]
    quick, next_one, *_ = between
    found = []

    def ask() -> None:
        found.append(claim_next_unit(next_one))
        connection.close()

    asking = threading.Thread(target=ask)
    with transaction.atomic():  # still at it: where SQLite makes the other wait, PostgreSQL goes on
        taken = claim_next_unit(quick)
        asking.start()
        asking.join(0.5)
    asking.join()

    assert found != [None]
    assert found != [taken]


def _the_last_two(study: Study) -> list[int]:
    """Submit all but the first and the last slot in the pool's order; return the keys of these."""
    free = list(Assignment.objects.filter(study=study).order_by("key"))
    Assignment.objects.filter(pk__in=[slot.pk for slot in free[1:-1]]).delete()
    return [free[0].key, free[-1].key]


@pytest.mark.faults
@pytest.mark.both(transaction=True)
def test_fifty_raters_who_are_killed_late_and_double_keep_every_promise(tmp_path):
    dataset = material(tmp_path / "material", n_examples=CROWD_EXAMPLES)
    study = opened(dataset, scheme="SSA", raters=CROWD, arms=["separate", "merged"])
    n_slots = Assignment.objects.count()
    logs = tmp_path / "acknowledged"
    logs.mkdir()

    killed = rate_as_a_crowd(raters_of(study), logs, n_kills=KILLS, seed=1, seconds=300)

    submits = list(acknowledged(logs))
    outcomes = Counter(submit.outcome for submit in submits)
    assert n_slots == CROWD_EXAMPLES * 3 * N_RATERS
    assert broken_promises(study) == {}
    assert lost_votes(study, submits) == []
    assert not Assignment.objects.filter(submitted_at=None).exists()
    # Whose lease held never lost a slot; and all that was to happen did.
    assert all(submit.is_late for submit in submits if submit.outcome == SubmitOutcome.SURPLUS)
    assert outcomes[SubmitOutcome.SURPLUS] > 0
    assert outcomes[SubmitOutcome.UNCHANGED] > 0
    assert killed >= KILLS // 20  # fewer where all is done before, or the machine is busy


@pytest.mark.faults
@pytest.mark.both(transaction=True)
def test_thirty_raters_of_whom_some_are_excluded_refilled_and_included_keep_every_promise(tmp_path):
    dataset = material(tmp_path / "material", n_examples=EXCLUDING_EXAMPLES)
    study = opened(dataset, scheme="SSA", raters=EXCLUDING_CROWD, arms=["separate", "merged"])
    raters = raters_of(study)
    watched = [rater.pk for rater in raters[:WATCHED]]
    n_slots = study.assignments.count()
    logs = tmp_path / "acknowledged"
    logs.mkdir()

    killed = rate_as_a_crowd(
        raters,
        logs,
        n_kills=KILLS // 2,
        seed=2,
        seconds=300,
        beside=partial(change_ones_mind, watched, CHANGES),
    )
    assert broken_promises(study) == {}

    # All who may be excluded are, and every judgement of theirs is made again.
    for rater in study.raters.filter(pk__in=watched).select_related("study"):
        set_excluded(rater, True, "Excluded at last.", None)
    refill_units(study, None)
    rate_as_a_crowd(raters_of(study)[WATCHED:], logs, n_kills=KILLS // 4, seed=3, seconds=300)
    counted = Vote.objects.filter(is_surplus=False)
    assert not counted.filter(rater__in=watched).exists()
    assert broken_promises(study) == {}

    for rater in study.raters.filter(pk__in=watched).select_related("study"):
        set_excluded(rater, False, "Included again.", None)
    assert broken_promises(study) == {}
    submits = list(acknowledged(logs))
    assert lost_votes(study, submits, watched) == []
    assert study.assignments.filter(submitted_at__isnull=False).count() == n_slots
    # Of the others none lost a slot while the lease held; and all that was to happen did.
    surplus = [submit for submit in submits if submit.outcome == SubmitOutcome.SURPLUS]
    assert all(submit.is_late for submit in surplus if submit.rater not in watched)
    assert surplus
    trail = Counter(AuditEntry.objects.values_list("action", flat=True))
    assert trail["study.rater-included"] > WATCHED
    assert trail["study.units-refilled"] > 1
    assert Vote.objects.filter(rater__in=watched, is_surplus=True).count() > WATCHED
    assert Flag.objects.exists()
    assert killed >= KILLS // 20


@pytest.mark.both(transaction=True)
def test_a_vote_that_decides_and_a_change_at_the_same_moment_let_no_open_question_go(tmp_path):
    dataset = material(tmp_path, n_examples=1, setups=["cool"])
    study = opened(dataset, scheme="SSA", stops_when_decided=True, full_share=0.0)
    first, second, third, *_ = raters_of(study)
    for rater in (first, second):
        rate_next(rater)
    held = claimed(third)
    theirs = Assignment.objects.get(rater=first)

    def decide() -> None:
        rate(third, held)
        connection.close()

    deciding = threading.Thread(target=decide)
    with transaction.atomic():  # two yes and a no, which others cannot see yet
        rate(first, theirs, {"sensible": 0})
        deciding.start()
        deciding.join(0.5)
    deciding.join()

    assert not Assignment.objects.filter(is_let_go=True).exists()
