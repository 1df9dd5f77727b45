"""Known answers for gold items, from the adjudicated disagreements of another study.

This module only reads: a researcher edits what is found, and saves it as the gold items.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import Count, QuerySet

from annotation.known_answers import KnownAnswers
from annotation.models import Study, Target
from annotation.planning import plan_units
from annotation.schemes import Scheme, load_scheme
from annotation.voting import with_implied
from evaluation.votes.counts import counted_votes, flagged_responses
from evaluation.votes.decisions import newest_decisions

ELSEWHERE = "not among the responses that this study shows"
FLAGGED = "flagged by most of their raters"
CANNOT_BE_DECIDED = "with a question that cannot be decided"
DISPUTED = "with a question that is disputed, or has too few answers, and is not adjudicated"
CONTRADICTING = "with decisions that exclude each other"


class FoundAnswers(NamedTuple):
    """The responses whose every question has an answer, and the keys of the others by reason."""

    known: KnownAnswers
    left_out: dict[str, list[str]]

    @property
    def n_left_out(self) -> int:
        return sum(map(len, self.left_out.values()))


def studies_with_decisions(study: Study) -> list[Study]:
    """Return the other studies whose adjudicated decisions can become known answers of a study.

    They rate the same dataset by the same questions, and show the same evidence choice if the
    questions need evidence. Each has `n_adjudicated`, the number of its adjudicated responses.
    """
    scheme = load_scheme(study.scheme)
    others = Study.objects.filter(dataset=study.dataset_id, adjudications__isnull=False)
    if scheme.evidence != "none":
        others = others.filter(evidence_choice=study.evidence_choice)
    counted = others.exclude(pk=study.pk).annotate(
        n_adjudicated=Count("adjudications__target__response", distinct=True)
    )
    return [other for other in counted if _asks_the_same(scheme, load_scheme(other.scheme))]


def _asks_the_same(scheme: Scheme, other: Scheme) -> bool:
    """Return whether two schemes ask the same questions about responses, in the same words."""
    asked, asked_there = (
        [(question.key, question.wording, question.scale, question.after) for question in each]
        for each in (scheme.questions, other.questions)
    )
    return asked == asked_there and scheme.target == other.target == "response"


def known_from_decisions(study: Study, source: Study) -> FoundAnswers:
    """Return the answers to the adjudicated responses of `source` that are known in all questions.

    The answer to a question is its newest adjudicated decision. Without one it is the answer that
    more than half of the raters gave, if no rater gave another one.
    """
    scheme = load_scheme(study.scheme)
    decisions = newest_decisions(source)
    adjudicated = Target.objects.filter(adjudications__study=source, citation=None).distinct()
    undisputed = _undisputed(source, adjudicated)
    flagged = {
        response
        for arm in source.arms.all()
        for response in flagged_responses(arm, with_excluded=False)
    }
    shown = {response for unit in plan_units(study).units for response, _ in unit.targets}
    known: KnownAnswers = {}
    left_out: dict[str, list[str]] = defaultdict(list)
    rows = adjudicated.order_by("response__key").values_list("pk", "response", "response__key")
    for target, response, key in rows:
        decided = {
            q: by_target[target] for q, by_target in decisions.items() if target in by_target
        }
        answers, problem = _all_known(scheme, decided, undisputed[target])
        if response not in shown:
            problem = ELSEWHERE
        elif response in flagged:
            problem = FLAGGED
        if problem:
            left_out[problem].append(key)
        else:
            known[key] = answers
    return FoundAnswers(known, dict(left_out))


def _undisputed(source: Study, targets: QuerySet[Target]) -> Mapping[int, dict[str, int]]:
    """Return the answers that all raters of a target gave: target → question → answer.

    More than half of the wanted number of raters must have given them. Implied answers do not
    count, because no rater gave them.
    """
    counts: dict[tuple[int, str], Counter[int]] = defaultdict(Counter)
    for arm in source.arms.all():
        given = counted_votes(arm, with_excluded=False).filter(
            is_implied=False, target__in=targets.order_by().values("pk")
        )
        rows = given.order_by().values_list("target", "question", "answer")
        for target, question, answer, n in rows.annotate(n=Count("pk")):
            counts[target, question][answer] += n
    undisputed: dict[int, dict[str, int]] = defaultdict(dict)
    for (target, question), by_answer in counts.items():
        n = by_answer.total()
        if len(by_answer) == 1 and 2 * n > source.n_raters(n):
            undisputed[target][question] = next(iter(by_answer))
    return undisputed


def _all_known(
    scheme: Scheme, decided: Mapping[str, int | None], undisputed: Mapping[str, int]
) -> tuple[dict[str, int], str]:
    """Return the answers to all questions that are asked, without implied ones, and a problem.

    The problem is the reason why the response is left out; "" without one.
    """
    answers = {key: answer for key, answer in decided.items() if answer is not None}
    answers |= {key: answer for key, answer in undisputed.items() if key not in decided}
    judgement = with_implied(scheme, answers)
    if judgement.missing:
        return {}, CANNOT_BE_DECIDED if set(judgement.missing) & set(decided) else DISPUTED
    if judgement.impossible:
        return {}, CONTRADICTING
    given = judgement.answers.items()
    return {key: answer.value for key, answer in given if not answer.is_implied}, ""
