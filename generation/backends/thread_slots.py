"""A limited number of places for many threads."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock


class Places:
    """A fixed number of places, given in the order in which threads ask for them.

    The library's semaphore does not promise this order: a thread that returns at once may be served
    first, and other threads may get no place as long as that goes on.
    """

    def __init__(self, n: int) -> None:
        self._n_free = n
        self._waiting: deque[Event] = deque()
        self._lock = Lock()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Wait for a place, and give it back at the end."""
        with self._lock:
            turn = Event()
            if self._n_free:
                self._n_free -= 1
                turn.set()
            else:
                self._waiting.append(turn)
        turn.wait()
        try:
            yield
        finally:
            with self._lock:
                if self._waiting:
                    self._waiting.popleft().set()
                else:
                    self._n_free += 1
