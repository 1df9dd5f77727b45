"""Writes of units: a plan becomes rows, with a slot for every wanted judgement."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from django.db.models import Count

from annotation.models import (
    Arm,
    Assignment,
    GoldAnswer,
    Study,
    Target,
    Unit,
    UnitPassage,
    UnitTarget,
)
from annotation.ordering import random_key
from annotation.planning import PlannedUnit, TargetIds, plan_units
from annotation.rating_hours import pace_of
from annotation.voting import Judgement

UNITS_AT_ONCE = 500


def store_plan(study: Study) -> int:
    """Store the units that a study still lacks, with their slots; return how many are not gold."""
    arms = {arm.kind: arm for arm in study.arms.all()}
    plan = plan_units(study)
    for start in range(0, len(plan.units), UNITS_AT_ONCE):
        _store_units(study, arms, plan.units[start : start + UNITS_AT_ONCE])
    rated = [unit for unit in plan.units if not unit.is_gold]
    for kind, n_units in Counter(unit.arm for unit in rated).items():
        arms[kind].n_units += n_units
        arms[kind].save(update_fields=["n_units"])
    by_group = Counter(unit.group for unit in rated)
    before = study.n_units_by_group or [0] * study.n_groups
    study.n_units_by_group = [n + by_group[group] for group, n in enumerate(before)]
    study.seconds_per_unit = _mean_seconds(study, rated, n_before=sum(before))
    study.save(update_fields=["n_units_by_group", "seconds_per_unit"])
    return len(rated)


def _mean_seconds(study: Study, new: Sequence[PlannedUnit], *, n_before: int) -> float | None:
    """Return the mean estimated seconds of a judgement, over the units so far and the new ones."""
    if not new or (n_before and study.seconds_per_unit is None):
        return study.seconds_per_unit
    pace = pace_of(study)
    seconds = sum(pace.seconds(unit.arm, unit.n_characters, len(unit.targets)) for unit in new)
    return (n_before * (study.seconds_per_unit or 0.0) + seconds) / (n_before + len(new))


def _store_units(study: Study, arms: Mapping[str, Arm], planned: Sequence[PlannedUnit]) -> None:
    targets = target_ids({target for plan in planned for target in plan.targets})
    units = Unit.objects.bulk_create(
        Unit(
            arm=arms[plan.arm],
            example_id=plan.example,
            group=plan.group,
            is_gold=plan.is_gold,
            is_always_full=plan.is_always_full,
        )
        for plan in planned
    )
    both = list(zip(units, planned, strict=True))
    UnitTarget.objects.bulk_create(
        UnitTarget(unit=unit, target_id=targets[target], place=place)
        for unit, plan in both
        for place, target in enumerate(plan.targets)
    )
    UnitPassage.objects.bulk_create(
        UnitPassage(unit=unit, passage_id=passage, position=position)
        for unit, plan in both
        for position, passage in enumerate(plan.passages, start=1)
    )
    Assignment.objects.bulk_create(
        Assignment(
            study=study,
            unit=unit,
            group=plan.group,
            slot=slot,
            turn=slot,
            key=random_key(study.seed, "slot", plan.name, slot),
        )
        for unit, plan in both
        if not plan.is_gold
        for slot in range(1, (study.raters_per_unit or 0) + 1)
    )
    give_gold_a_slot_per_rater(study)


def give_gold_a_slot_per_rater(study: Study) -> None:
    """Add slots to gold units, so that each has at least as many as its group has raters."""
    if not study.n_gold_units:
        return
    raters = Counter(study.raters.values_list("group", flat=True))
    units = Unit.objects.filter(arm__study=study, is_gold=True).annotate(n=Count("assignments"))
    Assignment.objects.bulk_create(
        Assignment(
            study=study,
            unit=unit,
            group=unit.group,
            slot=slot,
            turn=(slot - 1) % (study.raters_per_unit or 1) + 1,
            key=random_key(study.seed, "gold", unit.pk, slot),
        )
        for unit in units
        for slot in range(unit.n + 1, raters[unit.group] + 1)
    )


def target_ids(wanted: Collection[TargetIds]) -> dict[TargetIds, int]:
    """Make the targets that are missing; return the id of each."""

    def known() -> dict[TargetIds, int]:
        rows = Target.objects.filter(response__in={response for response, _ in wanted})
        return {
            (r, citation): pk for r, citation, pk in rows.values_list("response", "citation", "pk")
        }

    Target.objects.bulk_create(
        Target(response_id=response, citation_id=citation)
        for response, citation in sorted(wanted - known().keys(), key=str)
    )
    return known()


def store_known_answers(
    study: Study, known: Mapping[int, Judgement], n_qualifying: int, threshold: float | None
) -> None:
    study.gold_answers.all().delete()
    GoldAnswer.objects.bulk_create(
        GoldAnswer(study=study, target_id=target, question=question, answer=answer.value)
        for target, judgement in known.items()
        for question, answer in judgement.answers.items()
    )
    study.n_gold_units = len(known)
    study.n_qualifying, study.gold_threshold = n_qualifying, threshold
    study.save(update_fields=["n_gold_units", "n_qualifying", "gold_threshold"])
