"""The filter of the list of metric runs."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluation.models import AutoScore, MetricRun
from generation.forms.tabs import Tabs, TabsForm

STATE = MetricRun.State
HAS_FAILED = Q(state=STATE.FAILED) | Q(state=STATE.DONE, has_failed_scores=True)
TABS: Tabs = {
    "": ("All", Q()),
    "running": ("Running", Q(state=STATE.RUNNING)),
    "cancelled": ("Cancelled", Q(state=STATE.CANCELLED)),
    "failed": ("Failed", HAS_FAILED),
    "done": ("Done", Q(state=STATE.DONE) & ~HAS_FAILED),
}


class RunFilterForm(TabsForm):
    """The choice of the state whose runs are listed."""

    listed = TABS

    def rows(self) -> QuerySet[MetricRun]:
        """Return all runs, each with `has_failed_scores`, whether one of its scores has failed."""
        failed = AutoScore.objects.filter(run=OuterRef("pk"), score=None)
        return MetricRun.objects.annotate(has_failed_scores=Exists(failed))
