"""Simulated studies with good and bad raters, to see how often the checks find whom.

A study has 20 raters, each with 100 responses, and 5 raters for each response. A good rater says
what is true with a probability of .85, and the answer is yes for a share of responses.
"""

from typing import NamedTuple

import numpy as np

from evaluation.statistics.rater_checks import Outcome, Paces, StudyVotes, check_raters
from evaluation.statistics.rater_forms import Forms
from evaluation.statistics.rater_votes import RaterVotes

N_RATERS, PER_RESPONSE, N_BLOCKS = 20, 5, 20
N_RESPONSES = N_RATERS * N_BLOCKS
ACCURACY = 0.85
BAD = ("clicker", "always yes", "copier", "drifter")


class Crowd(NamedTuple):
    """The votes of a study: the rater, the response, the turn and the answer of each."""

    raters: np.ndarray
    items: np.ndarray
    turns: np.ndarray
    answers: np.ndarray
    moments: np.ndarray
    roles: dict[int, str]  # the bad raters


def crowd(random: np.random.Generator, prevalence: float, *bad: str) -> Crowd:
    """Return a study with good raters and these bad ones, which are raters 0, 1 and so on.

    A copier is given the responses of the last rater, and answers each later than that one.
    """
    roles = dict(enumerate(bad))
    given = _given(random)
    copier = next((rater for rater, role in roles.items() if role == "copier"), None)
    if copier is not None:
        _give_the_same(given, copier, N_RATERS - 1, random)
    items, places = np.nonzero(given >= 0)
    raters = given[items, places]
    order = random.permutation(len(raters))
    items, raters = items[order], raters[order]
    turns = np.empty(len(raters), np.int64)
    for rater in range(N_RATERS):
        own = raters == rater
        turns[own] = np.arange(own.sum())
    moments = turns + random.random(len(turns))
    truth = random.random(N_RESPONSES) < prevalence
    accuracy = np.full(len(raters), ACCURACY)
    for rater, role in roles.items():
        own = raters == rater
        if role == "drifter":
            accuracy[own] = ACCURACY + (0.5 - ACCURACY) * turns[own] / (own.sum() - 1)
        if role == "clicker":
            accuracy[own] = 0.5
    answers = (truth[items] == (random.random(len(items)) < accuracy)).astype(np.int64)
    for rater, role in roles.items():
        if role == "always yes":
            answers[raters == rater] = 1
    if copier is not None:
        of_source = dict(
            zip(items[raters == N_RATERS - 1], answers[raters == N_RATERS - 1], strict=True)
        )
        own = raters == copier
        answers[own] = [of_source[item] for item in items[own]]
        moments[own] += 10 * N_RESPONSES
    return Crowd(raters, items, turns, answers, moments, roles)


def _given(random: np.random.Generator) -> np.ndarray:
    """Return the raters of each response: in a block of 20 responses each rater has five."""
    rows = []
    for _ in range(N_BLOCKS):
        raters = random.permutation(N_RATERS)
        shifts = random.choice(N_RATERS, PER_RESPONSE, replace=False)
        rows.append(raters[(np.arange(N_RATERS)[:, np.newaxis] + shifts) % N_RATERS])
    return np.concatenate(rows)


def _give_the_same(
    given: np.ndarray, copier: int, source: int, random: np.random.Generator
) -> None:
    """Let the copier swap places with others until both have the same responses."""
    has_source, has_copier = (given == source).any(axis=1), (given == copier).any(axis=1)
    wanted = np.flatnonzero(has_source & ~has_copier)
    unwanted = list(np.flatnonzero(has_copier & ~has_source))
    for response in random.permutation(wanted):
        for other in random.permutation(given[response][given[response] != source]):
            fits = [each for each in unwanted if other not in given[each]]
            if fits:
                there = fits[int(random.integers(len(fits)))]
                given[there][given[there] == copier] = other
                given[response][given[response] == other] = copier
                unwanted.remove(there)
                break


def checked(of: Crowd) -> Outcome:
    """Return what the checks say about a simulated study."""
    none = np.zeros(0, np.int64)
    votes = RaterVotes(of.raters, of.items, of.answers, "yes_no", (0, 1))
    forms = Forms(of.raters, of.items, of.answers, of.turns, of.moments)
    study = StudyVotes(N_RATERS, {"q": votes}, forms, Paces(none, none.astype(bool)), True)
    return check_raters(study, np.ones(N_RATERS, bool))
