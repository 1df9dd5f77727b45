"""Finds what one rater answered otherwise than the others, and how their agreement went."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from annotation.models import Rater, Study
from evaluation.reports.columns import Estimate
from evaluation.statistics.intervals import Indexes
from evaluation.statistics.rater_votes import LEAST
from evaluation.studies.rater_quality.comparison import BesideOthers, beside_others, share_of
from evaluation.studies.rater_quality.judgements import RaterJudgements, judgements_of

MOST_BLOCKS = 10  # parts of the rater's order, of LEAST / 2 units or more each


class DifferingAnswer(NamedTuple):
    """An answer that differs from the majority of the others."""

    question: str  # key
    arm: str
    response: str  # key
    response_id: int
    citation: int  # 0: the answer is about the whole response
    answer: str
    others: str  # each answer with the number of others who gave it: 'yes 3, no 1'


class Block(NamedTuple):
    """Some units in the order in which the rater did them, the first unit being 1."""

    first: int
    last: int
    agreement: Estimate  # share of answers that agree with the majority of the others


class WorkBesideOthers(NamedTuple):
    """The work of one rater beside that of the others."""

    differences: list[DifferingAnswer]  # sorted by response and question
    course: list[Block]  # empty below LEAST units


def work_beside_others(study: Study, rater: Rater, reference: frozenset[str]) -> WorkBesideOthers:
    """Return what a rater answered otherwise, and how their agreement went.

    Args:
        study: the study.
        rater: one of its raters.
        reference: the codes of the raters with whom everybody is compared.
    """
    judged = judgements_of(study, rater)
    in_reference = np.array([each.code in reference for each in judged.raters], np.bool_)
    place = next(n for n, each in enumerate(judged.raters) if each.pk == rater.pk)
    others = in_reference.copy()
    others[place] = False
    beside = beside_others(judged, in_reference, study.n_raters(0))
    own = np.flatnonzero(judged.of_rater == place)
    is_other = others[judged.of_rater] & ~judged.is_implied
    return WorkBesideOthers(
        differences=_differences(judged, own[beside.same[own] == 0], np.flatnonzero(is_other)),
        course=_course(judged, own, beside),
    )


def _differences(
    judged: RaterJudgements, differing: Indexes, others: Indexes
) -> list[DifferingAnswer]:
    """Return the votes that differ, each with the other votes on the same question and item."""
    found = []
    for vote in differing[np.lexsort([judged.of_question[differing], judged.of_item[differing]])]:
        question = judged.scheme.questions[judged.of_question[vote]]
        labels = question.scale.labels
        beside = others[
            (judged.of_item[others] == judged.of_item[vote])
            & (judged.of_question[others] == judged.of_question[vote])
        ]
        counts = np.bincount(judged.answers[beside], minlength=len(labels))
        given = sorted(zip(counts.tolist(), labels, strict=True), key=lambda each: -each[0])
        item = judged.items[judged.of_item[vote]]
        found.append(
            DifferingAnswer(
                question=question.key,
                arm=item.arm,
                response=item.response,
                response_id=item.response_id,
                citation=item.citation,
                answer=labels[judged.answers[vote]],
                others=", ".join(f"{label} {n}" for n, label in given if n),
            )
        )
    return found


def _course(judged: RaterJudgements, own: Indexes, beside: BesideOthers) -> list[Block]:
    """Return the agreement of a rater's votes in blocks of units of about the same size."""
    own = own[judged.turns[own] >= 0]
    turns, at = np.unique(judged.turns[own], return_inverse=True)
    if len(turns) < LEAST:
        return []
    n_blocks = min(MOST_BLOCKS, 2 * len(turns) // LEAST)
    ends = np.linspace(0, len(turns), n_blocks + 1).astype(np.int64).tolist()
    same, dialogs = beside.same[own], judged.dialogs[own]
    blocks = []
    for start, end in pairwise(ends):
        here = (at >= start) & (at < end)
        blocks.append(Block(start + 1, end, share_of(same[here], dialogs[here])))
    return blocks
