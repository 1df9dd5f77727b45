"""Records of the workers in the cache, and the index of these records."""

import time
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from celery import signals
from celery.concurrency import prefork, thread
from django.core.cache import cache
from django.utils import timezone

from accounts.tasks import forget_old_sign_ins
from evaluation.exchange.import_process import IMPORTS
from generation.backends import open_models
from generation.model_specs import BackendError, ModelSpec
from work import worker_records
from work.worker_records import (
    INDEX,
    WorkerRecord,
    end_process,
    note_model,
    seen_workers,
    write_record,
)


@pytest.fixture(autouse=True)
def own_cache(settings, tmp_path, monkeypatch):
    """An empty cache, and workers that write at once."""
    settings.CACHES = settings.CACHES | {
        "default": {
            "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
            "LOCATION": str(tmp_path),
        }
    }
    monkeypatch.setattr(worker_records, "LEAST_SECONDS", 0.01)
    yield
    end_process()


class Ended:
    """A worker that ends, as Celery sends it."""

    hostname = "worker@mill"


def record(worker: str = "worker-1@mill", process_id: int = 1, **fields: Any) -> WorkerRecord:
    now = timezone.now()
    return WorkerRecord("mill", worker, process_id, ("celery",), now, now)._replace(**fields)


def begin(worker: str = "worker@mill", pool: type = thread.TaskPool) -> None:
    """Let this process be a worker, as Celery starts one, and wait for its first record."""
    signals.celeryd_after_setup.send(sender=worker, instance=SimpleNamespace(pool_cls=pool))
    assert pool is prefork.TaskPool or is_so(lambda: bool(seen_workers()))


