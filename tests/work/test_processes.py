"""Processes that start and end together, and are started again when they fail."""

import os
import signal
import time
from pathlib import Path

import pytest

from work import processes, workers
from work.processes import ProcessTrouble, Program, Supervisor
from work.workers import Workers


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    (tmp_path / "sleeps.py").write_text(
        "import os, time\nprint('pid', os.getpid(), flush=True)\ntime.sleep(60)\n"
    )
    (tmp_path / "fails.py").write_text("print('no database', flush=True)\nraise SystemExit(3)\n")
    monkeypatch.setattr(processes, "LOOKS_EVERY_SECONDS", 0.02)
    return tmp_path


@pytest.fixture
def supervisor(folder: Path):
    with Supervisor(folder, folder / "logs") as supervisor:
        yield supervisor


def pids(folder: Path, name: str) -> list[int]:
    """Return the processes that a program was, in their order."""
    lines = (folder / "logs" / f"{name}.log").read_text().splitlines(keepends=True)
    return [int(line.split()[1]) for line in lines if line.startswith("pid") and "\n" in line]


def program(name: str, module: str, *, is_restarted: bool) -> Program:
    return Program(name, [module], signal.SIGTERM, is_restarted=is_restarted)


def test_a_program_that_is_killed_is_started_again(supervisor, folder):
    supervisor.start(program("beat", "sleeps", is_restarted=True))
    supervisor.wait(lambda: len(pids(folder, "beat")) == 1, 20)

    os.kill(pids(folder, "beat")[0], signal.SIGKILL)
    supervisor.wait(lambda: len(pids(folder, "beat")) == 2, 20)

    assert supervisor.says("beat", "pid")


def test_a_program_that_is_not_mended_ends_all(supervisor, folder):
    supervisor.start(program("site", "sleeps", is_restarted=False))
    supervisor.wait(lambda: len(pids(folder, "site")) == 1, 20)

    os.kill(pids(folder, "site")[0], signal.SIGKILL)

    with pytest.raises(ProcessTrouble, match=r"The site was ended by SIGKILL\."):
        supervisor.wait(seconds=20)


def test_a_program_that_cannot_run_is_not_started_for_ever(supervisor, folder):
    supervisor.start(program("worker", "fails", is_restarted=True))

    with pytest.raises(ProcessTrouble, match=r"The worker ended \(3\)\.(?s:.*)no database"):
        supervisor.wait(seconds=20)

    said = (folder / "logs" / "worker.log").read_text()
    assert said.count("no database") == processes.MOST_EARLY_ENDS + 1


def test_workers_that_give_no_sign_are_all_started_anew(supervisor, folder, settings, monkeypatch):
    settings.SILENT_AFTER_SECONDS = 0.5
    hung = [program(name, "sleeps", is_restarted=True) for name in ("beat", "worker")]
    monkeypatch.setattr(workers, "programs", lambda: iter(hung))
    monkeypatch.setattr(workers, "LOOKS_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(workers, "STARTS_WITHIN_SECONDS", 0.0)
    both = Workers(supervisor)
    both.start()

    def are_new() -> bool:
        both.look()
        return all(len(pids(folder, name)) >= 2 for name in ("beat", "worker"))

    began = time.monotonic()
    supervisor.wait(are_new, 20)

    assert time.monotonic() - began >= 0.5
    first = [pids(folder, name)[0] for name in ("beat", "worker")]
    assert not any(Path(f"/proc/{pid}").exists() for pid in first)


@pytest.mark.parametrize(
    ("broker", "names"),
    [
        (
            "filesystem://",
            [
                "beat",
                "worker-quick-1",
                "worker-quick-2",
                "worker-heavy-1",
                "worker-heavy-2",
                "worker-heavy-3",
                "worker-for-servers",
            ],
        ),
        (
            "redis://127.0.0.1:6379/15",
            ["beat", "worker-quick", "worker-heavy", "worker-for-servers"],
        ),
    ],
)
def test_the_queue_in_a_folder_has_single_processes_and_no_pool(settings, broker, names):
    settings.CELERY_BROKER_URL = broker
    settings.CELERY_WORKER_CONCURRENCY = 3

    found = list(workers.programs())

    assert [each.name for each in found] == names
    assert all(each.is_restarted for each in found)
    is_solo = [("--pool=solo" in each.arguments) for each in found if "worker" in each.name]
    assert is_solo == [name[-1].isdecimal() for name in names[1:]]


@pytest.mark.parametrize("broker", ["filesystem://", "redis://127.0.0.1:6379/15"])
def test_each_sort_of_workers_reads_a_queue_of_its_own(settings, broker):
    settings.CELERY_BROKER_URL = broker

    read = {each.name: queue for each in workers.programs() if (queue := queue_of(each))}

    assert {name.rstrip("-12"): queue for name, queue in read.items()} == {
        "worker-quick": settings.CELERY_TASK_DEFAULT_QUEUE,
        "worker-heavy": settings.CHUNK_QUEUE,
        "worker-for-servers": settings.SERVER_QUEUE,
    }
    assert set(read.values()) == set(settings.CELERY_TASK_QUEUES)


def test_quick_workers_are_two_however_many_are_heavy(settings):
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:6379/15"
    settings.CELERY_WORKER_CONCURRENCY = 16

    found = {each.name: each.arguments for each in workers.programs()}

    assert "--concurrency=2" in found["worker-quick"]
    assert "--concurrency=16" in found["worker-heavy"]


def queue_of(program: Program) -> str:
    """Return the names after `--queues=`; "" for the beat."""
    words = (each.partition("=") for each in program.arguments)
    return next((queue for name, _, queue in words if name == "--queues"), "")
