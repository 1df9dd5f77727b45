"""The demo's start and end, with the real site and worker in a data folder of its own."""

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.services import hear_signals

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 60
SECONDS_FOR_ALL_WORK = 180  # the most that the demo's background work may take on two cores
DATABASE = "demo.sqlite3"

pytestmark = [
    pytest.mark.early,
    pytest.mark.skipif(
        not Path("/proc/self/stat").exists(), reason="reads Linux's /proc to find processes"
    ),
]


class Running(NamedTuple):
    """A demo that was started."""

    process: subprocess.Popen[str]
    printed: str
    environment: dict[str, str]
    port: int


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start the demo for the first time, which loads its data; it runs until the last test."""
    with started(environment_in(tmp_path_factory.mktemp("first")), free_port()) as demo:
        yield demo


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return environment_in(tmp_path)


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def demo(first: Running, environment: dict[str, str], port: int) -> Iterator[subprocess.Popen[str]]:
    """Start another demo, with the data of the first."""
    copy_database(first.environment, environment)
    with started(environment, port) as demo:
        yield demo.process


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


# The audit trail says so when the workers have nothing left to ask and score.
NOTHING_IS_LEFT = """
    INSERT INTO accounts_auditentry (at, action, subject, details)
    SELECT '2026-01-01', 'demo.completed', name, json_object('dataset', id)
    FROM generation_dataset WHERE name = 'Demo'
"""


def copy_database(source: dict[str, str], target: dict[str, str]) -> None:
    """Copy a database that is in use. In the copy, workers have nothing left to do."""
    paths = [each["DATABASE_URL"].removeprefix("sqlite:///") for each in (source, target)]
    with closing(sqlite3.connect(paths[0])) as old, closing(sqlite3.connect(paths[1])) as new:
        old.backup(new)
        new.execute(NOTHING_IS_LEFT)
        new.commit()


@contextmanager
def started(environment: dict[str, str], port: int) -> Iterator[Running]:
    """Run the demo until the block ends."""
    process = subprocess.Popen(
        command(port),
        cwd=ROOT,
        env=environment,
        preexec_fn=hear_signals,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield Running(process, greeting(process), environment, port)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=SECONDS)


def environment_in(folder: Path) -> dict[str, str]:
    ours = {"ATTEST_DATA_DIR": str(folder / "data"), "DJANGO_DEBUG": "1"}
    ours["DATABASE_URL"] = f"sqlite:///{folder / DATABASE}"
    ours |= {"DJANGO_SETTINGS_MODULE": "config.settings", "CELERY_BROKER_URL": "filesystem://"}
    return os.environ | ours | {"CACHE_URL": f"filecache://{folder}/cache"}


def command(port: int) -> list[str]:
    return [sys.executable, "manage.py", "demo", "--port", str(port)]


def greeting(process: subprocess.Popen[str]) -> str:
    """Return what the demo says when site and worker run."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "Ctrl-C stops it" in line:
            return "".join(lines)
    raise AssertionError("".join(lines))


def run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS
    )


