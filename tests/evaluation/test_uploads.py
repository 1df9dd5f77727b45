"""Imports by page: checked by a worker, looked at, stored by a worker, and safe to interrupt.

No worker runs here: `carry_on` is what a worker calls.
"""

import csv
import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse

from annotation.models import Study, Vote
from evaluation import interchange, uploads
from evaluation.forms import ImportForm
from evaluation.interchange import plan_import
from evaluation.tasks import resend_interrupted_imports
from evaluation.uploads import (
    carry_on,
    interrupted_imports,
    problem_path,
    progress_of,
    request_cancelling,
    request_import,
    request_storing,
)
from generation.models import Dataset, Example, Import
from tests.makers import (
    audit_actions,
    example_row,
    is_empty,
    response_row,
    row_counts,
    vote_row,
    write_files,
)

pytestmark = pytest.mark.django_db
State = Import.State


@pytest.fixture(autouse=True)
def own_cache_and_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "uploads"
    backend = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": str(tmp_path)}}


def zipped(folder: Path, *, bad: bool = False) -> SimpleUploadedFile:
    """Return a small study as an uploaded zip; `bad`: one of its two votes cannot be read."""
    write_files(
        folder,
        examples=[example_row()],
        responses=[response_row()],
        votes=[vote_row("r1", "anna"), vote_row("=r9" if bad else "r1", "ben", "no")],
    )
    path = shutil.make_archive(str(folder), "zip", folder)
    return SimpleUploadedFile("pilot.zip", Path(path).read_bytes())


@pytest.fixture
def upload(tmp_path, adam):
    return request_import(zipped(tmp_path / "pilot"), "pilot", "", adam)


@pytest.fixture
def bad_upload(tmp_path, adam):
    return request_import(zipped(tmp_path / "pilot", bad=True), "pilot", "", adam)


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
    """Let something happen once, when the next import has planned and not yet begun to read."""
    real, happened = plan_import, list[bool]()

    def planned(*args: Any, **kwargs: Any) -> Any:
        plan = real(*args, **kwargs)
        if not happened:
            happened.append(True)
            what()
        return plan

    monkeypatch.setattr(uploads, "plan_import", planned)
    monkeypatch.setattr(uploads, "REPORT_EVERY_SECONDS", 0)


# --- check, look, store ---------------------------------------------------------------------


