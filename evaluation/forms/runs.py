"""Which metric runs are listed."""

from django import forms
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from evaluation.models import AutoScore, MetricRun
from generation.models import Dataset

STATE = MetricRun.State
HAS_FAILED = Q(state=STATE.FAILED) | Q(state=STATE.DONE, has_failed_scores=True)
TABS: dict[str, tuple[str, Q]] = {
    "": ("All", Q()),
    "running": ("Running", Q(state=STATE.RUNNING)),
    "cancelled": ("Cancelled", Q(state=STATE.CANCELLED)),
    "failed": ("Failed", HAS_FAILED),
    "done": ("Done", Q(state=STATE.DONE) & ~HAS_FAILED),
}


class RunFilterForm(forms.Form):
    """Which runs are listed."""

    state = forms.ChoiceField(
        choices=[(key, label) for key, (label, _) in TABS.items()], required=False
    )
    dataset = forms.ModelChoiceField(Dataset.objects.all(), to_field_name="slug", required=False)

    def found(self) -> QuerySet[MetricRun]:
        """Return the runs of the chosen tab, newest first."""
        chosen = self.cleaned_data.get("state", "") if self.is_valid() else ""
        return self._all().filter(TABS[chosen][1]).order_by("-pk")

    def tabs(self) -> list[tuple[str, str, int]]:
        """Return key, label and number of runs of each tab."""
        named = {f"n_{key}": Count("pk", filter=condition) for key, (_, condition) in TABS.items()}
        counts = self._all().aggregate(**named)
        return [(key, label, counts[f"n_{key}"]) for key, (label, _) in TABS.items()]

    def _all(self) -> QuerySet[MetricRun]:
        failed = AutoScore.objects.filter(run=OuterRef("pk"), score=None)
        runs = MetricRun.objects.annotate(has_failed_scores=Exists(failed))
        dataset = self.cleaned_data.get("dataset") if self.is_valid() else None
        return runs.filter(dataset=dataset) if dataset else runs
