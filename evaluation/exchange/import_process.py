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
from pathlib import Path
from typing import IO, NamedTuple

from django.conf import settings
from django.db import connection

from evaluation.exchange.uploads import (
    PASTED,
    ImportHold,
    check_or_store,
    is_cancelled,
    is_lack_of_memory,
)
from generation.models import Import
from work.claims import with_signs
from work.pieces import PieceKind, register

logger = logging.getLogger(__name__)

COMMAND = "run_import"
OUT_OF_MEMORY = 12  # exit status of the process when memory runs out: ENOMEM
LOOKS_EVERY_SECONDS = 1.0
STOPS_WITHIN_SECONDS = 5.0  # seconds after a cancellation, before the process is killed
SMALL_BYTES = 1024**2
AT_ONCE_BYTES = 20_000  # Pasted rows up to this size are checked while the person waits.
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


class ImportWork(PieceKind[Import, ImportHold]):
    """Imports of uploaded files: each is checked or stored by a process of its own."""

    model = Import
    task_name = "evaluation.tasks.carry_on_import"
    doing = "imports a file"
    is_quick = True
    related = ("requested_by",)
    # The process has a limit of its own. The task's is for a worker that does not enforce it.
    longest_seconds = settings.IMPORT_SECONDS + 120
    most_claims = 3
    gave_up = (
        "The worker of this import ended {n} times without an error message: it was killed, or "
        "the machine went down. The import is not tried again, and nothing was stored. Import the "
        "file in parts. An admin can find out more with the command import_dataset."
    )

    def at_work(self) -> list[int]:
        return with_signs(self.rows())

    def hold(self, claim: Import) -> ImportHold:
        return ImportHold(claim)

    def work(self, hold: ImportHold) -> None:
        """Start the process of an import, wait for it, and store how it ended if it could not."""
        allowed = _allowance_of(hold.claim.pk)
        process = _started(hold.claim.pk, hold.claim.token)
        try:
            if _waited(process, hold, allowed.seconds):
                _store_how_it_ended(process.returncode, hold, allowed)
            elif is_cancelled(hold.claim.pk):
                hold.stop(Import.State.CANCELLED)
            else:
                hold.fail(_took_too_long(allowed.seconds, "of waiting and computing"))
        finally:
            _end(process)


IMPORTS = register(ImportWork())


def check(upload: Import) -> None:
    """Check a few pasted rows here and now, as a worker's process does; send all other files."""
    claim = IMPORTS.claim(upload.pk) if _is_quick(upload) else None
    if claim:
        check_or_store(ImportHold(claim))
    else:
        IMPORTS.send_waiting(pk=upload.pk)


def _is_quick(upload: Import) -> bool:
    """Return whether an upload is a short text, such as a page makes of pasted rows."""
    if not upload.file_name.startswith(PASTED) or upload.upload.size > AT_ONCE_BYTES:
        return False
    return b"\0" not in Path(upload.upload.path).read_bytes()  # Archives have zeros.


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


def _waited(process: "subprocess.Popen[str]", hold: ImportHold, seconds: float) -> bool:
    """Wait for a process; return False if it took too long or did not stop, and was killed.

    Raises:
        WorkStopped: another worker has the import.
    """
    ends_at = time.monotonic() + seconds
    is_stopping = False
    while True:
        try:
            process.wait(LOOKS_EVERY_SECONDS)
            return True
        except subprocess.TimeoutExpired:
            hold.keep()
        if is_cancelled(hold.claim.pk) and not is_stopping:
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


def _store_how_it_ended(status: int, hold: ImportHold, allowed: Allowance) -> None:
    if reason := _reason(status, allowed):
        hold.fail(reason)
    elif status:  # killed, or unable to begin: another worker may try
        logger.error("the process of import %s ended with status %s", hold.claim.pk, status)
        hold.break_off()


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
        upload = Import.objects.select_related("requested_by").get(pk=import_id)
        upload.token = token
        check_or_store(ImportHold(upload))
    except (MemoryError, OSError) as error:
        if not is_lack_of_memory(error):
            raise
        return OUT_OF_MEMORY
    return 0


def _end_with_worker(from_worker: IO[str]) -> None:
    from_worker.read()  # no more data comes: this returns when the worker's end is closed
    os.kill(os.getpid(), signal.SIGKILL)
