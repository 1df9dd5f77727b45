"""Slots that no rater may take, because all who could were given the unit before.

A rater gets a unit only once, also if they skip it or it is released. If a study has only as many
raters as a unit has slots, such a slot stays empty until a new rater comes, the rater is asked
again, or the slot is let go. This module only reads.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    Count,
    Exists,
    IntegerField,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Exposure, Rater, Skip, Study, Unit, Vote


class AskableRater(NamedTuple):
    """A rater who was given a unit and has not judged it: they may be asked again."""

    rater: Rater
    reason: str  # why they skipped it; "" if it was taken from them


class StrandedUnit(NamedTuple):
    """A unit with slots that no rater may take."""

    unit: Unit
    n_slots: int
    n_left: int  # number of judgements, made or possible, if these slots are let go
    n_wanted: int  # N, the number of raters that was planned
    askable: list[AskableRater]

    @property
    def can_be_decided(self) -> bool:
        """Whether the judgements that are left may still be more than half of N."""
        return 2 * self.n_left > self.n_wanted


class Stranded(NamedTuple):
    """The number of slots that no rater of a study may take, and of new raters who could."""

    n_slots: int
    n_units: int
    needed: Mapping[int, int]  # group → number of new raters who would fill all its units

    @property
    def n_raters(self) -> int:
        return sum(self.needed.values())


def stranded_units(study: Study) -> QuerySet[Any]:
    """Return the units with more free slots than raters who may still take them.

    `n_stranded` is the difference. Gold items are left out: they have a slot for every rater who
    was ever in the study.
    """
    raters = _raters_who_may(study)
    n_there = Counter(rater.group for rater in raters)
    free = Assignment.objects.nobodys().filter(unit=OuterRef("pk")).order_by().values("unit")
    met = Exposure.objects.filter(unit=OuterRef("pk"), rater__in=raters).order_by().values("unit")
    return (
        Unit.objects.filter(arm__study=study, is_gold=False)
        .filter(Exists(Assignment.objects.nobodys().filter(unit=OuterRef("pk"))))
        .annotate(
            n_stranded=Subquery(free.annotate(n=Count("pk")).values("n"))
            + Coalesce(Subquery(met.annotate(n=Count("rater", distinct=True)).values("n")), 0)
            - Case(
                *(When(group=group, then=Value(n)) for group, n in n_there.items()),
                default=Value(0),
                output_field=IntegerField(),
            )
        )
        .filter(n_stranded__gt=0)
    )


def stranded(study: Study) -> Stranded:
    """Return how many slots no rater may take, and how many new raters would fill them.

    This takes two statements.
    """
    rows = stranded_units(study).order_by().values_list("group", "n_stranded")
    slots: dict[int, list[int]] = defaultdict(list)
    for group, n in rows:
        slots[group].append(n)
    return Stranded(
        n_slots=sum(map(sum, slots.values())),
        n_units=sum(map(len, slots.values())),
        needed={group: max(of_units) for group, of_units in slots.items()},
    )


def stranded_details(study: Study, most: int) -> list[StrandedUnit]:
    """Return the first `most` of these units, with the raters who may be asked again.

    This takes five statements.
    """
    units = list(stranded_units(study).select_related("arm", "example").order_by("pk")[:most])
    askable = askable_raters(study, units)
    kept = Counter(
        Assignment.objects.filter(unit__in=units, is_let_go=False).values_list("unit", flat=True)
    )
    return [
        StrandedUnit(
            unit,
            n_slots=unit.n_stranded,
            n_left=kept[unit.pk] - unit.n_stranded,
            n_wanted=study.n_raters(0),
            askable=askable[unit.pk],
        )
        for unit in units
    ]


def askable_raters(study: Study, units: Collection[Unit]) -> defaultdict[int, list[AskableRater]]:
    """Return, by unit, the raters who were given it, still get units, and have no slot or votes."""
    of_unit = {"unit": OuterRef("unit"), "rater": OuterRef("rater")}
    votes = Vote.objects.filter(
        arm=OuterRef("unit__arm"), target=OuterRef("target"), rater=OuterRef("rater")
    )
    met = (
        Exposure.objects.filter(unit__in=units)
        .filter(~Exists(Assignment.objects.filter(**of_unit)), ~Exists(votes))
        .values_list("unit", "rater")
        .distinct()
    )
    raters = {rater.pk: rater for rater in _raters_who_may(study)}
    skips = Skip.objects.filter(unit__in=units, asked_again_at=None)
    reasons = {(skip.unit_id, skip.rater_id): skip.reason for skip in skips}
    askable: defaultdict[int, list[AskableRater]] = defaultdict(list)
    for unit, rater in met.order_by("unit", "rater"):
        if rater in raters:
            reason = reasons.get((unit, rater), "")
            askable[unit].append(AskableRater(raters[rater], reason))
    return askable


def _raters_who_may(study: Study) -> list[Rater]:
    """Return the raters who still get units: not taken out, not under the threshold, and active."""
    raters = study.raters.select_related("study").exclude(user__is_active=False)
    return [rater for rater in raters if rater.gets_units]