def descendants(pid: int) -> set[int]:
    """Return the processes that a process and its children started and that still run."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue  # it has just ended
        if state != "Z":
            parents[int(stat.parent.name)] = int(parent)
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def all_end(pids: set[int]) -> bool:
    return wait_until(lambda: not any(is_running(pid) for pid in pids))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds: float = SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_a_first_start_prints_the_sign_ins_and_runs_site_and_worker(first):
    url = f"http://127.0.0.1:{first.port}/"
    logs = Path(first.environment["ATTEST_DATA_DIR"]) / "logs"
    task = "work.tasks.resend_lost_work"

    for words in (url, "demo-rater", "demo-researcher", "demo-admin"):
        assert words in first.printed
    with build_opener(ProxyHandler({})).open(f"{url}accounts/sign-in/", timeout=10) as answer:
        assert b"Sign in" in answer.read()
    sent = run([sys.executable, "-m", "celery", "-A", "config", "call", task], first.environment)
    assert sent.returncode == 0, sent.stderr
    done = f"{task}[{sent.stdout.strip()}] succeeded"
    assert wait_until(
        lambda: any(done in log.read_text() for log in logs.glob("worker-quick-*.log"))
    )


def test_a_new_database_has_all_migrations(first):
    """Its tables are made from the models, because all migrations take ten seconds."""
    checked = run([sys.executable, "manage.py", "migrate", "--check"], first.environment)

    assert checked.returncode == 0, checked.stdout


def test_a_wrong_address_gets_the_site_s_own_page_and_not_django_s(first):
    opener = build_opener(ProxyHandler({}))

    with pytest.raises(HTTPError) as refused:
        opener.open(f"http://127.0.0.1:{first.port}/nothing-here/", timeout=10)

    page = refused.value.read()
    assert refused.value.code == 404
    assert b"Attest" in page
    assert b"URLconf" not in page  # what Django shows a developer


def test_a_second_start_says_that_it_runs_already(first):
    done = run(command(first.port), first.environment)

    assert done.returncode == 1
    assert done.stderr == (
        f"CommandError: The demo is already running at http://127.0.0.1:{first.port}/\n"
    )


def test_a_taken_port_gets_one_clear_line(environment, port):
    with socket.create_server(("127.0.0.1", port)):
        done = run(command(port), environment)

    assert done.returncode == 1
    assert done.stderr == (
        f"CommandError: Port {port} is taken. Choose another: make demo PORT=8001\n"
    )


def test_it_is_refused_without_debug(environment, port):
    real_site = {
        "DJANGO_DEBUG": "0",
        "DJANGO_SECRET_KEY": "s" * 50,
        "DJANGO_ALLOWED_HOSTS": "a.org",
    }

    done = run(command(port), environment | real_site)

    assert done.returncode == 1
    assert "needs DJANGO_DEBUG=1" in done.stderr


@pytest.mark.faults
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_nothing_is_left_running_however_it_ends(demo, name):
    ends_with_all_its_processes(demo, signal.Signals[name])


@pytest.mark.faults
def test_when_the_site_crashes_all_ends_and_says_so(demo):
    pids = descendants(demo.pid)
    site = min(pid for pid in pids if b"gunicorn" in Path(f"/proc/{pid}/cmdline").read_bytes())

    os.kill(site, signal.SIGKILL)
    said, _ = demo.communicate(timeout=SECONDS)

    assert demo.returncode == 1
    assert "The site was ended by SIGKILL." in said
    assert all_end(pids)


@pytest.mark.faults
def test_its_workers_do_what_takes_longer(first):
    logs = Path(first.environment["ATTEST_DATA_DIR"]) / "logs"

    def is_done() -> bool:
        said = "".join(log.read_text() for log in logs.glob("worker-heavy-*.log"))
        return re.search(r"tasks\.complete_demo\[\S+\] succeeded", said) is not None

    assert wait_until(is_done, SECONDS_FOR_ALL_WORK)


def test_ended_workers_are_started_again_and_end_with_the_demo(first):
    """The last test of the demo that was started first."""
    before = celery_processes(first.process.pid)
    sorts = {f"worker-{sort}-{number}" for sort in ("quick", "heavy") for number in (1, 2)}
    assert before.keys() == {"beat", "worker-for-servers", *sorts}

    for pid in before.values():
        os.kill(pid, signal.SIGKILL)

    assert wait_until(lambda: celery_processes(first.process.pid).keys() == before.keys())
    assert not set(before.values()) & set(celery_processes(first.process.pid).values())
    ends_with_all_its_processes(first.process, signal.SIGINT)


def ends_with_all_its_processes(demo: subprocess.Popen[str], how: signal.Signals) -> None:
    pids = descendants(demo.pid)
    # The site with its worker process; a beat, two quick and two heavy workers, one for servers.
    assert len(pids) >= 8

    demo.send_signal(how)

    assert demo.wait(timeout=SECONDS) == (-how if how == signal.SIGKILL else 0)
    assert all_end(pids)


def celery_processes(pid: int) -> dict[str, int]:
    """Return the processes of Celery that a demo has started, by the name of their program."""
    found = {}
    for each in descendants(pid):
        with suppress(OSError):  # it has just ended
            words = Path(f"/proc/{each}/cmdline").read_bytes().decode().split("\0")
            names = [word for word in words if word.startswith("--hostname=") or word == "beat"]
            if "celery" in words and names:
                found[names[0].removeprefix("--hostname=").partition("@")[0]] = each
    return found
