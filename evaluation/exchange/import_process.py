"""An import by page in a process of its own, with limits of memory and time, whatever the pool.

The worker takes the import, starts `manage.py run_import` for it and waits. What the process cannot
say itself, as it was ended, the worker says. The process ends when its worker does: they are joined
by a pipe, which closes with whoever held it.
"""

import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from typing import IO, NamedTuple

from django.conf import settings
from django.db import connection

from evaluation.exchange.uploads import (
    call_cancelled,
    fail,
    is_cancelled,
    keep,
    release,
    run_taken,
    take,
)
from generation.models import Import

logger = logging.getLogger(__name__)

COMMAND = "run_import"
OUT_OF_MEMORY = 12  # the status that the process then ends with: ENOMEM
LOOKS_EVERY_SECONDS = 1.0
STOPS_WITHIN_SECONDS = 5.0  # after cancelling; then it is made to
SMALL_BYTES = 1024**2
MEGABYTE = 1024**2


class Allowance(NamedTuple):
    """What a process may take: memory that it writes to, and seconds of computing or of waiting."""

    megabytes: int
    cpu_seconds: int
    seconds: int


def allowance(n_bytes: int) -> Allowance:
    """Return what an upload of this size may take: a small file has no reason to take much."""
    megabytes, seconds = settings.IMPORT_MEGABYTES, settings.IMPORT_SECONDS
    if n_bytes <= SMALL_BYTES:
        return Allowance(min(350, megabytes), min(30, seconds), seconds)
    return Allowance(megabytes, seconds, seconds)


def _allowance_of(import_id: int) -> Allowance:
    upload = Import.objects.get(pk=import_id).upload
    is_there = upload.storage.exists(upload.name or "")
    return allowance(upload.size if is_there else 0)


# --- the worker -----------------------------------------------------------------------------


def carry_on_apart(import_id: int) -> None:
    """Check or store one import in a process of its own. Safe to call twice: one caller does it."""
    token = take(import_id)
    if token is None:
        return
    try:
        _see_through(import_id, token, _allowance_of(import_id))
    finally:
        release(import_id, token)


def _see_through(import_id: int, token: str, allowed: Allowance) -> None:
    """Start the process of an import, wait for it, and say how it ended where it cannot."""
    process = _started(import_id, token)
    try:
        if _waited(process, import_id, token, allowed.seconds):
            _say_how_it_ended(process.returncode, import_id, token, allowed)
        elif is_cancelled(import_id):
            call_cancelled(import_id, token)
        else:
            fail(import_id, token, _took_too_long(allowed.seconds, "of waiting and computing"))
    finally:
        _end(process)


def _started(import_id: int, token: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-m", "django", COMMAND, str(import_id)],
        cwd=settings.BASE_DIR,
        # Each thread of a numeric library reserves memory, and an import calculates little.
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the worker, which waits for what it has begun
    )
    if process.stdin:
        with suppress(BrokenPipeError):  # it has ended already: its status says how
            process.stdin.write(f"{token}\n")
            process.stdin.flush()
    return process


def _waited(process: "subprocess.Popen[str]", import_id: int, token: str, seconds: float) -> bool:
    """Wait for a process; False: it had to be ended, for it took too long or did not stop."""
    ends_at = time.monotonic() + seconds
    is_stopping = False
    while True:
        try:
            process.wait(LOOKS_EVERY_SECONDS)
            return True
        except subprocess.TimeoutExpired:
            keep(import_id, token)
        if is_cancelled(import_id) and not is_stopping:
            is_stopping = True
            ends_at = time.monotonic() + STOPS_WITHIN_SECONDS
        if time.monotonic() > ends_at:
            _end(process)
            return False


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    if process.stdin:
        with suppress(BrokenPipeError):
            process.stdin.close()


def _say_how_it_ended(status: int, import_id: int, token: str, allowed: Allowance) -> None:
    if reason := _reason(status, allowed):
        fail(import_id, token, reason)
    elif status:  # killed, or it could not begin: another may try
        logger.error("the process of import %s ended with status %s", import_id, status)


def _reason(status: int, allowed: Allowance) -> str:
    """Return why a process was ended that took too much; "" when it was something else."""
    if status in (OUT_OF_MEMORY, -signal.SIGABRT, -signal.SIGSEGV):
        return (
            f"It needed more than {allowed.megabytes:,} MB of memory. Nothing was stored. Import "
            "the file in parts; an admin can allow more (ATTEST_IMPORT_MEGABYTES, for files over "
            "1 MB)."
        )
    if status == -signal.SIGXCPU:
        return _took_too_long(allowed.cpu_seconds, "of computing")
    return ""


def _took_too_long(seconds: int, what: str) -> str:
    return (
        f"It took more than {seconds:,} seconds {what}. Nothing was stored. Import the file in "
        "parts, or unpacked; an admin can allow more (ATTEST_IMPORT_SECONDS, for files over 1 MB)."
    )


# --- the process ----------------------------------------------------------------------------


def run_within_limits(import_id: int, from_worker: IO[str]) -> int:
    """Check or store an import that the worker has taken; return the status to end with."""
    token = from_worker.readline().strip()
    threading.Thread(target=_end_with_worker, args=[from_worker], daemon=True).start()
    allowed = _allowance_of(import_id)
    connection.queries_log = deque(maxlen=0)  # with DEBUG it would keep what is stored
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (allowed.cpu_seconds, allowed.cpu_seconds + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (allowed.megabytes * MEGABYTE,) * 2)
    try:
        run_taken(import_id, token)
    except MemoryError:
        return OUT_OF_MEMORY
    return 0


def _end_with_worker(from_worker: IO[str]) -> None:
    from_worker.read()  # nothing more comes: it returns when the worker's end is closed
    os.kill(os.getpid(), signal.SIGKILL)
