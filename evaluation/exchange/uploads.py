"""Imports by page: a worker checks an uploaded file, a person looks at it, then a worker stores it.

The import's row holds the request and the outcome. Progress and requests to cancel are kept in the
cache, because other connections could not see them in a row before the import's one transaction has
ended (and on SQLite no connection could write one).
"""

import csv
import errno
import logging
import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from django.core.cache import cache
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from accounts.models import User
from evaluation.exchange.given_votes import UndecidedWords
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import BadRows, ImportOutcome, import_dataset
from evaluation.exchange.mappings import look_as_json, wrong_place_as_json
from generation.importers import UTF_8, UnmappedError, open_material
from generation.importers.errors import DatasetError
from generation.importers.mapped.likely_headers import PlaceError
from generation.importers.mapped.mapping import read_mapping
from generation.importers.spreadsheet import safe_cell
from generation.models import Dataset, Import
from generation.records import Problem
from work.claims import GOING_ON, SignedHold, WorkStopped

logger = logging.getLogger(__name__)

KEPT_CHECKED = timedelta(days=7)
REPORT_EVERY_SECONDS = 0.5
PROGRESS_SECONDS = 60.0  # how long the last progress is kept when no more is reported
PASTED = "pasted"  # begins the names of files that are made of pasted rows
_PASTED_AS = {"[": ".json", "{": ".jsonl"}  # the first character of other rows than those of CSV
PROBLEM_COLUMNS = ("file", "line", "field", "found", "expected")


class ImportProgress(NamedTuple):
    """The progress of a running import: rows read, share of the bytes, seconds since it began."""

    n_rows: int
    share: float
    seconds: float

    @property
    def percent(self) -> int:
        return int(100 * self.share)

    @property
    def seconds_left(self) -> float | None:
        """The seconds left at the present rate; None while too little was read to estimate it."""
        return self.seconds * (1 - self.share) / self.share if self.share > 0.02 else None


def request_import(
    file: "UploadedFile[bytes]",
    name: str,
    format_key: str,
    user: User,
    study_name: str = "",
    encoding: str = UTF_8,
    mapping: str = "",
) -> Import:
    """Store an uploaded file and return the import, which a worker will check."""
    return Import.objects.create(
        requested_by=user,
        file_name=Path(file.name or "upload").name[:255],
        upload=file,
        format=format_key,
        encoding=encoding,
        mapping=mapping,
        name=name,
        study_name=study_name,
    )


def pasted_file_name(rows: str) -> str:
    """Return the name of the file that is made of pasted rows: when they were pasted, and what."""
    suffix = _PASTED_AS.get(rows[:1], ".csv")
    return f"{PASTED}_{timezone.localtime():%Y-%m-%d_%H.%M.%S}{suffix}"


def free_pasted_name() -> str:
    """Return a name for pasted rows that no dataset and no import has: 'pasted-1', 'pasted-2'."""
    taken = {
        name.lower()
        for rows in (Dataset.objects, Import.objects)
        for name in rows.filter(name__istartswith="pasted-").values_list("name", flat=True)
    }
    return next(name for name in (f"pasted-{n}" for n in count(1)) if name not in taken)


def request_another_check(upload: Import, mapping: str) -> bool:
    """Request another check of a checked table by a mapping; return whether the import changed."""
    checked = Import.objects.filter(pk=upload.pk, state=Import.State.CHECKED)
    changed = checked.update(state=Import.State.QUEUED, mapping=mapping, sent_at=None, report={})
    return bool(changed)


class ChoiceNeeded(Exception):
    """A file has bad rows or losses, and the request to store it lacks the choice to do so.

    Its text is the name of that choice in `StoringChoices`.
    """


def request_storing(
    upload: Import,
    *,
    skip_bad: bool,
    accept: bool = False,
    without_implied: bool = False,
    language: str = "",
) -> bool:
    """Request that a checked import be stored; return whether the import changed.

    `StoringChoices` explains the choices.

    Raises:
        ChoiceNeeded: the file has bad rows, and `skip_bad` is false, or something would be lost,
            and `accept` is false; nothing is changed.
    """
    if not upload.report.get("counts"):
        return False  # a table without a mapping of its columns
    if upload.report.get("n_problems") and not skip_bad:
        raise ChoiceNeeded("skip_bad")
    if upload.report.get("losses") and not accept:
        raise ChoiceNeeded("accept")
    checked = Import.objects.filter(pk=upload.pk, state=Import.State.CHECKED)
    changed = checked.update(
        state=Import.State.QUEUED,
        is_storing=True,
        skip_bad=skip_bad,
        without_implied=without_implied,
        language=language,
        sent_at=None,
    )
    return bool(changed)


