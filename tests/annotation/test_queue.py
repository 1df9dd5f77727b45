"""The queue: the unit that each rater is given, and the further states of slots."""

from collections import Counter
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Arm, Assignment, Draft, Exposure, Flag, Rater, Skip, Study, Unit, Vote
from annotation.rated_units import rated_unit
from annotation.services.claiming import claim_next_unit
from annotation.services.rating import (
    SubmitOutcome,
    flag_responses,
    save_draft,
    skip_unit,
    submit_votes,
    take_flags_back,
)
from annotation.services.studies import (
    StudyError,
    add_raters,
    change_study,
    close_study,
    extend_study,
    open_study,
    pause_study,
    release_units,
)
from annotation.study_plan import StudyPlan
from tests.annotation.makers import (
    claimed,
    judged,
    material,
    n_statements,
    opened,
    planned,
    rate,
    rate_all,
    rater_users,
    raters_of,
    researcher,
)

pytestmark = pytest.mark.both


def expire(assignment: Assignment) -> None:
    """Let a lease run out a second ago."""
    past = timezone.now() - timedelta(seconds=1)
    Assignment.objects.filter(pk=assignment.pk).update(lease_until=past)


def is_free(assignment: Assignment) -> bool:
    assignment.refresh_from_db()
    return assignment.rater is None


def _taken(rater: Rater) -> Assignment:
    assignment = claimed(rater)
    rate(rater, assignment)
    return assignment


def test_a_unit_never_gets_more_raters_than_the_study_asks_for(tmp_path):
    study = opened(material(tmp_path, n_examples=1, setups=["cool"]), raters=6)

    claims = [claim_next_unit(rater) for rater in raters_of(study)]

    assert [claim.slot for claim in claims if claim] == [1, 2, 3, 4, 5]
    assert claims[5] is None


def test_a_rater_gets_the_unit_in_hand_again_until_it_is_submitted(tmp_path):
    study = opened(material(tmp_path))
    [rater, *_] = raters_of(study)

    first, again = claimed(rater), claimed(rater)
    rate(rater, first)

    assert first == again
    assert claim_next_unit(rater) != first


def test_every_response_ends_with_five_different_raters_in_each_arm(tmp_path):
    study = opened(material(tmp_path, n_examples=6), raters=10, arms=["separate", "merged"], seed=7)

    rate_all(study)

    # 6 examples × 2 responses × 7 questions × 5 raters × 2 arms
    assert Vote.objects.count() == 6 * 2 * 7 * 5 * 2
    raters = Counter(Vote.objects.filter(question="understand").values_list("arm__kind", "target"))
    assert set(raters.values()) == {5}
    both = Counter(
        Vote.objects.filter(question="understand").values_list("rater", "target").distinct()
    )
    assert set(both.values()) == {1}
    assert len(Vote.objects.values("rater", "target").distinct()) == 6 * 2 * 5 * 2


def test_in_a_crossover_everybody_meets_both_arms_and_in_a_split_only_one(tmp_path):
    dataset = material(tmp_path, n_examples=8)

    arms = {}
    for mixing in ("order", "raters"):
        study = opened(dataset, raters=10, arms=["separate", "merged"], mixing=mixing, name=mixing)
        rate_all(study)
        rows = Vote.objects.filter(arm__study=study).values_list("rater", "arm__kind").distinct()
        arms[mixing] = Counter(rater for rater, _ in rows)

    assert set(arms["order"].values()) == {2}
    assert set(arms["raters"].values()) == {1}
    assert len(arms["raters"]) == 10


def test_all_units_get_their_first_rater_before_one_gets_its_second(tmp_path):
    study = opened(material(tmp_path, n_examples=5))
    raters = raters_of(study)

    slots = [_taken(raters[n % 5]).slot for n in range(10)]

    assert slots == [1] * 10  # 5 examples × 2 responses


def test_raters_begin_at_different_units(tmp_path):
    study = opened(material(tmp_path, n_examples=30), raters=5)

    orders = [tuple(_taken(rater).unit_id for _ in range(3)) for rater in raters_of(study)]

    assert len({units[0] for units in orders}) == 5
    assert any(units != tuple(sorted(units)) for units in orders)