def test_an_upload_waits_to_be_checked(upload, adam):
    assert (upload.state, upload.requested_by, upload.file_name) == (
        State.CHECKING,
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
    assert problem_path(upload).exists()


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
    assert (upload.state, upload.skip_bad) == (State.IMPORTING, False)


def test_a_check_finds_bad_rows_and_keeps_them_all_as_csv(bad_upload):
    checked(bad_upload)

    [problem] = bad_upload.report["problems"]
    assert problem["found"] == '"=r9"'
    assert (bad_upload.report["n_problems"], bad_upload.report["n_bad"]) == (1, 1)
    with problem_path(bad_upload).open(encoding="utf-8", newline="") as file:
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


def test_bad_rows_are_left_out_when_somebody_asked_for_that(bad_upload):
    carried_on(asked_to_store(bad_upload, skip_bad=True))

    assert bad_upload.state == State.DONE
    assert Vote.objects.count() == 1
    assert bad_upload.report["counts"]["votes"] == {"new": 1, "unchanged": 0, "bad": 1}
    assert problem_path(bad_upload).read_text().count("\n") == 2


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
        (b"a,b\n1,2\n", "unknown.csv", "expected a published file"),
        (b"PK\x03\x04 broken", "broken.zip", "no readable zip"),
        (b"\xff\xfea\x00", "examples.csv", "UTF-16"),
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


@pytest.mark.parametrize("state", [State.CHECKING, State.IMPORTING])
def test_cancelling_while_it_waits_for_a_worker_stops_it_before_it_begins(upload, state):
    if state == State.IMPORTING:
        asked_to_store(upload)

    request_cancelling(upload)
    carried_on(upload)

    assert upload.state == State.CANCELLED
    assert is_empty()
    assert not file_of(upload).exists()


@pytest.mark.parametrize("state", [State.CHECKING, State.IMPORTING])
def test_cancelling_while_it_runs_leaves_nothing(upload, monkeypatch, state):
    if state == State.IMPORTING:
        asked_to_store(upload)
    in_the_middle(monkeypatch, lambda: request_cancelling(upload))

    carried_on(upload)

    assert upload.state == State.CANCELLED
    assert is_empty()
    assert not file_of(upload).exists()
    assert audit_actions() == []


@pytest.mark.parametrize("state", [State.CHECKING, State.IMPORTING])
def test_cancelling_after_the_last_sign_of_life_still_counts(upload, monkeypatch, state):
    if state == State.IMPORTING:
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
    assert rows[-1] == 3  # of four: the last batch is about to be stored
    assert all(0 <= progress.percent <= 100 for progress in seen if progress)


# --- workers that die, and two at once ------------------------------------------------------


def test_a_worker_that_dies_leaves_the_import_to_the_next(upload, monkeypatch):
    def die() -> None:
        raise SystemExit

    asked_to_store(upload)
    in_the_middle(monkeypatch, die)
    with pytest.raises(SystemExit):
        carry_on(upload.pk)
    assert is_empty()
    assert interrupted_imports() == [upload.pk]

    carried_on(upload)

    assert upload.state == State.DONE
    assert Vote.objects.count() == 2
    assert interrupted_imports() == []


def test_an_import_with_a_sign_of_life_is_not_interrupted(upload):
    assert interrupted_imports() == [upload.pk]  # nobody has begun

    cache.add(f"import:{upload.pk}:alive", "somebody", timeout=60)

    assert interrupted_imports() == []
    assert carried_on(upload).state == State.CHECKING  # somebody has it


@pytest.mark.parametrize("state", [State.CHECKED, State.DONE, State.FAILED, State.CANCELLED])
def test_an_import_that_waits_for_nobody_is_not_carried_on(upload, state):
    Import.objects.update(state=state)

    carried_on(upload)

    assert upload.state == state
    assert interrupted_imports() == []
    assert is_empty()


def test_an_import_that_does_not_exist_is_nobody_s_trouble():
    carry_on(12345)
    resend_interrupted_imports()

    assert is_empty()


def test_a_second_caller_does_nothing_while_the_first_is_at_it(upload, monkeypatch):
    asked_to_store(upload)
    in_the_middle(monkeypatch, lambda: carry_on(upload.pk))

    carried_on(upload)

    assert upload.state == State.DONE
    assert audit_actions() == [("dataset.imported", "pilot")]


def test_a_worker_thought_dead_finds_the_work_done_and_spoils_nothing(upload, monkeypatch):
    def fall_silent_and_be_replaced() -> None:
        cache.delete(f"import:{upload.pk}:alive")
        carry_on(upload.pk)

    asked_to_store(upload)
    in_the_middle(monkeypatch, fall_silent_and_be_replaced)

    carried_on(upload)

    assert (upload.state, upload.error) == (State.DONE, "")
    assert upload.dataset == Dataset.objects.get()
    assert (Example.objects.count(), Vote.objects.count()) == (1, 2)
    assert audit_actions() == [("dataset.imported", "pilot")]


@pytest.mark.parametrize("sees_it", [True, False], ids=["in between", "only at the end"])
def test_a_worker_thought_dead_cannot_commit_and_leaves_the_other_s_things(
    upload, monkeypatch, sees_it
):
    alive = f"import:{upload.pk}:alive"

    def another_takes_over() -> None:
        if sees_it:
            cache.set(alive, "another", timeout=60)
        Import.objects.filter(pk=upload.pk).update(token="another")

    asked_to_store(upload)
    in_the_middle(monkeypatch, another_takes_over)

    carried_on(upload)

    assert is_empty()
    assert (upload.state, upload.token) == (State.IMPORTING, "another")
    assert file_of(upload).exists()
    if sees_it:
        assert cache.get(alive) == "another"
        cache.delete(alive)
    assert carried_on(upload).state == State.DONE


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_at_once_one_does_it(upload):
    asked_to_store(upload)

    def work(_: int) -> None:
        try:
            carry_on(upload.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as workers:
        list(workers.map(work, range(8)))

    upload.refresh_from_db()
    assert upload.state == State.DONE
    assert Vote.objects.count() == 2
    assert audit_actions() == [("dataset.imported", "pilot")]


# --- the pages ------------------------------------------------------------------------------

IMPORT = "/data/import/"


@pytest.fixture
def admin(adam, client_for):
    return client_for(adam)


def page_of(upload: Import, name: str = "import-progress") -> str:
    return reverse(f"evaluation:{name}", args=[upload.pk])


def test_choosing_a_file_keeps_it_and_sends_it_to_be_checked(
    admin, tmp_path, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as sent:
        answer = admin.post(IMPORT, {"file": zipped(tmp_path / "pilot"), "name": " My pilot "})

    upload = Import.objects.get()
    assert (answer.status_code, answer.url) == (302, page_of(upload))
    assert (upload.name, upload.format, upload.state) == ("My pilot", "", State.CHECKING)
    assert len(sent) == 1
    assert "pilot.zip" in admin.get(IMPORT).text


@pytest.mark.parametrize(
    ("file_name", "name"),
    [("ratings.v2.csv.gz", "ratings"), ("a" * 120 + ".csv", "a" * 100), ("數據.zip", "數據")],
)
def test_without_a_name_the_dataset_is_called_as_the_file(admin, file_name, name):
    admin.post(IMPORT, {"file": SimpleUploadedFile(file_name, b"x")})

    assert Import.objects.get().name == name


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({}, "This field is required."),
        ({"file": SimpleUploadedFile("votes.csv", b"")}, "The file is empty."),
        (
            {"file": SimpleUploadedFile("v.csv", b"x"), "format": "exe"},
            "Select a valid choice. exe is not one of the available choices.",
        ),
        ({"file": SimpleUploadedFile("v.csv", b"x"), "name": "n" * 101}, "at most 100 characters"),
        ({"file": SimpleUploadedFile(" .csv", b"x")}, "type one"),
    ],
)
def test_a_form_that_is_not_right_says_so_and_keeps_nothing(admin, data, error):
    for value in data.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)

    answer = admin.post(IMPORT, data)

    assert answer.status_code == 422
    assert error in answer.text
    assert not Import.objects.exists()


