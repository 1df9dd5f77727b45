"""Writes about the raters of a study: one is taken out, or let back in."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.services import record
from annotation.models import Assignment, Rater, Study, Unit
from annotation.services.studies import deal_into_groups, lock_study
from annotation.services.vote_consequences import let_go_when_decided


@transaction.atomic
def take_out_rater(rater: Rater, by: User | None, *, excludes_votes: bool = False) -> bool:
    """Take a rater out of a study; return whether they were in it.

    Before the study opens, they are deleted from it. While it runs, they get no further units,
    their unit in hand is given back, and their drafts are kept. Their votes stay, or are excluded
    as well. Anything that they submit later is surplus.

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
        is_done = _end_work(rater, excludes_votes=excludes_votes)
    if is_done:
        record(by, "study.rater-taken-out", study.name, rater=rater.code, excluded=excludes_votes)
    return is_done


def _end_work(rater: Rater, *, excludes_votes: bool) -> bool:
    # Slots are given back twice. The first time waits for a submit at the same moment, which may
    # want to write the rater's row, before that row is locked here. The second time returns a unit
    # of a claim that had locked the row first.
    _give_back(rater)
    now = timezone.now()
    taken_out = Rater.objects.filter(pk=rater.pk, taken_out_at=None).update(taken_out_at=now)
    _give_back(rater)
    rater.refresh_from_db()
    if taken_out and excludes_votes:
        _set_excluded(rater, is_excluded=True)
    return bool(taken_out)


def _give_back(rater: Rater) -> None:
    units = list(Unit.objects.filter(assignments__in=rater.assignments.in_hand()))
    rater.assignments.in_hand().give_back()
    for unit in units:
        let_go_when_decided(unit, rater.study, unit.targets.count())


@transaction.atomic
def let_rater_back(rater: Rater, by: User | None) -> bool:
    """Let a rater back who was taken out; return whether they were out. Their votes count again.

    A rater who is under the study's threshold stays excluded.

    Raises:
        StudyError: the study is closed.
    """
    lock_study(rater.study, Study.State.OPEN, Study.State.PAUSED)
    if not Rater.objects.filter(pk=rater.pk, taken_out_at__isnull=False).update(taken_out_at=None):
        return False
    rater.refresh_from_db()
    _set_excluded(rater, is_excluded=rater.is_under_threshold)
    record(by, "study.rater-let-back", rater.study.name, rater=rater.code)
    return True


def _set_excluded(rater: Rater, *, is_excluded: bool) -> None:
    """Exclude a rater's votes, or count them. Then check again which of their units are decided."""
    if rater.is_excluded == is_excluded:
        return
    rater.is_excluded = is_excluded
    rater.save(update_fields=["is_excluded"])
    if not rater.study.stops_when_decided:
        return
    judged = Assignment.objects.filter(rater=rater, submitted_at__isnull=False)
    for unit in Unit.objects.filter(assignments__in=judged):
        let_go_when_decided(unit, rater.study, unit.targets.count())
