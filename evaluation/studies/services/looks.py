"""Looks at the figures of a study that is still being rated."""

from django.db.models import F

from annotation.models import Study


def count_look(study: Study, n_votes: int) -> None:
    """Count a look at a study's figures if raters are at work and votes have come since the last.

    An interval holds for one look. A researcher who looks again and again, and stops when the
    figures please, is wrong more often than it says.

    Args:
        study: the study; its number of looks is brought up to date.
        n_votes: the votes that the figures are made of.
    """
    if not study.is_running or study.n_votes_at_look >= n_votes:
        return
    unseen = Study.objects.filter(pk=study.pk, n_votes_at_look__lt=n_votes)
    unseen.update(n_looks=F("n_looks") + 1, n_votes_at_look=n_votes)
    study.refresh_from_db(fields=["n_looks", "n_votes_at_look"])
