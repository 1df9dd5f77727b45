"""What a researcher chooses on the page of a calibration."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django import forms

from annotation.models import Arm, Study
from annotation.schemes import load_scheme
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.reports.base import Choices
from evaluation.runs.families import Family, families_of, possible_families

USUAL_QUESTION = "attributable"


class CalibrationForm(forms.Form):
    """Which scores are held against which votes, and which hypothesis the grid is scored with.

    What the address does not say, or says wrongly, is as usual: the question on attribution, else
    the first one; the family with the most candidates; the first arm.
    """

    question = forms.ChoiceField(required=False)
    family = forms.ChoiceField(required=False)
    truth = forms.ChoiceField(required=False)
    hypothesis = forms.ChoiceField(required=False)

    def __init__(self, asked: Mapping[str, str], *, study: Study) -> None:
        self.questions = [each.key for each in load_scheme(study.scheme).questions]
        self.arms = [arm.kind for arm in study.arms.all()]
        scored = families_of(study)
        self.families = [*scored, *possible_families(study, scored)]
        self.hypotheses = next(o for o in AutoAisMetric.options if o.name == "hypothesis").choices
        super().__init__(asked)
        for name, known in (
            ("question", self.questions),
            ("family", [each.key for each in self.families]),
            ("truth", self.arms),
            ("hypothesis", [key for key, _ in self.hypotheses]),
        ):
            self.fields[name].choices = [(value, value) for value in known]  # type: ignore[attr-defined]
        self.is_valid()

    @property
    def chosen_question(self) -> str:
        """The question whose votes count."""
        usual = USUAL_QUESTION if USUAL_QUESTION in self.questions else self.questions[0]
        return str(self.cleaned_data.get("question") or usual)

    @property
    def chosen_family(self) -> Family:
        """The family that is chosen from; there is always the one that needs no model."""
        key = self.cleaned_data.get("family")
        return next((each for each in self.families if each.key == key), self.families[0])

    @property
    def chosen_hypothesis(self) -> str:
        """The hypothesis that is scored where something is missing."""
        return str(self.cleaned_data.get("hypothesis") or self.hypotheses[0][0])

    @property
    def choices(self) -> Choices:
        """What the report counts."""
        first = next(iter(self.arms), Arm.Kind.SEPARATE)
        return Choices(truth=self.cleaned_data.get("truth") or first)

    @property
    def query(self) -> str:
        """These choices as an address has them."""
        asked = {
            "question": self.chosen_question,
            "family": self.chosen_family.key,
            "truth": self.choices.truth,
            "hypothesis": self.chosen_hypothesis,
        }
        return urlencode(asked)
