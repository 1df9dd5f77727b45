"""What a reader may choose about the reports of a study."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django import forms

from annotation.models import Arm, Study
from annotation.schemes import load_scheme
from evaluation.reports.base import Choices


class ReportChoicesForm(forms.Form):
    """What the reports of a study count, and what its page shows of them.

    What the address does not say, or says wrongly, is as usual: all setups, the first arm as the
    truth, given votes of raters who are not excluded.
    """

    setup = forms.ChoiceField(required=False)
    truth = forms.ChoiceField(required=False)
    with_implied = forms.BooleanField(label="Agreement over implied answers too", required=False)
    by_gates = forms.BooleanField(
        label="Answers behind a gate that their rater closed count as implied", required=False
    )
    with_excluded = forms.BooleanField(label="Count excluded raters", required=False)
    question = forms.CharField(required=False)
    run = forms.IntegerField(required=False)

    def __init__(self, asked: Mapping[str, str], *, study: Study) -> None:
        self.setups = sorted(study.setups.values_list("name", flat=True))
        self.arms = [arm.kind for arm in study.arms.all()]
        # Who rates here cannot answer behind a gate that they closed.
        has_gates = any(question.after for question in load_scheme(study.scheme).questions)
        self.offers_gates = study.is_imported and has_gates
        super().__init__(asked)
        for name, known in (("setup", self.setups), ("truth", self.arms)):
            self.fields[name].choices = [(value, value) for value in known]  # type: ignore[attr-defined]
        self.is_valid()

    @property
    def choices(self) -> Choices:
        """What the reports count."""
        said = self.cleaned_data
        return Choices(
            with_implied=said["with_implied"],
            by_gates=said["by_gates"],
            with_excluded=said["with_excluded"],
            setup=said.get("setup", ""),
            truth=said.get("truth") or next(iter(self.arms), Arm.Kind.SEPARATE),
        )

    @property
    def chosen_question(self) -> str:
        """The question that metrics are shown for; empty: the usual one."""
        return str(self.cleaned_data.get("question", ""))

    @property
    def chosen_run(self) -> int | None:
        """The run that is looked at more closely; None: the usual one."""
        run: int | None = self.cleaned_data.get("run")
        return run

    def query_of(self, run: int, question: str) -> str:
        """Return these choices about one run and question, as other pages read them."""
        choices = self.choices
        asked = {
            "run": run,
            "question": question,
            "truth": choices.truth,
            "setup": choices.setup,
            "with_excluded": "on" if choices.with_excluded else "",
        }
        return urlencode({name: value for name, value in asked.items() if value})
