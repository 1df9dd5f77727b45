"""Every fault meets every kind of piece of work: all work ends, each item is done once.

There are seven faults and a trial of each for every kind of piece, over the queue in a folder,
Redis and RabbitMQ. Each fault comes ten times, and 20 times by the two rounds of
`make test-faults`, on SQLite and PostgreSQL.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import NamedTuple

import pytest
from django.conf import settings as django_settings
from django.core.cache import cache
from django.db import connection
from django.db.models import F
from django.utils import timezone

from evaluation.runs.services import runs
from tests.evaluation.runs.test_prompt_searches import ssa_study
from tests.evaluation.workers import BROKERS, long_evidence, waited
from tests.generation.question_makers import dataset_of
from tests.language_model_server import says, stand_in
from tests.work.faulty_work import (
    BEGINS_WITHIN_SECONDS,
    AskedGrid,
    DrawnSample,
    FaultyWork,
    PlannedGrid,
    ScoredRun,
    SearchedPrompt,
    StoredImport,
    unfinished,
)
from tests.work.worker_group import HASTY, SILENT_AFTER_SECONDS, Group, group_on
from work.claims import QUEUED, RUNNING, lease
from work.pieces import piece_kinds

pytestmark = [pytest.mark.both(transaction=True), pytest.mark.faults]

TRIALS_OF_EACH_FAULT = 10  # on one database
ENDS_WITHIN_SECONDS = 90.0
HOUR = timedelta(hours=1)
WORKS: list[type[FaultyWork]] = [
    ScoredRun,
    AskedGrid,
    PlannedGrid,
    DrawnSample,
    StoredImport,
    SearchedPrompt,
]
N_IMPORTED = 4000


# --- the works --------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def as_in_the_group(monkeypatch, settings, tmp_path):
    """Let this process see leases and uploads as the group's processes do; make chunks small."""
    monkeypatch.setattr(runs, "LARGEST_CHUNK", 10)
    settings.SILENT_AFTER_SECONDS = SILENT_AFTER_SECONDS
    settings.CHUNK_LEASE_SECONDS = float(HASTY["ATTEST_CHUNK_LEASE_SECONDS"])
    settings.MEDIA_ROOT = tmp_path / "uploads"


@pytest.fixture
def works(tmp_path, adam) -> Iterator[Mapping[type[FaultyWork], FaultyWork]]:
    """Work of each kind, which takes one to five seconds."""
    examples = dataset_of(tmp_path / "examples", 8000, name="examples")
    few = dataset_of(tmp_path / "few", 240, name="few")
    study = ssa_study(tmp_path / "study", {"cool": {f"c-{n}": n % 6 for n in range(10)}})
    imported = b"".join(
        b'{"id": "%d", "turns": [{"speaker": "user", "text": "Why is that?"}]}\n' % number
        for number in range(N_IMPORTED)
    )
    with stand_in() as server:
        server.otherwise = says("0.4", after=0.1)
        yield {
            ScoredRun: ScoredRun(long_evidence(tmp_path / "evidence", 20, 80)),
            AskedGrid: AskedGrid(few, ["no-evidence", "golden", "golden-instructions"]),
            PlannedGrid: PlannedGrid(examples),
            DrawnSample: DrawnSample(examples),
            StoredImport: StoredImport(imported, N_IMPORTED, adam),
            SearchedPrompt: SearchedPrompt(study, server.url),
        }


# --- messages ---------------------------------------------------------------------------------


