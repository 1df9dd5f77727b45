"""The progress of a study: slots by arm, the work of each rater, skips and flags.

This module only reads, in a number of statements that does not grow with the study.
"""

import math
from collections import Counter
from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.models import (
    Assignment,
    Flag,
    GoldAnswer,
    Rater,
    Skip,
    Study,
    Target,
    Unit,
    UnitTarget,
    Vote,
)
from annotation.origins import SharedOrigin, shared_origins
from annotation.planning import GroupNeed, UnitPlan, estimated_hours
from annotation.rating_hours import pace_of

MOST_LISTED = 20  # number of the newest skips, and of the newest flags, on a page


class ArmProgress(NamedTuple):
    """The number of slots of one arm, in all and by state."""

    kind: str
    n_units: int
    n_slots: int
    n_done: int
    n_let_go: int  # not wanted any more: the unit was decided, or a person let the slot go
    n_in_hand: int  # a rater has the slot, and the lease has not run out
    n_let_go_by_hand: int  # let go by a person; also counted in `n_let_go`

    @property
    def n_wanted(self) -> int:
        return self.n_slots - self.n_let_go


class UnitProgress(NamedTuple):
    """The number of units of a study, without gold units, and of those that lack votes.

    A unit waits if one of its slots is still to be filled. It is without all its votes if one of
    its slots was not filled, unless the slot was let go because the votes had decided.
    """

    n: int
    n_waiting: int
    n_without_all: int
    n_responses_without_all: int


class RaterProgress(NamedTuple):
    """The work of one rater in a study."""

    rater: Rater
    group: str
    n_submitted: int
    open_until: datetime | None  # end of the lease of the unit in hand
    is_expired: bool
    n_surplus: int  # judgements whose slot went to another rater, before or after they came
    n_skips: int
    n_flags: int
    shared: SharedOrigin | None  # other raters in the same browser or network


class CountedVotes(NamedTuple):
    """The votes of one rater that figures count, or would count if the rater were included."""

    n: int
    n_responses: int
    n_of_study: int  # all votes that figures count, with these

    @property
    def share(self) -> float:
        return self.n / self.n_of_study if self.n_of_study else math.nan


class StillToRate(NamedTuple):
    """The raters of a study who have not rated a target, and the slots of it that are open."""

    n_raters: int
    n_slots: int


class PlannedArm(NamedTuple):
    """The units, slots and hours of a plan in one arm."""

    kind: str
    n_units: int
    n_slots: int
    hours: float  # sum over all raters


class PlanFigures(NamedTuple):
    """A plan in numbers."""

    n_examples: int
    n_responses: int
    n_units: int
    n_slots: int
    arms: list[PlannedArm]
    left_out: dict[str, int]
    hours: float
    time_source: str  # origin of the times behind the hours, in words
    hours_per_rater: float
    n_raters: int  # number of raters among whom the hours are divided
    gold: list["GoldOfRater"]  # one for each group, or one for all of them


class GoldOfRater(NamedTuple):
    """The gold items that a rater of one group meets if they rate their fair share."""

    group: str  # its name; "" if all groups meet the same
    n_first: int  # gold items to qualify, before all other units
    n_mixed_in: int  # among the units after these
    one_in: int  # about one of so many units after the first is a gold item; 0 if none is mixed in


def plan_figures(study: Study, plan: UnitPlan, needs: Collection[GroupNeed]) -> PlanFigures:
    """Return a plan in numbers. Its hours are divided among all raters, also missing ones."""
    pace = pace_of(study)
    hours = estimated_hours(study, plan, pace)
    rated = [unit for unit in plan.units if not unit.is_gold]
    arms = []
    for arm in study.arms.all():
        n_units = sum(unit.arm == arm.kind for unit in rated)
        n_slots = n_units * (study.raters_per_unit or 0)
        arms.append(PlannedArm(arm.kind, n_units, n_slots, hours[arm.kind]))
    n_raters = sum(max(need.n_there, need.n_needed) for need in needs)
    total = sum(hours.values())
    return PlanFigures(
        n_examples=plan.n_examples,
        n_responses=plan.n_responses,
        n_units=len(rated),
        n_slots=sum(arm.n_slots for arm in arms),
        arms=arms,
        left_out={reason: n for reason, n in plan.left_out.items() if n},
        hours=total,
        time_source=pace.source(list(hours)),
        hours_per_rater=total / max(1, n_raters),
        n_raters=n_raters,
        gold=_gold_of_raters(study, plan, needs),
    )


def _gold_of_raters(
    study: Study, plan: UnitPlan, needs: Collection[GroupNeed]
) -> list[GoldOfRater]:
    """Return what a rater of each group meets of a plan's gold items."""
    n_units = Counter((unit.group, unit.is_gold) for unit in plan.units)
    met = []
    for need in needs:
        n_gold = n_units[need.group, True]
        n_raters = max(need.n_there, need.n_needed)
        n_rated = study.fair_share(n_units[need.group, False], n_raters) + n_gold
        most = study.most_units_per_rater or n_rated
        n_first = min(study.n_qualifying, n_gold, most)
        n_after, n_gold_after = n_rated - n_first, n_gold - n_first
        share = n_gold_after / n_after if n_after else 0.0
        n_mixed_in = round(share * min(n_after, most - n_first))
        one_in = round(1 / share) if n_mixed_in else 0
        if n_gold:
            name = group_name(study, need.group)
            met.append(GoldOfRater(name, n_first, n_mixed_in, one_in))
    is_same = len({each[1:] for each in met}) == 1
    return [met[0]._replace(group="")] if is_same else met