def request_cancelling(upload: Import) -> None:
    """Request that an import stop; a worker that runs it stops at its next batch.

    While a worker runs it, this writes nothing to the database: on SQLite it would wait for the
    import.
    """
    if upload.state in GOING_ON:
        cache.set(_cache_key(upload.pk, "cancel"), True, timeout=24 * 3600)
        return
    waiting = Import.objects.filter(pk=upload.pk, state=Import.State.CHECKED)
    if waiting.update(state=Import.State.CANCELLED, finished_at=timezone.now(), report={}):
        _remove_file(upload)


def cancel_forgotten_imports() -> int:
    """Cancel imports that were checked long ago and never stored; return how many."""
    long_ago = timezone.now() - KEPT_CHECKED
    forgotten = Import.objects.filter(state=Import.State.CHECKED, created_at__lt=long_ago)
    for upload in forgotten:
        request_cancelling(upload)
    return len(forgotten)


def progress_of(upload: Import) -> ImportProgress | None:
    """Return the progress of a running import; None before its worker has reported any."""
    found = cache.get(_cache_key(upload.pk, "progress"))
    return ImportProgress(*found) if found else None


class ImportHold(SignedHold[Import]):
    """A claimed import that one worker, or its process, holds.

    Two workers may run: one of them was thought dead and goes on. Then one stops when it sees the
    other's sign, or its transaction fails at the end, because the row has another token by then.
    """

    def keep(self) -> None:
        """Give a sign of life, however short ago the last one was."""
        self.renew()

    def finish(self, state: Import.State, **columns: object) -> bool:
        """Set an import to a state that is not running; return whether it was still ours."""
        is_mine = self.end(state, **columns)
        if is_mine:
            for name in ("progress", "cancel"):
                cache.delete(_cache_key(self.claim.pk, name))
        return is_mine

    def stop(self, state: Import.State, **columns: object) -> None:
        """End an import of which nothing is kept."""
        if self.finish(state, finished_at=timezone.now(), **columns):
            _remove_file(self.claim)

    def fail(self, error: str) -> None:
        """Store why an import failed."""
        self.stop(Import.State.FAILED, error=error)


def check_or_store(hold: ImportHold) -> None:
    """Check or store an import that this process holds.

    Raises:
        MemoryError, OSError: there is a lack of memory (`is_lack_of_memory`); nothing was stored.
    """
    upload = hold.claim

    def before_commit(outcome: ImportOutcome) -> None:
        report = _as_json(outcome, material.format) | {"preview": {}}
        ended = {"finished_at": timezone.now(), "report": report, "dataset": outcome.dataset}
        if is_cancelled(upload.pk) or not hold.finish(Import.State.DONE, **ended):
            raise WorkStopped

    on_progress = _reporter(hold)
    try:
        on_progress(0, 0.0)  # the import may have been cancelled before a worker was free
        with (
            open_material(
                Path(upload.upload.path),
                upload.format or None,
                encoding=upload.encoding,
                mapping=read_mapping(upload.mapping) if upload.mapping else None,
            ) as material,
            _ProblemFile(upload) as problem_file,
        ):
            outcome = import_dataset(
                material,
                plan_import(material, upload.name, upload.study_name or None, on_progress),
                dry_run=not upload.is_storing,
                skip_bad=upload.skip_bad,
                accept=upload.is_storing,  # else it would not have been sent to be stored
                without_implied=upload.without_implied,
                language=upload.language,
                requested_by=upload.requested_by,
                on_progress=on_progress,
                on_problem=problem_file.write,
                before_commit=before_commit,
            )
        if not upload.is_storing and is_cancelled(upload.pk):
            raise WorkStopped
    except WorkStopped:
        if is_cancelled(upload.pk):
            hold.stop(Import.State.CANCELLED)
    except UnmappedError as error:
        hold.finish(Import.State.CHECKED, report={"look": look_as_json(error.look)})
    except PlaceError as error:
        report = {"look": wrong_place_as_json(error), "wrong_place": str(error)}
        hold.finish(Import.State.CHECKED, report=report)
    except UndecidedWords as error:
        if error.look is None:
            hold.fail(str(error))
        else:
            report = {"look": look_as_json(error.look), "asks": str(error)}
            hold.finish(Import.State.CHECKED, report=report)
    except BadRows as error:  # the data changed between check and import
        report = _as_json(error.outcome, upload.format) | {"preview": {}}
        hold.stop(Import.State.FAILED, error=str(error), report=report)
    except DatasetError as error:
        hold.fail(str(error))
    except Exception as error:
        if is_lack_of_memory(error):  # the caller that set the limit reports how high it was
            raise
        logger.exception("import %s failed", upload.pk)
        hold.fail(
            "Something went wrong on the server. Nothing was stored. The log of the server says "
            "what happened."
        )
    else:
        if upload.is_storing:
            _remove_file(upload)
            return
        report = _as_json(outcome, material.format)
        if material.look:
            report["look"] = look_as_json(material.look)
        hold.finish(Import.State.CHECKED, report=report)


