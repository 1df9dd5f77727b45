"""Raters are excluded with a reason, and included again: nothing is deleted, and work ends."""

import threading
from functools import partial

import pytest
from django.db import connection, transaction

from accounts.models import AuditEntry
from annotation.models import Assignment, Draft, Rater, Study, Vote
from annotation.services.claiming import claim_next_unit
from annotation.services.gold import set_gold
from annotation.services.rating import SubmitOutcome, save_draft
from annotation.services.studies import StudyError, close_study, open_study, pause_study
from annotation.services.study_raters import let_rater_back, set_excluded, take_out_rater
from tests.annotation.crowd import at_once
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    planned,
    rate,
    rate_next,
    raters_of,
    researcher,
)
from tests.makers import audit_actions, import_rows, pilot_rows

pytestmark = pytest.mark.both

WHY = "Clicks without reading."
GOOD, BAD = {"sensible": 1, "specific": 1}, {"sensible": 0}


def exclude(rater: Rater, reason: str = WHY) -> bool:
    return set_excluded(rater, True, reason, researcher())


def include(rater: Rater) -> bool:
    return set_excluded(rater, False, "Read after all.", researcher())


def test_who_is_excluded_keeps_the_votes_gives_the_unit_back_and_gets_no_other(tmp_path):
    study = opened(material(tmp_path, n_examples=4), raters=6)
    rater = raters_of(study)[0]
    rate_next(rater)
    held = claimed(rater)
    save_draft(held.unit, rater, {}, 1.0)

    assert exclude(rater)

    held.refresh_from_db()
    stored = Rater.objects.select_related("study").get(pk=rater.pk)
    assert (stored.is_excluded, stored.excluded_reason) == (True, WHY)
    assert Vote.objects.filter(rater=rater, is_surplus=False).count() == 7
    assert held.rater is None
    assert Draft.objects.filter(rater=rater).exists()
    assert claim_next_unit(rater) is None
    assert claim_next_unit(stored) is None
    entry = AuditEntry.objects.get(action="study.rater-excluded")
    assert entry.details == {"rater": rater.code, "reason": WHY}
    assert not exclude(rater, "Another reason."), "a second time changes nothing"
    assert Rater.objects.get(pk=rater.pk).excluded_reason == WHY
    assert AuditEntry.objects.filter(action="study.rater-excluded").count() == 1


def test_who_is_included_again_counts_and_gets_units_again(tmp_path):
    study = opened(material(tmp_path, n_examples=4), raters=6)
    rater = raters_of(study)[0]
    exclude(rater)

    assert include(rater)

    assert (rater.is_excluded, rater.excluded_reason) == (False, "")
    assert claim_next_unit(rater) is not None
    assert audit_actions()[-1] == ("study.rater-included", study.name)
    assert not include(rater), "a second time changes nothing"


def test_who_was_taken_out_gets_no_units_by_being_included_nor_counts_by_being_let_back(tmp_path):
    study = opened(material(tmp_path), raters=6)
    rater, other, *_ = raters_of(study)
    for someone in (rater, other):
        take_out_rater(someone, researcher())
        exclude(someone)

    include(rater)
    let_rater_back(other, researcher())

    assert claim_next_unit(rater) is None
    assert Rater.objects.get(pk=other.pk).is_excluded
    assert claim_next_unit(other) is None


@pytest.mark.parametrize("end", [pause_study, close_study])
def test_raters_of_a_paused_or_closed_study_are_excluded_too(tmp_path, end):
    study = opened(material(tmp_path), raters=5)
    rater = raters_of(study)[0]
    rate_next(rater)
    end(study, researcher())

    assert exclude(rater)

    assert Vote.objects.filter(rater__is_excluded=True, is_surplus=False).count() == 7
    assert include(rater)


def test_simulated_and_imported_raters_are_excluded_too(tmp_path):
    rows = pilot_rows() | {"raters": [{"rater": "anna", "simulated": "yes"}]}
    study = import_rows(tmp_path, **rows).study
    assert study is not None

    for rater in study.raters.select_related("study"):
        assert exclude(rater)

    assert set(study.raters.values_list("excluded_reason", flat=True)) == {WHY}


