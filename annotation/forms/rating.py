"""What a rater fills in: one form per response of a unit, built from the scheme as data.

One class serves every scheme and layout. Fields are named by question and shown position
(`relevant-2`), so that no id of the database reaches the page.
"""

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

from django import forms

from annotation.asked import AskedQuestion, asked_questions, gates_of, impossible_in_words
from annotation.models import Arm, Study
from annotation.rated_units import RatedUnit, ShownResponse
from annotation.schemes import YES_NO, Question, Scheme
from annotation.voting import Judgement, with_implied
from generation.models import Entity

Layout = Literal["questions", "in_turn", "matrix", "judge"]

FEW_QUESTIONS = 2  # so few have their help open at first
EXCERPT = 40  # characters of a response that stand beside its answer on a phone
LONGEST_SECONDS = 24 * 3600.0  # more is no time on task
NO_ANSWER = "No answer yet."

SKIP_REASONS = (
    "I cannot judge this topic",
    "The text is in a language I do not read well",
    "The content is distressing",
    "Another reason",
)
FLAG_REASONS = (
    "Text is cut off or garbled",
    "Evidence is missing or empty",
    "The dialog makes no sense on its own",
    "Something else",
)


# --- what a page shows of a question --------------------------------------------------------


class Option(NamedTuple):
    """One answer that can be chosen."""

    value: int
    label: str
    is_chosen: bool


class Cell(NamedTuple):
    """One question about one response, with the answers to choose from."""

    name: str  # of the form's field
    options: list[Option]
    error: str
    is_first_error: bool  # where the page puts the focus


class Contradiction(NamedTuple):
    """Answers that cannot stand together; `when` names the fields: 'a-1=1 b-1=0'."""

    when: str
    text: str
    is_there: bool


# --- forms ----------------------------------------------------------------------------------


class VoteForm(forms.Form):
    """A scheme's questions about one response or citation. Whatever is not asked is implied."""

    judgement: Judgement
    given: dict[str, int]

    def __init__(
        self,
        scheme: Scheme,
        shown: ShownResponse,
        answers: Mapping[str, int],
        data: Mapping[str, Any] | None,
    ) -> None:
        self.scheme, self.shown, self.given = scheme, shown, dict(answers)
        super().__init__(data)
        if data is None:
            self.judgement = with_implied(scheme, self.given)
            return
        for question in scheme.questions:
            self.fields[question.key] = forms.TypedChoiceField(
                choices=list(zip(question.scale.values, question.scale.labels, strict=True)),
                coerce=int,
                empty_value=None,
                required=False,
            )

    def add_prefix(self, field_name: str) -> str:
        return f"{field_name}-{self.shown.position}"

    def clean(self) -> None:
        """Ask for what is missing, unless the response is flagged, and refuse what cannot be."""
        cleaned = self.cleaned_data
        self.given = {key: answer for key, answer in cleaned.items() if answer is not None}
        self.judgement = with_implied(self.scheme, self.given)
        for key in self.judgement.missing:
            if self.shown.flag is None and key not in self.errors:
                self.add_error(key, NO_ANSWER)
        for together in self.judgement.impossible:
            last = [key for key in self.scheme.keys if key in together][-1]
            self.add_error(last, impossible_in_words(self.scheme, together))

    @property
    def excerpt(self) -> str:
        text = " ".join(self.shown.text.split())
        return text if len(text) <= EXCERPT else f"{text[:EXCERPT].rstrip()}…"

    @property
    def contradictions(self) -> list[Contradiction]:
        """Return each combination of the scheme that cannot be, for this response."""
        return [
            Contradiction(
                when=" ".join(f"{self.add_prefix(key)}={together[key]}" for key in together),
                text=impossible_in_words(self.scheme, together),
                is_there=together in self.judgement.impossible,
            )
            for together in self.scheme.impossible
        ]

    @property
    def first_name(self) -> str:
        """Return the field of the first question: the only one where buttons submit."""
        return self.add_prefix(self.scheme.keys[0])

    @property
    def said_yes(self) -> bool:
        return self.given.get(self.scheme.keys[0]) == 1

    @property
    def said_no(self) -> bool:
        return self.given.get(self.scheme.keys[0]) == 0

    def cell(self, question: Question, *, is_first_error: bool) -> Cell:
        scale, answer = question.scale, self.given.get(question.key)
        if scale == YES_NO:  # yes first, as people say it
            options = [Option(1, "Yes", answer == 1), Option(0, "No", answer == 0)]
        else:
            answers = zip(scale.values, scale.labels, strict=True)
            options = [Option(value, label, answer == value) for value, label in answers]
        errors = self.errors.get(question.key) if self.is_bound else None
        error = str(errors[0]) if errors else ""
        return Cell(self.add_prefix(question.key), options, error, is_first_error)


