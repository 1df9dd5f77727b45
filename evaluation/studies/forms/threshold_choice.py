"""The form of the choices that a researcher makes on the page of a threshold choice."""

from collections.abc import Mapping
from typing import Any

from django import forms

from accounts.http import query_string
from annotation.models import Arm, Study, arm_name
from annotation.schemes import load_scheme
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.reports.base import Choices
from evaluation.runs.families import Family, families_of, possible_families
from generation.choices.declaration import fields_of
from generation.choices.forms import form_field


class ThresholdChoiceForm(forms.Form):
    """The choice of the scores and votes to compare, and of the hypothesis to score the grid with.

    A choice that is missing or invalid in the address has its usual value: the scheme's first
    main question; the family with the most candidates; the first arm; the
    first hypothesis.
    """

    question = forms.ChoiceField(required=False)
    family = forms.ChoiceField(label="Scores", required=False)
    truth = forms.ChoiceField(required=False)
    hypothesis = forms.ChoiceField(label="Hypothesis to score", required=False)
    adjudicated = form_field(next(f for f in fields_of(Choices) if f.name == "adjudicated"))

    def __init__(self, asked: Mapping[str, str], *, study: Study) -> None:
        self.scheme = load_scheme(study.scheme)
        self.questions = self.scheme.keys
        self.arms = [arm.kind for arm in study.arms.all()]
        self.has_decisions = study.adjudications.exists()
        scored = families_of(study)
        self.families = [*scored, *possible_families(study, scored)]
        self.hypotheses = next(o for o in AutoAisMetric.options if o.name == "hypothesis").choices
        super().__init__(asked)
        fields: Any = self.fields
        fields["question"].choices = [(key, key.replace("_", " ")) for key in self.questions]
        fields["family"].choices = [(each.key, _words(each)) for each in self.families]
        fields["truth"].choices = [
            (arm, f"majority of the {arm_name(arm)} arm") for arm in self.arms
        ]
        fields["hypothesis"].choices = [(key, words.lower()) for key, words in self.hypotheses]
        self.is_valid()

    @property
    def chosen_question(self) -> str:
        """The question whose votes count."""
        usual = self.scheme.main_questions[0].key
        return str(self.cleaned_data.get("question") or usual)

    @property
    def chosen_family(self) -> Family:
        """The family to choose from. There is always one, because one family needs no model."""
        key = self.cleaned_data.get("family")
        return next((each for each in self.families if each.key == key), self.families[0])

    @property
    def chosen_hypothesis(self) -> str:
        """The hypothesis that the missing runs of the grid are scored with."""
        return str(self.cleaned_data.get("hypothesis") or self.hypotheses[0][0])

    @property
    def choices(self) -> Choices:
        """The choices that the report is made with."""
        first = next(iter(self.arms), Arm.Kind.SEPARATE)
        return Choices(
            truth=self.cleaned_data.get("truth") or first,
            adjudicated=self.has_decisions and bool(self.cleaned_data.get("adjudicated")),
        )

    @property
    def address(self) -> str:
        """The choices as the query of an address, with a ? before."""
        asked = {
            "question": self.chosen_question,
            "family": self.chosen_family.key,
            "truth": self.choices.truth,
            "hypothesis": self.chosen_hypothesis,
        }
        return query_string(asked | ({"adjudicated": "on"} if self.choices.adjudicated else {}))


def _words(family: Family) -> str:
    return family.title if family.candidates else f"{family.title} (nothing scored yet)"
