"""Scoring all responses of a dataset for the axes of its figure, in one step."""

from collections.abc import Sequence

from django.db import transaction

from accounts.models import User
from evaluation.models import MetricRun
from evaluation.runs.model_checks import why_unusable
from evaluation.runs.plan import RunPlan
from evaluation.runs.services.runs import RunError, request_metric_run
from generation.models import Dataset


@transaction.atomic
def request_scores(dataset: Dataset, plans: Sequence[RunPlan], user: User) -> list[MetricRun]:
    """Return the runs of some plans over all responses of a dataset, to be sent: all or none.

    A run adds the scores that it lacks, so it is safe to request them twice.

    Raises:
        RunError: a model cannot be used, or a metric can score none of the responses.
    """
    for plan in plans:
        if problem := why_unusable(plan.spec, plan.metric.key):
            raise RunError(problem)
    responses = dataset.responses.of_benchmark()
    return [request_metric_run(dataset, plan, responses, user) for plan in plans]
