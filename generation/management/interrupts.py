"""Ctrl-C in commands that ask models: the first one lets what is in flight come to its end."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def first_ctrl_c_waits(say: Callable[[str], object]) -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed; the second one ends the work at once.

    Outside of the main thread, which alone hears of it, nothing changes.

    Args:
        say: is given what people read once they have pressed it.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def note(*_: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()
        with suppress(RuntimeError):  # just then a line is written there
            say("Stopping when the running calls are done. Press Ctrl-C again to stop at once.")

    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
