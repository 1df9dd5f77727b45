"""The form that draws the dialogs of a planned study: how, and by which metric run."""

from typing import Any

from django import forms

from annotation.models import Study
from evaluation.models import MetricRun
from evaluation.runs.item_scores import runs_with_scores
from evaluation.runs.names import run_key
from evaluation.runs.progress import titles_by_key

DRAWS = [
    (Study.Draw.UNIFORM.value, "Uniform: each dialog with the same probability"),
    (Study.Draw.STRATIFIED.value, "Stratified: from strata by the score"),
    (Study.Draw.ACTIVE.value, "Active: more of the dialogs about which the metric is in doubt"),
]


class DialogDrawForm(forms.Form):
    """The choice of a draw. One by scores needs a run."""

    draw = forms.ChoiceField(label="Draw", choices=DRAWS, widget=forms.RadioSelect)
    run = forms.ChoiceField(label="Scores of", required=False)

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"draw": study.draw})
        super().__init__(*args, **kwargs)
        runs = runs_with_scores(study)
        self.runs = {run_key(run): run for run in runs}
        fields: Any = self.fields
        fields["run"].choices = [("", "—"), *titles_by_key(runs).items()]

    @property
    def chosen_run(self) -> MetricRun | None:
        """The chosen run; None for a uniform draw."""
        if self.cleaned_data["draw"] == Study.Draw.UNIFORM:
            return None
        return self.runs[self.cleaned_data["run"]]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        needs_run = cleaned.get("draw") not in (None, Study.Draw.UNIFORM.value)
        if needs_run and not cleaned.get("run") and "run" not in self.errors:
            self.add_error("run", "Choose a run, because this draw is made by its scores.")
        return cleaned
