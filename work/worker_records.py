"""Records of the workers: the host, queues and loaded model of each, and its tasks.

Each process that works has one record in the cache, for the reason in `work.worker_health`. A cache
cannot be searched, so one more entry, the index, holds the keys of all records. When two processes
add themselves at once, one of them is lost, and adds itself again when it next writes its record.
"""

import os
import socket
import time
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from threading import Lock, Thread
from typing import Any, NamedTuple

from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

# Raise the number when the fields of a record change: older workers may still write theirs.
INDEX, RECORD = "work:records-1", "work:record-1"
SEEN_SECONDS = 120.0  # a record that is not written again is dropped after this long
WRITTEN_EVERY_SECONDS = 10.0  # longest time between two writes of one process
LEAST_SECONDS = 1.0  # shortest time between them
SILENT_SECONDS = 30.0  # a worker that missed three writes is probably gone


class WorkerRecord(NamedTuple):
    """One process that works, as it was when it was last heard."""

    host: str
    worker: str  # its name in Celery, such as "worker-1@host"; the processes of a pool share it
    process_id: int
    queues: tuple[str, ...]
    began_at: datetime
    heard_at: datetime
    model: str = ""  # the loaded model; "" for none
    device: str = ""  # the place where the model computes: "cpu", or the name of the card
    tasks: tuple[str, ...] = ()  # the tasks that it does now, in words; none while it waits
    n_done: int = 0  # pieces of work that ended since it began, also those that failed

    @property
    def key(self) -> str:
        return f"{RECORD}:{self.worker}:{self.process_id}"

    @property
    def name(self) -> str:
        """Its name on its host."""
        return self.worker.removesuffix(f"@{self.host}")

    @property
    def does_now(self) -> str:
        """The tasks that go on, in words; "" while it waits."""
        n_of = Counter(self.tasks)
        return ", ".join(words if n == 1 else f"{words} × {n}" for words, n in n_of.items())

    @property
    def silent_seconds(self) -> int:
        """The time since it was last heard. The clocks of two hosts may differ a little."""
        return max(0, round((timezone.now() - self.heard_at).total_seconds()))

    @property
    def is_silent(self) -> bool:
        return self.silent_seconds >= SILENT_SECONDS


def seen_workers() -> list[WorkerRecord]:
    """Return the processes heard in the last `SEEN_SECONDS`, by host, name and process."""
    return sorted(record for key in cache.get(INDEX, ()) if (record := cache.get(key)))


def write_record(record: WorkerRecord) -> None:
    """Write a record, and add it to the index where it is missing, without those dropped by now."""
    cache.set(record.key, record, SEEN_SECONDS)
    keys = cache.get(INDEX, ())
    if record.key not in keys:
        heard = [key for key in keys if cache.get(key)]
        cache.set(INDEX, (*heard, record.key), timeout=None)


def forget_worker(worker: str) -> None:
    """Drop the records of all processes of a worker, by its name in Celery."""
    for record in seen_workers():
        if record.worker == worker:
            cache.delete(record.key)


class OwnRecord:
    """The record of this process. A thread writes it soon after each change, and now and then.

    So an idle worker is seen too, and a task does not wait for the cache.
    """

    def __init__(self, worker: str, queues: Iterable[str]) -> None:
        now = timezone.now()
        self._record = WorkerRecord(
            socket.gethostname(), worker, os.getpid(), tuple(queues), now, now
        )
        self._tasks: dict[str, str] = {}  # the words for each task that goes on, by its id
        self._changes = Lock()  # the tasks of a pool of threads share the record
        self._has_news = True
        self._is_over = False
        self._writer = Thread(target=self._go_on_writing, name="worker-record", daemon=True)
        self._writer.start()

    @property
    def process_id(self) -> int:
        return self._record.process_id

    def stop(self) -> None:
        """Have the record dropped soon. A handler of signals may call this: it takes no lock."""
        self._is_over = True

    def end(self) -> None:
        """Drop the record, and return when it is dropped."""
        self.stop()
        self._writer.join(2 * LEAST_SECONDS)

    def begin_task(self, task_id: str, task: Any) -> None:
        with self._changes:
            self._tasks[task_id] = _words_for(task)
            self._has_news |= _is_piece(task)

    def end_task(self, task_id: str, task: Any) -> None:
        with self._changes:
            self._tasks.pop(task_id, None)
            n_done = self._record.n_done + _is_piece(task)
            self._record = self._record._replace(n_done=n_done)
            self._has_news |= _is_piece(task)

    def change_model(self, model: str, device: str) -> None:
        with self._changes:
            self._record = self._record._replace(model=model, device=device)
            self._has_news = True

    def _go_on_writing(self) -> None:
        while not self._is_over:
            if self._has_news or self._record.silent_seconds >= WRITTEN_EVERY_SECONDS:
                write_record(self._renewed())
            time.sleep(LEAST_SECONDS)
        cache.delete(self._record.key)

    def _renewed(self) -> WorkerRecord:
        with self._changes:
            tasks, now = tuple(self._tasks.values()), timezone.now()
            self._record = self._record._replace(tasks=tasks, heard_at=now)
            self._has_news = False
            return self._record


def _words_for(task: Any) -> str:
    """Return what a task does, as its kind of piece says, or the name of its function."""
    return str(getattr(task, "doing", task.__class__.__name__.replace("_", " ")))


def _is_piece(task: Any) -> bool:
    """Return whether a task does a piece of work. The beat's tasks only keep things in order."""
    return task.name not in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}


# --- the record of this process, kept by signals of Celery and by the opening of models ---------

_own: OwnRecord | None = None  # None in a process that is no worker, such as the site's


def begin_worker(sender: str, instance: Any, **signal: Any) -> None:
    """Begin the record of a worker that has just started, and drop those of its former processes.

    The parent of a pool of processes has no record, because each child begins its own.
    """
    from celery.concurrency.prefork import TaskPool

    forget_worker(sender)
    if not issubclass(instance.pool_cls, TaskPool):
        begin_process(sender)


def begin_process(sender: str, **signal: Any) -> None:
    """Begin the record of this process, unless it has one."""
    from celery import current_app

    global _own
    if _own is None or _own.process_id != os.getpid():
        _own = OwnRecord(sender, current_app.amqp.queues.consume_from)


def end_process(**signal: Any) -> None:
    """Drop the record of this process."""
    global _own
    if _own:
        _own.end()
    _own = None


def stop_process(how: str, **signal: Any) -> None:
    """Drop the record of a worker that stops without waiting for its tasks: it may be killed."""
    if how == "Cold" and _own:
        _own.stop()


def end_worker(sender: Any, **signal: Any) -> None:
    """Drop the records of a worker that ends, with those of its children."""
    end_process()
    forget_worker(sender.hostname)


def begin_task(sender: Any, task_id: str, **signal: Any) -> None:
    if _own:
        _own.begin_task(task_id, sender)


def end_task(sender: Any, task_id: str, **signal: Any) -> None:
    if _own:
        _own.end_task(task_id, sender)


def note_model(name: str = "", device: str = "") -> None:
    """Note which model this process has in memory now, if it is a worker's; "" for none."""
    if _own:
        _own.change_model(name, device)
