"""How long completions are waited for."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from generation.backends.base import Completion


class Waited(NamedTuple):
    """What a model said, and for how many seconds it was waited for."""

    completion: Completion
    seconds: float


def waited_for(ask: Callable[[], Iterable[Completion]]) -> Iterator[Waited]:
    """Yield completions, each with how long it was waited for since the one before it.

    Of a batch that is not how long each took; their sum is right. What is done with one before the
    next is asked for does not count.
    """
    began = time.monotonic()
    for completion in ask():
        yield Waited(completion, time.monotonic() - began)
        began = time.monotonic()