def test_an_expired_lease_goes_to_the_next_rater_and_the_late_answer_is_surplus(tmp_path):
    study = opened(material(tmp_path, n_examples=1, setups=["cool"]), raters=2, raters_per_unit=1)
    late, quick = raters_of(study)
    held = claimed(late)
    assert claim_next_unit(quick) is None
    expire(held)

    taken = claimed(quick)
    draft_kept = save_draft(held.unit, late, {}, 3.0)
    outcomes = rate(late, held), rate(quick, taken)

    assert taken == held
    assert draft_kept is None
    assert outcomes == (SubmitOutcome.SURPLUS, SubmitOutcome.STORED)
    assert Vote.objects.filter(is_surplus=True, assignment=None, rater=late).count() == 7
    assert Vote.objects.filter(is_surplus=False, rater=quick).count() == 7


def test_a_late_answer_to_a_slot_that_nobody_took_counts(tmp_path):
    study = opened(material(tmp_path))
    [rater, *_] = raters_of(study)
    held = claimed(rater)
    expire(held)

    outcome = rate(rater, held)

    assert outcome == SubmitOutcome.STORED
    assert not Vote.objects.filter(is_surplus=True).exists()


def test_a_draft_renews_the_lease(tmp_path):
    study = opened(material(tmp_path), lease_minutes=30)
    [rater, *_] = raters_of(study)
    held = claimed(rater)
    expire(held)

    until = save_draft(held.unit, rater, {}, 12.5)

    assert until is not None
    assert timedelta(minutes=29) < until - timezone.now() <= timedelta(minutes=30)
    assert Draft.objects.get().seconds == 12.5


def test_submitting_twice_stores_one_set_of_votes(tmp_path):
    study = opened(material(tmp_path))
    [rater, *_] = raters_of(study)
    held = claimed(rater)

    outcomes = rate(rater, held), rate(rater, held)

    assert outcomes == (SubmitOutcome.STORED, SubmitOutcome.UNCHANGED)
    assert Vote.objects.count() == 7
    assert not Draft.objects.exists()


def test_a_changed_vote_keeps_what_it_was(tmp_path):
    study = opened(material(tmp_path), scheme="SSA")
    [rater, *_] = raters_of(study)
    held = claimed(rater)
    rate(rater, held, {"sensible": 1, "specific": 1})

    outcome = rate(rater, held, {"sensible": 0})

    votes = {vote.question: vote for vote in Vote.objects.all()}
    changes = {
        change.vote.question: (change.old_answer, change.new_answer, change.new_is_implied)
        for vote in votes.values()
        for change in vote.changes.all()
    }
    assert outcome == SubmitOutcome.CHANGED
    assert (votes["specific"].answer, votes["specific"].is_implied) == (0, True)
    assert changes == {"sensible": (1, 0, False), "specific": (1, 0, True)}


def test_a_closed_study_changes_no_vote_and_keeps_late_ones_beside(tmp_path):
    study = opened(material(tmp_path), scheme="SSA")
    done, late, *_ = raters_of(study)
    first, second = claimed(done), claimed(late)
    rate(done, first)
    close_study(study, researcher())
    done, late, *_ = raters_of(study)

    outcomes = rate(done, first, {"sensible": 0}), rate(late, second)

    assert outcomes == (SubmitOutcome.CLOSED, SubmitOutcome.SURPLUS)
    assert not Vote.objects.filter(answer=0).exists()
    assert claim_next_unit(late) is None
    assert claim_next_unit(done) is None
    unit = rated_unit(late, second.unit_id)
    assert unit is not None
    assert unit.state == "surplus"
    assert unit.answers == {second.unit.targets.get().pk: {"sensible": 1, "specific": 1}}


def test_a_paused_study_hands_out_nothing_new_and_takes_what_was_begun(tmp_path):
    study = opened(material(tmp_path))
    busy, idle, *_ = raters_of(study)
    held = claimed(busy)
    pause_study(study, researcher())
    busy, idle, *_ = raters_of(study)

    assert claim_next_unit(idle) is None
    assert rate(busy, held) == SubmitOutcome.STORED


