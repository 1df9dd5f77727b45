"""The panel about lower precision on the page of a run. This module only reads.

It shows the result of a measurement, its progress, or the button that starts one.
"""

from typing import NamedTuple

from evaluation.backends.registry import BACKENDS
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.precision import Flips, counterparts, flips_of
from evaluation.runs.progress import RunProgress, run_progress

N_MEASURED = 100  # responses of the run in fp32


class PrecisionPanel(NamedTuple):
    """The effect of lower precision on one run, as far as it has been measured."""

    run: MetricRun
    precision: str  # this run's precision
    others: list[RunProgress]  # the runs with the same choices in the other precision
    flips: Flips | None  # None: no response is scored by both yet, or scoring still goes on
    can_measure: bool

    @property
    def going_on(self) -> RunProgress | None:
        """The run in the other precision that is being scored now."""
        running = MetricRun.State.RUNNING
        return next((each for each in self.others if each.run.state == running), None)

    @property
    def stopped(self) -> RunProgress | None:
        """The run in the other precision that ended without any score to compare."""
        return self.others[0] if self.others and not (self.flips or self.going_on) else None


def precision_panel(run: MetricRun) -> PrecisionPanel | None:
    """Return the panel of a run; None when it was imported or its backend has one precision."""
    kind = BACKENDS.get(run.backend)
    if run.is_imported or kind is None or len(kind.precisions) < 2:
        return None
    precision = run.parameters.get("precision", kind.precisions[0])
    others = [other.pk for other in counterparts(run)]
    same = MetricRun.objects.filter(pk__in=others).select_related("dataset").order_by("-pk")
    panel = PrecisionPanel(run, precision, run_progress(same), None, False)
    if panel.going_on is None and others:
        panel = panel._replace(flips=flips_of(run))
    if panel.flips or panel.going_on or precision != kind.precisions[0]:
        return panel
    given = AutoScore.objects.filter(run=run, score__isnull=False, is_assumed=False)
    return panel._replace(can_measure=given.exists())
