"""Writes about the raters of a study: one is taken out, let back in, excluded or included."""

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.models import User
from accounts.services import record
from accounts.ways_in import Event, end_ways_in
from annotation.models import Rater, Study
from annotation.services.studies import StudyError, deal_into_groups, lock_study
from annotation.services.vote_consequences import (
    check_decided_again,
    give_back_units,
    units_judged_by,
)


@transaction.atomic
def take_out_rater(rater: Rater, by: User | None) -> bool:
    """Take a rater out of a study; return whether they were in it.

    Before the study opens, they are deleted from it. While it runs, they get no further units,
    their unit in hand is given back, and their drafts are kept. Their votes stay. Anything that
    they submit later is surplus. No code lets them in any more (`end_codes`).

    Raises:
        StudyError: the study is closed.
    """
    study = rater.study
    lock_study(study, Study.State.PLANNED, Study.State.OPEN, Study.State.PAUSED)
    if study.state == Study.State.PLANNED:
        n_deleted, _ = Rater.objects.filter(pk=rater.pk).delete()
        deal_into_groups(study)
        is_done = bool(n_deleted)
    else:
        is_done = _end_work(rater, Q(taken_out_at=None), taken_out_at=timezone.now())
    if is_done:
        end_codes(study.raters.filter(pk=rater.pk), Event.TAKEN_OUT)
        record(by, "study.rater-taken-out", study.name, rater=rater.code)
    return is_done


def end_codes(raters: QuerySet[Rater], event: Event) -> None:
    """End return codes and keys of forms of raters whose account was made by joining a study.

    Those who take part in another study keep them, because they need them there.
    """
    elsewhere = Rater.objects.filter(
        Rater.TAKES_PART, ~Q(study=OuterRef("study")), user=OuterRef("user")
    ).exclude(study__state=Study.State.CLOSED)
    joined = raters.filter(~Exists(elsewhere), user__join_key__isnull=False)
    end_ways_in(list(joined.values_list("user", flat=True)), event)


def _end_work(rater: Rater, before: Q, **change: object) -> bool:
    """Write a change after which a rater gets no units, if `before` is true of them still."""
    is_done = bool(Rater.objects.filter(before, pk=rater.pk).update(**change))
    give_back_units(rater)
    rater.refresh_from_db()
    return is_done


@transaction.atomic
def let_rater_back(rater: Rater, by: User | None) -> bool:
    """Let a rater back who was taken out; return whether they were out.

    An excluded rater stays excluded.

    Raises:
        StudyError: the study is closed.
    """
    lock_study(rater.study, Study.State.OPEN, Study.State.PAUSED)
    if not Rater.objects.filter(pk=rater.pk, taken_out_at__isnull=False).update(taken_out_at=None):
        return False
    rater.refresh_from_db()
    record(by, "study.rater-let-back", rater.study.name, rater=rater.code)
    return True


@transaction.atomic
def set_excluded(rater: Rater, is_excluded: bool, reason: str, by: User | None) -> bool:
    """Exclude a rater's votes from every figure, or count them again; return False if it was so.

    Nothing is deleted. While the study runs, an excluded rater gets no further units, and their
    unit in hand is given back. A rater who is included again gets units again, unless they were
    taken out or are under the threshold of gold items.

    Args:
        rater: a rater of a study that has begun, also a closed or an imported one.
        is_excluded: whether their votes are to be left out.
        reason: why. It is shown beside the figures and exported while the rater is excluded.
        by: the person who decided it.

    Raises:
        StudyError: the study is planned, so there are no votes yet, or there is no reason.
    """
    reason = reason.strip()
    if not reason:
        raise StudyError("Found no reason; expected a sentence that says why.")
    study = rater.study
    lock_study(study, Study.State.OPEN, Study.State.PAUSED, Study.State.CLOSED)
    if is_excluded:
        change = {"is_excluded": True, "excluded_reason": reason}
        is_done = _end_work(rater, Q(is_excluded=False), **change)
    else:
        excluded = Rater.objects.filter(pk=rater.pk, is_excluded=True)
        is_done = bool(excluded.update(is_excluded=False, excluded_reason=""))
        rater.refresh_from_db()
    if is_done:
        if study.is_running:
            check_decided_again(study, units_judged_by(rater))
        action = "study.rater-excluded" if is_excluded else "study.rater-included"
        record(by, action, study.name, rater=rater.code, reason=reason)
    return is_done
