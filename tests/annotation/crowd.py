"""Raters in a hurry: many at once, in threads and in processes that may be killed at any time."""

import json
import multiprocessing
import os
import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple, TypeVar

from django.db import connection, connections
from django.utils import timezone

from annotation.models import Assignment, Rater
from annotation.ordering import random_key
from annotation.services.claiming import claim_next_unit
from annotation.services.rating import SubmitOutcome, flag_responses, save_draft, skip_unit
from annotation.services.refilling import refill_units
from annotation.services.study_raters import set_excluded
from tests.annotation.makers import rate

T = TypeVar("T")
LATE = 0.08  # share of the units on which a rater's lease runs out
TWICE = 0.2  # share of the units that are submitted twice
DRAFTED = 0.2
SKIPPED = 0.02
FLAGGED = 0.05
REFILLED = 0.4  # share of a researcher's changes of mind
# Two tabs take two connections, and PostgreSQL allows 100 connections by default.
WITH_TWO_TABS = 15
IDLE_SECONDS = 0.3


def at_once(*actions: Callable[[], T]) -> list[T]:
    """Run actions at the same moment, each in a thread and a connection of its own."""
    barrier = threading.Barrier(len(actions))

    def run(action: Callable[[], T]) -> T:
        try:
            barrier.wait()
            return action()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as threads:
        return [done.result() for done in [threads.submit(run, action) for action in actions]]