def is_so(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Return whether a condition becomes true before long; a thread writes records."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def only_worker() -> WorkerRecord:
    [found] = seen_workers()
    return found


def begin_task(task: Any = IMPORTS.task, task_id: str = "1") -> None:
    signals.task_prerun.send(sender=task, task_id=task_id, task=task)


def end_task(task: Any = IMPORTS.task, task_id: str = "1") -> None:
    signals.task_postrun.send(sender=task, task_id=task_id, task=task)


# --- records and their index ----------------------------------------------------------------


def test_workers_are_listed_by_host_name_and_process():
    for each in (record(process_id=7), record("other@mill"), record(process_id=3)):
        write_record(each)

    assert [(each.worker, each.process_id) for each in seen_workers()] == [
        ("other@mill", 1),
        ("worker-1@mill", 3),
        ("worker-1@mill", 7),
    ]


def test_of_two_that_register_at_once_the_lost_one_comes_back_when_it_writes_again():
    one, other = record(process_id=1), record(process_id=2)
    write_record(one)
    before = cache.get(INDEX)
    write_record(other)
    cache.set(INDEX, before, timeout=None)  # `one` had read it before `other` wrote
    assert seen_workers() == [one]

    write_record(other)

    assert seen_workers() == [one, other]


def test_a_worker_that_is_silent_for_long_is_dropped_and_leaves_the_index(monkeypatch):
    monkeypatch.setattr(worker_records, "SEEN_SECONDS", 0.2)
    write_record(record(process_id=1))
    assert len(seen_workers()) == 1

    assert is_so(lambda: seen_workers() == [])
    monkeypatch.setattr(worker_records, "SEEN_SECONDS", 60.0)
    new = record(process_id=2)
    write_record(new)

    assert cache.get(INDEX) == (new.key,)


def test_a_cache_that_forgets_all_gets_its_records_again():
    write_record(record())
    cache.clear()
    assert seen_workers() == []

    write_record(record())

    assert len(seen_workers()) == 1


def test_a_worker_that_missed_three_writes_is_silent():
    def heard(seconds: float) -> WorkerRecord:
        return record(heard_at=timezone.now() - timedelta(seconds=seconds))

    assert not heard(20).is_silent
    assert heard(31).is_silent
    assert heard(31).silent_seconds == 31
    assert heard(-5).silent_seconds == 0  # the clock of its host is ahead


# --- the record of this process -------------------------------------------------------------


def test_a_worker_that_waits_is_seen_with_its_queues(monkeypatch, settings):
    monkeypatch.setattr(worker_records, "WRITTEN_EVERY_SECONDS", 0.01)
    begin()
    first = only_worker()

    assert is_so(lambda: only_worker().heard_at > first.heard_at)
    assert first.worker == "worker@mill"
    assert set(first.queues) == set(settings.CELERY_TASK_QUEUES)
    assert (first.tasks, first.n_done, first.model) == ((), 0, "")


def test_a_task_is_said_in_words_while_it_goes_on_and_counts_when_it_is_done():
    begin()
    begin_task(task_id="1")
    begin_task(task_id="2")
    assert is_so(lambda: only_worker().tasks == ("imports a file",) * 2)

    end_task(task_id="2")

    assert is_so(lambda: only_worker().n_done == 1)
    assert only_worker().tasks == ("imports a file",)


def test_a_task_of_the_beat_is_no_piece_of_work():
    begin()
    begin_task(forget_old_sign_ins)
    end_task(forget_old_sign_ins)
    begin_task()
    end_task()

    assert is_so(lambda: only_worker().n_done == 1)


def test_short_tasks_are_written_together(monkeypatch):
    monkeypatch.setattr(worker_records, "LEAST_SECONDS", 0.3)
    begin()
    written: list[WorkerRecord] = []
    monkeypatch.setattr(worker_records, "write_record", written.append)
    for number in range(100):
        begin_task(task_id=str(number))
        end_task(task_id=str(number))

    assert is_so(lambda: bool(written) and written[-1].n_done == 100)
    assert len(written) <= 2


def test_a_worker_that_is_stopped_at_once_is_no_longer_listed():
    begin()

    signals.worker_shutting_down.send(sender="worker@mill", sig="TERM", how="Warm", exitcode=0)
    begin_task()
    assert is_so(lambda: only_worker().tasks != ())
    signals.worker_shutting_down.send(sender="worker@mill", sig="QUIT", how="Cold", exitcode=0)

    assert is_so(lambda: seen_workers() == [])


def test_each_process_of_a_pool_has_a_record_and_their_parent_has_none():
    begin(pool=prefork.TaskPool)
    assert worker_records._own is None

    signals.worker_process_init.send(sender="worker@mill")

    assert is_so(lambda: bool(seen_workers()))
    assert only_worker().worker == "worker@mill"


def test_a_worker_that_starts_drops_the_records_of_its_former_processes():
    write_record(record("worker@mill", process_id=-1))
    write_record(record("other@mill", process_id=-2))

    begin("worker@mill")

    def names() -> list[str]:
        return [each.worker for each in seen_workers()]

    assert is_so(lambda: names() == ["other@mill", "worker@mill"])
    signals.worker_shutdown.send(sender=Ended())
    assert names() == ["other@mill"]


# --- the loaded model -----------------------------------------------------------------------


def test_a_worker_says_which_model_it_has_in_memory_and_where(tmp_path):
    begin()
    (tmp_path / "model").mkdir()
    spec = ModelSpec("any", "minilm", str(tmp_path / "model"))

    def opened(spec: ModelSpec) -> SimpleNamespace:
        return SimpleNamespace(device="cuda: Card 1")

    def not_opened(spec: ModelSpec) -> SimpleNamespace:
        raise BackendError("too large")

    open_models.kept_open(spec, opened, is_server=False)
    assert is_so(lambda: (only_worker().model, only_worker().device) == ("minilm", "Card 1"))

    with pytest.raises(BackendError):
        open_models.kept_open(spec._replace(name="giant"), not_opened, is_server=False)
    assert is_so(lambda: only_worker().model == "")


def test_a_process_that_is_no_worker_notes_nothing():
    note_model("minilm", "cpu")
    begin_task()
    end_task()

    assert seen_workers() == []
