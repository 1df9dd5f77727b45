"""Writes that follow from votes: gold scores, and slots that are not needed any more."""

from collections.abc import Collection, Mapping

from django.db import transaction
from django.db.models import Count, F, Max, OuterRef, Q, Subquery
from django.utils import timezone

from accounts.services import record
from annotation.decided_units import decided_units, units_that_may_stop
from annotation.models import Assignment, GoldAnswer, Rater, Study, Unit, Vote


def after_voting(unit: Unit, rater: Rater, n_targets: int) -> None:
    """Do what follows from a rater's votes on a unit."""
    if unit.is_gold:
        score_gold(rater)
    else:
        let_go_when_decided(unit, rater.study, n_targets)


def score_gold(rater: Rater) -> None:
    """Set a rater's gold score: the share of known answers that they gave.

    The answers of a gold unit that they flagged instead count as not given. A rater who falls under
    the study's threshold is excluded as well. If a person includes them again, they stay included.
    The rater's row is locked already (see `rating._lock`).
    """
    units = Unit.objects.filter(
        is_gold=True, assignments__rater=rater, assignments__submitted_at__isnull=False
    )
    gold = GoldAnswer.objects.filter(study=rater.study_id, target__units__in=units)
    given = Vote.objects.filter(
        rater=rater, target=OuterRef("target"), question=OuterRef("question"), is_surplus=False
    )
    stored = Rater.objects.filter(pk=rater.pk)  # another tab may have changed it since the request
    scored = gold.annotate(given=Subquery(given.values("answer"))).aggregate(
        n_units=Count("target", distinct=True),
        n_known=Count("pk"),
        n_met=Count("pk", filter=Q(answer=F("given"))),
        n_before=Max(Subquery(stored.values("n_gold"))),
        score_before=Max(Subquery(stored.values("gold_score"))),
    )
    rater.n_gold, rater.gold_score = scored["n_before"] or 0, scored["score_before"]
    was_under = rater.is_under_threshold
    rater.n_gold = scored["n_units"]
    rater.gold_score = scored["n_met"] / scored["n_known"] if scored["n_known"] else None
    rater.save(update_fields=["n_gold", "gold_score"])
    if rater.is_under_threshold and not was_under:
        _exclude_under_threshold(rater)


def _exclude_under_threshold(rater: Rater) -> None:
    """Exclude a rater, unless a researcher has done so at the same moment."""
    reason = (
        f"Under the threshold of gold items: {rater.gold_score:.2f} of the known answers, "
        f"{rater.study.gold_threshold:.2f} needed."
    )
    others = Rater.objects.filter(pk=rater.pk, is_excluded=False)
    if others.update(is_excluded=True, excluded_reason=reason):
        rater.is_excluded, rater.excluded_reason = True, reason
        record(None, "study.rater-excluded", rater.study.name, rater=rater.code, reason=reason)


def let_go_when_decided(unit: Unit, study: Study, n_targets: int) -> None:
    """Let the free slots of a decided unit go, or take them back, if the study stops when decided.

    A unit is decided when every question about each of its targets is. The slots are taken back
    when a rater changes a vote and the majority is open again. Slots that people let go stay so.
    """
    if study.stops_when_decided and not unit.is_gold and not unit.is_always_full:
        _let_go_or_take_back(study, {unit.pk: n_targets})


def give_back_units(rater: Rater) -> int:
    """Give back the slots that a rater has in hand, under the study's lock; return how many."""
    in_hand = rater.assignments.in_hand()
    units = list(in_hand.values_list("unit", flat=True))
    n_slots = in_hand.give_back()
    check_decided_again(rater.study, units)
    return n_slots


@transaction.atomic
def check_decided_again(study: Study, units: Collection[int]) -> None:
    """Do what `let_go_when_decided` does for units in which other votes count than before.

    The units are locked, so that a submit at the same moment comes before or after, and counts the
    same votes.
    """
    if study.stops_when_decided:
        lock_units(units)
        _let_go_or_take_back(study, units_that_may_stop(study, units))


def lock_units(units: Collection[int]) -> list[int]:
    """Lock units in the order of their ids, so that locks wait for each other in no circle.

    Submits and changes of votes lock their unit too (see `rating._lock`).
    """
    locked = Unit.objects.select_for_update(no_key=True).filter(pk__in=units).order_by("pk")
    return list(locked.values_list("pk", flat=True))


def units_judged_by(rater: Rater) -> list[int]:
    """Return the ids of the units in which a rater has filled a slot."""
    filled = Assignment.objects.filter(rater=rater, submitted_at__isnull=False)
    return list(filled.values_list("unit", flat=True))


def _let_go_or_take_back(study: Study, n_targets: Mapping[int, int]) -> None:
    decided = decided_units(study, n_targets)
    if decided:
        free = Assignment.objects.free(timezone.now()).filter(unit__in=decided)
        free.update(is_let_go=True, rater=None, claimed_at=None, lease_until=None)
    if undecided := n_targets.keys() - decided:
        let_go = Assignment.objects.filter(unit__in=undecided, is_let_go=True, let_go_at=None)
        let_go.update(is_let_go=False)
