"""Judgements of excluded raters are made again: slots are freed, and nothing is lost."""

from functools import partial

import pytest
from django.db.models import F

from accounts.models import AuditEntry
from annotation.models import Assignment, Exposure, Flag, Rater, Study, Vote, VoteChange
from annotation.planning import estimated_hours, plan_units
from annotation.rating_hours import pace_of
from annotation.refilling import refill_of, slots_to_refill
from annotation.services.claiming import claim_next_unit
from annotation.services.gold import set_gold
from annotation.services.rating import SubmitOutcome, flag_responses, submit_votes
from annotation.services.refilling import refill_units
from annotation.services.studies import StudyError, close_study, open_study, pause_study
from annotation.services.study_raters import set_excluded
from annotation.stranded_slots import stranded
from evaluation.votes.counts import flagged_responses
from evaluation.votes.judgements import judgements
from tests.annotation.crowd import at_once
from tests.annotation.makers import (
    claimed,
    judged,
    material,
    n_statements,
    opened,
    planned,
    rate,
    rate_all,
    rate_next,
    raters_of,
    researcher,
)
from tests.annotation.promises import broken_promises
from tests.graph_material import SHOWN, cited_row, hathaways

pytestmark = pytest.mark.both

N = 5


def exclude(*raters: Rater) -> None:
    for rater in raters:
        set_excluded(rater, True, "Clicks without reading.", researcher())


def include(*raters: Rater) -> None:
    for rater in raters:
        set_excluded(rater, False, "Read after all.", researcher())


def refill(study: Study, rater: Rater | None = None) -> tuple[int, int]:
    """Fill anew; return the numbers of judgements and of units."""
    done = refill_units(study, researcher(), rater)
    return done.n_judgements, done.n_units


def filled(folder, *, n_raters: int = 7, **plan) -> Study:
    """Return a study of two units whose slots the first five of its raters have filled."""
    study = opened(material(folder, n_examples=1), scheme="SSA", raters=n_raters, **plan)
    for rater in raters_of(study)[:N]:
        rate_next(rater)
        rate_next(rater)
    assert not study.assignments.filter(submitted_at=None, is_let_go=False).exists()
    return study


def test_the_slots_of_who_is_excluded_are_free_and_their_votes_are_surplus(tmp_path):
    study = filled(tmp_path)
    careless, careful, *_, sixth, _ = raters_of(study)
    exclude(careless)

    assert refill(study) == (2, 2)

    votes = Vote.objects.filter(rater=careless)
    assert votes.filter(is_surplus=True, assignment=None).count() == 2 * 2
    assert not Vote.objects.exclude(rater=careless).filter(is_surplus=True).exists()
    free = study.assignments.nobodys()
    assert free.filter(claimed_at=None, lease_until=None).count() == 2
    assert Exposure.objects.filter(rater=careless).count() == 2
    assert not Assignment.objects.filter(rater=careful, submitted_at=None).exists()
    entry = AuditEntry.objects.get(action="study.units-refilled")
    assert entry.details == {"n_judgements": 2, "n_units": 2}

    assert refill(study) == (0, 0), "a second click changes nothing"
    assert AuditEntry.objects.filter(action="study.units-refilled").count() == 1
    assert rate_next(sixth)
    assert rate_next(sixth)
    assert broken_promises(study) == {}
    assert refill(study) == (0, 0)


def test_who_is_included_again_gets_no_refilled_unit_and_more_than_n_never_count(tmp_path):
    study = filled(tmp_path)
    careless, *_, sixth, _ = raters_of(study)
    exclude(careless)
    refill(study)

    include(careless)

    assert claim_next_unit(careless) is None
    assert rate_next(sixth)
    assert rate_next(sixth)
    assert Vote.objects.filter(rater=careless, is_surplus=True).count() == 4
    assert broken_promises(study) == {}
    counted = Vote.objects.filter(is_surplus=False, question="sensible")
    assert counted.count() == 2 * N


def test_one_rater_is_filled_anew_and_the_other_is_not(tmp_path):
    study = filled(tmp_path)
    first, second, *_ = raters_of(study)
    exclude(first, second)
    assert refill_of(study, slots_to_refill(study)).n_judgements == 4
    assert refill_of(study, slots_to_refill(study)).n_units == 2

    assert refill(study, second) == (2, 2)

    assert AuditEntry.objects.get(action="study.units-refilled").details["rater"] == second.code
    assert study.assignments.filter(rater=first, submitted_at__isnull=False).count() == 2
    assert not study.assignments.filter(rater=second).exists()
    assert refill(study) == (2, 2)


