"""Units as researchers preview them, before or after a study has opened. This module only reads."""

from typing import NamedTuple

from annotation.known_answers import KnownAnswers, stored_known_answers
from annotation.models import Study, Target, Unit
from annotation.planning import PlannedUnit, plan_units
from annotation.rated_units import RatedUnit, Share, order_of, unit_outside_queue
from annotation.unit_rows import texts_of
from generation.models import Citation, Passage, Response


class UnitPreview(NamedTuple):
    """One unit of an arm as a rater would see it, and the number of units in the arm.

    The answers in the unit are the known ones, if it is a gold item of a planned study.
    """

    unit: RatedUnit
    n_units: int
    response: str  # the key of its first response
    is_gold: bool


def preview_unit(study: Study, arm: str, number: int) -> UnitPreview | None:
    """Return the unit with this number (from 1) in an arm, planned or made; None without one.

    A gold item is one unit, however many groups meet it. Nothing is stored. The order of responses
    belongs to no real rater, but a rater may get it.
    """
    made = Unit.objects.filter(arm__study=study, arm__kind=arm).exclude(is_gold=True, group__gt=0)
    known: KnownAnswers = {}
    if study.state == Study.State.PLANNED:
        planned = [
            unit
            for unit in plan_units(study).units
            if unit.arm == arm and not (unit.is_gold and unit.group > 0)
        ]
        if not 1 <= number <= len(planned):
            return None
        plan = planned[number - 1]
        unit = Unit(example_id=plan.example, is_gold=plan.is_gold)
        known = stored_known_answers(study) if plan.is_gold else {}
        n_units, targets = len(planned), _unsaved_targets(plan)
        texts = Passage.objects.in_bulk(plan.passages)
        passages = [texts[passage] for passage in plan.passages]
    else:
        n_units = made.count()
        if not 1 <= number <= n_units:
            return None
        unit = made.order_by("example__key", "pk")[number - 1]
        places = unit.places.select_related("target__response", "target__citation")
        targets = [place.target for place in places.order_by("place")]
        _, passages = texts_of(unit)
    newest = study.guidelines.order_by("-version").values_list("version", flat=True).first()
    response = targets[0].response.key
    order = order_of(study, "preview", number, len(targets))
    shown = unit_outside_queue(
        study,
        unit,
        [targets[place] for place in order],
        passages,
        arm=arm,
        state="preview",
        share=Share(newest or 0, 0, n_units),
    )
    if response in known:
        shown = shown._replace(answers={targets[0].pk: known[response]})
    return UnitPreview(shown, n_units, response, unit.is_gold)


def _unsaved_targets(plan: PlannedUnit) -> list[Target]:
    """Return the targets of a planned unit, which need not exist in the database yet.

    Their places are their ids, because a form distinguishes targets by ids.
    """
    responses = Response.objects.in_bulk([response for response, _ in plan.targets])
    citations = Citation.objects.in_bulk([pk for _, pk in plan.targets if pk is not None])
    return [
        Target(
            pk=place,
            response=responses[response],
            citation=None if citation is None else citations[citation],
        )
        for place, (response, citation) in enumerate(plan.targets, start=1)
    ]
