"""What a filled-in form says, and when a vote is decided."""

from collections.abc import Mapping
from typing import NamedTuple

from annotation.schemes import YES_NO, Scheme

NO, YES = YES_NO.values


class Answer(NamedTuple):
    """One answer of a rater; implied when a closed gate made it a no."""

    value: int
    is_implied: bool


class Judgement(NamedTuple):
    """What a rater's answers to one target amount to.

    `missing` are the questions asked and not answered, in order; `impossible` the combinations
    of the scheme that hold. Only a judgement with neither can be submitted.
    """

    answers: dict[str, Answer]
    missing: list[str]
    impossible: list[Mapping[str, int]]


def with_implied(scheme: Scheme, given: Mapping[str, int]) -> Judgement:
    """Return a rater's answers with those that closed gates imply.

    A question behind a gate that is answered no, or itself implied, is an implied no whatever
    was typed there; behind a gate without an answer it is not asked yet. A closed gate implies
    nothing about a question that has no yes and no: that one stays without an answer.
    """
    answers: dict[str, Answer] = {}
    missing: list[str] = []
    for question in scheme.questions:
        gates = [answers.get(gate) for gate in question.after]
        if any(gate is not None and gate.value != YES for gate in gates):
            if question.scale == YES_NO:
                answers[question.key] = Answer(NO, is_implied=True)
        elif any(gate is None for gate in gates):
            continue
        elif question.key in given:
            answers[question.key] = Answer(given[question.key], is_implied=False)
        else:
            missing.append(question.key)
    said = {key: answer.value for key, answer in answers.items() if not answer.is_implied}
    impossible = [together for together in scheme.impossible if together.items() <= said.items()]
    return Judgement(answers, missing, impossible)


def is_decided(counts: Mapping[str, Mapping[int, int]], n_raters: int) -> bool:
    """Return whether no further vote can change a majority: one answer has more than half of N.

    Args:
        counts: question → answer → number of votes so far.
        n_raters: N, how many were to vote.
    """
    return bool(counts) and all(
        2 * max(by_answer.values(), default=0) > n_raters for by_answer in counts.values()
    )
