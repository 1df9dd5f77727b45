"""Votes, flags, scores and decisions on responses, for pages that show one example or response."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import F

from annotation.models import Flag, GoldAnswer, Rater, Study, Vote
from annotation.schemes import Question, load_scheme
from evaluation.models import Adjudication, AutoScore
from evaluation.statistics.rater_answers import NO_MAJORITY, majority_category
from generation.models import Response

UNDECIDABLE = "cannot be decided"
WAITING, TIED = "waiting", "tied"  # no majority: votes are still to come, or all are in


class QuestionVotes(NamedTuple):
    """All votes on one question about one target in one arm."""

    question: Question
    by_rater: dict[str, Vote]  # code → vote
    majority: str  # the label, WAITING, TIED, or '' without a counted vote and on gold items
    has_majority: bool
    n_majority: int
    n_votes: int
    known: str = ""  # the label of the known answer, for a gold item
    n_met: int = 0  # number of votes that equal the known answer


class TargetJudgement(NamedTuple):
    """The votes and flags of one arm of one study on one target of a response."""

    study: Study
    arm: str
    citation: int | None
    raters: list[Rater]
    questions: list[QuestionVotes]
    flags: list[Flag]
    is_flagged: bool  # whether more than half of its raters flagged it; reports leave it out
    is_gold: bool  # whether its answers are known; no figure includes it


class Decision(NamedTuple):
    """An adjudication in words. The newest one for a question counts."""

    study: Study
    question: Question
    citation: int | None
    answer: str  # a label of the question's scale, or 'cannot be decided'
    note: str
    by: str  # the user name of the person who decided; of an imported decision, their code
    code: str  # the code of the same person, for exports
    at: datetime


def judgements(responses: Iterable[Response]) -> dict[int, list[TargetJudgement]]:
    """Return all votes and flags on some responses by response id, in four queries."""
    gold = _known_answers(responses)
    whole_first = F("target__citation__number").asc(nulls_first=True)
    votes = (
        Vote.objects.filter(target__response__in=responses)
        .select_related("arm__study", "rater", "target__citation")
        .order_by("arm__study", "arm", whole_first, "rater__code")
    )
    flags = Flag.objects.marked().filter(response__in=responses)
    flags = flags.select_related("arm__study", "rater")
    grouped: dict[tuple[int, int, int | None], list[Vote]] = defaultdict(list)
    flags_of: dict[tuple[int, int], list[Flag]] = defaultdict(list)
    arms = {}
    for vote in votes:
        citation = vote.target.citation
        number = citation.number if citation else None
        grouped[vote.target.response_id, vote.arm_id, number].append(vote)
        arms[vote.arm_id] = vote.arm
    for flag in flags:
        flags_of[flag.response_id, flag.arm_id].append(flag)
        arms[flag.arm_id] = flag.arm
        if not any(key[:2] == (flag.response_id, flag.arm_id) for key in grouped):
            grouped[flag.response_id, flag.arm_id, None] = []
    found: dict[int, list[TargetJudgement]] = defaultdict(list)
    for (response, arm, number), of_target in grouped.items():
        study = arms[arm].study
        known = gold.get((study.pk, response, number), {})
        found[response].append(
            TargetJudgement(
                study=study,
                arm=arms[arm].kind,
                citation=number,
                raters=sorted({vote.rater for vote in of_target}, key=lambda rater: rater.code),
                questions=_by_question(study, of_target, known),
                flags=flags_of[response, arm],
                is_flagged=_is_flagged(study, of_target, flags_of[response, arm]),
                is_gold=bool(known),
            )
        )
    return found


def _known_answers(
    responses: Iterable[Response],
) -> dict[tuple[int, int, int | None], dict[str, int]]:
    """Return the known answers: (study, response, citation) → question → answer."""
    known: dict[tuple[int, int, int | None], dict[str, int]] = defaultdict(dict)
    for study, response, citation, question, answer in GoldAnswer.objects.filter(
        target__response__in=responses
    ).values_list("study", "target__response", "target__citation__number", "question", "answer"):
        known[study, response, citation][question] = answer
    return known


def _is_flagged(study: Study, votes: list[Vote], flags: list[Flag]) -> bool:
    """Return whether most raters flagged a response, by the rule of `counts.flagged_responses`."""
    counted = [flag for flag in flags if flag.is_counted]  # type: ignore[attr-defined]
    flaggers = {flag.rater_id for flag in counted if not flag.rater.is_excluded}
    voters = {v.rater_id for v in votes if not v.rater.is_excluded and not v.is_surplus}
    return 2 * len(flaggers) > study.n_raters(len(flaggers | voters))


def _by_question(study: Study, votes: list[Vote], known: Mapping[str, int]) -> list[QuestionVotes]:
    """Return the votes question by question. Votes on a gold item have no majority."""
    rows = []
    for question in load_scheme(study.scheme).questions:
        here = [vote for vote in votes if vote.question == question.key]
        if not here:
            continue
        counted = [v.answer for v in here if not v.is_surplus and not v.rater.is_excluded]
        counts = [counted.count(value) for value in question.scale.values]
        raters = study.n_raters(len(counted))
        column = int(majority_category([counts], raters)[0])
        without = WAITING if len(counted) < raters else TIED
        majority = without if column == NO_MAJORITY else question.scale.labels[column]
        answer = known.get(question.key)
        rows.append(
            QuestionVotes(
                question=question,
                by_rater={vote.rater.code: vote for vote in here},
                majority=majority if counted and not known else "",
                has_majority=column != NO_MAJORITY,
                n_majority=max(counts),
                n_votes=len(counted),
                known="" if answer is None else question.scale.label(answer),
                n_met=counted.count(answer) if answer is not None else 0,
            )
        )
    return rows


def scores(responses: Iterable[Response]) -> dict[int, list[AutoScore]]:
    """Return the scores of some responses by response id, in one query."""
    found: dict[int, list[AutoScore]] = defaultdict(list)
    rows = AutoScore.objects.filter(target__response__in=responses)
    for score in rows.select_related("run", "target__citation").order_by("run__metric", "run"):
        found[score.target.response_id].append(score)
    return found


def decisions(responses: Iterable[Response]) -> dict[int, list[Decision]]:
    """Return the adjudications of some responses by response id, newest first, in one query."""
    found: dict[int, list[Decision]] = defaultdict(list)
    rows = Adjudication.objects.filter(target__response__in=responses)
    for adjudication in rows.select_related("study", "target__citation", "by"):
        question = load_scheme(adjudication.study.scheme).question(adjudication.question)
        if question is not None:
            found[adjudication.target.response_id].append(decision(adjudication, question))
    return found


def decision(adjudication: Adjudication, question: Question) -> Decision:
    """Return an adjudication in words. Its person, with `by`, is loaded already."""
    citation, answer, by = adjudication.target.citation, adjudication.answer, adjudication.by
    return Decision(
        study=adjudication.study,
        question=question,
        citation=citation.number if citation else None,
        answer=UNDECIDABLE if answer is None else question.scale.label(answer),
        note=adjudication.note,
        by=by.username if by else f"imported, {adjudication.code}",
        code=by.rater_code if by else adjudication.code,
        at=adjudication.at,
    )
