"""The processes for long work: a beat, workers that compute, and one that waits for servers."""

import logging
import signal
import time
from collections.abc import Iterator

from django.conf import settings

from work.processes import STARTS_WITHIN_SECONDS, Program, Supervisor
from work.worker_health import Watch

logger = logging.getLogger(__name__)

LOOKS_EVERY_SECONDS = 1.0
IS_READY = " ready."  # part of the line that a worker logs when it is ready
CELERY = ("celery", "--app=config")
# Messages between workers only fill the queue; `work.worker_health` sees whether one is alive.
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")
# A worker that gets SIGTERM would wait for its tasks, which may take an hour. Work that is killed
# is sent again.
STOP_SIGNAL = signal.SIGQUIT
VERBOSE = {"ATTEST_LOG_LEVEL": "INFO"}


def programs() -> Iterator[Program]:
    """Yield the programs that do long work. Each is restarted when it dies.

    With the queue in a folder, each worker is a single process. The processes of a pool would share
    a lock on their pipe, and one that is killed while it holds the lock would stop them all.
    """
    beat = (*CELERY, "beat", "--loglevel=INFO", "--pidfile=")
    yield Program("beat", beat, signal.SIGTERM, VERBOSE, is_restarted=True)
    queues = f"{settings.CELERY_TASK_DEFAULT_QUEUE},{settings.CHUNK_QUEUE}"
    n_processes = settings.CELERY_WORKER_CONCURRENCY
    if settings.CELERY_BROKER_URL.startswith("filesystem"):
        for number in range(1, n_processes + 1):
            yield _worker(f"worker-{number}", queues, "--pool=solo")
    else:
        yield _worker("worker", queues, f"--concurrency={n_processes}")
    threads = ("--pool=threads", f"--concurrency={settings.SERVER_THREADS}")
    yield _worker("worker-for-servers", settings.SERVER_QUEUE, *threads)


def _worker(name: str, queues: str, *arguments: str) -> Program:
    command = (
        *CELERY,
        "worker",
        "--loglevel=INFO",
        *QUIET,
        f"--hostname={name}@%h",
        f"--queues={queues}",
        *arguments,
    )
    return Program(name, command, STOP_SIGNAL, VERBOSE, is_restarted=True)


class Workers:
    """The workers of a supervisor, which starts them again when none gives a sign."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._watch = Watch()
        self._look_at = 0.0
        self._names = [program.name for program in programs()]

    def start(self) -> None:
        for program in programs():
            self._supervisor.start(program)
        self._watch.begin_again(STARTS_WITHIN_SECONDS)

    def are_ready(self) -> bool:
        """Return whether all workers take work. Each worker must have a log of its own."""
        workers = [name for name in self._names if name != "beat"]
        return all(self._supervisor.says(name, IS_READY) for name in workers)

    def look(self) -> bool:
        """Start all programs again if no worker gave a sign for long.

        Return False always, so that the supervisor goes on waiting.
        """
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOKS_EVERY_SECONDS
            if since := self._watch.silent_since():
                logger.warning("no worker has answered since %s: all are started anew", since)
                for name in self._names:
                    self._supervisor.start_anew(name)
                self._watch.begin_again(STARTS_WITHIN_SECONDS)
        return False
