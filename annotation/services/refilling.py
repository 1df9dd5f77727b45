"""Writes about judgements of excluded raters: their slots become free for other raters."""

from django.db import transaction

from accounts.models import User
from accounts.services import record
from annotation.models import Assignment, Rater, Study, Vote
from annotation.refilling import Refill, refill_of, slots_to_refill
from annotation.services.studies import StudyError, lock_study
from annotation.services.vote_consequences import check_decided_again

SLOTS_AT_ONCE = 2000


@transaction.atomic
def refill_units(study: Study, by: User | None, rater: Rater | None = None) -> Refill:
    """Free the slots that excluded raters have filled, or that one of them has filled.

    Their votes are kept as surplus, also if the raters are included again. So a response never gets
    more than N raters who count. They do not get the units again. A second call changes nothing.

    Returns:
        What can be made again now; a part of it may be by the time raters ask.

    Raises:
        StudyError: the study does not run, so no rater could make a judgement again.
    """
    lock_study(study, *Study.State.values)
    if not study.is_running:
        raise StudyError(
            f"{study.name} is {study.get_state_display().lower()}. Judgements of excluded raters "
            "can be made again only while a study runs."
        )
    slots = slots_to_refill(study, rater)
    refill = refill_of(study, slots)
    unit_of = dict(slots.values_list("pk", "unit"))
    ids = list(unit_of)
    for start in range(0, len(ids), SLOTS_AT_ONCE):
        some = ids[start : start + SLOTS_AT_ONCE]
        Vote.objects.filter(assignment__in=some).update(is_surplus=True, assignment=None)
        freed = Assignment.objects.filter(pk__in=some)
        freed.update(rater=None, claimed_at=None, lease_until=None, submitted_at=None)
    if ids:
        check_decided_again(study, set(unit_of.values()))
        done: dict[str, object] = {"n_judgements": len(ids), "n_units": refill.n_units}
        if rater is not None:
            done["rater"] = rater.code
        record(by, "study.units-refilled", study.name, **done)
    return refill