def test_the_form_knows_the_limit_too(settings):
    settings.MAX_UPLOAD_BYTES = 10

    form = ImportForm({}, {"file": SimpleUploadedFile("votes.csv", b"x" * 11)})

    assert "10" in form.errors["file"][0]
    assert "import_dataset" in form.errors["file"][0]


def test_an_upload_that_is_refused_half_way_leaves_no_file(admin, settings, tmp_path):
    settings.MAX_UPLOAD_BYTES = 1000
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "half"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()

    answer = admin.post(IMPORT, {"file": SimpleUploadedFile("votes.csv", b"x" * 1001)})

    assert answer.status_code == 400
    assert list(settings.FILE_UPLOAD_TEMP_DIR.iterdir()) == []
    assert not Import.objects.exists()


def test_the_page_of_a_running_import_asks_again_by_itself(admin, upload):
    page = admin.get(page_of(upload))
    fragment = admin.get(page_of(upload), headers={"HX-Request": "true"})

    assert page.status_code == fragment.status_code == 200
    assert "<html" in page.text
    assert "<html" not in fragment.text
    for text in (page.text, fragment.text):
        assert f'hx-get="{page_of(upload)}" hx-trigger="every 1s"' in text
        assert "Waiting for a worker" in text


def test_the_page_shows_how_far_a_running_import_is(admin, upload):
    cache.set(f"import:{upload.pk}:progress", (1234, 0.5, 10.0))

    text = admin.get(page_of(upload)).text

    assert "1,234" in text
    assert 'value="50"' in text
    assert "about 10 s left" in text


