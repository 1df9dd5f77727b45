"""Processes of manage.py that start quickly: forked from one that has imported what they need.

Each is a process with connections of its own, and a signal to it ends no other process.
"""

import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from threading import Timer

import django
from django.conf import settings

from tests.services import database_url

ENDS_WITHIN_SECONDS = 240.0  # all commands of one test; any that still run are killed


class Commands:
    """Commands that are run one after the other."""

    def __init__(self, parent: subprocess.Popen[str], log: Path) -> None:
        self._parent = parent
        self._log = log

    def start(self, command: Sequence[str]) -> int:
        """Start a command; return the id of its process."""
        assert self._parent.stdin
        self._parent.stdin.write(json.dumps(list(command)) + "\n")
        self._parent.stdin.flush()
        return self._number()

    def ended(self) -> int:
        """Wait until the command has ended; return its exit code, below 0 for a signal."""
        return self._number()

    def said(self) -> str:
        """Return what all of them wrote to their standard error."""
        return self._log.read_text("utf-8")

    def _number(self) -> int:
        assert self._parent.stdout
        line = self._parent.stdout.readline()
        assert line, self.said()
        return int(line)


@contextmanager
def forked_commands(folder: Path, *modules: str) -> Iterator[Commands]:
    """Yield an object that runs commands on the current test's database.

    Args:
        folder: the folder for uploads and for the log.
        modules: modules that are imported once for all commands.
    """
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings_test",
        "DATABASE_URL": database_url(),
        "ATTEST_DATA_DIR": str(folder),
    }
    log = folder / "commands.log"
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [sys.executable, "-m", "tests.forked_commands", *modules],
            cwd=settings.BASE_DIR,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=out,
            text=True,
            start_new_session=True,
        ) as parent,
    ):
        watch = Timer(ENDS_WITHIN_SECONDS, os.killpg, (parent.pid, signal.SIGKILL))
        watch.start()
        try:
            yield Commands(parent, log)
        finally:
            watch.cancel()
            os.killpg(parent.pid, signal.SIGKILL)


def _serve(modules: Sequence[str]) -> None:
    django.setup()
    for module in modules:
        importlib.import_module(module)
    for line in sys.stdin:
        process = get_context("fork").Process(target=_run, args=(json.loads(line),))
        process.start()
        _tell(process.pid)
        process.join()
        _tell(process.exitcode)


def _tell(number: int | None) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _run(command: Sequence[str]) -> None:
    with open(os.devnull, "w") as sys.stdout:
        sys.argv = ["manage.py", *command]
        runpy.run_path("manage.py", run_name="__main__")


if __name__ == "__main__":
    _serve(sys.argv[1:])
