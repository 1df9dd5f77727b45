"""The claiming of units: a rater gets the next free slot.

The database decides every race. Slots are rows that exist, so free ones are found without counting.
Constraints ensure N raters per unit, one open unit per rater, and no response twice.
"""

import time
from datetime import datetime, timedelta

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.models import Assignment, Exposure, Rater, Study
from annotation.ordering import start_of
from annotation.services.study_lock import SHARED, has_study_locks

ATTEMPTS = 5  # attempts in all; one fails if another tab, or another rater, was faster
AS_GOOD_AS_NEW = timedelta(seconds=10)  # a younger lease is not renewed, to save a write
PAUSE = 0.01  # seconds before the next attempt, doubled each time; a claim takes about this long


def claim_next_unit(rater: Rater, *, has_just_submitted: bool = False) -> Assignment | None:
    """Return the slot that a rater has open, else the next free one; None when none is left.

    A slot is free if no rater took it, or if the lease of its rater has run out. The lowest turn
    comes first, so that all units get their first rater before one gets its last. Within a turn the
    search begins at the rater's own seeded start, so that raters do not wait for the same row. A
    paused or closed study hands out nothing new. A claim takes five statements at most.

    A rater who has just submitted usually has no open unit. If they have one, the database refuses
    a second, and the open one is returned.
    """
    for attempt in range(ATTEMPTS):
        is_sure = has_just_submitted and attempt == 0
        in_hand = None if is_sure else _open_assignment(rater)
        if in_hand:
            return in_hand
        try:
            with transaction.atomic():
                claimed = _claim_free_slot(rater)
            return claimed or _open_assignment(rater)  # the rater's other tab may have taken one
        except IntegrityError:
            if attempt == ATTEMPTS - 1:
                raise
        except _NoLongerAtWork:
            rater.study.refresh_from_db(fields=("state",))
            return None
        except _TakenBySomebodyElse:
            time.sleep(PAUSE * 2**attempt)
            rater.study.refresh_from_db(fields=("state",))  # a closed one has free slots too
    return None


class _TakenBySomebodyElse(Exception):
    """A slot is free, but another rater is just taking it, and may fail."""


class _NoLongerAtWork(Exception):
    """The rater was taken out or excluded, or the study stopped, while they asked for a unit."""


def _open_assignment(rater: Rater) -> Assignment | None:
    """Return the slot that the rater has in hand, with a renewed lease; None without one."""
    in_hand = rater.assignments.in_hand()
    assignment = in_hand.first()
    if assignment is None or rater.study.state == Study.State.CLOSED:
        return None
    lease_until = lease_from_now(rater.study)
    if assignment.lease_until and lease_until - assignment.lease_until < AS_GOOD_AS_NEW:
        return assignment
    assignment.lease_until = lease_until
    is_mine_still = in_hand.filter(pk=assignment.pk).update(lease_until=assignment.lease_until)
    return assignment if is_mine_still else None  # its lease may have run out


def _claim_free_slot(rater: Rater) -> Assignment | None:
    study = rater.study
    if study.state != Study.State.OPEN or not rater.gets_units or _has_had_all(rater):
        return None
    now = timezone.now()
    is_qualifying = rater.n_gold < study.n_qualifying
    assignment = _take_first(rater, now, is_qualifying=is_qualifying)
    if assignment is None:
        met_before = Exposure.objects.filter(rater=rater, unit=OuterRef("unit"))
        mine_to_take = study.assignments.free(now).filter(~Exists(met_before), group=rater.group)
        if is_qualifying:
            mine_to_take = mine_to_take.filter(unit__is_gold=True)
        if mine_to_take.exists():
            raise _TakenBySomebodyElse
        return None
    with connection.cursor() as cursor:
        scope = SCOPE_OF_ARM if study.may_meet_both_arms else "''"
        lock = "FOR SHARE OF rater" if connection.features.has_select_for_update_of else ""
        cursor.execute(EXPOSE.format(scope=scope, lock=lock), [assignment.unit_id, rater.pk])
        if cursor.rowcount == 0:
            raise _NoLongerAtWork
    return assignment


def _has_had_all(rater: Rater) -> bool:
    """Return whether a rater has rated as many units as the study lets one person rate."""
    most = rater.study.most_units_per_rater
    return most is not None and rater.assignments.filter(submitted_at__isnull=False).count() >= most