def arm_progress(study: Study) -> list[ArmProgress]:
    """Return the progress of each arm, without gold items."""
    is_open = Q(rater__isnull=False, submitted_at=None, is_let_go=False)
    rows = (
        Assignment.objects.filter(study=study, unit__is_gold=False)
        .order_by()
        .values_list("unit__arm")
        .annotate(
            n_slots=Count("pk"),
            n_done=Count("pk", filter=Q(submitted_at__isnull=False)),
            n_let_go=Count("pk", filter=Q(is_let_go=True)),
            n_in_hand=Count("pk", filter=is_open & Q(lease_until__gt=timezone.now())),
            n_let_go_by_hand=Count("let_go_at"),
        )
    )
    counts: dict[int, list[int]] = {arm: of_arm for arm, *of_arm in rows}
    return [
        ArmProgress(arm.kind, arm.n_units, *counts.get(arm.pk, [0] * 5)) for arm in study.arms.all()
    ]


def unit_progress(study: Study) -> UnitProgress:
    """Return how many units of a study wait for votes, and how many lack some."""
    units = Unit.objects.filter(arm__study=study, is_gold=False).order_by()
    unfilled = Assignment.objects.filter(unit=OuterRef("pk"), submitted_at=None)
    is_without = Exists(unfilled.exclude(is_let_go=True, let_go_at=None))
    counted = units.annotate(
        is_waiting=Exists(unfilled.filter(is_let_go=False)), is_without=is_without
    ).aggregate(
        n=Count("pk"),
        n_waiting=Count("pk", filter=Q(is_waiting=True)),
        n_without_all=Count("pk", filter=Q(is_without=True)),
    )
    shown = UnitTarget.objects.filter(unit__in=units.filter(is_without))
    n_responses = shown.aggregate(n=Count("target__response", distinct=True))["n"]
    return UnitProgress(**counted, n_responses_without_all=n_responses)


def was_rated(study: Study) -> bool:
    """Return whether a rater has judged anything in a study, also late or by a flag alone."""
    submitted = study.assignments.filter(submitted_at__isnull=False)
    return submitted.exists() or Vote.objects.filter(arm__study=study).exists()


def still_to_rate(study: Study, target: Target) -> StillToRate:
    """Return who may still rate a target of a study."""
    slots = Assignment.objects.filter(study=study, unit__targets=target)
    done = slots.filter(rater=OuterRef("pk"), submitted_at__isnull=False)
    voted = Vote.objects.filter(arm__study=study, target=target, rater=OuterRef("pk"))
    raters = Rater.objects.filter(Rater.TAKES_PART, study=study)
    return StillToRate(
        n_raters=raters.filter(~Exists(done), ~Exists(voted)).count(),
        n_slots=slots.filter(submitted_at=None, is_let_go=False).count(),
    )


def group_name(study: Study, group: int) -> str:
    """Return the name of a group of raters; "" when there is only one group."""
    if not study.is_split_into_groups:
        return ""
    if study.mixing == Study.Mixing.RATERS and not study.may_meet_both_arms:
        return f"{study.arms.all()[group]} arm"
    return f"group {group + 1}"


def rater_progress(study: Study, raters: Collection[Rater]) -> list[RaterProgress]:
    """Return the work of these raters, in the given order."""
    now = timezone.now()
    slots = Assignment.objects.filter(rater__in=raters, is_let_go=False).order_by()
    submitted = _counts(slots.filter(submitted_at__isnull=False))
    in_hand = dict(slots.filter(submitted_at=None).values_list("rater", "lease_until"))
    late = Vote.objects.filter(rater__in=raters, is_surplus=True).order_by()
    n_late = late.values("rater").annotate(n=Count("target", distinct=True))
    surplus = {row["rater"]: row["n"] for row in n_late}
    skips = _counts(Skip.objects.filter(rater__in=raters).order_by())
    flags = _counts(Flag.objects.filter(rater__in=raters).order_by())
    shared = shared_origins(study)
    return [
        RaterProgress(
            rater=rater,
            group=group_name(study, rater.group),
            n_submitted=submitted.get(rater.pk, 0),
            open_until=in_hand.get(rater.pk),
            is_expired=(in_hand.get(rater.pk) or now) < now,
            n_surplus=surplus.get(rater.pk, 0),
            n_skips=skips.get(rater.pk, 0),
            n_flags=flags.get(rater.pk, 0),
            shared=shared.get(rater.pk),
        )
        for rater in raters
    ]


def counted_votes(rater: Rater) -> CountedVotes:
    """Return how many votes of a rater figures count, also if the rater is excluded now."""
    gold = GoldAnswer.objects.filter(study=rater.study_id).values("target")
    votes = Vote.objects.filter(arm__study=rater.study_id, is_surplus=False)
    votes = votes.exclude(target__in=gold)
    return CountedVotes(
        **votes.filter(Q(rater__is_excluded=False) | Q(rater=rater)).aggregate(
            n=Count("pk", filter=Q(rater=rater)),
            n_responses=Count("target__response", filter=Q(rater=rater), distinct=True),
            n_of_study=Count("pk"),
        )
    )


def _counts(
    rows: QuerySet[Assignment] | QuerySet[Skip] | QuerySet[Flag],
) -> dict[int, int]:
    """Return how many rows belong to each rater."""
    return dict(rows.values_list("rater").annotate(n=Count("pk")))


def newest_skips(study: Study) -> QuerySet[Skip]:
    """Return the skips of a study, with their reasons, newest first."""
    of_study = Skip.objects.filter(unit__arm__study=study)
    related = ("rater__study", "unit__arm", "unit__example")
    return of_study.select_related(*related).order_by("-pk")


def newest_flags(study: Study) -> QuerySet[Flag]:
    """Return the flags of a study, with their reasons, newest first."""
    of_study = Flag.objects.filter(arm__study=study)
    return of_study.select_related("rater", "arm", "response").order_by("-pk")
