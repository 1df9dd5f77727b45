"""Programs that start quickly: forked from a process that has imported what they need.

Each is a process with connections of its own that leads a session of its own, so that a signal to
it ends no other process.
"""

import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from threading import Thread, Timer

import django
from django.conf import settings

from tests.services import database_url

ENDS_WITHIN_SECONDS = 240.0  # each program; one that still runs is killed


class Programs:
    """Programs that are run one after the other."""

    def __init__(self, parent: subprocess.Popen[str], log: Path) -> None:
        self._parent = parent
        self._log = log

    def start(self, module: str, arguments: Sequence[str], log: Path | None = None) -> int:
        """Start `python -m module`; return the id of its process.

        What it writes goes to `log`. Without one, only what it writes to its standard error is
        stored, see `said`.
        """
        assert self._parent.stdin
        self._parent.stdin.write(json.dumps([str(log or ""), module, *arguments]) + "\n")
        self._parent.stdin.flush()
        return self._number()

    def ended(self) -> int:
        """Wait until the program has ended; return its exit code, below 0 for a signal."""
        assert self._parent.stdin
        # The parent kills what runs when its input is closed.
        watch = Timer(ENDS_WITHIN_SECONDS, self._parent.stdin.close)
        watch.start()
        try:
            return self._number()
        finally:
            watch.cancel()

    def said(self) -> str:
        """Return what all of them wrote to their standard error."""
        return self._log.read_text("utf-8")

    def _number(self) -> int:
        assert self._parent.stdout
        line = self._parent.stdout.readline()
        assert line, self.said()
        return int(line)


@contextmanager
def forked_programs(folder: Path, *modules: str, **environment: str) -> Iterator[Programs]:
    """Yield an object that runs programs on the database of the tests.

    Args:
        folder: the folder for uploads and for the log.
        modules: modules that are imported once for all programs.
        environment: more variables for the programs.
    """
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings_test",
        "DATABASE_URL": database_url(),
        "ATTEST_DATA_DIR": str(folder),
        **environment,
    }
    log = folder / "programs.log"
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [sys.executable, "-m", "tests.forked_programs", *modules],
            cwd=settings.BASE_DIR,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=out,
            text=True,
            start_new_session=True,
        ) as parent,
    ):
        yield Programs(parent, log)


def _serve(modules: Sequence[str]) -> None:
    """Start what is asked for, until the tests close this process's input, however they end."""
    django.setup()
    for module in modules:
        importlib.import_module(module)
    for line in sys.stdin:
        process = get_context("fork").Process(target=_run, args=json.loads(line))
        process.start()
        _tell(process.pid)
        Thread(target=_tell_end, args=(process,), daemon=True).start()
    for child in active_children():
        assert child.pid
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _tell_end(process: ForkProcess) -> None:
    process.join()
    _tell(process.exitcode)


def _tell(number: int | None) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _run(log: str, module: str, *arguments: str) -> None:
    os.setsid()
    with open(log or os.devnull, "w") as out:
        os.dup2(out.fileno(), sys.stdout.fileno())
        if log:
            os.dup2(out.fileno(), sys.stderr.fileno())
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _serve(sys.argv[1:])
