"""The questions of a scheme as pages show them, with numbers, stages and gates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
                    (example.answer.capitalize(), example) for example in question.examples
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
        numbers = _in_words([row.number for row in behind])
        what, verb = ("Question", "is") if len(behind) == 1 else ("Questions", "are")
        stored = f"After a no to question {gate.number} there is nothing to judge in "
        stored += "it. It is" if len(behind) == 1 else "them. They are"
        stored += " stored as an implied no."
        if any(row.question.scale != YES_NO for row in behind):
            stored = f"After a no to question {gate.number} there is nothing to judge there."
        notes.append(Gate(gate.gate, gate.after, f"{what} {numbers} {verb} not asked.", stored))
    return notes


def _in_words(numbers: Sequence[int]) -> str:
    """Return '2', '5 and 6', '2 to 7' or '2, 4 and 5'."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    words = [str(number) for number in numbers]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def impossible_in_words(scheme: Scheme, together: Mapping[str, int]) -> str:
    """Return in words why answers exclude each other: 'Questions 5 and 7 cannot both be yes.'."""
    said = [
        (number, question.scale.label(together[question.key]))
        for number, question in enumerate(scheme.questions, start=1)
        if question.key in together
    ]
    numbers = [str(number) for number, _ in said]
    labels = {label for _, label in said}
    if len(said) == 2 and len(labels) == 1:
        return (
            f"Questions {numbers[0]} and {numbers[1]} cannot both be {said[0][1]}. "
            "Change one of them."
        )
    if len(said) == 2:
        return (
            f"Question {numbers[0]} cannot be {said[0][1]} while question {numbers[1]} is "
            f"{said[1][1]}. "
            "Change one of them."
        )
    answers = ", ".join(f"question {number} {label}" for number, label in said)
    return f"These answers exclude each other: {answers}. Change one of them."
