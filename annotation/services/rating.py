"""Writes of raters about their unit: drafts, skips, flags, votes and changes of votes."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import (
    AssignmentQuerySet,
    Draft,
    Flag,
    Rater,
    Skip,
    Unit,
    Vote,
    VoteChange,
)
from annotation.services.claiming import lease_from_now
from annotation.services.study_lock import SHARED, has_study_locks
from annotation.services.vote_consequences import (
    after_voting,
    check_decided_again,
    let_go_when_decided,
    units_judged_by,
)
from annotation.unit_rows import in_utc
from annotation.voting import Answer


class JudgedTarget(NamedTuple):
    """A rater's answers to one target, with implied ones; none if it is only flagged."""

    target_id: int
    position: int  # the place in which it was shown, from 1
    answers: Mapping[str, Answer]


class SubmitOutcome(Enum):
    """The outcome of submitted votes."""

    STORED = "stored"
    CHANGED = "changed"  # the unit had been submitted with other answers
    UNCHANGED = "unchanged"  # the unit had been submitted with the same answers
    SURPLUS = "surplus"  # the slot was gone, so the votes are kept outside every figure
    CLOSED = "closed"  # nothing changed: study closed or deleted, or rater taken out


def _in_hand(unit: Unit, rater: Rater) -> AssignmentQuerySet:
    return unit.assignments.in_hand().filter(rater=rater)


# --- drafts, skips, flags -------------------------------------------------------------------


@transaction.atomic
def save_draft(
    unit: Unit, rater: Rater, answers: Mapping[int, Mapping[str, int]], seconds: float | None
) -> datetime | None:
    """Store a rater's answers so far, and renew the lease; return its new end.

    Args:
        answers: target → question → answer, as far as given.
        seconds: time on task so far; None keeps the stored time.

    Returns:
        None when the slot is gone. The draft is stored nevertheless, unless votes were submitted.
    """
    lease_until = lease_from_now(rater.study)
    is_mine = bool(_in_hand(unit, rater).update(lease_until=lease_until))
    if not is_mine and _votes_of(unit, rater).exists():
        return None
    Draft.objects.bulk_create(
        [
            Draft(
                unit=unit,
                rater=rater,
                answers={str(target): dict(given) for target, given in answers.items()},
                seconds=max(0.0, seconds or 0.0),
                saved_at=timezone.now(),
            )
        ],
        update_conflicts=True,
        unique_fields=["unit", "rater"],
        update_fields=["answers", "saved_at"] + (["seconds"] if seconds is not None else []),
    )
    return lease_until if is_mine else None


@transaction.atomic
def skip_unit(unit: Unit, rater: Rater, reason: str, note: str = "") -> bool:
    """Give a unit back with a reason; return whether the rater had it.

    They do not get it again. Their draft is kept and counts nowhere.
    """
    if not (_lock(unit, rater) and _in_hand(unit, rater).give_back()):
        return False
    Skip.objects.create(unit=unit, rater=rater, reason=reason, note=note, at=timezone.now())
    let_go_when_decided(unit, rater.study, unit.targets.count())
    return True


@transaction.atomic
def flag_responses(unit: Unit, rater: Rater, target_ids: Collection[int], reason: str) -> bool:
    """Flag these responses: no judgement is possible. A second flag changes the reason.

    Returns:
        False when nothing changed, because the study is closed or the rater was taken out.
    """
    if not may_still_vote(unit, rater):
        return False
    responses = unit.targets.filter(pk__in=target_ids).values_list("response", flat=True)
    Flag.objects.bulk_create(
        (
            Flag(arm_id=unit.arm_id, response_id=response, rater=rater, reason=reason)
            for response in responses
        ),
        update_conflicts=True,
        unique_fields=["arm", "response", "rater"],
        update_fields=["reason"],
    )
    return True


@transaction.atomic
def take_flags_back(unit: Unit, rater: Rater) -> bool:
    """Remove a rater's flags on the responses of a unit.

    Returns:
        False when nothing changed, because the study is closed, the rater was taken out, or a flag
        replaces answers: in a submitted unit, a response without votes must be answered first.
    """
    if not may_still_vote(unit, rater):
        return False
    answered = _votes_of(unit, rater).values("target__response")
    flags = Flag.objects.filter(
        arm=unit.arm_id, response__in=unit.targets.values("response"), rater=rater
    )
    if _is_submitted(unit, rater) and flags.exclude(response__in=answered).exists():
        return False
    flags.delete()
    return True


