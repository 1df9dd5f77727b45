"""The threshold that a study's votes chose for scores made elsewhere: a run of its own."""

from itertools import islice

from django.db import transaction

from evaluation.models import AutoScore, MetricRun
from evaluation.runs.names import threshold_part, without_threshold
from evaluation.runs.plan import (
    MADE_FOR,
    STUDIES_OF_CHOICE,
    THRESHOLD_CHOICE,
    with_study_of_choice,
)

COPIED = 5000  # scores that are copied at once


@transaction.atomic
def with_threshold(run: MetricRun, threshold: float, *, chosen_by_votes_of: str) -> MetricRun:
    """Return the imported run with the same scores and a threshold; it is made if there is none.

    The scores of the file stay as they are, so that importing the file again changes nothing.

    Args:
        chosen_by_votes_of: the slug of the study whose votes made the choice.
    """
    at = threshold_part(threshold, is_yes_at_threshold=run.is_yes_at_threshold)
    signature = "|".join(filter(None, [without_threshold(run.signature), at]))
    made, is_new = MetricRun.objects.get_or_create(
        dataset_id=run.dataset_id,
        metric=run.metric,
        signature=signature,
        is_imported=True,
        defaults={
            "threshold": threshold,
            "is_yes_at_threshold": run.is_yes_at_threshold,
            "parameters": {
                **run.parameters,
                STUDIES_OF_CHOICE: [],
                MADE_FOR: THRESHOLD_CHOICE,
            },
        },
    )
    noted = with_study_of_choice(made.parameters, chosen_by_votes_of)
    if noted != made.parameters:
        made.parameters = noted
        made.save(update_fields=["parameters"])
    if is_new:
        scores = run.scores.order_by("pk").iterator(chunk_size=COPIED)
        while some := list(islice(scores, COPIED)):
            for score in some:
                score.pk, score.run = None, made
            AutoScore.objects.bulk_create(some)
    return made
