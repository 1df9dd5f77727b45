"""The time that is spent waiting for completions."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from generation.backends.base import Completion


class Waited(NamedTuple):
    """A model's completion, and how many seconds its caller waited for it."""

    completion: Completion
    seconds: float


def waited_for(ask: Callable[[], Iterable[Completion]]) -> Iterator[Waited]:
    """Yield completions, each with the seconds that it was waited for since the one before it.

    In a batch these are not the times that each completion took, but their sum is right. The time
    that the caller spends on one completion before it asks for the next does not count.
    """
    began = time.monotonic()
    for completion in ask():
        yield Waited(completion, time.monotonic() - began)
        began = time.monotonic()
