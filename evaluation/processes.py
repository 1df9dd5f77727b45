"""Child processes that live and die together, whatever ends the program that started them."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NamedTuple, Self

STARTS_WITHIN_SECONDS = 90.0
STOPS_WITHIN_SECONDS = 2.0
LOOKS_EVERY_SECONDS = 0.1
LOG_LINES_SHOWN = 12
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1  # of Linux's <sys/prctl.h>


class ProcessTrouble(Exception):
    """A process ended by itself, or did not get ready in time; the message says which."""


class Child(NamedTuple):
    process: subprocess.Popen[bytes]
    log: Path
    stop_signal: signal.Signals


class Supervisor:
    """Starts Python modules as processes and ends all of them when one ends, or when it is left.

    Ctrl-C, SIGTERM, a closed terminal and the end of the calling program (`make`) make the waits
    return; leaving the context does the ending. On Linux the children end even when this program
    is killed with -9. Signals reach the children through us alone: each leads a session.
    """

    def __init__(self, folder: Path, log_folder: Path) -> None:
        self._folder = folder
        self._log_folder = log_folder
        self._children: dict[str, Child] = {}
        self._caller = os.getppid()
        self.is_stopping = False

    def __enter__(self) -> Self:
        self._log_folder.mkdir(parents=True, exist_ok=True)
        self._previous = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        self._is_detached = self._previous[signal.SIGHUP] == signal.SIG_IGN  # nohup
        for number in STOP_SIGNALS:
            if number != signal.SIGHUP or not self._is_detached:
                signal.signal(number, self._stop)
        return self

    def __exit__(self, *error: object) -> None:
        self._end_all()
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    def start(
        self,
        name: str,
        arguments: Sequence[str],
        stop_signal: signal.Signals,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start `python -m <arguments>`; what it prints goes to `<name>.log`, begun anew."""
        log = self._log_folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=self._folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_ends_with_parent(stop_signal),
            )
        self._children[name] = Child(process, log, stop_signal)

    def says(self, name: str, words: str) -> bool:
        """Return whether these words stand in a child's log."""
        return words in self._children[name].log.read_text("utf-8", "replace")

    def wait(
        self, until: Callable[[], bool] = lambda: False, seconds: float = float("inf")
    ) -> None:
        """Return when `until` says so, or somebody asked to stop.

        Raises:
            ProcessTrouble: a child ended, or the time is over.
        """
        deadline = time.monotonic() + seconds
        while not self._is_asked_to_stop() and not until():
            for name, child in self._children.items():
                if child.process.poll() is not None:
                    how = _how_it_ended(child.process.returncode)
                    raise ProcessTrouble(f"The {name} {how}.{_end_of(child.log)}")
            if time.monotonic() > deadline:
                logs = "".join(_end_of(child.log) for child in self._children.values())
                raise ProcessTrouble(f"Not ready after {seconds:.0f} seconds.{logs}")
            time.sleep(LOOKS_EVERY_SECONDS)

    def _is_asked_to_stop(self) -> bool:
        if os.getppid() != self._caller and not self._is_detached:
            self.is_stopping = True
        return self.is_stopping

    def _end_all(self) -> None:
        """Ask the children to end; after a while, kill them and whatever they started."""
        for child in self._children.values():
            if child.process.poll() is None:
                child.process.send_signal(child.stop_signal)
        deadline = time.monotonic() + STOPS_WITHIN_SECONDS
        for child in self._children.values():
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, deadline - time.monotonic()))
            with suppress(ProcessLookupError):
                os.killpg(child.process.pid, signal.SIGKILL)
            child.process.wait()


def _ends_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Return what a child calls first to get this signal when its parent dies (Linux)."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return lambda: library.prctl(PR_SET_PDEATHSIG, int(number))


def _how_it_ended(status: int) -> str:
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended ({status})"


def _end_of(log: Path) -> str:
    """Return the last lines of a log under its name; nothing when it is empty."""
    lines = log.read_text("utf-8", "replace").splitlines()[-LOG_LINES_SHOWN:]
    return "\n".join([f" The end of {log}:", *(f"  {line}" for line in lines)]) if lines else ""
