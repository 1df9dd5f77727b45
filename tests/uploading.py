"""Imports by page, taken as far as a test needs them; `carry_on` does what a worker does."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.exchange import uploads
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.import_process import ImportWork
from evaluation.exchange.uploads import ImportHold, check_or_store, request_storing
from generation.models import Import
from tests.makers import example_row, response_row, vote_row, write_files

State = Import.State


class InThisProcess(ImportWork):
    """Imports that are checked or stored by their worker itself, without a process of their own."""

    def work(self, hold: ImportHold) -> None:
        check_or_store(hold)


def zipped(folder: Path, *, bad: bool = False) -> SimpleUploadedFile:
    """Return a small study as an uploaded zip; with `bad`, one of its two votes cannot be read."""
    write_files(
        folder,
        examples=[example_row()],
        responses=[response_row()],
        votes=[vote_row("r1", "anna"), vote_row("=r9" if bad else "r1", "ben", "no")],
    )
    path = shutil.make_archive(str(folder), "zip", folder)
    return SimpleUploadedFile("pilot.zip", Path(path).read_bytes())


def carry_on(import_id: int) -> None:
    """Check or store one import here, as its row asks. When called twice, one caller does it."""
    InThisProcess().claim_and_do(import_id)


def carried_on(upload: Import) -> Import:
    carry_on(upload.pk)
    upload.refresh_from_db()
    return upload


def checked(upload: Import) -> Import:
    assert carried_on(upload).state == State.CHECKED, upload.error
    return upload


def asked_to_store(upload: Import, *, skip_bad: bool = False) -> Import:
    assert request_storing(checked(upload), skip_bad=skip_bad)
    upload.refresh_from_db()
    return upload


def file_of(upload: Import) -> Path:
    return Path(upload.upload.path)


def in_the_middle(monkeypatch: pytest.MonkeyPatch, what: Callable[[], object]) -> None:
    """Let something happen once, after the next import has planned and before it begins to read."""
    real, happened = plan_import, list[bool]()

    def planned(*args: Any, **kwargs: Any) -> Any:
        plan = real(*args, **kwargs)
        if not happened:
            happened.append(True)
            what()
        return plan

    monkeypatch.setattr(uploads, "plan_import", planned)
    monkeypatch.setattr(uploads, "REPORT_EVERY_SECONDS", 0)
