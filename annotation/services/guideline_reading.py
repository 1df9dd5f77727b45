"""The version of the guidelines that each rater has read. It only moves on to newer versions."""

from django.db import transaction
from django.db.models import Subquery

from annotation.models import Guideline, Rater


def begin_with_newest(rater: Rater) -> None:
    """Store that a rater begins with the version in force, unless they have read one already."""
    versions = Guideline.objects.filter(study=rater.study_id).order_by("-version")
    newest = Subquery(versions.values("pk")[:1])
    Rater.objects.filter(pk=rater.pk, read_guideline=None).update(read_guideline=newest)


@transaction.atomic
def note_reading(rater: Rater, guideline: Guideline) -> None:
    """Store that a rater has read a version of their study, unless they have read a newer one."""
    # The lock makes a second tab wait, so that an older version never replaces a newer one.
    raters = Rater.objects.select_for_update(of=("self",)).select_related("read_guideline")
    locked = raters.get(pk=rater.pk, study=guideline.study_id)
    before = locked.read_guideline
    if before is None or before.version < guideline.version:
        locked.read_guideline = guideline
        locked.save(update_fields=["read_guideline"])
    rater.read_guideline = locked.read_guideline
