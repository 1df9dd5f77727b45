"""The verdicts on one response: the main metrics' scores and the raters' majorities.

This module only reads.
"""

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.models import AutoScore
from evaluation.runs.main_metrics import SIDES, Side, candidates
from evaluation.votes.judgements import QuestionVotes, TargetJudgement
from generation.models import Response


class Verdict(NamedTuple):
    """The main metric's score of a response and its raters' votes, on one side of the trade-off."""

    question: str  # the key of the question that the side usually asks
    score: AutoScore | None
    votes: QuestionVotes | None


def verdicts(
    response: Response, scored: Sequence[AutoScore], said: Sequence[TargetJudgement]
) -> list[Verdict]:
    """Return the verdict of each side that has a score or votes, with one query.

    Args:
        response: the response.
        scored: all its scores.
        said: all judgements of it. Gold items and judgements of its citations are left out.
    """
    of_run = {each.run_id: each for each in scored if not each.target.citation}
    found = candidates(response.dataset, {each.run for each in of_run.values()})
    asked = [row for each in said if not (each.is_gold or each.citation) for row in each.questions]
    every = [
        Verdict(
            side.questions[0],
            next((of_run[each.run.pk] for each in found[side.name]), None),
            _votes(side, asked),
        )
        for side in SIDES
    ]
    return [each for each in every if each.score or each.votes]


def _votes(side: Side, asked: Sequence[QuestionVotes]) -> QuestionVotes | None:
    """Return the votes on the best question of a side that raters of the response answered."""
    of_side = (row for key in side.questions for row in asked if row.question.key == key)
    return next(of_side, None)