def is_lack_of_memory(error: Exception) -> bool:
    """Return whether the system refused memory; code outside Python reports that as an OSError."""
    refused = isinstance(error, OSError) and error.errno == errno.ENOMEM
    return refused or isinstance(error, MemoryError)


def _reporter(hold: ImportHold) -> Callable[[int, float], None]:
    """Return the function that an import calls after each batch.

    It reports the progress, and stops the import when that was requested or another worker has it.
    """
    began = time.monotonic()
    next_report = began
    import_id = hold.claim.pk

    def report(n_rows: int, share: float) -> None:
        nonlocal next_report
        now = time.monotonic()
        if now < next_report:
            return
        next_report = now + REPORT_EVERY_SECONDS
        if is_cancelled(import_id):
            raise WorkStopped
        hold.keep()
        progress = (n_rows, share, now - began)
        cache.set(_cache_key(import_id, "progress"), progress, timeout=PROGRESS_SECONDS)

    return report


def is_cancelled(import_id: int) -> bool:
    """Return whether the user has requested that a running import stop."""
    return bool(cache.get(_cache_key(import_id, "cancel")))


def _cache_key(import_id: int, name: str) -> str:
    return f"import:{import_id}:{name}"


class _ProblemFile:
    """The CSV file of all bad rows with their reasons, written while the import runs."""

    def __init__(self, upload: Import) -> None:
        upload.problem_path.parent.mkdir(parents=True, exist_ok=True)
        self._file = upload.problem_path.open("w", encoding="utf-8", newline="")
        self._rows = csv.writer(self._file)
        self._rows.writerow(PROBLEM_COLUMNS)

    def __enter__(self) -> "_ProblemFile":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def write(self, problem: Problem) -> None:
        self._rows.writerow(map(safe_cell, (*problem.where, *problem[1:])))


def _remove_file(upload: Import) -> None:
    """Delete the uploaded file; its list of problems can still be downloaded."""
    shutil.rmtree(Path(upload.upload.path).parent, ignore_errors=True)  # only this upload is in it


def _as_json(outcome: ImportOutcome, format_key: str) -> dict[str, Any]:
    """Return what the import page shows of an outcome."""
    return {
        "format": format_key,
        "counts": outcome.counts,
        "n_bad": sum(count["bad"] for count in outcome.counts.values()),
        "n_problems": outcome.n_problems,
        "problems": [
            dict(zip(PROBLEM_COLUMNS, (*problem.where, *problem[1:]), strict=True))
            for problem in outcome.problems
        ],
        "preview": outcome.preview,
        "examples": outcome.examples,
        "uses": outcome.uses,
        "scheme": outcome.scheme_origin,
        "answers": outcome.answers,
        "study_slug": outcome.study.slug if outcome.study else "",
        "ignored": outcome.ignored,
        "left_out": outcome.left_out,
        "losses": list(outcome.losses.items()),
        "notes": list(outcome.notes.items()),  # JSON in PostgreSQL keeps no order
    }