def test_before_a_study_opens_nobody_is_excluded(tmp_path):
    study = planned(material(tmp_path), raters=5)

    with pytest.raises(StudyError, match="Pilot is now planned"):
        exclude(raters_of(study)[0])

    assert not study.raters.filter(is_excluded=True).exists()


@pytest.mark.parametrize("is_excluded", [True, False])
def test_without_a_reason_nothing_changes(tmp_path, is_excluded):
    study = opened(material(tmp_path), raters=5)
    rater = raters_of(study)[0]
    if not is_excluded:
        exclude(rater)

    with pytest.raises(StudyError, match="Found no reason"):
        set_excluded(rater, is_excluded, " \n", researcher())

    assert Rater.objects.get(pk=rater.pk).is_excluded is not is_excluded


# --- a study that stops when decided --------------------------------------------------------


def decided(folder) -> Study:
    """Return a study of one unit that three raters of five have decided."""
    study = opened(
        material(folder, n_examples=1, setups=["a"]), stops_when_decided=True, full_share=0
    )
    for rater in raters_of(study)[:3]:
        rate_next(rater)
    assert Assignment.objects.filter(is_let_go=True).count() == 2
    return study


def test_a_unit_that_excluded_votes_decided_is_open_until_they_count_again(tmp_path):
    rater = raters_of(decided(tmp_path))[0]

    exclude(rater)
    assert not Assignment.objects.filter(is_let_go=True).exists()

    include(rater)
    assert Assignment.objects.filter(is_let_go=True).count() == 2


def test_a_closed_study_asks_for_no_slots_again(tmp_path):
    study = decided(tmp_path)
    close_study(study, researcher())

    exclude(raters_of(study)[0])

    assert Assignment.objects.filter(is_let_go=True).count() == 2


@pytest.mark.both(transaction=True)
def test_a_vote_that_decides_while_its_colleague_is_excluded_lets_nothing_go(tmp_path):
    dataset = material(tmp_path, n_examples=1, setups=["cool"])
    study = opened(dataset, scheme="SSA", stops_when_decided=True, full_share=0.0)
    first, second, third, *_ = raters_of(study)
    for rater in (first, second):
        rate_next(rater)
    held = claimed(third)
    held.unit.arm  # noqa: B018 - read once, not by two threads

    def decide() -> None:
        rate(third, held)
        connection.close()

    deciding = threading.Thread(target=decide)
    with transaction.atomic():  # two votes count, which others cannot see yet
        exclude(first)
        deciding.start()
        deciding.join(0.5)
    deciding.join()

    assert Vote.objects.filter(rater=third).count() == 2
    assert not Assignment.objects.filter(is_let_go=True).exists()


# --- the threshold of gold items ------------------------------------------------------------


def with_gold(folder, **plan) -> Study:
    """Return an open study with two gold items to qualify, whose answers are all yes."""
    study = planned(material(folder, n_examples=4), scheme="SSA", raters=6, **plan)
    set_gold(
        study,
        {"e1-cool": GOOD, "e2-cool": GOOD, "e3-cool": GOOD},
        researcher(),
        n_qualifying=2,
        threshold=0.7,
    )
    open_study(study, researcher())
    return study


def rate_gold(rater: Rater, *answers: dict[str, int]) -> list[Assignment]:
    """Let a rater answer the gold items that they get first."""
    done = []
    for said in answers:
        held = claimed(rater)
        assert held.unit.is_gold
        rate(rater, held, said)
        done.append(held)
    return done


def test_who_falls_under_the_threshold_is_excluded_with_the_score_as_the_reason(tmp_path):
    study = with_gold(tmp_path)
    careless, careful, *_ = raters_of(study)

    rate_gold(careless, GOOD, BAD)
    rate_gold(careful, GOOD, GOOD)

    # Two of four known answers: 'sensible: no' implies 'specific: no'.
    reason = "Under the threshold of gold items: 0.50 of the known answers, 0.70 needed."
    assert Rater.objects.get(pk=careless.pk).excluded_reason == reason
    assert not Rater.objects.get(pk=careful.pk).is_excluded
    entry = AuditEntry.objects.get(action="study.rater-excluded")
    assert (entry.actor, entry.details) == (None, {"rater": careless.code, "reason": reason})


