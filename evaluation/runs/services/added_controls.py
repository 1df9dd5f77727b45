"""Controls of a run that is there already, and the threshold that they choose.

Nothing here sends work to a queue; `evaluation.runs.services.chunks.send_run` does.
"""

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from evaluation.metrics.registry import METRICS, is_of_earlier_rule
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.choices import USUAL_CONTROLS
from evaluation.runs.control_figures import floor_threshold
from evaluation.runs.plan import RunPlan, plan_again
from evaluation.runs.services.controls import add_controls, copy_controls
from evaluation.runs.services.runs import RunError, locked_run, record_run, request_metric_run
from generation.models import Response


@transaction.atomic
def request_controls(run: MetricRun, user: User | None, n: int = USUAL_CONTROLS) -> int:
    """Queue the controls of a run that has too few. Return of how many targets they are made.

    Raises:
        RunError: the run can have none, because it was imported, or its metric has no controls, or
            it was scored by an earlier rule; or the run is not done.
    """
    run = locked_run(run)
    kind = None if run.is_imported else METRICS.get(run.metric)
    if kind is None or not kind.controls or is_of_earlier_rule(run):
        raise RunError("Nothing can be made here of which this run's right labels are known.")
    if run.state != MetricRun.State.DONE:
        raise RunError("Controls can be added when the run is done.")
    targets = AutoScore.objects.filter(run=run).order_by().values_list("target", flat=True)
    n_added = add_controls(run, list(targets), n)
    if n_added:
        record_run(user, "run.controls_requested", run, n_controls=n_added)
    return n_added


def plan_by_floor(run: MetricRun) -> tuple[RunPlan, QuerySet[Response]]:
    """Return the plan of a run at the threshold that the controls of a run choose.

    It is over the same responses, and its scores are those of the run.

    Raises:
        RunError: there is no such threshold.
    """
    threshold = None if is_of_earlier_rule(run) else floor_threshold(run)
    if threshold is None:
        raise RunError("The controls of this run choose no threshold.")
    plan = plan_again(run)._replace(threshold=threshold.threshold, is_by_floor=True)
    return plan, Response.objects.filter(targets__scores__run=run).distinct()


@transaction.atomic
def request_by_floor(run: MetricRun, user: User | None) -> MetricRun:
    """Return the run of `plan_by_floor`, with the same controls.

    Raises:
        RunError: as in `plan_by_floor`.
    """
    chosen = request_metric_run(run.dataset, *plan_by_floor(run), user)
    copy_controls(run, chosen)
    return chosen
