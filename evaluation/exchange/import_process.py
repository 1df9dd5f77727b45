"""An import by page in a process of its own, with limits of memory and time in any kind of pool.

The worker claims the import, starts `manage.py run_import` for it and waits. When the process was
killed and cannot report why, the worker does. The process ends when its worker ends: they are
joined by a pipe, which closes with the process that held it.
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
OUT_OF_MEMORY = 12  # exit status of the process when memory runs out: ENOMEM
LOOKS_EVERY_SECONDS = 1.0
STOPS_WITHIN_SECONDS = 5.0  # seconds after a cancellation, before the process is killed
SMALL_BYTES = 1024**2
MEGABYTE = 1024**2


class Allowance(NamedTuple):
    """The limits of a process: megabytes that it writes to, seconds of computing and in all."""

    megabytes: int
    cpu_seconds: int
    seconds: int


def allowance(n_bytes: int) -> Allowance:
    """Return the limits for an upload of this size; a small file has no reason to need much."""
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
    """Check or store one import in a process of its own. Of two callers, only one does it."""
    token = take(import_id)
    if token is None:
        return
    try:
        _see_through(import_id, token, _allowance_of(import_id))
    finally:
        release(import_id, token)


def _see_through(import_id: int, token: str, allowed: Allowance) -> None:
    """Start the process of an import, wait for it, and report how it ended if it could not."""
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
        start_new_session=True,  # Ctrl-C reaches only the worker, which waits for its process
    )
    if process.stdin:
        with suppress(BrokenPipeError):  # the process has ended already; its status shows why
            process.stdin.write(f"{token}\n")
            process.stdin.flush()
    return process


def _waited(process: "subprocess.Popen[str]", import_id: int, token: str, seconds: float) -> bool:
    """Wait for a process; return False if it took too long or did not stop, and was killed."""
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
    elif status:  # killed, or unable to begin: another worker may try
        logger.error("the process of import %s ended with status %s", import_id, status)


def _reason(status: int, allowed: Allowance) -> str:
    """Return which limit a process exceeded, in words; "" when it ended for another reason."""
    if status in (OUT_OF_MEMORY, -signal.SIGABRT, -signal.SIGSEGV):
        return (
            f"The import needed more than {allowed.megabytes:,} MB of memory. Nothing was stored. "
            "Import the file in parts. An admin can allow more memory for files over 1 MB "
            "(ATTEST_IMPORT_MEGABYTES)."
        )
    if status == -signal.SIGXCPU:
        return _took_too_long(allowed.cpu_seconds, "of computing")
    return ""


def _took_too_long(seconds: int, what: str) -> str:
    return (
        f"The import took more than {seconds:,} seconds {what}. Nothing was stored. Import the "
        "file in parts, or unpacked. An admin can allow more time for files over 1 MB "
        "(ATTEST_IMPORT_SECONDS)."
    )


# --- the process ----------------------------------------------------------------------------


def run_within_limits(import_id: int, from_worker: IO[str]) -> int:
    """Check or store an import that the worker has claimed; return the exit status."""
    token = from_worker.readline().strip()
    threading.Thread(target=_end_with_worker, args=[from_worker], daemon=True).start()
    allowed = _allowance_of(import_id)
    connection.queries_log = deque(maxlen=0)  # in DEBUG mode, the log would keep every stored row
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (allowed.cpu_seconds, allowed.cpu_seconds + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (allowed.megabytes * MEGABYTE,) * 2)
    try:
        run_taken(import_id, token)
    except MemoryError:
        return OUT_OF_MEMORY
    return 0


def _end_with_worker(from_worker: IO[str]) -> None:
    from_worker.read()  # no more data comes: this returns when the worker's end is closed
    os.kill(os.getpid(), signal.SIGKILL)
