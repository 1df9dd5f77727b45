"""Ctrl-C in commands that ask models. After the first one, calls in progress are finished."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def first_ctrl_c_waits(say: Callable[[str], object]) -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed. A second one stops at once.

    Only the main thread is told of Ctrl-C. In other threads, nothing changes.

    Args:
        say: a function that shows a message to the user who has pressed Ctrl-C.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def note(*_: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()
        with suppress(RuntimeError):  # raised if a line is being written there just then
            say("Stopping when the running calls are done. Press Ctrl-C again to stop at once.")

    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