def test_nothing_is_refilled_of_who_counts_nor_of_gold_items(tmp_path):
    study = planned(material(tmp_path, n_examples=2), scheme="SSA", raters=6)
    known = {"sensible": 1, "specific": 1}
    set_gold(study, {"e1-cool": known}, researcher(), n_qualifying=1)
    open_study(study, researcher())
    careless, careful, *_ = raters_of(study)
    for rater in (careless, careful):
        while rate_next(rater):
            pass
    exclude(careless)

    # The gold item and three others: two examples × two responses, one of them gold.
    assert refill(study) == (3, 3)

    assert study.assignments.filter(rater=careless).get().unit.is_gold
    assert study.assignments.filter(rater=careful).count() == 4


def test_a_paused_study_is_refilled_and_a_closed_one_is_not(tmp_path):
    study = filled(tmp_path)
    first, second, *_ = raters_of(study)
    exclude(first, second)
    pause_study(study, researcher())
    assert refill(study, first) == (2, 2)
    close_study(study, researcher())

    with pytest.raises(StudyError, match="Pilot is closed"):
        refill(study)

    assert study.assignments.filter(rater=second).count() == 2


def test_too_few_raters_for_the_freed_slots_are_said(tmp_path):
    study = filled(tmp_path, n_raters=5)
    exclude(raters_of(study)[0])

    refill(study)

    assert (stranded(study).n_slots, stranded(study).n_raters) == (2, 1)


# --- hours ----------------------------------------------------------------------------------


def plain(folder) -> Study:
    return planned(material(folder, n_examples=2), arms=["separate", "merged"], raters=10)


def without_evidence(folder) -> Study:
    return planned(material(folder, n_examples=2), scheme="SSA", evidence_choice="golden")


def of_a_graph(folder) -> Study:
    rows = [cited_row(f"a{n}", setup=f"s{n}", graph_shown=SHOWN) for n in range(2)]
    return planned(
        hathaways(folder, "shown", responses=rows), arms=["separate", "merged"], raters=10
    )


@pytest.mark.parametrize("make", [plain, without_evidence, of_a_graph])
def test_filling_all_anew_takes_the_hours_of_the_plan(tmp_path, make):
    study = make(tmp_path)
    hours = sum(estimated_hours(study, plan_units(study), pace_of(study)).values())
    open_study(study, researcher())
    rate_all(study)
    n_slots = study.assignments.count()

    exclude(*raters_of(study))

    found = refill_of(study, slots_to_refill(study))
    assert found.n_judgements == n_slots == N * found.n_units
    assert found.hours == pytest.approx(hours)


def test_what_can_be_filled_anew_is_counted_in_few_statements(tmp_path):
    few = filled(tmp_path / "few")
    many = opened(material(tmp_path / "many", n_examples=6), scheme="SSA", raters=7, name="Many")
    rate_all(many)

    def cost(study: Study) -> int:
        return n_statements(lambda: refill_of(study, slots_to_refill(study)))

    assert cost(few) == cost(many) == 1
    exclude(raters_of(few)[0])
    exclude(*raters_of(many)[:2])
    assert cost(few) == cost(many) <= 8


# --- a study that stops when decided --------------------------------------------------------


def test_a_unit_that_is_decided_without_the_excluded_votes_is_left_as_it_is(tmp_path):
    study = filled(tmp_path, stops_when_decided=True, full_share=0.0, n_raters=5)
    # Both units were decided by the first three raters, so two slots of each are let go.
    third, fourth = raters_of(study)[2:4]
    assert study.assignments.filter(is_let_go=True).count() == 4
    exclude(third)
    assert rate_next(fourth)  # decides one of them again, with two others
    assert study.assignments.filter(is_let_go=True).count() == 1

    assert refill_of(study, slots_to_refill(study)).n_units == 1
    assert refill(study) == (1, 1)

    kept = study.assignments.filter(rater=third)
    assert kept.get().votes.filter(is_surplus=False).count() == 2
    include(third)
    assert broken_promises(study) == {}


def test_of_the_share_that_always_gets_all_raters_decided_units_are_filled_anew(tmp_path):
    study = filled(tmp_path, stops_when_decided=True, full_share=1.0)
    exclude(raters_of(study)[0])

    assert refill(study) == (2, 2)


# --- flags, changes, the same moment --------------------------------------------------------


def flag_alone(rater: Rater) -> None:
    """Let a rater flag their next unit and submit it without answers."""
    held = claimed(rater)
    flag_responses(held.unit, rater, [held.unit.targets.get().pk], "garbled")
    nothing = [target._replace(answers={}) for target in judged(rater, held)]
    assert submit_votes(held.unit, rater, nothing, None) is SubmitOutcome.STORED


