"""Answers behind a gate that the same rater closed. Files from elsewhere may hold such votes.

Raters on this site cannot give one: the form stores an implied no behind a closed gate.
"""

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Vote
from annotation.schemes import Scheme
from annotation.voting import YES


def given_behind_closed_gates(votes: QuerySet[Vote], scheme: Scheme) -> Iterator[QuerySet[Vote]]:
    """Yield the votes that were given, and not implied, although their rater closed a gate.

    A rater closes a gate by any answer but yes, about the same target in the same arm. The gate
    then also closes the questions behind those that it closes. Questions with the same gates share
    one queryset, so that the database joins them at once; given a choice, it would look up each
    vote.
    """
    behind: dict[frozenset[str], list[str]] = defaultdict(list)
    for question in scheme.questions:
        if gates := scheme.gates_of(question):
            behind[gates].append(question.key)
    for gates, questions in behind.items():
        closed = Vote.objects.filter(
            arm=OuterRef("arm"),
            target=OuterRef("target"),
            rater=OuterRef("rater"),
            question__in=sorted(gates),
        ).exclude(answer=YES)
        yield votes.filter(Exists(closed), question__in=questions, is_implied=False)
