"""The page on which a unit is rated: its layout, its texts, and each question with its answers."""

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext, gettext_noop, ngettext

from annotation.forms.rating import NO_ANSWER, RatingForm, VoteForm
from annotation.models import Arm, Study
from annotation.numbered_questions import (
    MOST_BUTTONS,
    AskedQuestion,
    asked_questions,
    gates_of,
    impossible_in_words,
)
from annotation.own_work import progress_in_words
from annotation.pages.drawn_questions import (
    HEAD_OF_ROW,
    IN_MATRIX,
    IN_PANEL,
    draw_question,
    kept_question,
)
from annotation.rated_units import ShownResponse
from annotation.schemes import YES_NO
from annotation.stated_reasons import reason_in_words
from generation.models import Entity
from generation.text_html import LONGEST_RENDERED, markdown_words

Layout = Literal["questions", "in_turn", "matrix", "judge"]

FEW_QUESTIONS = 2  # the help of questions is open at first if there are not more
ANSWERED = gettext_noop("{n} of {all} answered")
EXCERPT = 40  # characters of a response that are shown beside its answers on a phone


class Contradiction(NamedTuple):
    """Answers that exclude each other; `when` names the fields: 'a-1=1 b-1=0'."""

    when: str
    text: str
    is_there: bool


class TargetForm:
    """One response or citation with its form."""

    def __init__(self, form: VoteForm, *, is_markdown: bool = False) -> None:
        self.form, self.shown, self._is_markdown = form, form.shown, is_markdown

    @property
    def label(self) -> str:
        return gettext("Response %(position)s") % {"position": self.shown.position}

    @property
    def excerpt(self) -> str:
        words = self.shown.text
        if self._is_markdown:
            words = markdown_words(words[:LONGEST_RENDERED])
        text = " ".join(words.split())
        return text if len(text) <= EXCERPT else f"{text[:EXCERPT].rstrip()}…"

    @property
    def contradictions(self) -> list[Contradiction]:
        """Return each impossible combination of the scheme, for this response."""
        return [
            Contradiction(
                when=" ".join(f"{self.form.add_prefix(key)}={together[key]}" for key in together),
                text=impossible_in_words(self.form.scheme, together),
                is_there=together in self.form.judgement.impossible,
            )
            for together in self.form.scheme.impossible
        ]

    @property
    def first_name(self) -> str:
        """Return the name of the first question's field; buttons that submit belong to it alone."""
        return self.form.add_prefix(self.form.scheme.keys[0])

    @property
    def said_yes(self) -> bool:
        return self.form.given.get(self.form.scheme.keys[0]) == 1

    @property
    def said_no(self) -> bool:
        return self.form.given.get(self.form.scheme.keys[0]) == 0

    def error(self, asked: AskedQuestion) -> str:
        """Return what is wrong with the answer to a question; "" if nothing is, or not sent yet."""
        errors = self.form.errors.get(asked.question.key) if self.form.is_bound else None
        return str(errors[0]) if errors else ""


Cell = tuple[TargetForm, SafeString]