def test_a_skipped_unit_goes_to_others_and_never_back(tmp_path):
    study = opened(material(tmp_path, n_examples=1, setups=["cool"]), raters=2, raters_per_unit=1)
    picky, other = raters_of(study)
    held = claimed(picky)

    assert skip_unit(held.unit, picky, "I cannot judge this topic")

    assert is_free(held)
    assert Skip.objects.get().reason == "I cannot judge this topic"
    assert claim_next_unit(picky) is None
    assert claim_next_unit(other) == held


def test_a_released_unit_is_free_and_its_draft_stays(tmp_path):
    study = opened(material(tmp_path))
    [rater, *_] = raters_of(study)
    held = claimed(rater)
    save_draft(held.unit, rater, {held.unit.targets.get().pk: {"understand": 1}}, 1.0)

    assert release_units(rater, researcher()) == 1

    assert is_free(held)
    assert Draft.objects.count() == 1


def test_the_database_itself_refuses_a_second_open_unit_and_a_second_meeting(tmp_path):
    study = opened(material(tmp_path))
    rater, other, *_ = raters_of(study)
    held = claimed(rater)
    free = Assignment.objects.filter(rater=None).exclude(unit=held.unit)[0]

    with pytest.raises(IntegrityError, match="rater"), transaction.atomic():
        Assignment.objects.filter(pk=free.pk).update(rater=rater)
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.filter(unit=held.unit, rater=None).update(rater=rater)
    with pytest.raises(IntegrityError), transaction.atomic():
        Exposure.objects.create(rater=rater, target=held.unit.targets.get(), unit=free.unit)
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            study=study, unit=held.unit, group=0, slot=held.slot, turn=1, key=1, rater=other
        )


def test_each_vote_of_a_merged_unit_has_its_share_of_the_unit_s_time(tmp_path):
    dataset = material(tmp_path, n_examples=1, setups=["cool", "warm"])
    study = opened(dataset, scheme="SSA", arms=["merged"])
    rater = raters_of(study)[0]
    held = claimed(rater)
    Assignment.objects.update(claimed_at=timezone.now() - timedelta(minutes=1))

    submit_votes(held.unit, rater, judged(rater, held), 30.0)

    assert set(Vote.objects.values_list("seconds", flat=True)) == {15.0}


@pytest.mark.parametrize("n_examples", [500, pytest.param(5000, marks=pytest.mark.faults)])
def test_claiming_costs_five_statements_and_submitting_six_for_any_number_of_units(
    tmp_path, n_examples
):
    few, many = (
        opened(
            material(tmp_path / str(n), n_examples=n),
            name=f"of {n}",
            stops_when_decided=True,
            full_share=0.0,
        )
        for n in (5, n_examples)
    )

    assert (few.n_units_by_group, many.n_units_by_group) == ([10], [2 * n_examples])
    n_claim, n_again, n_submit = costs(few)
    assert costs(many) == (n_claim, n_again, n_submit)
    assert (n_claim <= 5, n_again <= 2, n_submit <= 6) == (True, True, True)


def costs(study: Study) -> tuple[int, int, int]:
    """Return the statements of a claim, of asking again, and of a submit."""
    rater = raters_of(study)[0]
    n_claim = n_statements(lambda: claim_next_unit(rater))
    n_again = n_statements(lambda: claim_next_unit(rater))
    held = claimed(rater)
    answers = judged(rater, held)
    unit = Unit.objects.select_related("arm").get(pk=held.unit_id)  # read like on a page
    return n_claim, n_again, n_statements(lambda: submit_votes(unit, rater, answers, 5.0))


