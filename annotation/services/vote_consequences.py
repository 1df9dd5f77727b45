"""Writes that follow from votes: gold scores, and slots that are not needed any more."""

from collections import defaultdict

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.utils import timezone

from annotation.models import GoldAnswer, Rater, Study, Unit, Vote
from annotation.voting import is_decided


def after_voting(unit: Unit, rater: Rater, n_targets: int) -> None:
    """Do what follows from a rater's votes on a unit."""
    if unit.is_gold:
        score_gold(rater)
    else:
        let_go_when_decided(unit, rater.study, n_targets)


def score_gold(rater: Rater) -> None:
    """Set a rater's gold score: the share of known answers that they gave.

    The answers of a gold unit that they flagged instead count as not given. A rater under the
    study's threshold is excluded as well.
    """
    units = Unit.objects.filter(
        is_gold=True, assignments__rater=rater, assignments__submitted_at__isnull=False
    )
    gold = GoldAnswer.objects.filter(study=rater.study_id, target__units__in=units)
    given = Vote.objects.filter(
        rater=rater, target=OuterRef("target"), question=OuterRef("question"), is_surplus=False
    )
    scored = gold.annotate(given=Subquery(given.values("answer"))).aggregate(
        n_units=Count("target", distinct=True),
        n_known=Count("pk"),
        n_met=Count("pk", filter=Q(answer=F("given"))),
    )
    rater.n_gold = scored["n_units"]
    rater.gold_score = scored["n_met"] / scored["n_known"] if scored["n_known"] else None
    rater.is_excluded = rater.is_excluded or rater.is_under_threshold
    rater.save(update_fields=["n_gold", "gold_score", "is_excluded"])


def let_go_when_decided(unit: Unit, study: Study, n_targets: int) -> None:
    """Let the free slots of a decided unit go, or take them back, if the study stops when decided.

    A unit is decided when every question about each of its targets is. The slots are taken back
    when a rater changes a vote and the majority is open again. Slots that people let go stay so.
    """
    if not study.stops_when_decided or unit.is_gold or unit.is_always_full:
        return
    counts: dict[int, dict[str, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
    rows = (
        Vote.objects.filter(arm=unit.arm_id, target__in=unit.targets.values("pk"))
        .filter(is_surplus=False, rater__is_excluded=False)
        .values_list("target", "question", "answer")
        .annotate(n=Count("pk"))
    )
    for target, question, answer, n in rows:
        counts[target][question][answer] = n
    questions = [question["key"] for question in study.scheme["questions"]]
    n_raters = study.n_raters(0)
    is_settled = len(counts) == n_targets and all(
        is_decided({key: of_target[key] for key in questions}, n_raters)
        for of_target in counts.values()
    )
    if is_settled:
        free = unit.assignments.free(timezone.now())
        free.update(is_let_go=True, rater=None, claimed_at=None, lease_until=None)
    else:
        unit.assignments.filter(is_let_go=True, let_go_at=None).update(is_let_go=False)
