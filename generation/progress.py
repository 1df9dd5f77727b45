"""The progress of commands, on standard error: a bar on a terminal, elsewhere a line at times."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from work.amounts import about

LINE_SECONDS = 30.0  # between two lines
READ_SECONDS = 1.0  # between two readings of what is done


class ProgressLines:
    """Lines that say what is done, how fast, and what is left; one at most every 30 seconds."""

    def __init__(
        self,
        title: str,
        unit: str,
        write: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title, self._unit, self._write, self._clock = title, unit, write, clock
        self._began_at = self._line_at = clock()
        self._before: tuple[int, float] | None = None  # what was done before this command

    def update(self, n_done: int, share: float) -> None:
        """Write a line if one is due.

        Args:
            n_done: what is done by now. The speed does not count what was done at the first call.
            share: the share of all work that is done, in [0, 1].
        """
        now = self._clock()
        if self._before is None:
            self._before = n_done, share
        if now - self._line_at < LINE_SECONDS:
            return
        self._line_at, seconds = now, now - self._began_at
        n_new, new_share = n_done - self._before[0], share - self._before[1]
        left = seconds * (1 - share) / new_share if new_share > 0 else None
        self._write(
            f"{self._title}: {n_done:,} {self._unit} ({share:.0%}), "
            f"{60 * n_new / seconds:,.1f} a minute, {about(left)} left\n"
        )


@contextmanager
def progress_bar(
    title: str, stream: Any, unit: str = "rows"
) -> Iterator[Callable[[int, float], None]]:
    """Yield a function that takes the number of rows done and the share of the work."""
    file = getattr(stream, "_out", stream)
    console = Console(file=file)
    if not console.is_terminal:
        yield ProgressLines(title, unit, file.write).update
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn(f"{{task.fields[n_rows]:,}} {unit}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=1.0, n_rows=0)
        yield lambda n_rows, share: bar.update(task, completed=share, n_rows=n_rows)


@contextmanager
def progress_of_work(
    title: str, stream: Any, unit: str, read: Callable[[], tuple[int, float]]
) -> Iterator[Callable[[], bool]]:
    """Yield a function to call as often as you like: it shows what `read` says by now.

    It returns True, so that it can say that a piece of work goes on.

    Args:
        title: what the command does.
        stream: standard error.
        unit: the word for what is counted.
        read: returns the number of units done and the share of the work. It may ask the database.
    """
    with progress_bar(title, stream, unit) as on_progress:
        on_progress(*read())
        read_at = time.monotonic()

        def show() -> bool:
            nonlocal read_at
            if time.monotonic() - read_at >= READ_SECONDS:
                on_progress(*read())
                read_at = time.monotonic()
            return True

        yield show
