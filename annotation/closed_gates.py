"""Answers behind a gate that the same rater closed: other people's files hold such votes.

Whoever rates here cannot give one: the form takes what stands there for an implied no.
"""

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Vote
from annotation.schemes import Scheme
from annotation.voting import YES


def given_behind_closed_gates(votes: QuerySet[Vote], scheme: Scheme) -> Iterator[QuerySet[Vote]]:
    """Yield those votes that were given, and not implied, although their rater closed a gate.

    A gate is closed by whoever did not answer it with yes, about the same target in the same arm.
    It closes what stands behind the questions that it closes, too. Questions with the same gates
    come together: a database joins them at once, and looks up vote by vote where it has a choice.
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