def may_still_vote(unit: Unit, rater: Rater) -> bool:
    """Lock a unit until the transaction ends; return whether the rater may vote there even now.

    No one closes the study or takes the rater out before this transaction has ended.
    """
    if not _lock(unit, rater):
        return False
    _slot_of(unit, rater)
    return rater.may_vote


# --- votes ----------------------------------------------------------------------------------


def submit_votes(
    unit: Unit, rater: Rater, judged: Sequence[JudgedTarget], seconds: float | None
) -> SubmitOutcome:
    """Store one rater's votes on one unit, all or none; submitted votes are changed.

    Args:
        judged: every target of the unit once; only a flagged one may have no answers.
        seconds: active time on the unit; each vote keeps the time per response.

    A first submit takes six statements at most.
    """
    was_excluded = rater.is_excluded
    try:
        outcome = _submit(unit, rater, judged, seconds)
    except IntegrityError:  # another tab sent the same form at the same moment
        outcome = _submit(unit, rater, judged, seconds)
    if rater.is_excluded and not was_excluded:  # this gold item took them under the threshold
        check_decided_again(rater.study, units_judged_by(rater))
    return outcome


@transaction.atomic
def _submit(
    unit: Unit, rater: Rater, judged: Sequence[JudgedTarget], seconds: float | None
) -> SubmitOutcome:
    if not _lock(unit, rater):
        return SubmitOutcome.CLOSED
    filled = _fill_slot(unit, rater)
    slot = filled or _slot_of(unit, rater)
    if not filled:
        stored = {(vote.target_id, vote.question): vote for vote in _votes_of(unit, rater)}
        was_submitted = bool(stored) or _is_submitted(unit, rater)
        if was_submitted and not rater.may_vote:
            return SubmitOutcome.CLOSED
        if was_submitted:
            return _change(unit, rater, judged, stored, slot)
    votes = _new_votes(unit, rater, judged, seconds, slot, is_surplus=not filled)
    Vote.objects.bulk_create(votes)
    with connection.cursor() as cursor:
        cursor.execute(DROP_DRAFT, {"unit": unit.pk, "rater": rater.pk})
    if not filled:
        return SubmitOutcome.SURPLUS
    after_voting(unit, rater, len(judged))
    return SubmitOutcome.STORED


class _Slot(NamedTuple):
    """A rater's slot of a unit and the guidelines in force, which are stored with votes."""

    assignment: int | None
    claimed_at: datetime | None
    guideline: int | None


# These are plain SQL, because every rated unit waits for them: Django takes several times as long
# to build each as a database takes to run it.
LOCK = """
    SELECT unit.id FROM annotation_rater AS rater, annotation_unit AS unit {study}
    WHERE rater.id = %(rater)s AND unit.id = %(unit)s
"""
FOR_VOTES = LOCK.format(study=f", ({SHARED}) AS study") + "FOR NO KEY UPDATE OF unit"
# A gold item changes its rater's score, which is counted anew from all of their answers.
FOR_GOLD = LOCK.format(study=f", ({SHARED}) AS study") + "FOR NO KEY UPDATE OF rater, unit"
STUDY_STATE = "(SELECT state FROM annotation_study WHERE id = %(study)s)"
IN_FORCE = f"""
    (SELECT id FROM annotation_guideline
     WHERE study_id = %(study)s ORDER BY version DESC LIMIT 1),
    {STUDY_STATE},
    (SELECT taken_out_at FROM annotation_rater WHERE id = %(rater)s)
"""
FILL_SLOT = f"""
    UPDATE annotation_assignment SET submitted_at = %(now)s
    WHERE unit_id = %(unit)s AND rater_id = %(rater)s AND submitted_at IS NULL AND NOT is_let_go
      AND {STUDY_STATE} IN ('open', 'paused')
    RETURNING id, claimed_at, {IN_FORCE}
"""
SLOT = f"""
    SELECT mine.id, mine.claimed_at, {IN_FORCE}
    FROM annotation_unit AS unit
      LEFT JOIN annotation_assignment AS mine
        ON mine.unit_id = unit.id AND mine.rater_id = %(rater)s
    WHERE unit.id = %(unit)s
"""
DROP_DRAFT = "DELETE FROM annotation_draft WHERE unit_id = %(unit)s AND rater_id = %(rater)s"


