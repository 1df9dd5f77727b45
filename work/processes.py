"""Child processes that live and die together, whatever ends the program that started them."""

import ctypes
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import NamedTuple, Self

logger = logging.getLogger(__name__)

STARTS_WITHIN_SECONDS = 90.0
STOPS_WITHIN_SECONDS = 2.0
LOOKS_EVERY_SECONDS = 0.1
EARLY_END_SECONDS = 10.0
MOST_EARLY_ENDS = 3  # in a row; then a program cannot run
LOG_LINES_SHOWN = 12
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1  # of Linux's <sys/prctl.h>


class ProcessTrouble(Exception):
    """A process ended by itself, or did not get ready in time; the message says which."""


class Program(NamedTuple):
    """What runs as a process: `python -m <arguments>`."""

    name: str  # of its log too
    arguments: Sequence[str]
    stop_signal: signal.Signals
    environment: Mapping[str, str] = {}
    is_restarted: bool = False  # started anew when it ends by itself


class Child:
    """A program that runs."""

    def __init__(self, program: Program, process: "subprocess.Popen[bytes]") -> None:
        self.program = program
        self.process = process
        self.began_at = time.monotonic()
        self.n_early_ends = 0  # in a row: it ended by itself as soon as it was started


class Supervisor:
    """Starts Python modules as processes, restarts those that ask for it, and ends all of them.

    All end when another one ends by itself, or when the supervisor is left. Ctrl-C, SIGTERM, a
    closed terminal and the end of the calling program (`make`) make the waits return; leaving the
    context does the ending. On Linux the children end even when this program is killed with -9.
    Signals reach the children through us alone: each leads a session.
    """

    def __init__(self, folder: Path, log_folder: Path | None = None) -> None:
        """Supervise processes.

        Args:
            folder: where they run.
            log_folder: where what each prints goes, to `<name>.log`; None: where ours goes.
        """
        self._folder = folder
        self._log_folder = log_folder
        self._children: dict[str, Child] = {}
        self._caller = os.getppid()
        self.is_stopping = False

    def __enter__(self) -> Self:
        if self._log_folder:
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

    def start(self, program: Program) -> None:
        """Start a program; its log begins anew."""
        if self._log_folder:
            self._log_of(program).unlink(missing_ok=True)
        self._children[program.name] = Child(program, self._process_of(program))

    def start_anew(self, name: str) -> None:
        """Kill a program with whatever it started, and start it again."""
        child = self._children[name]
        _kill(child.process)
        child.process = self._process_of(child.program)
        child.began_at = time.monotonic()

    def says(self, name: str, words: str) -> bool:
        """Return whether these words stand in a program's log."""
        return words in self._log_of(self._children[name].program).read_text("utf-8", "replace")

    def _process_of(self, program: Program) -> "subprocess.Popen[bytes]":
        output = self._log_of(program).open("ab") if self._log_folder else None
        with output or nullcontext():
            return subprocess.Popen(
                [sys.executable, "-m", *program.arguments],
                cwd=self._folder,
                env={**os.environ, **program.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT if output else None,
                start_new_session=True,
                preexec_fn=_ends_with_parent(program.stop_signal),
            )

    def _log_of(self, program: Program) -> Path:
        assert self._log_folder, "without a folder there are no logs"
        return self._log_folder / f"{program.name}.log"

    def wait(
        self, until: Callable[[], bool] = lambda: False, seconds: float = float("inf")
    ) -> None:
        """Return when `until` says so, or somebody asked to stop.

        Raises:
            ProcessTrouble: a program ended that cannot be restarted, or the time is over.
        """
        deadline = time.monotonic() + seconds
        while not self._is_asked_to_stop() and not until():
            for child in self._children.values():
                if child.process.poll() is not None:
                    self._restart(child)
            if time.monotonic() > deadline:
                logs = "".join(self._end_of_log(child) for child in self._children.values())
                raise ProcessTrouble(f"Not ready after {seconds:.0f} seconds.{logs}")
            time.sleep(LOOKS_EVERY_SECONDS)

    def _restart(self, child: Child) -> None:
        """Start a program that has ended again, if it is one of those, and ran for a while.

        Raises:
            ProcessTrouble: it is not, or it cannot run.
        """
        how = how_it_ended(child.process.returncode)
        was_early = time.monotonic() - child.began_at < EARLY_END_SECONDS
        child.n_early_ends = child.n_early_ends + 1 if was_early else 0
        if not child.program.is_restarted or child.n_early_ends > MOST_EARLY_ENDS:
            raise ProcessTrouble(f"The {child.program.name} {how}.{self._end_of_log(child)}")
        logger.warning("the %s %s, and is started again", child.program.name, how)
        self.start_anew(child.program.name)

    def _end_of_log(self, child: Child) -> str:
        """Return the last lines of a log under its name; nothing when there are none."""
        if not self._log_folder:
            return ""
        log = self._log_of(child.program)
        lines = log.read_text("utf-8", "replace").splitlines()[-LOG_LINES_SHOWN:]
        said = [f" The end of {log}:", *(f"  {line}" for line in lines)]
        return "\n".join(said) if lines else ""

    def _is_asked_to_stop(self) -> bool:
        if os.getppid() != self._caller and not self._is_detached:
            self.is_stopping = True
        return self.is_stopping

    def _end_all(self) -> None:
        """Ask the programs to end; after a while, kill them and whatever they started."""
        for child in self._children.values():
            if child.process.poll() is None:
                child.process.send_signal(child.program.stop_signal)
        deadline = time.monotonic() + STOPS_WITHIN_SECONDS
        for child in self._children.values():
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, deadline - time.monotonic()))
            _kill(child.process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process with its session, which its own children may outlive."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ends_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Return what a child calls first to get this signal when its parent dies (Linux)."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return lambda: library.prctl(PR_SET_PDEATHSIG, int(number))


def how_it_ended(status: int) -> str:
    """Return how a process ended, from the status that its parent is given."""
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended ({status})"
