"""Deletion of a study in which no rater has judged anything."""

from django.db import transaction

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import Assignment, Enquiry, Exposure, Flag, Rater, Skip, Study, Unit
from annotation.services.studies import StudyError
from annotation.services.study_lock import lock_alone
from annotation.study_progress import was_rated
from evaluation.jobs.services import cancel_job
from evaluation.models import Job
from generation.services.many_rows import delete_rows


@transaction.atomic
def delete_study(study: Study, actor: User) -> None:
    """Delete an unrated study, with its plan, its raters and the assignments they had begun.

    If a rater is submitting at this moment, the deletion waits, and the submit counts. A submit
    that comes later fails, because its assignment no longer exists.

    Raises:
        StudyError: a rater has judged something in the study, also late or by a flag alone.
    """
    if not Study.objects.select_for_update().filter(pk=study.pk).exists():
        return  # another request has already deleted the study
    lock_alone(study.pk)
    units = Unit.objects.filter(arm__study=study)
    if was_rated(study):
        raise StudyError(f"{study.name} has votes, so it was not deleted. Close it to end it.")
    for job in Job.objects.filter(study=study):
        cancel_job(job, actor)
    record_in_audit_trail(
        actor, "study.deleted", study.name, n_units=units.count(), n_raters=study.raters.count()
    )
    for rows in (
        Flag.objects.filter(arm__study=study),
        Assignment.objects.filter(study=study),
        Exposure.objects.filter(rater__study=study),
        Skip.objects.filter(rater__study=study),
        Enquiry.objects.filter(rater__study=study),
        units,
        Rater.objects.filter(study=study),
    ):
        delete_rows(rows)
    study.delete()
