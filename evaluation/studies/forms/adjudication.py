"""Forms of the worklist: the choice of disagreements to show, and the decision about one."""

from collections.abc import Collection, Mapping, Sequence

from django import forms
from django.utils.html import escape

from accounts.http import query_string
from annotation.models import Rater, Study
from annotation.numbered_questions import is_written_as_number
from annotation.schemes import Question, load_scheme
from evaluation.models import MetricRun
from evaluation.reports.base import Choices
from evaluation.runs.main_metrics import main_runs_of
from evaluation.runs.names import distinct_names
from evaluation.runs.study_targets import is_about
from evaluation.studies.disagreements.cases import run_name
from evaluation.studies.disagreements.worklist import (
    FALSE_ALARM,
    MISSED,
    TIED,
    Disagreement,
)
from evaluation.votes.judgements import UNDECIDABLE
from generation.setup_menus import menu_choices

KINDS = {
    "": "Disagreements",
    MISSED: "Missed",
    FALSE_ALARM: "False alarm",
    TIED: "Tied",
}
OPEN, ADJUDICATED = "open", "adjudicated"
STATUSES = {"": "open and adjudicated", OPEN: "open", ADJUDICATED: "adjudicated"}
LONGEST_NOTE = 2000
CHOOSE = f"Choose an answer, or “{UNDECIDABLE}”."


class WorklistForm(forms.Form):
    """The choice of disagreements, or of tied targets, to show.

    A choice that is missing or invalid in the address has its usual value: the main run, the
    scheme's first main question, the study's first arm, and for the others: all.
    """

    run = forms.ChoiceField(label="Auto-metric")
    question = forms.ChoiceField(label="Question")
    truth = forms.ChoiceField(label="Arm of the majority")
    setup = forms.ChoiceField(label="Setup", required=False)
    status = forms.ChoiceField(label="Status", required=False, choices=list(STATUSES.items()))
    kind = forms.ChoiceField(required=False, choices=list(KINDS.items()), widget=forms.HiddenInput)
    with_excluded = forms.BooleanField(label="Count excluded raters", required=False)

    def __init__(self, study: Study, asked: Mapping[str, str]) -> None:
        self.scheme = load_scheme(study.scheme)
        self.runs = {
            str(run.pk): run
            for run in study.dataset.metric_runs.all()
            if is_about(run, citations=self.scheme.target == "citation")
        }
        self.has_excluded = Rater.objects.filter(study=study, is_excluded=True).exists()
        setups = list(study.setups.all())
        known = {
            "run": _run_names(self.runs),
            "question": [(q.key, q.wording) for q in self.scheme.questions],
            "truth": [(arm.kind, str(arm)) for arm in study.arms.all()],
            "setup": [("", "all setups"), *((s.name, s.name) for s in setups)],
            "status": list(STATUSES.items()),
            "kind": list(KINDS.items()),
        }
        usual = {"question": self.scheme.main_questions[0].key}
        usual["truth"] = known["truth"][0][0] if known["truth"] else ""
        question = asked.get("question", "")
        if question not in dict(known["question"]):
            question = usual["question"]
        usual["run"] = _usual_run(self.runs, main_runs_of(study).get(question, []))
        said = {
            name: asked[name] if asked.get(name) in dict(known[name]) else usual.get(name, "")
            for name in known
        }
        if asked.get("with_excluded") and self.has_excluded:
            said["with_excluded"] = "on"
        self.said = said
        super().__init__(said)
        for name in ("run", "question", "truth"):
            self.fields[name].choices = known[name]  # type: ignore[attr-defined]
        self.fields["setup"].choices = menu_choices(setups, "all setups")  # type: ignore[attr-defined]
        self.fields["setup"].widget.attrs["data-filtered"] = ""

    @property
    def query(self) -> str:
        """The choices as the query of an address, with a ? before."""
        return query_string({name: value for name, value in self.said.items() if value})

    @property
    def chosen_run(self) -> MetricRun | None:
        return self.runs.get(self.said["run"])

    @property
    def chosen_question(self) -> Question:
        question = self.scheme.question(self.said["question"])
        assert question is not None
        return question

    @property
    def is_about_ties(self) -> bool:
        """Whether the list shows tied targets instead of disagreements."""
        return self.said["kind"] == TIED

    @property
    def choices(self) -> Choices:
        return Choices(
            with_excluded="with_excluded" in self.said,
            setup=self.said["setup"],
            truth=self.said["truth"],
        )

    def with_status(
        self, items: Sequence[Disagreement], done: Collection[int]
    ) -> list[Disagreement]:
        """Return the disagreements that have the chosen status.

        Args:
            items: all disagreements.
            done: the ids of the targets that have been adjudicated.
        """
        status = self.said["status"]
        return [item for item in items if not status or (item.target in done) == (status != OPEN)]


