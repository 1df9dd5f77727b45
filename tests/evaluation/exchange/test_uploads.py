"""Imports by page: checked by a worker, looked at, stored by a worker, and safe to interrupt.

No worker runs here: `carry_on` is what a worker calls.
"""

import csv
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Study, Vote
from evaluation.exchange import interchange, uploads
from evaluation.exchange.tasks import forget_old_imports
from evaluation.exchange.uploads import (
    ChoiceNeeded,
    progress_of,
    request_cancelling,
    request_import,
    request_storing,
)
from generation.models import Dataset, Import
from tests.makers import (
    audit_actions,
    is_empty,
    row_counts,
)
from tests.uploading import (
    State,
    asked_to_store,
    carried_on,
    checked,
    file_of,
    in_the_middle,
    zipped,
)

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]


# --- check, look, store ---------------------------------------------------------------------


def test_an_upload_waits_to_be_checked(upload, adam):
    assert (upload.state, upload.requested_by, upload.file_name) == (
        State.QUEUED,
        adam,
        "pilot.zip",
    )
    assert file_of(upload).exists()
    assert progress_of(upload) is None
    assert is_empty()


def test_the_check_stores_nothing_and_says_what_it_found(upload):
    checked(upload)

    assert is_empty()
    assert upload.report["counts"]["votes"] == {"new": 2, "unchanged": 0, "bad": 0}
    assert (upload.report["format"], upload.report["n_problems"]) == ("interchange", 0)
    assert upload.report["scheme"] == "made from the questions and answers found"
    assert upload.report["preview"]["responses"][0]["text"] == "Text of r1."
    assert upload.finished_at is None
    assert file_of(upload).exists()
    assert audit_actions() == []


def test_storing_comes_after_the_check_and_ends_with_an_audit_line(upload):
    carried_on(asked_to_store(upload))

    assert (upload.state, upload.error) == (State.DONE, "")
    assert upload.dataset == Dataset.objects.get(name="pilot")
    assert upload.dataset.created_by == upload.requested_by
    assert upload.report["study_slug"] == Study.objects.get().slug
    assert upload.finished_at
    assert Vote.objects.count() == 2
    assert audit_actions() == [("dataset.imported", "pilot")]


def test_the_file_is_gone_when_it_was_stored(upload):
    carried_on(asked_to_store(upload))

    assert not file_of(upload).exists()
    assert upload.problem_path.exists()


def test_nothing_is_left_in_the_cache_of_an_import_that_ended(upload):
    carried_on(asked_to_store(upload))

    for name in ("alive", "progress", "cancel"):
        assert cache.get(f"import:{upload.pk}:{name}") is None


def test_only_a_checked_import_can_be_stored_and_only_once(upload):
    assert not request_storing(upload, skip_bad=False)

    checked(upload)

    assert request_storing(upload, skip_bad=False)
    assert not request_storing(upload, skip_bad=True)
    upload.refresh_from_db()
    assert (upload.state, upload.is_storing, upload.skip_bad) == (State.QUEUED, True, False)


def test_a_check_finds_bad_rows_and_keeps_them_all_as_csv(bad_upload):
    checked(bad_upload)

    [problem] = bad_upload.report["problems"]
    assert problem["found"] == '"=r9"'
    assert (bad_upload.report["n_problems"], bad_upload.report["n_bad"]) == (1, 1)
    with bad_upload.problem_path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [
        {
            "file": "votes.csv",
            "line": "3",
            "field": "response",
            "found": '"=r9"',
            "expected": "the id of a response of this dataset",
        }
    ]


def test_bad_rows_are_stored_by_no_request_that_does_not_skip_them(bad_upload):
    with pytest.raises(ChoiceNeeded):
        request_storing(checked(bad_upload), skip_bad=False)

    bad_upload.refresh_from_db()
    assert (bad_upload.state, bad_upload.is_storing) == (State.CHECKED, False)


def test_bad_rows_are_left_out_when_somebody_asked_for_that(bad_upload):
    carried_on(asked_to_store(bad_upload, skip_bad=True))

    assert bad_upload.state == State.DONE
    assert Vote.objects.count() == 1
    assert bad_upload.report["counts"]["votes"] == {"new": 1, "unchanged": 0, "bad": 1}
    assert bad_upload.problem_path.read_text().count("\n") == 2


def test_data_that_changed_between_check_and_storing_fails_the_import(upload, tmp_path, adam):
    asked_to_store(upload)
    Dataset.objects.create(name="pilot", slug="pilot").examples.create(
        key="e1", dialog="d", digest="other"
    )
    before = row_counts()

    carried_on(upload)

    assert upload.state == State.FAILED
    assert "stored with other content" in upload.error
    assert upload.report["n_problems"] == 1
    assert row_counts() == before
    assert not file_of(upload).exists()
    assert audit_actions() == []


@pytest.mark.parametrize(
    ("content", "name", "error"),
    [
        (b"a\n1\n", "unknown.csv", "a published file"),
        (b"PK\x03\x04 broken", "broken.zip", "cannot be read as a zip"),
        (b"\xff\xfea", "examples.csv", "UTF-16"),
    ],
)
def test_a_file_that_nobody_can_read_fails_with_the_reason(adam, content, name, error):
    upload = request_import(SimpleUploadedFile(name, content), "pilot", "", adam)

    carried_on(upload)

    assert upload.state == State.FAILED
    assert error in upload.error
    assert upload.finished_at
    assert is_empty()
    assert not file_of(upload).exists()