def _lock(unit: Unit, rater: Rater) -> bool:
    """Lock a study, then one of its units; return False when they were deleted.

    The unit's lock lets submits come one after the other, so that each counts the votes before it.
    The study's is shared (see `study_lock`). This statement reads nothing that counts, because it
    may wait: the statements after it do.
    """
    lock = FOR_GOLD if unit.is_gold else FOR_VOTES
    statement = lock if has_study_locks() else LOCK.format(study="")
    with connection.cursor() as cursor:
        cursor.execute(statement, {"study": rater.study_id, "rater": rater.pk, "unit": unit.pk})
        return cursor.fetchone() is not None


def _fill_slot(unit: Unit, rater: Rater) -> _Slot | None:
    """Mark the slot that a rater has in hand as submitted; None if the study or the slot is gone.

    This is one of the statements after `_lock`, which read the study and the rater again.
    """
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    return _read_slot(FILL_SLOT, unit, rater, now=now)


def _slot_of(unit: Unit, rater: Rater) -> _Slot:
    """Return the slot of a unit that a rater has or had filled, as it is after `_lock`."""
    return _read_slot(SLOT, unit, rater) or _Slot(None, None, None)


def _read_slot(statement: str, unit: Unit, rater: Rater, **more: Any) -> _Slot | None:
    of = {"study": rater.study_id, "rater": rater.pk, "unit": unit.pk}
    with connection.cursor() as cursor:
        cursor.execute(statement, of | more)
        rows = cursor.fetchall()  # SQLite can commit only after reading all rows
    if not rows:
        return None
    [(assignment, claimed_at, guideline, rater.study.state, taken_out_at)] = rows
    rater.taken_out_at = in_utc(taken_out_at)
    return _Slot(assignment, in_utc(claimed_at), guideline)


def _votes_of(unit: Unit, rater: Rater) -> QuerySet[Vote]:
    return Vote.objects.filter(arm=unit.arm_id, target__in=unit.targets.values("pk"), rater=rater)


def _is_submitted(unit: Unit, rater: Rater) -> bool:
    """Return whether a rater has submitted a unit, also with flags and without votes."""
    return unit.assignments.filter(rater=rater, submitted_at__isnull=False).exists()


def _new_votes(
    unit: Unit,
    rater: Rater,
    judged: Sequence[JudgedTarget],
    seconds: float | None,
    slot: _Slot,
    *,
    is_surplus: bool,
) -> list[Vote]:
    """Return votes to store, with the guidelines in force and the slot that they fill."""
    now = timezone.now()
    if seconds is not None:
        since = (now - slot.claimed_at).total_seconds() if slot.claimed_at else seconds
        seconds = round(min(max(0.0, seconds), since) / len(judged), 1)
    return [
        Vote(
            arm_id=unit.arm_id,
            target_id=target.target_id,
            question=question,
            rater=rater,
            answer=answer.value,
            is_implied=answer.is_implied,
            is_surplus=is_surplus,
            assignment_id=None if is_surplus else slot.assignment,
            guideline_id=slot.guideline,
            position=target.position,
            seconds=seconds,
            at=now,
        )
        for target in judged
        for question, answer in target.answers.items()
    ]


def _change(
    unit: Unit,
    rater: Rater,
    judged: Sequence[JudgedTarget],
    stored: Mapping[tuple[int, str], Vote],
    slot: _Slot,
) -> SubmitOutcome:
    """Change submitted votes to the new answers, and store the old ones as changes."""
    now = timezone.now()
    changed: list[Vote] = []
    changes: list[VoteChange] = []
    for target in judged:
        for question, (value, is_implied) in target.answers.items():
            vote = stored.get((target.target_id, question))
            if vote is None or (vote.answer, vote.is_implied) == (value, is_implied):
                continue
            changes.append(
                VoteChange(
                    vote=vote,
                    at=now,
                    old_answer=vote.answer,
                    old_is_implied=vote.is_implied,
                    new_answer=value,
                    new_is_implied=is_implied,
                )
            )
            vote.answer, vote.is_implied = value, is_implied
            changed.append(vote)
    # A response that was flagged without answers may be answered later.
    unanswered = [
        target._replace(
            answers={
                question: answer
                for question, answer in target.answers.items()
                if (target.target_id, question) not in stored
            }
        )
        for target in judged
    ]
    is_surplus = any(vote.is_surplus for vote in stored.values())
    added = _new_votes(unit, rater, unanswered, None, slot, is_surplus=is_surplus)
    if not changed and not added:
        return SubmitOutcome.UNCHANGED
    Vote.objects.bulk_update(changed, ["answer", "is_implied"])
    VoteChange.objects.bulk_create(changes)
    Vote.objects.bulk_create(added)
    after_voting(unit, rater, len(judged))
    return SubmitOutcome.CHANGED
