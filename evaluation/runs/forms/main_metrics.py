"""The form for the main metrics of a dataset."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from evaluation.models import MetricRun
from evaluation.runs.control_figures import unfit_among
from evaluation.runs.main_metrics import SIDES, Side, pinnable_runs
from evaluation.runs.names import distinct_names, run_parts, run_said
from generation.models import Dataset

KEPT = "kept"  # the choice of a pinned run that has no scores here


class MainMetricsForm(forms.Form):
    """The run that is the main metric of each side; none: the usual one."""

    def __init__(self, dataset: Dataset, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.runs = {str(run.pk): run for run in pinnable_runs(dataset)}
        self._unfit = unfit_among(self.runs.values())
        for side in SIDES:
            self.fields[side.name] = self._field(dataset, side)

    @property
    def is_pinned(self) -> bool:
        """Whether a run is pinned for one of the sides."""
        return any(field.initial for field in self.fields.values())

    @property
    def chosen(self) -> dict[str, MetricRun | None]:
        """The chosen runs by side, without a side whose pin is kept."""
        return {
            name: self.runs.get(said) for name, said in self.cleaned_data.items() if said != KEPT
        }

    def _field(self, dataset: Dataset, side: Side) -> forms.ChoiceField:
        said = side.pinned(dataset)
        pinned = next((pk for pk, run in self.runs.items() if run_said(run) == said), "")
        own = [run for run in self.runs.values() if run.metric in side.metrics]
        others = [run for run in self.runs.values() if run not in own]
        choices: list[Any] = [("", "not pinned: the run with scores of most setups")]
        if said and not pinned:
            choices.append((KEPT, f"{said} (has no scores here)"))
        groups = {f"Metrics of {side.name}": own, "Other metrics": others}
        choices += [(title, self._menu(some)) for title, some in groups.items() if some]
        return forms.ChoiceField(
            label=f"Main {side.name} metric",
            choices=choices,
            required=False,
            initial=pinned or (KEPT if said else ""),
        )

    def _menu(self, runs: Sequence[MetricRun]) -> list[tuple[str, str]]:
        names = distinct_names([(", ".join(run_parts(run)), run.full_signature) for run in runs])
        return [
            (str(run.pk), f"{name} (unfit)" if run.pk in self._unfit else name)
            for run, name in zip(runs, names, strict=True)
        ]