def answers_of(rater: Rater, unit: int) -> dict[str, int]:
    """Return a rater's answers to the questions of SSA about a unit: always the same ones."""
    said = random_key(1, rater.code, unit)
    return {"sensible": said % 2, "specific": said // 2 % 2}


class Acknowledged(NamedTuple):
    """A submit that returned; `is_late` when the rater had let the lease run out."""

    rater: int
    unit: int
    outcome: SubmitOutcome
    is_late: bool


def acknowledged(folder: Path) -> Iterator[Acknowledged]:
    """Yield the submits that the raters of a crowd logged, each rater in a file of their own."""
    for file in folder.iterdir():
        for line in file.read_text(encoding="utf-8").splitlines():
            unit, outcome, is_late = json.loads(line)
            yield Acknowledged(int(file.name), unit, SubmitOutcome(outcome), is_late)


# --- one rater ------------------------------------------------------------------------------


def rate_in_haste(
    rater_id: int, folder: Path, seed: int, *, has_two_tabs: bool, over: Path | None = None
) -> None:
    """Claim and submit until the study has no open slot: at times late, twice, drafted or flagged.

    A submit is logged only when it has returned.

    Args:
        over: a file that has to be there, too, before the rater leaves; None: no file.
    """
    draw = random.Random(seed)
    while True:
        rater = Rater.objects.select_related("study").get(pk=rater_id)
        if not has_open_slots(rater.study_id):  # a claim would lock the whole of SQLite
            if over is None or over.exists():
                return
            time.sleep(IDLE_SECONDS)
        elif not rate_once_in_haste(
            rater, folder, draw, has_two_tabs=has_two_tabs, may_be_excluded=over is not None
        ):
            time.sleep(IDLE_SECONDS)


def has_open_slots(study_id: int) -> bool:
    """Return whether a slot of a study is wanted and not filled."""
    slots = Assignment.objects.filter(study=study_id, is_let_go=False)
    return slots.filter(submitted_at=None).exists()


def rate_once_in_haste(
    rater: Rater,
    folder: Path,
    draw: random.Random,
    *,
    has_two_tabs: bool = False,
    may_be_excluded: bool = True,
) -> bool:
    """Claim one unit, and submit or skip it; return False if the rater gets none."""
    claim = [partial(claim_next_unit, rater)] * (1 + (has_two_tabs and draw.random() < TWICE))
    held, *again = at_once(*claim) if len(claim) > 1 else [claim_next_unit(rater)]
    if held is None:
        return False
    if may_be_excluded:  # between both tabs
        again = [other for other in again if other]
    if any(other != held for other in again):
        raise AssertionError(f"two tabs of rater {rater.pk}: {held} and {again}")
    is_late = _dawdle(rater, held, draw)
    if draw.random() < SKIPPED:
        skip_unit(held.unit, rater, "I cannot judge this topic")
        return True
    if draw.random() < FLAGGED:
        flag_responses(held.unit, rater, held.unit.targets.values_list("pk", flat=True), "garbled")
    outcomes = _submit(rater, held, draw, has_two_tabs=has_two_tabs)
    log = os.open(folder / str(rater.pk), os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    for outcome in outcomes:
        os.write(log, (json.dumps([held.unit_id, outcome.value, is_late]) + "\n").encode())
    os.close(log)
    return True


def _dawdle(rater: Rater, held: Assignment, draw: random.Random) -> bool:
    """Save a draft at times, and at times let the lease run out; return whether it ran out."""
    if draw.random() < DRAFTED:
        save_draft(held.unit, rater, {}, 1.0)
    is_late = draw.random() < LATE
    if is_late:
        past = timezone.now() - timedelta(seconds=1)
        mine = Assignment.objects.filter(pk=held.pk, rater=rater, submitted_at=None)
        mine.update(lease_until=past)
        time.sleep(draw.uniform(0, 0.6))
    return is_late


def _submit(
    rater: Rater, held: Assignment, draw: random.Random, *, has_two_tabs: bool
) -> list[SubmitOutcome]:
    """Submit a unit, at times twice: from two tabs at the same moment, or one after the other."""
    answers = answers_of(rater, held.unit_id)
    held.unit.arm  # noqa: B018 - loaded here once, so that two threads do not both load it
    if draw.random() >= TWICE:
        return [rate(rater, held, answers)]
    if has_two_tabs:
        return at_once(*[partial(rate, rater, held, answers)] * 2)
    return [rate(rater, held, answers), rate(rater, held, answers)]


# --- one researcher -------------------------------------------------------------------------


def change_ones_mind(raters: Sequence[int], n_times: int, over: Path, seed: int) -> None:
    """Exclude raters, include them again, and have their judgements made again, at random.

    At the end the file `over` is made. A process that begins after that does nothing.
    """
    draw = random.Random(seed)
    for _ in range(0 if over.exists() else n_times):
        time.sleep(draw.uniform(0, IDLE_SECONDS))
        rater = Rater.objects.select_related("study").get(pk=draw.choice(raters))
        if draw.random() < REFILLED:
            refill_units(rater.study, None, draw.choice([None, rater]))
        else:
            set_excluded(rater, not rater.is_excluded, "I changed my mind.", None)
    over.touch()


# --- a crowd of processes -------------------------------------------------------------------


def rate_as_a_crowd(
    raters: Collection[Rater],
    folder: Path,
    *,
    n_kills: int,
    seed: int,
    seconds: float,
    beside: Callable[[Path, int], None] | None = None,
) -> int:
    """Let each rater rate in a process of their own until no slot is open; return the kills.

    Processes are killed one after another, in whatever they are doing, and started again.

    Args:
        beside: something that one more process does, given a file to make at its end and a seed.
            Raters stay until then.

    Raises:
        AssertionError: a process failed by itself, or some are busy after so many seconds.
    """
    over = folder.parent / "over" if beside else None
    jobs: list[Callable[[int], None]] = [
        partial(rate_in_haste, rater.pk, folder, has_two_tabs=place < WITH_TWO_TABS, over=over)
        for place, rater in enumerate(raters)
    ]
    if beside and over:
        jobs.append(partial(beside, over))
    return run_and_kill(jobs, n_kills=n_kills, seed=seed, seconds=seconds)


def run_and_kill(
    jobs: Sequence[Callable[[int], None]], *, n_kills: int, seed: int, seconds: float
) -> int:
    """Run each job in a process of its own, given a seed, until all are done; return the kills.

    Processes are killed one after another, in whatever they are doing, and started again.

    Raises:
        AssertionError: a process failed by itself, or some are busy after so many seconds.
    """
    draw = random.Random(seed)
    fork = multiprocessing.get_context("fork")

    def start(job: Callable[[int], None]) -> BaseProcess:
        connections.close_all()  # parent and child must not share a connection
        process = fork.Process(target=job, args=(draw.getrandbits(32),))
        process.start()
        return process

    crowd = dict(enumerate(jobs))
    at_work = {place: start(job) for place, job in crowd.items()}
    killed = 0
    deadline = time.monotonic() + seconds
    try:
        while at_work:
            time.sleep(draw.uniform(0, 0.05))
            for place, process in list(at_work.items()):
                if process.exitcode is not None:
                    assert process.exitcode == 0, "a process failed: its error is above"
                    del at_work[place]
            assert time.monotonic() < deadline, f"{len(at_work)} processes still at work"
            if at_work and killed < n_kills:
                place = draw.choice(list(at_work))
                if _kill(at_work[place]):
                    killed += 1
                    at_work[place] = start(crowd[place])
    finally:
        for process in at_work.values():
            _kill(process)
    return killed


def _kill(process: BaseProcess) -> bool:
    """End a process as a power cut would; return False when it had ended by itself."""
    process.kill()
    process.join()
    return process.exitcode != 0
