"""Judgements of excluded raters that other raters can make again.

A unit that an excluded rater judged has fewer counted votes than it was planned to have. This
module only reads; `services.refilling` frees the slots.
"""

from typing import NamedTuple

from django.db.models import Count

from annotation.decided_units import decided_units, units_that_may_stop
from annotation.models import Assignment, AssignmentQuerySet, Rater, Study, Unit
from annotation.rating_hours import hours_of_judgements


class Refill(NamedTuple):
    """The number of judgements that can be made again, and what they cost."""

    n_judgements: int
    n_units: int
    hours: float  # estimated as in a plan, for all judgements together


def slots_to_refill(study: Study, rater: Rater | None = None) -> AssignmentQuerySet:
    """Return the slots that excluded raters have filled, or that one of them has filled.

    Slots of gold items are left out, and slots of units that are decided without these votes.
    """
    slots = Assignment.objects.filter(
        study=study,
        unit__is_gold=False,
        submitted_at__isnull=False,
        rater__in=study.raters.filter(is_excluded=True),
    )
    if rater is not None:
        slots = slots.filter(rater=rater)
    if not study.stops_when_decided:
        return slots
    n_targets = units_that_may_stop(study, list(slots.values_list("unit", flat=True)))
    return slots.exclude(unit__in=decided_units(study, n_targets))


def refill_of(study: Study, slots: AssignmentQuerySet) -> Refill:
    """Return what it takes to fill some slots of a study anew, from `slots_to_refill`.

    This takes one statement if there are none.
    """
    n_of_unit = dict(slots.order_by().values_list("unit").annotate(n=Count("pk")))
    if not n_of_unit:
        return Refill(0, 0, 0.0)
    units = Unit.objects.filter(pk__in=slots.values("unit"))
    hours = hours_of_judgements(study, units, n_of_unit)
    return Refill(sum(n_of_unit.values()), len(n_of_unit), hours)
