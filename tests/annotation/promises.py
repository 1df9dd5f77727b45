"""The promises of the rating queue, checked on the stored rows and not on its own bookkeeping."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from annotation.models import Assignment, Flag, Rater, Study, Unit, UnitTarget, Vote
from annotation.schemes import load_scheme
from annotation.services.rating import SubmitOutcome
from annotation.voting import with_implied
from tests.annotation.crowd import Acknowledged, answers_of


def broken_promises(study: Study) -> dict[str, int]:
    """Return how often each promise is broken; empty when all are kept.

    Votes count whether their rater is excluded or not: all may be included again.
    """
    votes = Vote.objects.filter(arm__study=study)
    counting = votes.filter(is_surplus=False)
    slots = Assignment.objects.filter(study=study)
    taken = slots.filter(rater__isnull=False)
    found = {
        "targets with votes of more than N raters": _groups(
            counting, "arm", "target", of="rater", above=study.raters_per_unit or 0
        ),
        "questions answered twice by one rater": _groups(
            votes, "arm", "target", "question", "rater", of="pk"
        ),
        "responses rated in both arms by one rater": _groups(votes, "target", "rater", of="arm"),
        "units taken twice by one rater": _groups(taken, "unit", "rater", of="pk"),
        "raters with two open units": _groups(
            taken.filter(submitted_at=None, is_let_go=False), "rater", of="pk"
        ),
        "votes that count without a slot": counting.filter(
            Q(assignment=None) | Q(assignment__submitted_at=None) | ~Q(assignment__rater=F("rater"))
        ).count(),
        "submitted slots without all their votes": _incomplete(study),
        "responses with more than N raters who voted or flagged": _crowded(study),
        "units with more or fewer than N slots": _with_other_slots(study),
    }
    return {promise: n for promise, n in found.items() if n}


def _groups(rows: QuerySet[Any], *by: str, of: str, above: int = 1) -> int:
    """Return how many groups of rows have more than `above` different values of `of`."""
    counted = rows.order_by().values(*by).annotate(n=Count(of, distinct=True))
    return int(counted.filter(n__gt=above).count())


def _incomplete(study: Study) -> int:
    n_targets = Counter(
        UnitTarget.objects.filter(unit__arm__study=study).values_list("unit", flat=True)
    )
    stored = Counter(Vote.objects.filter(arm__study=study).values_list("assignment", flat=True))
    n_questions = len(study.scheme["questions"])
    submitted = Assignment.objects.filter(study=study, submitted_at__isnull=False)
    return sum(
        stored[slot] != n_targets[unit] * n_questions
        for slot, unit in submitted.values_list("pk", "unit")
    )


def _crowded(study: Study) -> int:
    judges: dict[tuple[int, int], set[int]] = defaultdict(set)
    votes = Vote.objects.filter(arm__study=study, is_surplus=False)
    flags = Flag.objects.counted().filter(arm__study=study)
    for rows, response in ((votes, "target__response"), (flags, "response")):
        for arm, pk, rater in rows.values_list("arm", response, "rater"):
            judges[arm, pk].add(rater)
    return sum(len(raters) > (study.raters_per_unit or 0) for raters in judges.values())


def _with_other_slots(study: Study) -> int:
    units = Unit.objects.filter(arm__study=study, is_gold=False)
    counted = units.annotate(n=Count("assignments"))
    return counted.exclude(n=study.raters_per_unit or 0).count()


def lost_votes(
    study: Study,
    acknowledged: Iterable[Acknowledged],
    were_excluded: Collection[int] = (),
) -> list[Acknowledged]:
    """Return the submits that returned but whose answers are not stored as given (SSA).

    The votes of a stored submit must count, those of a surplus one must not. After a repeated
    submit, either is right. Stored votes of a rater who was excluded at some time may have become
    surplus.
    """
    scheme = load_scheme(study.scheme)
    raters = {rater.pk: rater for rater in Rater.objects.filter(study=study)}
    targets: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for unit, arm, target in UnitTarget.objects.filter(unit__arm__study=study).values_list(
        "unit", "unit__arm", "target"
    ):
        targets[unit].append((arm, target))
    votes: dict[tuple[int, int, int], dict[str, int]] = defaultdict(dict)
    is_surplus = {}
    for rater, arm, target, question, answer, surplus in Vote.objects.filter(
        arm__study=study
    ).values_list("rater", "arm", "target", "question", "answer", "is_surplus"):
        votes[rater, arm, target][question] = answer
        is_surplus[rater, arm, target] = surplus
    lost = []
    for submit in acknowledged:
        said = with_implied(scheme, answers_of(raters[submit.rater], submit.unit)).answers
        expected = {question: answer.value for question, answer in said.items()}
        places = [(submit.rater, *place) for place in targets[submit.unit]]
        is_there = all(votes[place] == expected for place in places)
        wrong = {SubmitOutcome.STORED: True, SubmitOutcome.SURPLUS: False}.get(submit.outcome)
        if wrong and submit.rater in were_excluded:
            wrong = None
        if not is_there or any(is_surplus[place] == wrong for place in places):
            lost.append(submit)
    return lost
