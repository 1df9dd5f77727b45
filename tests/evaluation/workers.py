"""Real workers, each in its own process group, on each kind of broker, for tests that kill them."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from uuid import uuid4

import redis
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from kombu.connection import Connection

from config.celery import app as celery_app
from evaluation.exchange.import_process import IMPORTS
from evaluation.models import AutoScore, MetricRun
from generation.models import Dataset, Import
from tests.makers import example_row, import_rows, response_row
from tests.services import database_url, need, url_of

BROKERS = ["filesystem", "redis", "rabbitmq"]
STARTS_WITHIN_SECONDS = 60.0
WORKER = ["celery", "--app=config", "worker", "-B", "--pool=prefork", "--loglevel=INFO"]
WORKER += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
SEND = """
import django; django.setup()
from evaluation.models import MetricRun
from evaluation.runs.services.chunks import RUN_CHUNKS, send_run
for _ in range({times}):
    send_run(MetricRun.objects.get(pk={run}))
"""


class Site:
    """An installation on the test's database, with a broker and a queue that no other test uses."""

    def __init__(self, broker: str, folder: Path, lease_seconds: int) -> None:
        self._broker = broker
        self._folder = folder
        self.queue = f"attest-test-{uuid4().hex[:12]}"
        self.url = "filesystem://" if broker == "filesystem" else url_of(broker)
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings_test",
            "DATABASE_URL": database_url(),
            "CELERY_BROKER_URL": self.url,
            "ATTEST_QUEUE": self.queue,
            "ATTEST_DATA_DIR": str(folder),
            "ATTEST_CHUNK_LEASE_SECONDS": str(lease_seconds),
            "ATTEST_LOG_LEVEL": "INFO",
        }

    def send(self, run: MetricRun, times: int = 1) -> None:
        """Send the chunks of a run, as a page does, each of them `times` times."""
        self._python("-c", SEND.format(run=run.pk, times=times))

    def send_import(self, upload: Import) -> None:
        """Send an import, as a page does, into the folder that is this site's queue."""
        messages = str(self._folder / "queue" / "messages")
        folders = dict.fromkeys(("data_folder_in", "data_folder_out"), messages)
        with celery_app.connection_for_write(self.url, transport_options=folders) as connection:
            Import.objects.filter(pk=upload.pk).update(sent_at=timezone.now())
            IMPORTS.task.apply_async((upload.pk,), connection=connection, queue=self.queue)

    def purge(self) -> None:
        """Delete every message that waits in the queue."""
        self._python("-m", "celery", "--app=config", "purge", "-f")

    def worker(self, name: str = "worker", concurrency: int = 2) -> "Worker":
        return Worker(self.environment, self._folder, name, concurrency)

    def _python(self, *arguments: str) -> None:
        subprocess.run(
            [sys.executable, *arguments],
            env=self.environment,
            cwd=settings.BASE_DIR,
            check=True,
            capture_output=True,
            timeout=120,
        )

    def forget(self) -> None:
        """Delete the queue and its unacknowledged messages from a shared broker."""
        if self._broker == "rabbitmq":
            with Connection(self.url) as connection:
                for queue in (self.queue, f"{self.queue}-chunks", f"{self.queue}-servers"):
                    connection.channel().queue_delete(queue)
                    connection.channel().exchange_delete(queue)
        elif self._broker == "redis":
            client = redis.Redis.from_url(self.url)
            for tag, message in client.hgetall("unacked").items():
                if self.queue in json.loads(message):
                    client.hdel("unacked", tag)
                    client.zrem("unacked_index", tag)
            for key in client.scan_iter(f"*{self.queue}*"):
                client.delete(key)


@contextmanager
def site_on(broker: str, folder: Path, lease_seconds: int = 2) -> Iterator[Site]:
    """Yield a site on a kind of broker; skip the test where the broker is missing."""
    if broker != "filesystem":
        need(broker)
    site = Site(broker, folder, lease_seconds)
    try:
        yield site
    finally:
        site.forget()


class Worker:
    """A worker with its beat and its children, all in one process group."""

    def __init__(
        self, environment: Mapping[str, str], folder: Path, name: str, concurrency: int
    ) -> None:
        self._log = folder / f"{name}.log"
        arguments = [*WORKER, f"--concurrency={concurrency}", f"--hostname={name}@%h"]
        arguments.append(f"--schedule={folder / f'{name}-schedule'}")
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=settings.BASE_DIR,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def log(self) -> str:
        return self._log.read_text("utf-8", "replace")

    def kill(self) -> None:
        """End worker, beat and children as a power cut would."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def long_evidence(folder: Path, n_examples: int, n_setups: int) -> Dataset:
    """Return responses of each setup to each example; each has 24 sentences of evidence."""
    keys = [f"e{number}" for number in range(n_examples)]
    outcome = import_rows(
        folder,
        examples=[
            example_row(
                key,
                evidence=[
                    {
                        "id": f"p-{key}",
                        "text": " ".join(f"Mill {key} made {n} sacks of flour." for n in range(24)),
                        "golden": True,
                    }
                ],
            )
            for key in keys
        ],
        responses=[
            response_row(
                f"{key}-{number}",
                key,
                setup=f"model-{number}",
                text=f"The mill {key} made {number} sacks a day.",
                evidence_shown=[f"p-{key}"],
            )
            for key in keys
            for number in range(n_setups)
        ],
    )
    assert outcome.dataset
    return outcome.dataset


def is_over(run: MetricRun) -> bool:
    """Return whether a run has ended, by its row as it is now."""
    run.refresh_from_db()
    return run.state != MetricRun.State.RUNNING


def waited(until: Callable[[], bool], seconds: float, every: float = 0.02) -> bool:
    """Return whether a condition became true within a number of seconds."""
    deadline = time.monotonic() + seconds
    while not until():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True


def killed_while_scoring(site: Site, run: MetricRun, n_kills: int, seed: int) -> dict[int, object]:
    """Start a worker and kill it while it scores, `n_kills` times; return the rows stored so far.

    Raises:
        AssertionError: a worker scored nothing, or the run was over before the last kill.
    """
    draw = random.Random(seed)
    rows = AutoScore.objects.filter(run=run)
    seen: dict[int, object] = {}
    for kill in range(n_kills):
        with site.worker() as worker:
            more = partial(_are_more_than, rows.count(), rows)
            scores = waited(more, STARTS_WITHIN_SECONDS)
            assert scores, f"nothing was scored after kill {kill}\n{worker.log[-3000:]}"
            time.sleep(draw.uniform(0, 0.1))
        run.refresh_from_db()
        assert run.state == MetricRun.State.RUNNING, f"over before kill {kill + 1}"
        found = stored(run)
        assert seen.items() <= found.items(), "a score changed"
        seen = found
    return seen


def _are_more_than(n: int, rows: QuerySet[AutoScore]) -> bool:
    return rows.count() > n


def stored(run: MetricRun) -> dict[int, object]:
    """Return what identifies each row of a run, by its target."""
    rows = AutoScore.objects.filter(run=run).values_list("target", "pk", "created_at", "score")
    return {target: tuple(row) for target, *row in rows}
