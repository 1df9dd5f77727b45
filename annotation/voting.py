"""The judgement that a form's answers make, and when a vote is decided."""

from collections.abc import Mapping
from typing import NamedTuple

from annotation.schemes import YES_NO, Scheme

NO, YES = YES_NO.values


class Answer(NamedTuple):
    """One answer of a rater. It is implied when a closed gate made it a no."""

    value: int
    is_implied: bool


class Judgement(NamedTuple):
    """A rater's judgement of one target.

    `missing` are the questions that are asked and not answered, in order. `waiting` are those
    without an answer that a page shows already, because nothing has closed the gate before them.
    `impossible` are the scheme's impossible combinations that the answers contain. A judgement can
    be submitted if nothing is missing or impossible, or if its response is flagged and nothing is
    impossible.
    """

    answers: dict[str, Answer]
    missing: list[str]
    waiting: list[str]
    impossible: list[Mapping[str, int]]


def with_implied(scheme: Scheme, given: Mapping[str, int]) -> Judgement:
    """Return a rater's answers with those that closed gates imply.

    A question behind a gate whose answer is no, given or implied, is an implied no, whatever the
    rater chose there. Behind a gate without an answer it is not asked yet. A closed gate implies
    nothing for a question that is not yes/no: that question has no answer.
    """
    answers: dict[str, Answer] = {}
    missing: list[str] = []
    waiting: list[str] = []
    closed: dict[str, bool] = {}  # question behind a closed gate → whether a no is implied
    for question in scheme.questions:
        if question.key in closed:
            if closed[question.key]:
                answers[question.key] = Answer(NO, is_implied=True)
        elif any(gate not in answers for gate in question.after):
            if question.key not in given:
                waiting.append(question.key)
        elif question.key in given:
            answers[question.key] = Answer(given[question.key], is_implied=False)
            closed |= closed_by(scheme, question.key, given[question.key])
        else:
            missing.append(question.key)
    said = {key: answer.value for key, answer in answers.items() if not answer.is_implied}
    impossible = [together for together in scheme.impossible if together.items() <= said.items()]
    return Judgement(answers, missing, waiting, impossible)


def closed_by(scheme: Scheme, question: str, answer: int) -> dict[str, bool]:
    """Return the questions that an answer closes: each with whether a no to it is implied.

    Any answer but yes closes what is behind a gate. A no is implied for yes/no questions only.
    """
    if answer == YES:
        return {}
    return {behind.key: behind.scale == YES_NO for behind in scheme.behind(question)}


def is_decided(counts: Mapping[str, Mapping[int, int]], n_raters: int) -> bool:
    """Return whether no further vote can change a majority: one answer has more than half of N.

    Args:
        counts: question → answer → number of votes so far.
        n_raters: N, the planned number of votes.
    """
    return bool(counts) and all(
        2 * max(by_answer.values(), default=0) > n_raters for by_answer in counts.values()
    )
