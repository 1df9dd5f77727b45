"""A crowd that joins by a link, rates, gives back, stays away, is excluded and refilled at once.

On two cores it takes about a minute on either database. In that time 150 to 300 people come.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotation.arrivals import Arrival
from annotation.models import Assignment, CrowdPlatform, Draft, Participant, Rater, Study
from annotation.services.joining import Newcomer, end_idle_visits, end_visit, join_study
from annotation.services.refilling import refill_units
from annotation.services.studies import StudyError
from annotation.services.study_raters import set_excluded
from tests.annotation.crowd import (
    IDLE_SECONDS,
    acknowledged,
    has_open_slots,
    rate_once_in_haste,
    run_and_kill,
)
from tests.annotation.joining.test_platform import platform_of
from tests.annotation.makers import material, opened
from tests.annotation.promises import broken_promises, lost_votes

pytestmark = [pytest.mark.faults, pytest.mark.both(transaction=True)]

T = TypeVar("T")
N_PEOPLE = 50  # at a time, each in a process of their own
PLACES = 25  # in each of two groups
N_EXAMPLES = 30  # × 3 units × 5 raters = 450 slots
EXCLUSIONS = 25
KILLS = 200  # most of the 50 people and the researcher begin again several times
GIVES_BACK, STAYS_AWAY = 0.04, 0.04  # shares of the units after which a person leaves so


def visit_until_all_is_rated(platform_id: int, place: int, folder: Path, seed: int) -> None:
    """Join, rate and leave again and again: a person of a platform at one of many computers.

    A person whose process was killed has gone away from the computer.
    """
    draw = random.Random(seed)
    platform = CrowdPlatform.objects.select_related("link__study").get(pk=platform_id)
    study, here = platform.link.study, folder.parent / f"computer-{place}"
    if here.exists() and (were_here := here.read_text().split()):
        patiently(partial(stay_away, int(were_here[-1])))
    rater_id = None
    while has_open_slots(study.pk) or not (folder.parent / "over").exists():
        try:
            if rater_id is None:
                arrival = Arrival(uuid4().hex, "study", "session")
                joining = partial(join_study, platform.link, uuid4(), Newcomer(arrival=arrival))
                rater_id = patiently(joining).rater.pk
                with here.open("a") as computer:  # a kill leaves what stood there before
                    computer.write(f"{rater_id}\n")
            elif patiently(partial(rate_or_leave, rater_id, folder, draw)):
                rater_id = None
        except StudyError:  # all places are taken
            time.sleep(IDLE_SECONDS)


def rate_or_leave(rater_id: int, folder: Path, draw: random.Random) -> bool:
    """Rate one unit, or leave: give the place back, or stay away; return whether they left."""
    rater = Rater.objects.select_related("study").get(pk=rater_id)
    if not rater.gets_units:
        return True
    leaves = draw.random() if not (folder.parent / "over").exists() else 1.0
    if leaves < GIVES_BACK:
        participant = Participant.objects.select_related("rater__study").get(rater=rater)
        end_visit(participant, Participant.Outcome.RETURNED)
    elif leaves < GIVES_BACK + STAYS_AWAY:
        stay_away(rater_id)
    elif not (has_open_slots(rater.study_id) and rate_once_in_haste(rater, folder, draw)):
        time.sleep(draw.uniform(0, 2 * IDLE_SECONDS))
    return leaves < GIVES_BACK + STAYS_AWAY


def stay_away(rater_id: int) -> None:
    """Let two hours pass since a person did something."""
    past = timezone.now() - timedelta(hours=2)
    Participant.objects.filter(rater=rater_id, outcome="").update(consented_at=past)
    theirs = Assignment.objects.filter(rater=rater_id)
    theirs.filter(submitted_at__isnull=False).update(claimed_at=past, submitted_at=past)
    theirs.filter(submitted_at=None).update(claimed_at=past, lease_until=past)
    Draft.objects.filter(rater=rater_id).update(saved_at=past)


def exclude_and_refill(study_id: int, folder: Path, seed: int) -> None:
    """Exclude raters at random and refill their units; at the end make the file `over`."""
    draw, over = random.Random(seed), folder.parent / "over"
    study = Study.objects.get(pk=study_id)
    for _ in range(0 if over.exists() else EXCLUSIONS):
        time.sleep(draw.uniform(0, 2 * IDLE_SECONDS))
        working = list(study.raters.filter(Rater.TAKES_PART).select_related("study"))
        counted = Counter(rater.group for rater in working)
        assert max(counted.values(), default=0) <= PLACES, f"too many people: {counted}"
        if working:
            chosen = draw.choice(working)
            patiently(partial(set_excluded, chosen, True, "They clicked at random.", None))
        if draw.random() < 0.5:
            patiently(partial(refill_units, study, None))
    patiently(partial(refill_units, study, None))
    over.touch()


def patiently(action: Callable[[], T]) -> T:
    """Do something, again if the site is busy: SQLite waits 20 seconds, then it says so."""
    while True:
        try:
            return action()
        except OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(IDLE_SECONDS)


def test_fifty_people_who_join_leave_are_excluded_and_replaced_keep_every_promise(tmp_path):
    dataset = material(tmp_path / "material", n_examples=N_EXAMPLES)
    study = opened(dataset, scheme="SSA", raters=0, arms=["separate", "merged"])
    platform = platform_of(study, most_per_group=PLACES)
    n_slots = study.assignments.count()
    logs = tmp_path / "acknowledged"
    os.mkdir(logs)

    killed = run_and_kill(
        [
            *[
                partial(visit_until_all_is_rated, platform.pk, place, logs)
                for place in range(N_PEOPLE)
            ],
            partial(exclude_and_refill, study.pk, logs),
        ],
        n_kills=KILLS,
        seed=3,
        seconds=420,
    )

    excluded = set(study.raters.filter(is_excluded=True).values_list("pk", flat=True))
    assert study.assignments.count() == n_slots == N_EXAMPLES * 3 * 5
    assert broken_promises(study) == {}
    assert lost_votes(study, acknowledged(logs), excluded) == []
    assert not has_open_slots(study.pk)
    outcomes = Counter(Participant.objects.values_list("outcome", flat=True))
    assert outcomes["returned"] > 0
    assert outcomes["timed_out"] > 0
    assert len(excluded) > outcomes["returned"]
    assert killed >= KILLS // 20  # fewer where all is done before, or the machine is busy

    # No place is lost: as many more people join as there are places, and no one else.
    end_idle_visits(platform)
    while True:
        try:
            join_study(platform.link, uuid4(), Newcomer(arrival=Arrival(uuid4().hex, "", "")))
        except StudyError:
            break
    counted = Counter(study.raters.filter(Rater.TAKES_PART).values_list("group", flat=True))
    assert counted == {0: PLACES, 1: PLACES}

    # Not even with everybody included does a response have more than N raters.
    for rater in study.raters.filter(is_excluded=True).select_related("study"):
        set_excluded(rater, False, "They explained it.", None)
    assert broken_promises(study) == {}