def test_a_format_that_is_not_the_file_s_fails(tmp_path, adam):
    upload = request_import(zipped(tmp_path / "pilot"), "pilot", "mtrag", adam)

    assert carried_on(upload).state == State.FAILED
    assert is_empty()


def test_what_nobody_foresaw_fails_without_telling_its_inside(upload, monkeypatch):
    def explode() -> None:
        raise RuntimeError("secret path")

    asked_to_store(upload)
    in_the_middle(monkeypatch, explode)

    carried_on(upload)

    assert upload.state == State.FAILED
    assert "Nothing was stored" in upload.error
    assert "secret" not in upload.error
    assert is_empty()


# --- cancelling -----------------------------------------------------------------------------


def test_a_checked_import_is_cancelled_at_once(upload):
    request_cancelling(checked(upload))

    upload.refresh_from_db()
    assert upload.state == State.CANCELLED
    assert upload.finished_at
    assert not file_of(upload).exists()
    assert not request_storing(upload, skip_bad=False)


@pytest.mark.parametrize("is_storing", [False, True])
def test_cancelling_while_it_waits_for_a_worker_stops_it_before_it_begins(upload, is_storing):
    if is_storing:
        asked_to_store(upload)

    request_cancelling(upload)
    carried_on(upload)

    assert upload.state == State.CANCELLED
    assert is_empty()
    assert not file_of(upload).exists()


@pytest.mark.parametrize("is_storing", [False, True])
def test_cancelling_while_it_runs_leaves_nothing(upload, monkeypatch, is_storing):
    if is_storing:
        asked_to_store(upload)
    in_the_middle(monkeypatch, lambda: request_cancelling(upload))

    carried_on(upload)

    assert upload.state == State.CANCELLED
    assert is_empty()
    assert not file_of(upload).exists()
    assert audit_actions() == []


@pytest.mark.parametrize("is_storing", [False, True])
def test_cancelling_after_the_last_sign_of_life_still_counts(upload, monkeypatch, is_storing):
    if is_storing:
        asked_to_store(upload)
    in_the_middle(monkeypatch, lambda: request_cancelling(upload))
    monkeypatch.setattr(uploads, "REPORT_EVERY_SECONDS", 1000)  # it never looks in between

    carried_on(upload)

    assert upload.state == State.CANCELLED
    assert is_empty()


def test_an_import_that_is_done_cannot_be_cancelled(upload):
    carried_on(asked_to_store(upload))

    request_cancelling(upload)

    upload.refresh_from_db()
    assert upload.state == State.DONE
    assert Vote.objects.count() == 2


def test_progress_is_told_while_it_runs(upload, monkeypatch):
    seen = []
    monkeypatch.setattr(interchange, "BATCH", 1)
    in_the_middle(monkeypatch, lambda: None)
    real = interchange._store

    def store(*args: Any) -> int:
        seen.append(progress_of(upload))
        return real(*args)

    monkeypatch.setattr(interchange, "_store", store)

    carried_on(asked_to_store(upload))

    rows = [progress.n_rows for progress in seen if progress]
    assert rows == sorted(rows)
    assert rows[-1] == 3  # 3 of 4 rows: the last batch is about to be stored
    assert all(0 <= progress.percent <= 100 for progress in seen if progress)


# --- files, names and how it ends -----------------------------------------------------------


def test_the_end_of_an_import_is_part_of_it(upload, monkeypatch):
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("the worker dies while it writes the audit line")

    asked_to_store(upload)
    monkeypatch.setattr(interchange, "record_in_audit_trail", fail)

    carried_on(upload)

    assert upload.state == State.FAILED
    assert upload.dataset is None
    assert is_empty()


def test_uploads_of_one_name_keep_their_own_problems(tmp_path, adam):
    first = request_import(zipped(tmp_path / "a", bad=True), "pilot", "", adam)
    asked_to_store(first, skip_bad=True)
    carried_on(first)
    problems = first.problem_path.read_text()

    second = request_import(zipped(tmp_path / "b"), "pilot", "", adam)
    carried_on(second)

    assert first.problem_path.read_text() == problems
    assert '"=r9"' in problems.replace('""', '"')
    assert second.problem_path.read_text().count("\n") == 1  # the header alone


def test_a_problem_names_the_file_as_it_was_uploaded(adam):
    row = b"response,rater,question,answer\nr1,anna,good,yes\n"
    uploads_of_one_name = [
        request_import(SimpleUploadedFile("votes_may.csv", row), "pilot", "", adam)
        for _ in range(2)
    ]

    for upload in uploads_of_one_name:
        [problem] = checked(upload).report["problems"]
        assert problem["file"] == "votes_may.csv"


def test_the_study_of_an_upload_may_have_a_name_of_its_own(tmp_path, adam):
    upload = request_import(zipped(tmp_path / "a"), "pilot", "", adam, "first round")

    carried_on(asked_to_store(upload))

    assert Study.objects.get().name == "first round"


def test_what_nobody_decided_for_a_week_is_cancelled(upload, bad_upload):
    for one in (checked(upload), checked(bad_upload)):
        assert file_of(one).exists()
    Import.objects.filter(pk=upload.pk).update(created_at=timezone.now() - timedelta(days=8))

    forget_old_imports()

    upload.refresh_from_db()
    bad_upload.refresh_from_db()
    assert (upload.state, upload.report) == (State.CANCELLED, {})
    assert not file_of(upload).exists()
    assert bad_upload.state == State.CHECKED