def test_who_is_included_under_the_threshold_stays_included_and_gets_no_units(tmp_path):
    study = with_gold(tmp_path)
    rater = raters_of(study)[0]
    first, _ = rate_gold(rater, GOOD, BAD)

    include(rater)
    assert claim_next_unit(rater) is None
    rate(rater, first, BAD)  # none of four known answers now

    rater.refresh_from_db()
    assert (rater.gold_score, rater.is_excluded) == (0.0, False)


def test_a_reason_of_a_person_stays_when_the_threshold_would_exclude_too(tmp_path):
    study = with_gold(tmp_path)
    rater = raters_of(study)[0]
    [first] = rate_gold(rater, GOOD)
    second = claimed(rater)
    exclude(Rater.objects.select_related("study").get(pk=rater.pk))

    rate(rater, first, BAD)
    assert rate(rater, second, BAD) is SubmitOutcome.SURPLUS

    rater.refresh_from_db()
    assert (rater.n_gold, rater.is_excluded, rater.excluded_reason) == (1, True, WHY)


def test_what_somebody_decided_who_falls_under_the_threshold_is_open_again(tmp_path):
    study = with_gold(tmp_path, stops_when_decided=True, full_share=0.0)
    Study.objects.filter(pk=study.pk).update(n_qualifying=0)  # gold comes among the others
    decisive, *others = raters_of(study)[:3]
    of_unit = Assignment.objects.filter(unit__is_gold=False, unit=_first_unit(study))
    for rater, slot in zip((decisive, *others), of_unit.order_by("slot"), strict=False):
        _take(rater, slot)
        rate(rater, slot, GOOD)
    assert of_unit.filter(is_let_go=True).count() == 2

    gold = Assignment.objects.filter(unit__is_gold=True).order_by("unit", "slot")[0]
    _take(decisive, gold)
    rate(decisive, gold, BAD)

    assert Rater.objects.get(pk=decisive.pk).is_excluded
    assert not of_unit.filter(is_let_go=True).exists()


def _first_unit(study: Study) -> int:
    units = study.assignments.filter(unit__is_gold=False).order_by("unit")
    return units.values_list("unit", flat=True)[0]


def _take(rater: Rater, slot: Assignment) -> None:
    Assignment.objects.filter(pk=slot.pk).update(rater=rater)
    slot.refresh_from_db()


# --- at the same moment ---------------------------------------------------------------------


@pytest.mark.both(transaction=True)
def test_who_asks_for_a_unit_while_being_excluded_holds_none(tmp_path):
    study = opened(material(tmp_path, n_examples=20), raters=8)

    for rater in raters_of(study):
        researcher()
        again = Rater.objects.select_related("study").get(pk=rater.pk)
        at_once(partial(claim_next_unit, rater), partial(exclude, again))

    assert not study.assignments.in_hand().exists()
    assert not study.raters.filter(is_excluded=False).exists()


@pytest.mark.both(transaction=True)
def test_a_submit_while_being_excluded_fills_the_slot_or_is_surplus_and_is_never_lost(tmp_path):
    study = opened(material(tmp_path, n_examples=20), raters=8)
    researcher()

    for rater in raters_of(study):
        held = claimed(rater)
        held.unit.arm  # noqa: B018 - read once, not by two threads
        again = Rater.objects.select_related("study").get(pk=rater.pk)
        outcome, _ = at_once(partial(rate, rater, held), partial(exclude, again))
        votes = Vote.objects.filter(rater=rater)

        assert votes.count() == 7
        assert votes.filter(is_surplus=outcome is SubmitOutcome.SURPLUS).count() == 7
        assert not study.assignments.in_hand().filter(rater=rater).exists()
