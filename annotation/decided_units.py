"""Units of a study that stops when decided: which of them need no further votes.

This module only reads.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping

from django.db.models import Count, F

from annotation.models import Study, Unit, UnitTarget, Vote
from annotation.voting import is_decided


def decided_units(study: Study, n_targets: Mapping[int, int]) -> set[int]:
    """Return the ids of those units in which every question about each target is decided.

    Surplus votes and votes of excluded raters decide nothing. This takes one statement.

    Args:
        n_targets: unit id → number of its targets, from `units_that_may_stop`.
    """
    counts: dict[int, dict[int, dict[str, dict[int, int]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    rows = (
        Vote.objects.filter(
            target__places__unit__in=list(n_targets), arm=F("target__places__unit__arm")
        )
        .filter(is_surplus=False, rater__is_excluded=False)
        .values_list("target__places__unit", "target", "question", "answer")
        .annotate(n=Count("pk"))
    )
    for unit, target, question, answer, n in rows:
        counts[unit][target][question][answer] = n
    questions = [question["key"] for question in study.scheme["questions"]]
    n_raters = study.n_raters(0)
    return {
        unit
        for unit, of_unit in counts.items()
        if len(of_unit) == n_targets[unit]
        and all(
            is_decided({key: of_target[key] for key in questions}, n_raters)
            for of_target in of_unit.values()
        )
    }


def units_that_may_stop(study: Study, units: Collection[int]) -> dict[int, int]:
    """Return those of some units that stop when decided, each with its number of targets.

    Gold items and units of the share that always gets all raters never stop.
    """
    if not study.stops_when_decided:
        return {}
    may_stop = Unit.objects.filter(pk__in=units, is_gold=False, is_always_full=False)
    places = UnitTarget.objects.filter(unit__in=may_stop).order_by()
    return dict(places.values_list("unit").annotate(n=Count("pk")))