@pytest.mark.parametrize("state", [State.CHECKED, State.DONE, State.FAILED, State.CANCELLED])
def test_the_page_of_an_import_that_does_not_run_asks_no_more(admin, upload, state):
    checked(upload)
    Import.objects.update(state=state, error="votes.csv, line 3: no")

    text = admin.get(page_of(upload), headers={"HX-Request": "true"}).text

    assert "hx-trigger" not in text
    assert 'id="import"' in text
    assert ("votes.csv, line 3: no" in text) == (state == State.FAILED)


def test_a_checked_import_shows_counts_preview_and_the_button_to_store(admin, upload):
    text = admin.get(page_of(checked(upload))).text

    assert page_of(upload, "store-import") in text
    assert "Text of r1." in text
    assert 'name="skip_bad"' not in text


def test_bad_rows_are_shown_and_storing_needs_a_tick(
    admin, bad_upload, django_capture_on_commit_callbacks
):
    checked(bad_upload)
    text = admin.get(page_of(bad_upload)).text
    assert "votes.csv" in text
    assert 'name="skip_bad"' in text

    with django_capture_on_commit_callbacks() as sent:
        answer = admin.post(page_of(bad_upload, "store-import"), follow=True)

    bad_upload.refresh_from_db()
    assert (bad_upload.state, len(sent)) == (State.CHECKED, 0)
    assert "Nothing was imported: tick" in answer.text


def test_with_the_tick_the_rest_is_sent_to_be_stored(
    admin, bad_upload, django_capture_on_commit_callbacks
):
    checked(bad_upload)

    with django_capture_on_commit_callbacks() as sent:
        admin.post(page_of(bad_upload, "store-import"), {"skip_bad": "on"})
        admin.post(page_of(bad_upload, "store-import"), {"skip_bad": "on"})  # a second click

    bad_upload.refresh_from_db()
    assert (bad_upload.state, bad_upload.skip_bad) == (State.IMPORTING, True)
    assert len(sent) == 1


def test_all_problems_can_be_downloaded(admin, bad_upload):
    address = page_of(bad_upload, "import-problems")
    assert admin.get(address).status_code == 404  # not checked yet

    checked(bad_upload)
    answer = admin.get(address)

    assert answer.status_code == 200
    assert b"".join(answer.streaming_content).startswith(b"file,line,field,found,expected\r\n")
    assert "attachment" in answer["Content-Disposition"]


def test_cancelling_by_page_stops_an_import(admin, upload):
    checked(upload)

    answer = admin.post(page_of(upload, "cancel-import"), follow=True)

    assert "Nothing of this file was kept." in answer.text
    upload.refresh_from_db()
    assert upload.state == State.CANCELLED


def test_what_a_file_holds_cannot_run_on_the_page(admin, adam):
    row = json.dumps(example_row("<script>alert(1)</script>")) + '\n{"id": "<img src=x>"}\n'
    file = SimpleUploadedFile("<b>examples.jsonl", row.encode())
    upload = checked(request_import(file, "<i>pilot", "", adam))

    text = admin.get(page_of(upload)).text

    assert "&lt;script&gt;alert(1)" in text
    for tag in ("<script>alert", "<img", "<b>", "<i>"):
        assert tag not in text


@pytest.mark.parametrize("user", ["rosa", "rachel"])
def test_only_admins_may_see_and_touch_an_import(request, client_for, upload, user):
    checked(upload)
    client = client_for(request.getfixturevalue(user))

    answers = [
        client.get(page_of(upload)),
        client.get(page_of(upload, "import-problems")),
        client.post(page_of(upload, "store-import")),
        client.post(page_of(upload, "cancel-import")),
    ]

    assert [answer.status_code for answer in answers] == [403] * 4
    upload.refresh_from_db()
    assert upload.state == State.CHECKED
