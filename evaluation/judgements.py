"""What people and metrics said about responses, for the pages that show one example or response."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from annotation.models import Flag, Rater, Study, Vote
from annotation.schemes import Question, load_scheme
from evaluation.metrics.human import UNDECIDED, majority_category
from evaluation.models import AutoScore
from generation.models import Response


class QuestionVotes(NamedTuple):
    """All votes on one question about one target in one arm."""

    question: Question
    by_rater: dict[str, Vote]  # code → vote
    majority: str  # the label, 'undecided', or '' without a counted vote
    n_majority: int
    n_votes: int


class Judgement(NamedTuple):
    """What one arm of one study said about one target of a response."""

    study: Study
    arm: str
    citation: int | None
    raters: list[Rater]
    questions: list[QuestionVotes]
    flags: list[Flag]
    is_flagged: bool  # by more than half of its raters: reports leave it out


def judgements(responses: Iterable[Response]) -> dict[int, list[Judgement]]:
    """Return all votes and flags on some responses by response id, in three queries."""
    votes = (
        Vote.objects.filter(target__response__in=responses)
        .select_related("arm__study", "rater", "target__citation")
        .order_by("arm__study", "-arm__kind", "target__citation__number", "rater__code")
    )
    flags = Flag.objects.filter(response__in=responses).select_related("arm__study", "rater")
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
    found: dict[int, list[Judgement]] = defaultdict(list)
    for (response, arm, number), of_target in grouped.items():
        found[response].append(
            Judgement(
                study=arms[arm].study,
                arm=arms[arm].kind,
                citation=number,
                raters=sorted({vote.rater for vote in of_target}, key=lambda rater: rater.code),
                questions=_by_question(arms[arm].study, of_target),
                flags=flags_of[response, arm],
                is_flagged=_is_flagged(arms[arm].study, of_target, flags_of[response, arm]),
            )
        )
    return found


def _is_flagged(study: Study, votes: list[Vote], flags: list[Flag]) -> bool:
    """Return whether most raters flagged it; the rule of `vote_counts.flagged_responses`."""
    flaggers = {flag.rater_id for flag in flags if not flag.rater.is_excluded}
    voters = {v.rater_id for v in votes if not v.rater.is_excluded and not v.is_surplus}
    return 2 * len(flaggers) > study.n_raters(len(flaggers | voters))


def _by_question(study: Study, votes: list[Vote]) -> list[QuestionVotes]:
    rows = []
    for question in load_scheme(study.scheme).questions:
        here = [vote for vote in votes if vote.question == question.key]
        if not here:
            continue
        counted = [v.answer for v in here if not v.is_surplus and not v.rater.is_excluded]
        counts = [counted.count(value) for value in question.scale.values]
        column = int(majority_category([counts], study.n_raters(len(counted)))[0])
        majority = "undecided" if column == UNDECIDED else question.scale.labels[column]
        rows.append(
            QuestionVotes(
                question=question,
                by_rater={vote.rater.code: vote for vote in here},
                majority=majority if counted else "",
                n_majority=max(counts),
                n_votes=len(counted),
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
