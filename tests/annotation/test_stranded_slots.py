"""Slots that no rater may take: counted, let go, filled by a new rater, or asked again."""

from functools import partial
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from accounts.models import AuditEntry, User
from annotation.models import Assignment, Rater, Skip, Study, Unit, Vote
from annotation.planning import rater_needs
from annotation.services.claiming import claim_next_unit
from annotation.services.rating import skip_unit
from annotation.services.stranded_slots import ask_again, let_slots_go, take_slots_back
from annotation.services.studies import add_raters, release_units
from annotation.services.study_raters import take_out_rater
from annotation.stranded_slots import stranded, stranded_details
from annotation.study_progress import arm_progress
from tests.annotation.crowd import at_once
from tests.annotation.makers import (
    claimed,
    material,
    n_statements,
    opened,
    rate,
    rate_next,
    rater_users,
    raters_of,
    researcher,
)

pytestmark = pytest.mark.both


def skipped(study: Study, rater: Rater | None = None) -> tuple[Unit, Rater]:
    """Let a rater (the first, unless another is given) skip their next unit."""
    rater = rater or raters_of(study)[0]
    unit = claimed(rater).unit
    assert skip_unit(unit, rater, "I cannot judge this topic")
    return unit, rater


def rate_all(study: Study) -> None:
    raters = raters_of(study)
    while [rater for rater in raters if rate_next(rater)]:
        pass


def test_with_as_many_raters_as_slots_a_skip_leaves_one_that_nobody_may_take(tmp_path):
    study = opened(material(tmp_path), raters=5)

    unit, rater = skipped(study)

    assert stranded(study)[:2] == (1, 1)
    assert stranded(study).n_raters == 1
    [found] = stranded_details(study, 20)
    assert (found.unit, found.n_slots, found.n_left) == (unit, 1, 4)
    assert [(each.rater, each.reason) for each in found.askable] == [
        (rater, "I cannot judge this topic")
    ]
    rate_all(study)
    assert stranded(study)[:2] == (1, 1), "the rest is done, and it waits for nobody else"


def test_with_one_rater_more_a_skip_strands_nothing_and_a_second_one_does(tmp_path):
    study = opened(material(tmp_path, n_examples=1, setups=["cool"]), raters=6)
    raters = raters_of(study)

    skipped(study, raters[0])
    assert not stranded(study).n_slots
    skipped(study, raters[1])

    assert stranded(study)[:2] == (1, 1)


def test_units_that_wait_for_their_raters_are_not_stranded(tmp_path):
    study = opened(material(tmp_path), arms=["separate", "merged"], raters=10)
    for rater in raters_of(study):
        claimed(rater)

    assert stranded(study).n_slots == 0
    rate_all(study)
    assert stranded(study).n_slots == 0


def test_who_is_taken_out_leaves_slots_that_nobody_may_take(tmp_path):
    study = opened(material(tmp_path, n_examples=3, setups=["cool"]), raters=5)
    rater = raters_of(study)[0]
    rate_next(rater)

    take_out_rater(rater, researcher())

    assert stranded(study)[:2] == (2, 2)  # among the three units that they would have rated


def test_whose_account_is_deactivated_takes_nothing_and_is_not_asked(tmp_path):
    study = opened(material(tmp_path, n_examples=1, setups=["cool"]), raters=6)
    unit, _ = skipped(study)

    User.objects.filter(username__in=["rater-1", "rater-2"]).update(is_active=False)

    [found] = stranded_details(study, 20)
    assert (found.unit, found.n_slots, found.askable) == (unit, 1, [])


def test_a_slot_that_is_let_go_is_not_wanted_and_n_stays(tmp_path):
    study = opened(material(tmp_path), raters=5)
    unit, _ = skipped(study)

    assert let_slots_go(study, researcher(), unit) == 1

    [arm] = arm_progress(study)
    assert (arm.n_slots, arm.n_wanted, arm.n_let_go, arm.n_let_go_by_hand) == (20, 19, 1, 1)
    assert stranded(study).n_slots == 0
    slot = Assignment.objects.get(is_let_go=True)
    assert (slot.unit, slot.let_go_by, slot.let_go_at is not None) == (unit, researcher(), True)
    assert study.n_raters(4) == 5
    entry = AuditEntry.objects.get(action="study.slots-let-go")
    assert (entry.actor, entry.details["n_slots"]) == (researcher(), 1)
    rate_all(study)
    [arm] = arm_progress(study)
    assert arm.n_done == arm.n_wanted == 19
    assert let_slots_go(study, researcher()) == 0, "nothing is stranded any more"


