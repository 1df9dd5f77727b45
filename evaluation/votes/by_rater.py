"""The votes of an arm by rater: the same votes as those of its counts, with who gave them."""

import hashlib
from collections.abc import Iterable

import numpy as np
from django.db.models import QuerySet

from annotation.closed_gates import given_behind_closed_gates
from annotation.models import Rater, Vote
from annotation.schemes import YES_NO, Scheme
from annotation.voting import NO
from evaluation.statistics.rater_votes import RaterVotes
from evaluation.votes.counts import ArmCounts, Ints, counted_votes

Row = tuple[str, int, int, int]  # question, ids of target and rater, answer
VotesByRater = dict[str, RaterVotes]  # question → votes whose `items` are places in `Items`


def votes_by_rater(
    of_arm: ArmCounts,
    scheme: Scheme,
    *,
    with_excluded: bool,
    with_implied: bool,
    by_gates: bool,
) -> VotesByRater:
    """Return the votes that agreement uses, for each question, sorted by item and rater.

    Items are in the order of their names, and raters in that of their codes.

    Args:
        of_arm: the counts of the arm.
        scheme: the scheme of the study.
        with_excluded: whether the votes of excluded raters count too.
        with_implied: whether implied votes count too.
        by_gates: whether answers behind closed gates are taken as implied: as a no to a yes/no
            question, and as no vote on another.
    """
    votes = counted_votes(of_arm.arm, with_excluded=with_excluded)
    given = votes if with_implied else votes.filter(is_implied=False)
    rows = list(given.order_by().values_list("question", "target", "rater", "answer"))
    if by_gates:
        rows = _without_closed(rows, votes, scheme, with_implied=with_implied)
    questions = np.array([row[0] for row in rows], dtype=str)
    numbers = np.array([row[1:] for row in rows], np.int64).reshape(-1, 3)
    codes = Rater.objects.filter(study=of_arm.arm.study_id).values_list("code", "pk")
    raters = np.array([pk for _, pk in sorted(codes)], np.int64)
    targets = of_arm.items.targets
    numbers = numbers[is_counted := np.isin(numbers[:, 0], targets)]
    questions = questions[is_counted]
    items, of_rater = _places(targets, numbers[:, 0]), _places(raters, numbers[:, 1])
    order = np.lexsort((of_rater, items))
    questions, numbers, items, of_rater = (
        each[order] for each in (questions, numbers, items, of_rater)
    )
    # An item that may have stopped early is compared with no other.
    items = np.where(of_arm.items.is_always_full[items], items, -1)
    return {
        each.key: RaterVotes(
            raters=of_rater[here],
            items=items[here],
            answers=np.searchsorted(each.scale.values, numbers[here, 2]),
            kind=each.scale.kind,
            values=each.scale.values,
        )
        for each in scheme.questions
        for here in [np.flatnonzero(questions == each.key)]
    }


def digest_of(arms: Iterable[VotesByRater]) -> str:
    """Return a hash of who gave which votes. It is the same on any database."""
    content = hashlib.sha256()
    for by_question in arms:
        for question, votes in by_question.items():
            content.update(question.encode())
            for column in (votes.items, votes.raters, votes.answers):
                content.update(column.astype(np.int64).tobytes())
    return content.hexdigest()[:16]


def _places(ids: Ints, wanted: Ints) -> Ints:
    """Return the place of each wanted id among different ids, of which each wanted one is one."""
    order = np.argsort(ids)
    places: Ints = order[np.searchsorted(ids[order], wanted)]
    return places


def _without_closed(
    rows: Iterable[Row], votes: QuerySet[Vote], scheme: Scheme, *, with_implied: bool
) -> list[Row]:
    """Return the rows without answers behind closed gates, or with the noes that they imply."""
    behind = {
        row
        for some in given_behind_closed_gates(votes, scheme)
        for row in some.order_by().values_list("question", "target", "rater")
    }
    implied = {each.key for each in scheme.questions if with_implied and each.scale == YES_NO}
    return [
        (*row[:3], NO) if row[:3] in behind else row
        for row in rows
        if row[:3] not in behind or row[0] in implied
    ]
