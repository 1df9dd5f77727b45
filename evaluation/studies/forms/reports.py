"""The form of the choices that a reader may make about the reports of a study."""

from collections.abc import Mapping

from django import forms

from accounts.http import query_string
from annotation.models import Study
from annotation.schemes import load_scheme
from evaluation.reports.base import Choices
from evaluation.studies.reports.choices import usual_choices
from generation.choices.forms import ChoicesForm
from generation.setup_menus import menu_choices


class ReportChoicesForm(ChoicesForm[Choices]):
    """The choice of the votes that reports count, and of the question and run that a page shows.

    A choice that is missing or invalid in the address has its usual value: all setups, the first
    arm as the truth, only given votes, no excluded raters.
    """

    question = forms.CharField(required=False)
    run = forms.IntegerField(required=False)

    def __init__(self, asked: Mapping[str, str], *, study: Study) -> None:
        setups = sorted(study.setups.all(), key=str)
        self.setups = [setup.name for setup in setups]
        self.arms = [arm.kind for arm in study.arms.all()]
        # A rater in Attest cannot answer a question behind a gate that they closed. Only imported
        # votes can have such answers.
        has_gates = any(question.after for question in load_scheme(study.scheme).questions)
        self.offers_gates = study.is_imported and has_gates
        self._usual = usual_choices(study)
        menu = dict(menu_choices(setups, f"all {len(setups)} setups"))
        known = {"setup": menu, "truth": self.arms}
        super().__init__(Choices, asked, without={"by_setup"}, known=known)
        self.fields["setup"].widget.attrs |= {
            "id": "filter-setup",
            "class": "btn",
            "data-filtered": "",
        }

    @property
    def choices(self) -> Choices:
        """The choices that the reports are made with."""
        return self._usual._replace(**self.given)

    @property
    def is_usual(self) -> bool:
        """Whether the reader has changed none of the usual choices."""
        return self.choices == self._usual

    @property
    def chosen_question(self) -> str:
        """The question that metrics are shown for; empty: the usual one."""
        return str(self.cleaned_data.get("question", ""))

    @property
    def chosen_run(self) -> int | None:
        """The id of the run that the page shows in detail; None: the usual run."""
        run: int | None = self.cleaned_data.get("run")
        return run

    def query_of(self, run: int, question: str) -> str:
        """Return these choices, for one run and question, as the query of an address."""
        choices = self.choices
        asked = {
            "run": run,
            "question": question,
            "truth": choices.truth,
            "setup": choices.setup,
            "with_excluded": "on" if choices.with_excluded else "",
        }
        return query_string({name: value for name, value in asked.items() if value})

    def query_of_threshold_choice(self, question: str) -> str:
        """Return those of these choices that threshold choice has, as the query of an address."""
        asked = {"question": question, "adjudicated": "on" if self.choices.adjudicated else ""}
        return query_string({name: value for name, value in asked.items() if value})
