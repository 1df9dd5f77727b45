"""Writes about slots that no rater may take: let them go, take them back, or ask a rater again."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.services import record
from annotation.models import Assignment, Exposure, Rater, Skip, Study, Unit
from annotation.services.studies import StudyError, lock_study
from annotation.services.vote_consequences import check_decided_again
from annotation.stranded_slots import askable_raters, stranded_units

SLOTS_AT_ONCE = 2000


@transaction.atomic
def let_slots_go(study: Study, by: User | None, unit: Unit | None = None) -> int:
    """Let the slots go that no rater may take, of one unit or of all; return how many.

    They are counted again here: a slot that a rater may take by now stays wanted, and a second
    click lets no more slots go. N stays as planned.

    Raises:
        StudyError: the study does not run.
    """
    lock_study(study, Study.State.OPEN, Study.State.PAUSED)
    units = stranded_units(study)
    units = units.filter(pk=unit.pk) if unit else units
    n_stranded = dict(units.values_list("pk", "n_stranded"))
    free = Assignment.objects.nobodys().filter(unit__in=list(n_stranded))
    slots: list[int] = []
    for unit_id, slot in free.order_by("-slot").values_list("unit", "pk"):
        if n_stranded.get(unit_id, 0) > 0:
            n_stranded[unit_id] -= 1
            slots.append(slot)
    n_slots = 0
    for start in range(0, len(slots), SLOTS_AT_ONCE):
        some = Assignment.objects.filter(pk__in=slots[start : start + SLOTS_AT_ONCE])
        n_slots += some.update(is_let_go=True, let_go_at=timezone.now(), let_go_by=by)
    if n_slots:
        of_unit = {"example": unit.example.key} if unit else {}
        record(by, "study.slots-let-go", study.name, n_slots=n_slots, **of_unit)
    return n_slots


@transaction.atomic
def take_slots_back(study: Study, by: User | None) -> int:
    """Make the slots wanted again that people let go; return how many.

    Raises:
        StudyError: the study does not run.
    """
    lock_study(study, Study.State.OPEN, Study.State.PAUSED)
    let_go = study.assignments.filter(let_go_at__isnull=False)
    units = set(let_go.values_list("unit", flat=True))
    n_slots = let_go.update(is_let_go=False, let_go_at=None, let_go_by=None)
    check_decided_again(study, units)
    if n_slots:
        record(by, "study.slots-taken-back", study.name, n_slots=n_slots)
    return n_slots


@transaction.atomic
def ask_again(unit: Unit, rater: Rater, by: User | None) -> bool:
    """Let a rater get a unit once more that they skipped, or that was taken from them.

    It is again among the units that they may get. Their skip stays in the record.

    Returns:
        False when nothing changed, because they may get the unit already, have it, or judged it.

    Raises:
        StudyError: the study does not run, or the rater gets no further units.
    """
    lock_study(rater.study, Study.State.OPEN, Study.State.PAUSED)
    rater.refresh_from_db()
    if not rater.gets_units:
        raise StudyError(f"{rater.code} no longer gets units of {rater.study.name}.")
    if rater not in {askable.rater for askable in askable_raters(rater.study, [unit])[unit.pk]}:
        return False
    Exposure.objects.filter(unit=unit, rater=rater).delete()
    Skip.objects.filter(unit=unit, rater=rater, asked_again_at=None).update(
        asked_again_at=timezone.now()
    )
    record(by, "study.rater-asked-again", rater.study.name, rater=rater.code, unit=unit.pk)
    return True