class RatingDesk:
    """A unit with its form, as one page shows both."""

    def __init__(self, form: RatingForm) -> None:
        self._form, self.unit = form, form.unit
        self.asked = asked_questions(form.unit.scheme)
        self.gates = gates_of(self.asked)
        is_markdown = form.unit.study.text_format == Study.TextFormat.MARKDOWN
        self.responses = [TargetForm(each, is_markdown=is_markdown) for each in form.forms]

    @cached_property
    def layout(self) -> Layout:
        """Return the layout of the unit. It follows from data, so new schemes need no template."""
        unit = self.unit
        if unit.arm == Arm.Kind.MERGED:
            is_in_turn = unit.study.merged_layout == Study.MergedLayout.IN_TURN
            return "in_turn" if is_in_turn else "matrix"
        questions = unit.scheme.questions
        is_one_yes_no = len(questions) == 1 and questions[0].scale == YES_NO
        return "judge" if unit.scheme.target == "citation" and is_one_yes_no else "questions"

    @property
    def title(self) -> str:
        n_responses = len(self.responses)
        if self.unit.scheme.target == "citation":
            return self.asked[0].question.wording
        if n_responses == 1:
            return gettext("Rate a response")
        if self.layout == "in_turn":
            return gettext("Rate {n} responses in turn").format(n=n_responses)
        return gettext("Rate {n} responses side by side").format(n=n_responses)

    @property
    def layout_words(self) -> str:
        """Return how several responses stand on the page: '2 responses side by side'."""
        said = gettext("{n} responses side by side")
        if self.layout == "in_turn":
            said = gettext("{n} responses in turn")
        return said.format(n=len(self.responses))

    @property
    def submit_words(self) -> str:
        """Return what the button says that sends the answers."""
        n_responses = len(self.responses)
        if not (self.is_in_hand or self.unit.is_outside_queue):
            return gettext("Save changes")
        if self.unit.state == "gone":
            return gettext("Submit anyway")
        if self.unit.is_outside_queue or n_responses == 1:
            return gettext("Submit")
        return (
            gettext("Submit both")
            if n_responses == 2
            else gettext("Submit all {n}").format(n=n_responses)
        )

    @property
    def answered_words(self) -> str:
        """Return how many questions are answered: '3 of 7 answered'."""
        return gettext(ANSWERED).format(n=self.n_answered, all=self.n_asked)

    @property
    def script_words(self) -> dict[str, str]:
        """Return what rate.js and find.js say, in the language of the page."""
        return {
            "answered": gettext(ANSWERED),
            "missing": ngettext("{n} answer is missing.", "{n} answers are missing.", 1),
            "missingMany": ngettext("{n} answer is missing.", "{n} answers are missing.", 2),
            "saved": gettext("Draft saved {time}"),
            "notSaved": gettext("Not saved, retrying"),
            "offline": gettext("Offline, kept in this browser"),
            "signedOut": gettext("Signed out, kept in this browser"),
            "changed": gettext("Changes not saved yet"),
            "notSubmitted": gettext("Not submitted yet, kept in this browser"),
            "match": gettext("{n} of {all}"),
        }

    @property
    def frame(self) -> str:
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
        """Return the response if there is only one; else None."""
        return self.unit.responses[0] if len(self.responses) == 1 else None

    @cached_property
    def subject(self) -> str:
        """Return the name of the entity that is cited, because the sentence may only say 'he'."""
        citation = self.unit.responses[0].citation
        if citation is None:
            return ""
        entities = Entity.objects.filter(dataset=self.unit.study.dataset_id, qid=citation.qid)
        return entities.values_list("label", flat=True).first() or ""

    @property
    def n_columns(self) -> int:
        return len(self.responses) + 1

    @property
    def n_units(self) -> int:
        """Return a fair share of the units; for raters who did more, the units that they did."""
        return max(1, self.unit.share.n_share, self.unit.share.n_submitted)

    @property
    def hours_left(self) -> float | None:
        """Return the hours that are left at the rater's own pace; None if none are, or unknown."""
        share = self.unit.share
        n_left = self.n_units - share.n_submitted
        if not (n_left and share.seconds_per_unit):
            return None
        return max(n_left * share.seconds_per_unit, 60) / 3600

    @property
    def progress_words(self) -> str:
        """Return how far the rater is: 'Progress: 3 of 20 units'."""
        is_of_pairs = self.unit.scheme.target == "citation"
        said = progress_in_words(self.unit.share.n_submitted, self.n_units, is_of_pairs=is_of_pairs)
        return gettext("Progress: {said}").format(said=said)

    @property
    def has_yes_no(self) -> bool:
        return any(question.scale == YES_NO for question in self.unit.scheme.questions)

    @property
    def most_options(self) -> int:
        """Return how many answers the longest scale has, but at most 9: each needs a digit key."""
        scales = [q.scale for q in self.unit.scheme.questions if q.scale != YES_NO]
        lengths = [len(scale.values) for scale in scales if len(scale.values) <= MOST_BUTTONS]
        return min(9, max(lengths, default=0))

    @property
    def is_in_hand(self) -> bool:
        """Whether the rater's answers are kept as a draft."""
        return self.unit.state in ("open", "gone")

    @property
    def is_read_only(self) -> bool:
        return not (self.is_in_hand or self.unit.is_changeable or self.unit.is_outside_queue)

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
        """Whether there is evidence that is shown beside some questions only."""
        return self.unit.scheme.has_evidence_by_question and self._is_any_evidence

    @property
    def _is_any_evidence(self) -> bool:
        return bool(self.unit.passages or self.unit.graph)

    @property
    def evidence_in_words(self) -> str:
        """Return how much evidence there is: '1 passage, 3 entities'."""
        n_passages, n_entities = len(self.unit.passages), len(self.unit.graph)
        passages = ngettext("{n} passage", "{n} passages", n_passages).format(n=n_passages)
        entities = ngettext("{n} entity", "{n} entities", n_entities).format(n=n_entities)
        if not n_entities:
            return passages
        return f"{passages}, {entities}" if n_passages else entities

    @property
    def flagged(self) -> list[ShownResponse]:
        return [shown for shown in self.unit.responses if shown.flag is not None]

    @property
    def flagged_words(self) -> str:
        """Return which responses the rater flagged: 'You flagged this:'."""
        if len(self.responses) == 1:
            return gettext("You flagged this:")
        response = gettext("response {position}")
        places = ", ".join(response.format(position=shown.position) for shown in self.flagged)
        return gettext("You flagged {responses}:").format(responses=places)

    @property
    def flag_reason(self) -> str:
        """Return why the rater flagged something, in the language of the page."""
        return reason_in_words(self.flagged[0].flag or "") or gettext("a problem")

    @cached_property
    def n_answered(self) -> int:
        return sum(
            not answer.is_implied
            for part in self.responses
            for answer in part.form.judgement.answers.values()
        )

    @cached_property
    def n_asked(self) -> int:
        """Return how many questions are asked: all but those behind a closed gate."""
        judgements = [part.form.judgement for part in self.responses]
        n_closed = sum(answer.is_implied for j in judgements for answer in j.answers.values())
        return len(self.asked) * len(self.responses) - n_closed

    @cached_property
    def first_error(self) -> tuple[TargetForm, AskedQuestion] | None:
        """Return the place of the first error, response by response; None before it is sent."""
        places = ((part, asked) for part in self.responses for asked in self.asked)
        bad = (place for place in places if place[1].question.key in place[0].form.errors)
        return next(bad, None) if self._form.is_sent else None

    @cached_property
    def n_missing(self) -> int:
        """Return how many answers are missing; 0 before the form is sent."""
        errors = (part.error(asked) for part in self.responses for asked in self.asked)
        return sum(error == str(NO_ANSWER) for error in errors)

    @property
    def problem(self) -> str:
        """Return what keeps the form from being submitted; "" if nothing does."""
        if self.first_error is None:
            return ""
        if self.n_missing:
            n = self.n_missing
            return ngettext("{n} answer is missing.", "{n} answers are missing.", n).format(n=n)
        part, asked = self.first_error
        said = gettext("question {number}: {error}")
        if len(self.responses) > 1:
            said = gettext("question {number} of response {position}: {error}")
        return said.format(
            number=asked.number, position=part.shown.position, error=part.error(asked)
        )

    @property
    def first_error_name(self) -> str:
        """Return the name of the field that the page moves to; "" without an error."""
        if self.first_error is None:
            return ""
        part, asked = self.first_error
        return part.form.add_prefix(asked.question.key)

    def blocks(self) -> Iterator[tuple[TargetForm, SafeString]]:
        """Yield each response with its questions."""
        for part in self.responses:
            drawn = [self._drawn(IN_PANEL, part, asked) for asked in self.asked]
            yield part, mark_safe("".join(drawn))

    def rows(
        self,
    ) -> Iterator[tuple[AskedQuestion, SafeString, list[tuple[TargetForm, SafeString]]]]:
        """Yield each question, with the head of its row and a cell for each response."""
        for asked in self.asked:
            cells = [(part, self._drawn(IN_MATRIX, part, asked)) for part in self.responses]
            head = kept_question(HEAD_OF_ROW, asked, 0, None, language=get_language())
            yield asked, head, cells

    def _drawn(self, template: str, part: TargetForm, asked: AskedQuestion) -> SafeString:
        """Return a question about a response; with an error or evidence it is drawn anew."""
        error, answer = part.error(asked), part.form.given.get(asked.question.key)
        place = (template, asked, part.shown.position, answer)
        is_with_evidence = asked.question.with_evidence and template == IN_PANEL
        if not (error or is_with_evidence):
            return kept_question(*place, language=get_language(), has_open_help=self.has_open_help)
        more = {
            "has_open_help": self.has_open_help,
            "error": error,
            "is_missing": error == str(NO_ANSWER),
            "is_first_error": self.first_error == (part, asked),
            "desk": self,
            "unit": self.unit,
            "study": self.unit.study,
            "vote": part,
        }
        return draw_question(*place, more)
