"""The questions of a scheme as pages show them, with numbers, stages and gates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext, ngettext

from annotation.answer_words import answer_in_words, word_of
from annotation.schemes import YES_NO, Question, Scale, Scheme, WorkedExample

MOST_BUTTONS = 20  # answers that have a button each


@dataclass(frozen=True)  # mypy 2.4 does not end if this is a NamedTuple
class AskedQuestion:
    """One question as pages show it for every response.

    `gate` is the number, from 1, of a question that closes others, and '' for the rest. `after` has
    the numbers of all gates that close this one, directly or by way of another. The stylesheet
    hides closed questions by these numbers.
    """

    number: int
    question: Question
    stage: str  # the name of a stage that begins here, else ""
    gate: str
    after: str
    examples: tuple[tuple[str, WorkedExample], ...]
    help_key: str  # the key under which a browser remembers whether the help is open

    @property
    def is_number(self) -> bool:
        """Whether the answer is written as a number, because its scale has too many for buttons."""
        return is_written_as_number(self.question.scale)

    @property
    def is_wide(self) -> bool:
        """Whether the answers need a line of their own, as all but yes and no do."""
        return self.question.scale != YES_NO


def is_written_as_number(scale: Scale) -> bool:
    """Return whether a scale has too many answers for buttons."""
    return scale.kind == "ordinal" and len(scale.values) > MOST_BUTTONS


class Gate(NamedTuple):
    """The note that is shown instead of the questions that a no closes."""

    number: str
    after: str
    closed: str
    stored: str


def asked_questions(scheme: Scheme) -> list[AskedQuestion]:
    """Return a scheme's questions with their numbers, stages and gates."""
    closing = [key for key in scheme.keys if any(key in q.after for q in scheme.questions)]
    numbers = {key: str(number) for number, key in enumerate(closing, start=1)}
    behind: dict[str, set[str]] = {}
    asked: list[AskedQuestion] = []
    stage = ""
    for number, question in enumerate(scheme.questions, start=1):
        gates = set(question.after).union(*(behind[gate] for gate in question.after))
        behind[question.key] = gates
        asked.append(
            AskedQuestion(
                number=number,
                question=question,
                stage=question.stage if question.stage != stage else "",
                gate=numbers.get(question.key, ""),
                after=" ".join(numbers[key] for key in closing if key in gates),
                examples=tuple(
                    (word_of(example.answer, question.scale).capitalize(), example)
                    for example in question.examples
                ),
                help_key=f"{scheme.key}:{question.key}",
            )
        )
        stage = question.stage
    return asked


def gates_of(asked: Sequence[AskedQuestion]) -> list[Gate]:
    """Return a note for each question that closes others."""
    notes: list[Gate] = []
    for gate in asked:
        if not gate.gate:
            continue
        behind = [row for row in asked if gate.gate in row.after.split()]
        n, numbers = len(behind), _in_words([row.number for row in behind])
        closed = ngettext(
            "Question {numbers} is not asked.", "Questions {numbers} are not asked.", n
        )
        stored = ngettext(
            "After a no to question {gate} there is nothing to judge in it. It is stored as an "
            "implied no.",
            "After a no to question {gate} there is nothing to judge in them. They are stored as "
            "an implied no.",
            n,
        )
        if any(row.question.scale != YES_NO for row in behind):
            stored = gettext("After a no to question {gate} there is nothing to judge there.")
        stored = stored.format(gate=gate.number)
        notes.append(Gate(gate.gate, gate.after, closed.format(numbers=numbers), stored))
    return notes


def _in_words(numbers: Sequence[int]) -> str:
    """Return '2', '5 and 6', '2 to 7' or '2, 4 and 5'."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return gettext("{first} to {last}").format(first=numbers[0], last=numbers[-1])
    words = [str(number) for number in numbers]
    if len(words) == 1:
        return words[0]
    return gettext("{numbers} and {last}").format(numbers=", ".join(words[:-1]), last=words[-1])


def impossible_in_words(scheme: Scheme, together: Mapping[str, int]) -> str:
    """Return in words why answers exclude each other: 'Questions 5 and 7 cannot both be yes.'."""
    said = [
        (number, answer_in_words(together[question.key], question.scale))
        for number, question in enumerate(scheme.questions, start=1)
        if question.key in together
    ]
    numbers = [str(number) for number, _ in said]
    labels = {label for _, label in said}
    if len(said) == 2 and len(labels) == 1:
        both = gettext(
            "Questions {first} and {second} cannot both be {answer}. Change one of them."
        )
        return both.format(first=numbers[0], second=numbers[1], answer=said[0][1])
    if len(said) == 2:
        differing = gettext(
            "Question {first} cannot be {answer} while question {second} is {other}. "
            "Change one of them."
        )
        return differing.format(
            first=numbers[0], answer=said[0][1], second=numbers[1], other=said[1][1]
        )
    of_question = gettext("question {number} {answer}")
    answers = ", ".join(of_question.format(number=number, answer=label) for number, label in said)
    excluding = gettext("These answers exclude each other: {answers}. Change one of them.")
    return excluding.format(answers=answers)