class Messages:
    """The messages of a site, sent by a process of its own with the site's settings."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def send(self, work: FaultyWork, times: int = 1) -> None:
        ids = unfinished(work.pieces()).values_list("pk", flat=True)
        self._order("send", work.kind.task_name, times, *ids)

    def purge(self) -> None:
        """Delete every message that waits in a queue."""
        self._order("purge")

    def _order(self, *words: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def messages_of(group: Group) -> Iterator[Messages]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.work.message_sender"],
        cwd=django_settings.BASE_DIR,
        env=group.site.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Messages(process)
    finally:
        process.kill()
        process.communicate()


# --- the faults -------------------------------------------------------------------------------


class Scene(NamedTuple):
    """The group that a fault hits, the messages to it, and work that was not yet asked for."""

    group: Group
    messages: Messages
    work: FaultyWork


def killed_process(scene: Scene) -> None:
    """Kill the process at work. Of chunks both processes do some; a single piece has one of two.

    For a single piece both are killed, so that the right one is among them.
    """
    _begin(scene)
    _kill_at_work(scene)


def killed_group(scene: Scene) -> None:
    """Kill all processes while they work, and start the group again."""
    _begin(scene)
    scene.group.kill()
    _check_that_it_hit(scene)
    scene.group.start()


def killed_beat(scene: Scene) -> None:
    """Kill the beat, then ask for work that only the beat sends.

    An upload is checked before it is to be stored; its beat is killed in between.
    """
    assert waited(lambda: len(scene.group.beat) == 1, BEGINS_WITHIN_SECONDS)
    if isinstance(scene.work, StoredImport):
        scene.work.ask()
    os.kill(scene.group.beat[0], signal.SIGKILL)
    if not isinstance(scene.work, StoredImport):
        scene.work.ask()


def doubled_messages(scene: Scene) -> None:
    """Send each message twice."""
    scene.work.ask()
    scene.messages.send(scene.work, times=2)


def purged_broker(scene: Scene) -> None:
    """Send the work, and delete all messages.

    A worker may be faster. So a single piece only seems to be sent: its message is lost surely.
    """
    scene.work.ask()
    if scene.work.kind.part_of:
        scene.messages.send(scene.work)
    else:
        scene.work.pieces().filter(state=QUEUED).update(sent_at=timezone.now())
    scene.messages.purge()


def expired_lease(scene: Scene) -> None:
    """End the leases of all workers that live, and send the pieces to others as well."""
    _begin(scene, is_deep=False)
    ids = scene.work.pieces().filter(state=RUNNING).values_list("pk", flat=True)
    label = scene.work.kind.model._meta.label_lower
    cache.delete_many([f"work:sign:{label}:{pk}" for pk in ids])
    _lease(scene, timezone.now() - timedelta(seconds=1))
    scene.messages.send(scene.work)


def clock_set_back(scene: Scene) -> None:
    """Let a worker find its times an hour ahead; after the next renewal, kill the process.

    The worker of an import renews a sign in the cache, and its row has the wrong time to the end.
    """
    _begin(scene, is_deep=False)
    pieces = unfinished(scene.work.pieces())
    _lease(scene, F("lease_until") + HOUR)
    pieces.exclude(sent_at=None).update(sent_at=F("sent_at") + HOUR)
    soon = timezone.now() + 10 * lease()
    ahead = pieces.filter(state=RUNNING, lease_until__gt=soon)
    is_import = isinstance(scene.work, StoredImport)
    renews = scene.work.has_begun if is_import else lambda: not ahead.exists()
    assert waited(renews, BEGINS_WITHIN_SECONDS), "no lease was renewed"
    _kill_at_work(scene)


FAULTS: list[Callable[[Scene], None]] = [
    killed_process,
    killed_group,
    killed_beat,
    doubled_messages,
    purged_broker,
    expired_lease,
    clock_set_back,
]


def _begin(scene: Scene, *, is_deep: bool = True) -> None:
    """Ask for the work and wait until a worker has it, or is in the middle of it."""
    scene.work.ask()
    begins = scene.work.has_begun if is_deep else scene.work.is_claimed
    assert waited(begins, BEGINS_WITHIN_SECONDS, every=0.01), "it did not begin, or was too quick"


def _lease(scene: Scene, until: object) -> None:
    """Write when the leases of the pieces at work end; between two chunks there may be none."""
    running = scene.work.pieces().filter(state=RUNNING)
    is_hit = waited(lambda: running.update(lease_until=until) > 0, BEGINS_WITHIN_SECONDS, every=0.0)
    assert is_hit, "no piece was at work"


def _kill_at_work(scene: Scene) -> None:
    at_work: list[int] = getattr(scene.group, scene.work.sort)
    assert at_work, "no process is there"
    for pid in [random.choice(at_work)] if scene.work.kind.part_of else at_work:
        os.kill(pid, signal.SIGKILL)
    _check_that_it_hit(scene)


def _check_that_it_hit(scene: Scene) -> None:
    assert unfinished(scene.work.pieces()).exists(), "it was done before the fault"


# --- the matrix -------------------------------------------------------------------------------


class Trial(NamedTuple):
    fault: Callable[[Scene], None]
    work: type[FaultyWork]
    broker: str


def trials(database: str) -> list[Trial]:
    """Return all trials on a database, in seeded order; the other one has other brokers."""
    shift = int(database == "postgresql")
    found = [
        Trial(fault, WORKS[(k + f) % len(WORKS)], BROKERS[(k + shift) % len(BROKERS)])
        for f, fault in enumerate(FAULTS)
        for k in range(TRIALS_OF_EACH_FAULT)
    ]
    random.Random(database).shuffle(found)
    return found


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_fault_meets_every_kind_of_piece(database):
    met = Counter((each.fault, each.work.kind.model) for each in trials(database))

    assert {work.kind for work in WORKS} == set(piece_kinds())
    assert met.keys() == {(fault, kind.model) for fault in FAULTS for kind in piece_kinds()}


@pytest.mark.parametrize("broker", BROKERS)
def test_whatever_fails_all_work_ends_and_each_item_is_done_once(broker, works, tmp_path, capsys):
    mine = [each for each in trials(connection.vendor) if each.broker == broker]
    took: dict[str, list[float]] = {}
    with group_on(broker, tmp_path, **HASTY) as group, messages_of(group) as messages:
        for fault, kind_of_work, _ in mine:
            assert waited(partial(_is_complete, group), BEGINS_WITHIN_SECONDS), group.log[-3000:]
            name = f"{fault.__name__}, {kind_of_work.__name__}"
            with capsys.disabled(), _telling(name, group):
                seconds = tried(fault, Scene(group, messages, works[kind_of_work]))
            took.setdefault(name, []).append(seconds)

    with capsys.disabled():
        for name, times in sorted(took.items()):
            line = f"{connection.vendor} {broker} {name}: {len(times)} times, all work ended"
            sys.stdout.write(f"\n{line} within {max(times):.1f} s")


def tried(fault: Callable[[Scene], None], scene: Scene) -> float:
    """Let a fault hit work, check how it ends, and return the seconds that this took."""
    work = scene.work
    fault(scene)
    before = work.stored()
    began = time.monotonic()
    ends = waited(work.is_over, ENDS_WITHIN_SECONDS, every=0.1)
    assert ends, f"it did not end: {list(unfinished(work.pieces()).values())[:3]}"
    seconds = time.monotonic() - began

    after = work.stored()
    work.assert_done_once()
    assert before.items() <= after.items(), "what was stored was made again"
    for kind in piece_kinds():
        assert kind.counts() == {"n_waiting": 0, "n_at_work": 0}, kind.doing
    work.delete()
    return seconds


def _is_complete(group: Group) -> bool:
    """Return whether every process is there, after those that were killed before."""
    counts = [len(group.computing), len(group.quick), len(group.beat), len(group.for_servers)]
    return counts == [2, 2, 1, 1]


@contextmanager
def _telling(name: str, group: Group) -> Iterator[None]:
    """Say with a failure which trial it was, and what the group logged last."""
    try:
        yield
    except AssertionError as error:
        error.add_note(f"{name}\n{group.log[-5000:]}")
        raise
