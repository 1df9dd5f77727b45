"""Simulated raters for the demo: votes made from an estimate of what careful raters would say.

They show how the tool works and say nothing about people or models.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from annotation.schemes import Question, Scheme

ANSWERS_GO_TOGETHER = 0.6  # share of a judgement's variance that all questions have in common
PREFERENCE_WHEN_MERGED = 0.3  # merged: gain of responses at T 0.0, and loss of the others
MERGED_SAVES = 0.25  # share of the time that is saved, because dialog and evidence are read once
# Seconds for a response of twenty words: of raters who read, and of those who click through.
READS, CLICKS = (25.0, 60.0), (0.8, 1.2)
NORMAL = NormalDist()


class SimulatedRater(NamedTuple):
    """One made-up rater.

    `care` is from 0 to 1; below 1 the rater's judgements scatter more. `leniency` is how much
    better the rater finds everything than others do, in standard deviations. `seconds` is the time
    that the rater needs for a response of twenty words.
    """

    code: str
    care: float
    leniency: float
    seconds: float


class JudgedResponse(NamedTuple):
    """A response with `truth`: question → share of careful raters who would say yes.

    In these shares an implied no counts as a no.
    """

    key: str
    example: str
    temperature: float
    n_words: int
    truth: Mapping[str, float]


class SimulatedJudgement(NamedTuple):
    """One made-up rater's answers to all questions about one response.

    `implied` are the questions whose answers are implied noes, and `seconds` is the time on it.
    """

    answers: Mapping[str, int]
    implied: Set[str]
    seconds: float


class SimulatedVote(NamedTuple):
    """One row of votes.csv; the fields are its columns."""

    response: str
    rater: str
    question: str
    answer: str
    arm: str
    position: int | None
    seconds: float
    implied: str


def simulated_raters(n: int, random: Random, one_careless_in: int = 6) -> list[SimulatedRater]:
    """Return raters of different care, leniency and speed; one of so many raters is careless.

    Careless raters click through: they take about a second.
    """

    def rater(number: int) -> SimulatedRater:
        is_careless = number % one_careless_in == 0
        return SimulatedRater(
            code=f"simulated-{number:02}",
            care=0.1 if is_careless else random.uniform(0.5, 1.0),
            leniency=random.gauss(0.0, 0.2),
            seconds=random.uniform(*(CLICKS if is_careless else READS)),
        )

    return [rater(number) for number in range(1, n + 1)]


def simulated_votes(
    scheme: Scheme,
    responses: Sequence[JudgedResponse],
    raters: Sequence[SimulatedRater],
    random: Random,
    *,
    is_merged_too: bool,
    is_repeated: bool = False,
    raters_per_unit: int = 5,
) -> Iterator[SimulatedVote]:
    """Yield the votes of a whole study, `raters_per_unit` for each response and arm.

    Args:
        responses: responses to one example come together; in the merged arm they are one unit.
        is_merged_too: whether there is a merged arm.
        is_repeated: whether there is a second separate arm. No rater gets a response in two arms.

    Raises:
        ValueError: there are too few raters, or a question has other answers than yes and no.
    """
    n_needed = raters_per_unit * (1 + is_merged_too + is_repeated)
    if len(raters) < n_needed:
        raise ValueError(f"{len(raters)} raters; expected {n_needed} or more")
    n_units: Counter[tuple[str, str]] = Counter()  # arm and rater → units

    def panel(arm: str, candidates: Sequence[SimulatedRater]) -> list[SimulatedRater]:
        """Return the raters with the fewest units in this arm; ties are broken by chance."""
        by_load = sorted(candidates, key=lambda r: (n_units[arm, r.code], random.random()))
        chosen = by_load[:raters_per_unit]
        n_units.update((arm, rater.code) for rater in chosen)
        return chosen

    for _, group in groupby(responses, key=lambda response: response.example):
        unit = list(group)
        merged = panel("merged", raters) if is_merged_too else []
        others = [rater for rater in raters if rater not in merged]
        for response in unit:
            first = panel("separate", others)
            for rater in first:
                yield from _votes(scheme, response, rater, random)
            left = [rater for rater in others if rater not in first]
            for rater in panel("separate_2", left) if is_repeated else ():
                for vote in _votes(scheme, response, rater, random):
                    yield vote._replace(arm="separate_2")
        for rater in merged:
            shown = random.sample(unit, len(unit))
            for position, response in enumerate(shown, start=1):
                yield from _votes(scheme, response, rater, random, position)


def _votes(
    scheme: Scheme,
    response: JudgedResponse,
    rater: SimulatedRater,
    random: Random,
    position: int | None = None,
) -> Iterator[SimulatedVote]:
    """Yield one rater's votes on one response; with a `position`, votes of the merged arm."""
    judged = simulated_judgement(scheme, response, rater, random, position)
    for question in scheme.questions:
        yield SimulatedVote(
            response=response.key,
            rater=rater.code,
            question=question.key,
            answer=question.scale.label(judged.answers[question.key]),
            arm="separate" if position is None else "merged",
            position=position,
            seconds=judged.seconds,
            implied="yes" if question.key in judged.implied else "no",
        )