class RatingForm:
    """All of a unit: a form per response, the layout that fits, and the time on task."""

    def __init__(self, unit: RatedUnit, data: Mapping[str, Any] | None = None) -> None:
        self.unit, self._data = unit, data
        self.asked = asked_questions(unit.scheme)
        self.gates = gates_of(self.asked)
        self.forms = [
            VoteForm(unit.scheme, shown, unit.answers.get(shown.target_id, {}), data)
            for shown in unit.responses
        ]

    def is_valid(self) -> bool:
        """Return whether all can be stored; checks every form, so that each shows its errors."""
        invalid = [form for form in self.forms if not form.is_valid()]
        return not invalid

    @property
    def answers(self) -> dict[int, dict[str, int]]:
        """Return what is answered so far, for a draft: target → question → answer."""
        return {form.shown.target_id: form.given for form in self.forms}

    @property
    def seconds(self) -> float | None:
        """Return the active seconds that the browser counted; None without a script."""
        try:
            seconds = float((self._data or {}).get("seconds") or math.nan)
        except ValueError:
            return None
        return seconds if 0 <= seconds <= LONGEST_SECONDS else None

    # --- what the page needs --------------------------------------------------------------

    @cached_property
    def layout(self) -> Layout:
        """Return how the unit is laid out; data decides, so a new scheme needs no template."""
        unit = self.unit
        if unit.arm == Arm.Kind.MERGED:
            is_in_turn = unit.study.merged_layout == Study.MergedLayout.IN_TURN
            return "in_turn" if is_in_turn else "matrix"
        questions = unit.scheme.questions
        is_one_yes_no = len(questions) == 1 and questions[0].scale == YES_NO
        return "judge" if unit.scheme.target == "citation" and is_one_yes_no else "questions"

    @property
    def title(self) -> str:
        n_responses = len(self.forms)
        if self.unit.scheme.target == "citation":
            return self.asked[0].question.wording
        if n_responses == 1:
            return "Rate a response"
        how = "in turn" if self.layout == "in_turn" else "side by side"
        return f"Rate {n_responses} responses {how}"

    @property
    def desk(self) -> str:
        """Return the class of the page's frame."""
        if self.layout == "judge":
            return "judge-page"
        if self.layout == "matrix":
            return "desk desk--matrix"
        if self.evidence_by_question:
            return "desk desk--two desk--wide-panel"
        return "desk desk--three" if self.has_evidence else "desk desk--two"

    @property
    def single(self) -> ShownResponse | None:
        """Return the response where there is just one."""
        return self.unit.responses[0] if len(self.forms) == 1 else None

    @property
    def pinned(self) -> ShownResponse | None:
        """Return what stays at the foot of the dialog, beside the evidence."""
        return self.single if self.has_evidence else None

    @property
    def response_in_dialog(self) -> ShownResponse | None:
        """Return what stands as the dialog's last turn, where there is no evidence."""
        return None if self.has_evidence else self.single

    @cached_property
    def subject(self) -> str:
        """Return the name of what a cited fact is about: the sentence may only say 'he'."""
        citation = self.unit.responses[0].citation
        if citation is None:
            return ""
        entities = Entity.objects.filter(dataset=self.unit.study.dataset_id, qid=citation.qid)
        return entities.values_list("label", flat=True).first() or ""

    @property
    def n_columns(self) -> int:
        return len(self.forms) + 1

    @property
    def n_units(self) -> int:
        """Return a fair share of the units; who has done more sees what they did."""
        return max(1, self.unit.share.n_share, self.unit.share.n_submitted)

    @property
    def things(self) -> str:
        return "pairs" if self.unit.scheme.target == "citation" else "units"

    @property
    def has_yes_no(self) -> bool:
        return any(question.scale == YES_NO for question in self.unit.scheme.questions)

    @property
    def most_options(self) -> int:
        """Return how many answers the longest scale has, as far as one key can tell them apart."""
        scales = [q.scale for q in self.unit.scheme.questions if q.scale != YES_NO]
        return min(9, max((len(scale.values) for scale in scales), default=0))

    @property
    def is_in_hand(self) -> bool:
        """Whether what is typed is kept as a draft."""
        return self.unit.state in ("open", "gone")

    @property
    def is_read_only(self) -> bool:
        return not (self.is_in_hand or self.unit.is_changeable or self.unit.state == "preview")

    @property
    def has_open_help(self) -> bool:
        return len(self.asked) <= FEW_QUESTIONS and self.layout != "matrix"

    @property
    def has_evidence(self) -> bool:
        """Whether the evidence has a pane of its own, beside all questions."""
        scheme = self.unit.scheme
        if scheme.has_evidence_by_question:
            return False
        return self._is_any_evidence or scheme.evidence == "needed"

    @property
    def evidence_by_question(self) -> bool:
        """Whether there is evidence that stands beside some questions alone."""
        return self.unit.scheme.has_evidence_by_question and self._is_any_evidence

    @property
    def _is_any_evidence(self) -> bool:
        return bool(self.unit.passages or self.unit.graph)

    @property
    def evidence_in_words(self) -> str:
        """Return how much evidence there is: '1 passage, 3 entities'."""
        n_passages, n_entities = len(self.unit.passages), len(self.unit.graph)
        passages = f"{n_passages} passage{'s' if n_passages != 1 else ''}"
        entities = f"{n_entities} entit{'ies' if n_entities != 1 else 'y'}"
        if not n_entities:
            return passages
        return f"{passages}, {entities}" if n_passages else entities

    @property
    def flagged(self) -> list[ShownResponse]:
        return [shown for shown in self.unit.responses if shown.flag is not None]

    @cached_property
    def n_answered(self) -> int:
        return sum(
            not answer.is_implied
            for form in self.forms
            for answer in form.judgement.answers.values()
        )

    @cached_property
    def n_asked(self) -> int:
        """Return how many questions are open: all but those behind a closed gate."""
        judgements = [form.judgement for form in self.forms]
        n_closed = sum(answer.is_implied for j in judgements for answer in j.answers.values())
        return len(self.asked) * len(self.forms) - n_closed

    @cached_property
    def first_error(self) -> tuple[VoteForm, AskedQuestion] | None:
        """Return where the first error is, in the order in which the page asks."""
        places = [(form, asked) for form in self.forms for asked in self.asked]
        if self.layout == "matrix":
            places = [(form, asked) for asked in self.asked for form in self.forms]
        bad = (place for place in places if place[1].question.key in place[0].errors)
        return next(bad, None) if self._data is not None else None

    @property
    def problem(self) -> str:
        """Return the first thing that keeps the form from being submitted."""
        if self.first_error is None:
            return ""
        form, asked = self.first_error
        of = f" of response {form.shown.position}" if len(self.forms) > 1 else ""
        error = str(form.errors[asked.question.key][0])
        if error == NO_ANSWER:
            return f"question {asked.number}{of} has no answer."
        return f"question {asked.number}{of}: {error}"

    @property
    def first_error_name(self) -> str:
        """Return the field that the page moves to."""
        if self.first_error is None:
            return ""
        form, asked = self.first_error
        return form.add_prefix(asked.question.key)

    def _cell(self, form: VoteForm, asked: AskedQuestion) -> Cell:
        return form.cell(asked.question, is_first_error=self.first_error == (form, asked))

    def blocks(self) -> Iterator[tuple[VoteForm, list[tuple[AskedQuestion, Cell]]]]:
        """Return each response with its questions."""
        for form in self.forms:
            yield form, [(asked, self._cell(form, asked)) for asked in self.asked]

    def rows(self) -> Iterator[tuple[AskedQuestion, list[tuple[VoteForm, Cell]]]]:
        """Return each question with a cell for each response: the matrix."""
        for asked in self.asked:
            yield asked, [(form, self._cell(form, asked)) for form in self.forms]


class SkipForm(forms.Form):
    """Why a rater gives a unit back."""

    reason = forms.ChoiceField(choices=[(reason, reason) for reason in SKIP_REASONS])
    note = forms.CharField(required=False, max_length=2000)


class FlagForm(forms.Form):
    """What is wrong with which responses of a unit."""

    reason = forms.ChoiceField(choices=[(reason, reason) for reason in FLAG_REASONS])
    note = forms.CharField(required=False, max_length=2000)
    responses = forms.TypedMultipleChoiceField(coerce=int)

    def __init__(self, unit: RatedUnit, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        positions = [(shown.position, shown.position) for shown in unit.responses]
        self.fields["responses"].choices = positions  # type: ignore[attr-defined]
        self.targets = {shown.position: shown.target_id for shown in unit.responses}

    @property
    def target_ids(self) -> list[int]:
        return [self.targets[position] for position in self.cleaned_data["responses"]]

    @property
    def words(self) -> str:
        """Return the reason as it is stored, with the rater's own words."""
        return ": ".join(filter(None, [self.cleaned_data["reason"], self.cleaned_data["note"]]))
