"""Child processes that run and end together, however the program that started them ends."""

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
MOST_EARLY_ENDS = 3  # early ends in a row; after one more, the program counts as unable to run
LOG_LINES_SHOWN = 12
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1  # the value in Linux's <sys/prctl.h>


class ProcessTrouble(Exception):
    """A process ended by itself, or was not ready in time. The message says what happened."""


class Program(NamedTuple):
    """A program that runs as a process: `python -m <arguments>`."""

    name: str  # also the name of its log
    arguments: Sequence[str]
    stop_signal: signal.Signals
    environment: Mapping[str, str] = {}
    is_restarted: bool = False  # whether it is started again when it ends by itself


class Child:
    """A program with its running process."""

    def __init__(self, program: Program, process: "subprocess.Popen[bytes]") -> None:
        self.program = program
        self.process = process
        self.began_at = time.monotonic()
        self.n_early_ends = 0  # how often in a row it ended by itself soon after its start


class Supervisor:
    """A context that runs Python modules as processes, restarts some of them, and ends all of them.

    All processes end when the context is left, which also happens when a process that is not
    restarted ends by itself. Ctrl-C, SIGTERM, a closed terminal and the end of the calling program
    (`make`) make `wait` return, so that the context can be left. On Linux the children end even
    when this program is killed with -9. Each child leads a session of its own, so only this program
    sends signals to it.
    """

    def __init__(self, folder: Path, log_folder: Path | None = None) -> None:
        """Supervise processes.

        Args:
            folder: the folder that the processes run in.
            log_folder: the folder for the output of each, in `<name>.log`; None: the output goes
                where the output of this program goes.
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
        self._is_detached = self._previous[signal.SIGHUP] == signal.SIG_IGN  # nohup sets this
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
        """Start a program with an empty log."""
        if self._log_folder:
            self._log_of(program).unlink(missing_ok=True)
        self._children[program.name] = Child(program, self._process_of(program))

    def start_anew(self, name: str) -> None:
        """Kill a program and the processes that it started, and start it again."""
        child = self._children[name]
        _kill(child.process)
        child.process = self._process_of(child.program)
        child.began_at = time.monotonic()

    def says(self, name: str, words: str) -> bool:
        """Return whether a program's log contains these words."""
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
        """Wait until `until` returns True, or this program is asked to stop.

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
        """Start a program that has ended by itself again.

        Raises:
            ProcessTrouble: the program is not one that is restarted, or it ended early too often.
        """
        how = how_it_ended(child.process.returncode)
        was_early = time.monotonic() - child.began_at < EARLY_END_SECONDS
        child.n_early_ends = child.n_early_ends + 1 if was_early else 0
        if not child.program.is_restarted or child.n_early_ends > MOST_EARLY_ENDS:
            raise ProcessTrouble(f"The {child.program.name} {how}.{self._end_of_log(child)}")
        logger.warning("the %s %s, and is started again", child.program.name, how)
        self.start_anew(child.program.name)

    def _end_of_log(self, child: Child) -> str:
        """Return the last lines of a log below its path; "" when there are none."""
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
        """Ask the programs to end. After a while, kill them and the processes that they started."""
        for child in self._children.values():
            if child.process.poll() is None:
                child.process.send_signal(child.program.stop_signal)
        deadline = time.monotonic() + STOPS_WITHIN_SECONDS
        for child in self._children.values():
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, deadline - time.monotonic()))
            _kill(child.process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and its whole session, because its own children may outlive it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ends_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Return the function that a child calls first, to get this signal when its parent dies.

    Return None on systems other than Linux.
    """
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return lambda: library.prctl(PR_SET_PDEATHSIG, int(number))


def how_it_ended(status: int) -> str:
    """Return in words how a process ended, from the exit status that its parent gets."""
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended ({status})"
