"""The limits of the process of an import, and the messages when it exceeds them."""

import signal

import pytest

from evaluation.exchange.import_process import (
    OUT_OF_MEMORY,
    SMALL_BYTES,
    Allowance,
    _reason,
    allowance,
)


def test_a_small_upload_may_take_little_and_a_large_one_what_is_set(settings):
    settings.IMPORT_MEGABYTES, settings.IMPORT_SECONDS = 1500, 3600

    assert allowance(SMALL_BYTES) == Allowance(megabytes=350, cpu_seconds=30, seconds=3600)
    assert allowance(SMALL_BYTES + 1) == Allowance(1500, 3600, 3600)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (OUT_OF_MEMORY, "more than 350 MB of memory"),
        (-signal.SIGABRT, "more than 350 MB of memory"),  # how compiled code runs out of it
        (-signal.SIGXCPU, "more than 30 seconds of computing"),
        (-signal.SIGKILL, ""),  # the cause is not known: another process may try
        (1, ""),
        (0, ""),
    ],
)
def test_what_took_too_much_is_said(status, said):
    reason = _reason(status, Allowance(350, 30, 3600))

    assert said in reason
    assert bool(reason) == bool(said)