def test_what_was_let_go_by_hand_is_taken_back(tmp_path):
    study = opened(material(tmp_path), raters=5)
    skipped(study)
    let_slots_go(study, researcher())

    assert take_slots_back(study, researcher()) == 1

    assert stranded(study).n_slots == 1
    assert not Assignment.objects.filter(is_let_go=True).exists()
    assert take_slots_back(study, researcher()) == 0


def test_a_majority_that_opens_again_takes_no_slot_back_that_somebody_let_go(tmp_path):
    study = opened(
        material(tmp_path, n_examples=1, setups=["a"]), stops_when_decided=True, full_share=0
    )
    raters = raters_of(study)
    skipped(study, raters[0])
    let_slots_go(study, researcher())
    slots = [claimed(rater) for rater in raters[1:4]]
    for rater, slot in zip(raters[1:4], slots, strict=True):
        rate(rater, slot)
    # One was let go by hand, one because the vote is decided.
    assert Assignment.objects.filter(is_let_go=True).count() == 2

    rate(raters[1], slots[0], {"understand": 0})

    assert Assignment.objects.get(is_let_go=True).let_go_at


def test_the_database_keeps_that_what_people_let_go_is_let_go(tmp_path):
    study = opened(material(tmp_path), raters=5)
    skipped(study)
    let_slots_go(study, researcher())

    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.filter(let_go_at__isnull=False).update(is_let_go=False)


def test_who_skipped_is_asked_again_and_may_skip_again(tmp_path):
    study = opened(material(tmp_path), raters=5)
    unit, rater = skipped(study)
    rate_all(study)
    assert claim_next_unit(rater) is None

    assert ask_again(unit, rater, researcher())

    assert stranded(study).n_slots == 0
    assert not ask_again(unit, rater, researcher()), "a second click changes nothing"
    assert claimed(rater).unit == unit
    assert skip_unit(unit, rater, "The content is distressing")
    first, second = Skip.objects.order_by("pk")
    assert (first.reason, second.reason) == (
        "I cannot judge this topic",
        "The content is distressing",
    )
    assert first.asked_again_at
    assert not second.asked_again_at
    assert stranded(study).n_slots == 1
    assert AuditEntry.objects.get(action="study.rater-asked-again").details["rater"] == rater.code


def test_whose_unit_was_released_is_asked_again_and_fills_the_last_slot(tmp_path):
    study = opened(material(tmp_path), raters=5)
    rater = raters_of(study)[0]
    unit = claimed(rater).unit
    release_units(rater, researcher())
    [found] = stranded_details(study, 20)
    assert [(each.rater, each.reason) for each in found.askable] == [(rater, "")]

    ask_again(unit, rater, researcher())
    rate_all(study)

    assert Vote.objects.filter(rater=rater).count() == 4 * 7
    assert not study.assignments.filter(submitted_at=None).exists()


def test_who_has_judged_a_unit_is_not_asked_again(tmp_path):
    study = opened(material(tmp_path), raters=5)
    rater = raters_of(study)[0]
    held = claimed(rater)
    rate(rater, held)

    assert not ask_again(held.unit, rater, researcher())
    assert claimed(rater).unit != held.unit


def test_who_is_invited_joins_the_group_that_has_the_slot(tmp_path):
    study = opened(material(tmp_path), arms=["separate", "merged"], raters=10)
    skipped(study, next(rater for rater in raters_of(study) if rater.group == 1))

    add_raters(study, rater_users(11), researcher())

    assert [need.n_there for need in rater_needs(study)] == [5, 6]
    assert stranded(study).n_slots == 0


@pytest.mark.both(transaction=True)
def test_two_clicks_and_a_rater_who_comes_at_the_same_moment_let_no_slot_too_many_go(
    tmp_path: Path,
):
    study = opened(material(tmp_path, n_examples=1, setups=["cool"]), raters=5)
    raters = raters_of(study)
    unit, _ = skipped(study, raters[0])
    by = researcher()

    def again() -> Study:
        return Study.objects.get(pk=study.pk)

    at_once(
        partial(let_slots_go, again(), by, unit),
        partial(let_slots_go, again(), by),
        *[partial(claim_next_unit, rater) for rater in raters[1:]],
    )
    for rater in raters[1:]:
        rate_next(rater)

    assert Assignment.objects.filter(is_let_go=True).count() == 1
    assert Assignment.objects.filter(submitted_at__isnull=False).count() == 4


def test_counting_costs_the_same_for_any_number_of_units(tmp_path):
    costs = []
    for n in (1, 6):
        study = opened(material(tmp_path / f"m{n}", n_examples=n), raters=5, name=f"Study {n}")
        for _ in range(n):
            skipped(study)
        costs.append(n_statements(partial(stranded_details, study, 20)))

    assert costs[0] == costs[1] <= 8
