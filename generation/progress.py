"""A progress bar for commands: on standard error, and only on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress_bar(
    title: str, stream: Any, unit: str = "rows"
) -> Iterator[Callable[[int, float], None]]:
    """Yield a function that takes the number of rows done and the share of the work."""
    console = Console(file=getattr(stream, "_out", stream))
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn(f"{{task.fields[n_rows]:,}} {unit}"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=1.0, n_rows=0)
        yield lambda n_rows, share: bar.update(task, completed=share, n_rows=n_rows)
