"""Writes of the qualification round: its items, the answers to them, and how it ended."""

from collections.abc import Mapping
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.services import record
from annotation.known_answers import given_answers, problem_with
from annotation.models import (
    Participant,
    QualificationAnswer,
    QualificationItem,
    Rater,
    Study,
    UnitTarget,
)
from annotation.qualification import n_right, next_item, score_of
from annotation.schemes import load_scheme
from annotation.services.joining import end_visit
from annotation.services.studies import StudyError, lock_study
from annotation.services.study_raters import take_out_rater
from generation.evidence import evidence_of, graphs_of
from generation.models import Response


class ItemToStore(NamedTuple):
    """One item of the round: the right answers to its questions, and why they are right."""

    answers: Mapping[str, int]
    explanation: str = ""


@transaction.atomic
def set_qualification(
    study: Study, items: Mapping[str, ItemToStore], pass_mark: float, by: User | None
) -> None:
    """Set the items of a study's qualification round: response key → item, in their order.

    People who join by the study's link judge them before their first unit. No unit of the study may
    show one of these responses, because people are told the answers.

    Raises:
        StudyError: an item was answered already, a response is not in the study's dataset, is in
            one of its units or is gold, or the answers are not a full form.
    """
    lock_study(study, Study.State.PLANNED, Study.State.OPEN, Study.State.PAUSED)
    if QualificationAnswer.objects.filter(item__study=study).exists():
        raise StudyError("People have answered items of the round, so it can no longer change.")
    if not 0 <= pass_mark <= 1:
        raise StudyError(f"Found the pass mark {pass_mark:g}; expected a share from 0 to 1.")
    scheme = load_scheme(study.scheme)
    if scheme.target == "citation":
        raise StudyError("Citations are rated here. A qualification round is about responses.")
    there = Response.objects.of_benchmark().filter(dataset=study.dataset_id, key__in=items)
    ids = dict(there.values_list("key", "pk"))
    rated = UnitTarget.objects.filter(unit__arm__study=study, target__response__in=ids.values())
    shown = set(rated.values_list("target__response__key", flat=True))
    gold = study.gold_answers.filter(target__response__in=ids.values())
    shown |= set(gold.values_list("target__response__key", flat=True))
    for key, item in items.items():
        if problem := problem_with(scheme, ids, key, item.answers):
            raise StudyError(f"Items, {problem}")
        if key in shown:
            raise StudyError(
                f"Response {key!r} is rated in this study, and people would be told the answers. "
                "Choose another one."
            )
    if scheme.evidence == "needed":
        _check_evidence(study, ids)
    study.qualification_items.all().delete()
    QualificationItem.objects.bulk_create(
        QualificationItem(
            study=study,
            response_id=ids[key],
            place=place,
            answers=given_answers(scheme, item.answers),
            explanation=item.explanation,
        )
        for place, (key, item) in enumerate(items.items(), start=1)
    )
    study.pass_mark = pass_mark
    study.save(update_fields=["pass_mark"])
    record(by, "study.qualification-set", study.name, n_items=len(items), pass_mark=pass_mark)


def _check_evidence(study: Study, ids: Mapping[str, int]) -> None:
    """Refuse responses without evidence under the study's choice of evidence."""
    responses, choice = Response.objects.filter(pk__in=ids.values()), study.evidence_choice
    passages, graphs = evidence_of(responses, choice), dict(graphs_of(responses, choice))
    for key, pk in ids.items():
        if not passages.get(pk) and not graphs.get(pk):
            raise StudyError(
                f"Response {key!r} has no evidence, and the questions are about evidence. Choose "
                "another one."
            )


@transaction.atomic
def answer_item(rater: Rater, item: QualificationItem, answers: Mapping[str, int]) -> None:
    """Store a rater's answers to an item, once; after the last item, end the round.

    A second answer to the same item changes nothing. A rater with a lower share of right answers
    than the pass mark gets no units. Nothing is stored if the item left the round meanwhile.
    """
    lock_study(rater.study, *Study.State.values)  # the items stay as they are from here on
    if not rater.study.qualification_items.filter(pk=item.pk).exists():
        return
    QualificationAnswer.objects.get_or_create(
        rater=rater,
        item=item,
        defaults={
            "answers": dict(answers),
            "n_right": n_right(rater.study, item, dict(answers)),
            "n_known": len(item.answers),
            "at": timezone.now(),
        },
    )
    end_round(rater)


@transaction.atomic
def end_round(rater: Rater) -> None:
    """Let a rater who has answered every item of the round rate, or end their visit.

    Nothing happens to a rater who is not in the round, or has items left.
    """
    if not rater.must_qualify or next_item(rater):
        return
    going = Rater.objects.filter(pk=rater.pk, is_in_qualification=True)
    score = score_of(rater) or 0.0
    if score >= rater.study.pass_mark:
        going.update(is_in_qualification=False)
        rater.is_in_qualification = False
        return
    participant = Participant.objects.filter(rater=rater).first()
    if participant:
        end_visit(participant, Participant.Outcome.SCREENED_OUT)
    elif rater.study.is_running:
        take_out_rater(rater, None)
