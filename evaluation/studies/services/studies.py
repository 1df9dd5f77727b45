"""Deletion of a study that nobody has rated in."""

from django.db import transaction

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import Assignment, Exposure, Flag, Rater, Skip, Study, Unit
from annotation.services.studies import StudyError
from annotation.study_progress import was_rated
from evaluation.jobs.services import cancel_job
from evaluation.models import Job
from generation.services.many_rows import delete_rows


@transaction.atomic
def delete_study(study: Study, actor: User) -> None:
    """Delete a study without votes, with its plan, its raters and what they had begun.

    A submit under way is waited for, and counts; one that comes later finds nothing to submit to.

    Raises:
        StudyError: somebody has rated in it.
    """
    if not Study.objects.select_for_update().filter(pk=study.pk).exists():
        return  # somebody else was quicker
    units = Unit.objects.filter(arm__study=study).order_by("pk")
    list(units.select_for_update(no_key=True, of=("self",)).values_list("pk"))
    if was_rated(study):
        raise StudyError(f"{study.name} has votes: it is kept. Close it to end it.")
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
        units,
        Rater.objects.filter(study=study),
    ):
        delete_rows(rows)
    study.delete()