def test_an_open_study_grows_by_setups_and_examples_and_what_is_planned_stays(tmp_path):
    dataset = material(tmp_path, n_examples=4, setups=["cool", "warm", "hot"])
    study = planned(dataset, arms=["separate"], n_sampled=2)
    study.setups.set(dataset.setups.filter(name="cool"))
    open_study(study, researcher())
    units = set(Assignment.objects.values_list("unit", flat=True))
    assert len(units) == 2

    n_new = extend_study(study, researcher(), n_sampled=3)
    n_more = extend_study(study, researcher(), setups=dataset.setups.filter(name="warm"))

    assert (n_new, n_more) == (1, 3)
    assert units < set(Assignment.objects.values_list("unit", flat=True))
    assert study.n_units_by_group == [6]
    with pytest.raises(StudyError, match="cannot become smaller"):
        extend_study(study, researcher(), n_sampled=1)


def test_opening_twice_is_refused_and_plans_nothing_twice(tmp_path):
    study = opened(material(tmp_path))
    n_slots = Assignment.objects.count()

    with pytest.raises(StudyError, match="is now open"):
        open_study(study, researcher())

    assert Assignment.objects.count() == n_slots
    assert Arm.objects.get().n_units == 4


def test_who_is_added_later_joins_the_smaller_group(tmp_path):
    study = opened(material(tmp_path), raters=5, arms=["separate", "merged"])
    sizes = Counter(rater.group for rater in raters_of(study))
    assert sizes == {0: 3, 1: 2}

    add_raters(study, rater_users(6), researcher())

    assert Counter(rater.group for rater in raters_of(study)) == {0: 3, 1: 3}


# --- corners --------------------------------------------------------------------------------


def test_raters_are_dealt_into_groups_anew_when_a_plan_changes_its_arms(tmp_path):
    study = planned(material(tmp_path), raters=10)
    study = Study.objects.prefetch_related("arms").get(pk=study.pk)  # read like on a page
    plan = StudyPlan("Pilot", study.dataset, study.scheme, list(study.setups.all()))

    change_study(study, plan._replace(arms=["separate", "merged"]), researcher())
    both = Counter(study.raters.values_list("group", flat=True))
    study = Study.objects.prefetch_related("arms").get(pk=study.pk)
    change_study(study, plan, researcher())

    assert both == {0: 5, 1: 5}
    assert Counter(study.raters.values_list("group", flat=True)) == {0: 10}


def test_a_flag_that_stands_for_a_judgement_is_taken_back_only_after_the_answers(tmp_path):
    study = opened(material(tmp_path), scheme="SSA")
    [rater, *_] = raters_of(study)
    held = claimed(rater)
    flag_responses(held.unit, rater, [held.unit.targets.get().pk], "garbled")
    nothing = [target._replace(answers={}) for target in judged(rater, held)]
    assert submit_votes(held.unit, rater, nothing, None) == SubmitOutcome.STORED

    too_early = take_flags_back(held.unit, rater)
    answered = rate(rater, held)
    in_time = take_flags_back(held.unit, rater)

    assert (too_early, answered, in_time) == (False, SubmitOutcome.CHANGED, True)
    assert Vote.objects.filter(rater=rater).count() == 2
    assert not Flag.objects.exists()


def test_answers_that_were_missing_are_added_to_those_that_are_there(tmp_path):
    study = opened(material(tmp_path), scheme="SSA")
    [rater, *_] = raters_of(study)
    held = claimed(rater)
    whole = judged(rater, held)
    half = [t._replace(answers={"sensible": t.answers["sensible"]}) for t in whole]
    submit_votes(held.unit, rater, half, None)

    outcome = submit_votes(held.unit, rater, whole, None)

    assert outcome == SubmitOutcome.CHANGED
    assert set(Vote.objects.values_list("question", flat=True)) == {"sensible", "specific"}


def test_who_asks_while_a_study_closes_gets_nothing_and_changes_nothing(tmp_path):
    study = opened(material(tmp_path), scheme="SSA")
    done, idle, *_ = raters_of(study)  # these still believe that the study is open
    held = claimed(done)
    rate(done, held)
    close_study(study, researcher())

    assert claim_next_unit(idle) is None
    assert rate(done, held, {"sensible": 0}) == SubmitOutcome.CLOSED
    assert not Vote.objects.filter(answer=0).exists()