# The slots of `AssignmentQuerySet.free`, for one rater. This is plain SQL: Django takes 3 ms to
# build it, ten times as long as a database takes to run it, and every rated unit waits for it.
FREE_SLOTS = """
    FROM annotation_assignment AS slots
    WHERE study_id = (SELECT id FROM open_study)
      AND "group" = %(group)s AND submitted_at IS NULL AND NOT is_let_go
      AND (rater_id IS NULL OR lease_until < %(now)s)
      AND NOT EXISTS (
        SELECT 1 FROM annotation_exposure AS met
        WHERE met.rater_id = %(rater)s AND met.unit_id = slots.unit_id
      )
"""
# The gold slots of all turns in one random order. In the order of turns, those of the first turns
# would be used up to qualify, and none would be left among the first units after it.
GOLD = """
    AND id IN (
      SELECT of_gold.id FROM annotation_goldanswer AS known
        JOIN annotation_unittarget AS place ON place.target_id = known.target_id
        JOIN annotation_unit AS unit ON unit.id = place.unit_id
        JOIN annotation_assignment AS of_gold ON of_gold.unit_id = unit.id
      WHERE known.study_id = %(study)s AND unit.is_gold
    )
    ORDER BY key
"""
FROM_START = f"""
    AND turn = (SELECT turn {FREE_SLOTS} ORDER BY turn, key LIMIT 1) AND key >= %(start)s
    ORDER BY turn, key
"""
# The two separate arms are one scope: their raters differ, also if a rater may meet both arms.
SCOPE_OF_ARM = "CASE WHEN annotation_arm.kind = 'merged' THEN 'merged' ELSE 'separate' END"
# A rater who is taken out or excluded at the same moment, or whose study is closed, is exposed to
# nothing and gives the slot back. An exclusion by gold items waits for this at the rater's row.
EXPOSE = """
    INSERT INTO annotation_exposure (rater_id, unit_id, target_id, scope)
    SELECT rater.id, unit_id, target_id, {scope}
    FROM annotation_unittarget
      JOIN annotation_unit ON annotation_unit.id = unit_id
      JOIN annotation_arm ON annotation_arm.id = arm_id
      JOIN annotation_rater AS rater ON rater.study_id = annotation_arm.study_id
      JOIN annotation_study AS study ON study.id = rater.study_id AND study.state = 'open'
    WHERE unit_id = %s AND rater.id = %s AND rater.taken_out_at IS NULL AND NOT rater.is_excluded
    {lock}
"""


def _take_first(rater: Rater, now: datetime, *, is_qualifying: bool) -> Assignment | None:
    """Take the first free slot from the rater's start on; after the last, begin at the first.

    A rater who has to qualify only gets units with known answers. Of the slots only this one is
    locked, so that no other rater misses a slot that stays free. Rows that others have locked are
    skipped. The study's lock is shared (see `study_lock`); whether it is open still, `EXPOSE` reads
    afterwards. (SQLite has no row locks: its transaction is IMMEDIATE already.)
    """
    can_lock = connection.features.has_select_for_update_skip_locked
    lock = "FOR UPDATE SKIP LOCKED" if can_lock else ""
    shared = f", ({SHARED}) AS shared" if has_study_locks() else ""
    searches = [GOLD] if is_qualifying else [FROM_START, "ORDER BY turn, key"]
    in_order = ", ".join(f"(SELECT id {FREE_SLOTS} {each} LIMIT 1 {lock})" for each in searches)
    as_stored = connection.ops.adapt_datetimefield_value
    taken = Assignment.objects.raw(
        f"""
        WITH open_study AS (
          SELECT id FROM annotation_study {shared} WHERE id = %(study)s AND state = 'open'
        )
        UPDATE annotation_assignment
        SET rater_id = %(rater)s, claimed_at = %(now)s, lease_until = %(lease)s
        WHERE id = COALESCE({in_order}, NULL)
        RETURNING *
        """,
        {
            "study": rater.study_id,
            "group": rater.group,
            "rater": rater.pk,
            "start": start_of(rater.study.seed, rater.code),
            "now": as_stored(now),
            "lease": as_stored(lease_from_now(rater.study)),
        },
    )
    return next(iter(list(taken)), None)  # SQLite can commit only after reading all rows


def lease_from_now(study: Study) -> datetime:
    """Return the end of a lease that begins now."""
    return timezone.now() + timedelta(minutes=study.lease_minutes)
