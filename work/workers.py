"""The processes for long work: a beat and three sorts of workers.

*Quick* workers take what people wait for on a page: imports, figures, samples, plans, indexes, and
the tasks of the beat. *Heavy* workers take what computes for minutes and loads models: chunks of
runs and grids, and jobs. Each sort has a queue of its own, so that an import begins at once while
long work goes on. A third sort waits for servers.
"""

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
# There are two, so that a long import in one does not hold up figures in the other. More would only
# take memory: an import works in a process of its own, and the other quick tasks are short.
N_QUICK = 2


def programs() -> Iterator[Program]:
    """Yield the programs that do long work. Each is restarted when it dies.

    With the queue in a folder, each worker is a single process. The processes of a pool would share
    a lock on their pipe, and one that is killed while it holds the lock would stop them all.
    """
    beat = (*CELERY, "beat", "--loglevel=INFO", "--pidfile=")
    yield Program("beat", beat, signal.SIGTERM, VERBOSE, is_restarted=True)
    yield from _processes("worker-quick", settings.CELERY_TASK_DEFAULT_QUEUE, N_QUICK)
    yield from _processes("worker-heavy", settings.CHUNK_QUEUE, settings.CELERY_WORKER_CONCURRENCY)
    threads = ("--pool=threads", f"--concurrency={settings.SERVER_THREADS}")
    yield _worker("worker-for-servers", settings.SERVER_QUEUE, *threads)


def _processes(name: str, queue: str, n_processes: int) -> Iterator[Program]:
    """Yield the programs of one sort of workers: single processes, or one pool of them."""
    if settings.CELERY_BROKER_URL.startswith("filesystem"):
        for number in range(1, n_processes + 1):
            yield _worker(f"{name}-{number}", queue, "--pool=solo")
    else:
        yield _worker(name, queue, f"--concurrency={n_processes}")


def _worker(name: str, queue: str, *arguments: str) -> Program:
    command = (
        *CELERY,
        "worker",
        "--loglevel=INFO",
        *QUIET,
        f"--hostname={name}@%h",
        f"--queues={queue}",
        *arguments,
    )
    return Program(name, command, STOP_SIGNAL, VERBOSE, is_restarted=True)


class Workers:
    """The workers of a supervisor, which starts them again when none gives a sign.

    A sign of any sort counts for all sorts. The beat's task goes to the quick workers, so they
    answer it however long the heavy ones compute. A sign of each sort would need messages that wait
    behind long work. A process that ends is started again at once, whatever its sort.

    So silence does not show that a heavy process hangs in a call. Its lease is renewed for half an
    hour at most; then another heavy process gets its chunk. Over Redis and RabbitMQ, Celery's time
    limit ends the process. Over the queue in a folder it hangs until it is killed by hand.
    """

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