def flags_that_leave_it_out(study: Study) -> list[int]:
    """Return the flagged responses; the page of a response must say the same."""
    arm = study.arms.get()
    flagged = flagged_responses(arm, with_excluded=False)
    responses = study.dataset.responses.all()
    on_page = [pk for pk, found in judgements(responses).items() if found[0].is_flagged]
    assert on_page == flagged
    return flagged


def test_flags_of_who_is_included_again_do_not_count_beside_the_new_ones(tmp_path):
    study = opened(material(tmp_path, n_examples=1, setups=["a"]), scheme="SSA", raters=8)
    first, second, third, *others = raters_of(study)
    for rater in (first, second, third):
        flag_alone(rater)
    assert len(flags_that_leave_it_out(study)) == 1  # three of five
    exclude(first, second, third)
    assert flags_that_leave_it_out(study) == []

    assert refill(study) == (3, 1)
    for rater in others[:2]:
        flag_alone(rater)
    for rater in others[2:]:
        assert rate_next(rater)
    include(first, second, third)

    # Two of the five raters who fill a slot flag it. All five flags would be more than half of
    # eight raters.
    assert Flag.objects.count() == 5
    assert flags_that_leave_it_out(study) == []
    assert claim_next_unit(first) is None


def test_a_flag_on_a_unit_that_went_to_another_rater_does_not_count(tmp_path):
    study = opened(material(tmp_path, n_examples=1, setups=["a"]), scheme="SSA", raters=8)
    late = raters_of(study)[:3]
    for rater in late:
        held = claimed(rater)
        Assignment.objects.filter(pk=held.pk).update(rater=None, lease_until=None)
        flag_responses(held.unit, rater, [held.unit.targets.get().pk], "garbled")
        assert rate(rater, held) is SubmitOutcome.SURPLUS

    assert Flag.objects.count() == 3
    assert flags_that_leave_it_out(study) == []


def test_who_changes_a_refilled_judgement_changes_surplus_votes(tmp_path):
    study = filled(tmp_path)
    careless = raters_of(study)[0]
    done = careless.assignments.first()
    assert done is not None
    exclude(careless)
    refill(study)

    assert rate(careless, done, {"sensible": 0}) is SubmitOutcome.CHANGED

    votes = Vote.objects.filter(rater=careless, target__units=done.unit)
    assert not votes.exclude(answer=0, is_surplus=True, assignment=None).exists()
    assert VoteChange.objects.count() == 2


@pytest.mark.both(transaction=True)
def test_a_change_while_its_slot_is_freed_is_stored_and_is_surplus(tmp_path):
    study = opened(material(tmp_path, n_examples=8), scheme="SSA", raters=8)

    for rater in raters_of(study):
        done = rate_next(rater)
        assert done is not None
        done.unit.arm  # noqa: B018 - read once, not by two threads
        exclude(Rater.objects.select_related("study").get(pk=rater.pk))
        change = partial(rate, rater, done, {"sensible": 0})
        done_at_once = at_once(change, partial(refill, study, rater))

        assert done_at_once == [SubmitOutcome.CHANGED, (1, 1)]
        votes = Vote.objects.filter(rater=rater)
        assert set(votes.values_list("answer", "is_surplus")) == {(0, True)}
    assert broken_promises(study) == {}


@pytest.mark.both(transaction=True)
def test_two_clicks_at_once_free_each_slot_once(tmp_path):
    study = opened(material(tmp_path, n_examples=8), scheme="SSA", raters=7)
    rate_all(study)
    by = researcher()
    exclude(*raters_of(study)[:2])
    n_slots = Assignment.objects.filter(rater__is_excluded=True).count()

    done = at_once(
        partial(refill_units, Study.objects.get(), by),
        partial(refill_units, Study.objects.get(), by),
    )

    assert sorted(refilled.n_judgements for refilled in done) == [0, n_slots]
    assert broken_promises(study) == {}


@pytest.mark.both(transaction=True)
def test_a_rater_is_included_or_refilled_first_and_is_never_half_of_each(tmp_path):
    study = opened(material(tmp_path, n_examples=8), scheme="SSA", raters=8)
    by = researcher()
    for rater in raters_of(study):
        rate_next(rater)
        exclude(rater)

    for rater in raters_of(study):
        again = Rater.objects.select_related("study").get(pk=rater.pk)
        at_once(
            partial(set_excluded, again, False, "Read after all.", by),
            partial(refill_units, Study.objects.get(), by, rater),
        )
        votes = Vote.objects.filter(rater=rater)
        n_slots = study.assignments.filter(rater=rater).count()
        assert votes.filter(is_surplus=True).count() == (0 if n_slots else 2)

    assert broken_promises(study) == {}
    assert not Vote.objects.filter(is_surplus=False).exclude(assignment__rater=F("rater")).exists()