def _run_names(runs: Mapping[str, MetricRun]) -> list[tuple[str, str]]:
    """Return the id and the name of each run. Runs that share a name have a distinction added."""
    named = [(run_name(run), run.full_signature) for run in runs.values()]
    return list(zip(runs, distinct_names(named), strict=True))


def _usual_run(runs: Mapping[str, MetricRun], main: Sequence[int]) -> str:
    """Return the main run of the question, else the newest run made in Attest.

    Without such a run it is the first imported run, one with labels before others; empty without
    any.

    Args:
        runs: the runs to choose among, by id.
        main: the ids of the main runs of the question, the best first.
    """
    if main:
        return str(main[0])
    made_here = [int(pk) for pk, run in runs.items() if not run.is_imported]
    imported = sorted(runs, key=lambda pk: runs[pk].threshold is None)
    return str(max(made_here)) if made_here else next(iter(imported), "")


class AdjudicationForm(forms.Form):
    """A decision about one question and one target: an answer or 'cannot be decided', and why.

    On a scale with too many points for buttons, the answer is a number, and 'cannot be decided' a
    box of its own.
    """

    NONE = "none"

    question = forms.CharField(widget=forms.HiddenInput)
    answer = forms.ChoiceField(widget=forms.RadioSelect)
    note = forms.CharField(
        label="Why",
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Say why. The note is stored with the answer."},
    )

    def __init__(
        self, question: Question, target: int, data: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(data, auto_id=f"id_{target}_%s", initial={"question": question.key})
        self.asked, self.target = question, target
        self.is_number = is_written_as_number(question.scale)
        if self.is_number:
            self.fields["answer"] = _number_field(question)
            self.fields["undecidable"] = forms.BooleanField(label=UNDECIDABLE, required=False)
            return
        scale = question.scale
        values = (1, 0) if scale.kind == "yes_no" else scale.values
        answers = [(str(value), scale.label(value)) for value in values]
        field = self.fields["answer"]
        field.label = question.wording
        field.choices = [*answers, (self.NONE, UNDECIDABLE)]  # type: ignore[attr-defined]
        field.error_messages["required"] = CHOOSE

    def clean_question(self) -> str:
        question: str = self.cleaned_data["question"]
        if question != self.asked.key:
            raise forms.ValidationError(f"This study does not ask '{question:.64}'.")
        return question

    def clean_answer(self) -> int | None:
        answer: str | int | None = self.cleaned_data["answer"]
        if answer is None or answer == self.NONE:
            return None
        if int(answer) not in self.asked.scale.values:
            raise forms.ValidationError(f"Answer with {self.asked.scale.expected}.")
        return int(answer)

    def clean(self) -> None:
        """Report a number beside 'cannot be decided', or neither of them."""
        is_answered = self.cleaned_data.get("answer") is not None
        is_undecidable = self.cleaned_data.get("undecidable", False)
        if self.is_number and "answer" not in self.errors and is_answered == is_undecidable:
            both = f"Write a number, or tick “{UNDECIDABLE}”, but not both."
            self.add_error("answer", both if is_answered else CHOOSE)


def _number_field(question: Question) -> forms.IntegerField:
    low, *_, high = question.scale.values
    words = zip((low, high), question.ends or (), strict=False)
    ends = "; ".join(f"{point}: {word}" for point, word in words)
    attrs = {"min": low, "max": high, "step": 1}
    return forms.IntegerField(
        label=question.wording,
        required=False,
        widget=forms.NumberInput(attrs=attrs),
        help_text=escape(f"From {low} to {high}." + (f" {ends}." if ends else "")),
        error_messages={"invalid": f"Answer with {question.scale.expected}."},
    )