def simulated_judgement(
    scheme: Scheme,
    response: JudgedResponse,
    rater: SimulatedRater,
    random: Random,
    position: int | None = None,
) -> SimulatedJudgement:
    """Return one rater's judgement of one response.

    Args:
        position: the place in which a merged unit showed the response; None in the separate arm.
    """
    shift = rater.leniency
    if position is not None:
        shift += PREFERENCE_WHEN_MERGED * (1 if response.temperature == 0 else -1)
    answers, implied = simulated_answers(scheme, response.truth, rater.care, shift, random)

    seconds = rater.seconds * (0.5 + response.n_words / 40) * random.lognormvariate(0.0, 0.3)
    seconds *= 1 - 0.8 * len(implied) / len(answers)  # a form that closes early takes less time
    if position is not None:
        seconds *= 1 - MERGED_SAVES
    return SimulatedJudgement(answers, implied, round(seconds, 1))


def simulated_answers(
    scheme: Scheme, truth: Mapping[str, float], care: float, shift: float, random: Random
) -> tuple[dict[str, int], set[str]]:
    """Return a rater's answer to each question, and which of these are implied noes.

    One impression of the response influences all answers, so that they are correlated.
    """
    impression = random.gauss(0.0, 1.0)
    answers: dict[str, int] = {}
    implied: set[str] = set()
    for question in scheme.questions:
        if question.scale.kind != "yes_no":
            raise ValueError(f"question {question.key!r} has {question.scale.kind} answers")
        if not all(answers[gate] for gate in question.after):
            answers[question.key] = 0
            implied.add(question.key)
            continue
        own = random.gauss(0.0, 1.0)
        judgement = (
            math.sqrt(ANSWERS_GO_TOGETHER) * impression + math.sqrt(1 - ANSWERS_GO_TOGETHER) * own
        )
        is_favourable = _favour(question, truth) + shift + (2 - care) * judgement > 0
        answers[question.key] = int(is_favourable == (question.better != "no"))
        if _is_impossible(scheme, answers):
            answers[question.key] = 1 - answers[question.key]
    return answers, implied


def _favour(question: Question, truth: Mapping[str, float]) -> float:
    """Return a z-score of the answer in the response's favour; 0 means that it is even."""
    reached = min((truth[gate] for gate in question.after), default=1.0)
    share = min(0.995, max(0.005, truth[question.key] / max(reached, 0.005)))
    return NORMAL.inv_cdf(1 - share if question.better == "no" else share)


def _is_impossible(scheme: Scheme, answers: Mapping[str, int]) -> bool:
    return any(combination.items() <= answers.items() for combination in scheme.impossible)
