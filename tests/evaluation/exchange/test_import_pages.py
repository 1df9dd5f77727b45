"""The import's pages: choose a file, see what the check found, store it, or stop."""

import json
import re

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation.exchange.forms import ImportForm
from evaluation.exchange.uploads import request_import
from generation.models import Dataset, Import
from generation.services.datasets import create_dataset
from tests.makers import example_row
from tests.shown import markup, shown
from tests.uploading import State, carried_on, checked, zipped

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]


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
    assert (upload.name, upload.format, upload.state) == ("My pilot", "", State.QUEUED)
    assert len(sent) == 1
    imports = shown(admin.get(IMPORT)).table("Last imports")
    assert imports.row("pilot.zip")["State"] == "queued"


def test_a_file_of_an_older_program_is_read_by_a_choice(admin):
    file = b"id,turns\ne1,O\xf9 \x9cuvre-t-elle ?\ne2,O\xf9 ?\n"

    for encoding in ("", "windows-1252"):
        upload = SimpleUploadedFile("examples.csv", file)
        admin.post(IMPORT, {"file": upload, "encoding": encoding})
    second, first = Import.objects.all()

    assert carried_on(first).state == State.FAILED
    assert "choose Windows-1252 as its encoding" in first.error
    assert carried_on(second).state == State.CHECKED
    assert second.report["preview"]["examples"][0]["last user question"] == "Où œuvre-t-elle ?"


@pytest.mark.parametrize(
    ("pasted", "kind", "suffix"),
    [
        ('question\tanswer\r\nWho?\t"One.\r\nTwo."\r\n', "CSV with tabs", "csv"),
        ('\n[{"question": "Who?", "answer": "One.\\nTwo."}]', "JSON", "json"),
        ('{"question": "Who?", "answer": "One.\\nTwo."}', "JSON Lines", "jsonl"),
    ],
)
def test_a_few_pasted_rows_are_checked_at_once_as_a_file_would_be(admin, pasted, kind, suffix):
    create_dataset("pasted-1")

    admin.post(IMPORT, {"pasted": pasted})

    upload = Import.objects.get()
    assert (upload.state, upload.name) == (State.CHECKED, "pasted-2"), upload.error
    assert re.fullmatch(rf"pasted_[\d-]{{10}}_[\d.]{{8}}\.{suffix}", upload.file_name)
    assert upload.report["look"]["kind"] == kind
    assert upload.report["preview"]["responses"][0]["text"] == "One. Two."
    assert upload.report["examples"][0]["response"]["text"] == "One.\nTwo."


def test_many_pasted_rows_and_what_only_looks_pasted_wait_for_a_worker(admin):
    admin.post(IMPORT, {"pasted": "question,answer\n" + "Who?,One.\n" * 2_000, "name": "many"})
    admin.post(IMPORT, {"file": SimpleUploadedFile("pasted.csv", b"question\0,answer\n")})

    assert {each.state for each in Import.objects.all()} == {State.QUEUED}


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
        ({}, "Choose a file first."),
        ({"pasted": " \n"}, "Choose a file first."),
        (
            {"file": SimpleUploadedFile("v.csv", b"x"), "pasted": "a,b"},
            "Choose a file or paste rows, not both.",
        ),
        ({"file": SimpleUploadedFile("votes.csv", b"")}, "The file is empty."),
        (
            {"file": SimpleUploadedFile("v.csv", b"x"), "format": "exe"},
            "Select a valid choice. exe is not one of the available choices.",
        ),
        (
            {"file": SimpleUploadedFile("v.csv", b"x"), "encoding": "utf-7"},
            "Select a valid choice. utf-7 is not one of the available choices.",
        ),
        ({"file": SimpleUploadedFile("v.csv", b"x"), "name": "n" * 101}, "at most 100 characters"),
        ({"file": SimpleUploadedFile(" .csv", b"x")}, "Type a name"),
    ],
)
def test_a_form_that_is_not_right_says_so_and_keeps_nothing(admin, data, error):
    for value in data.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)

    answer = admin.post(IMPORT, data)

    assert answer.status_code == 422
    [said] = shown(answer).errors.values()
    assert error in said
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
    whole = admin.get(page_of(upload))
    fragment = admin.get(page_of(upload), headers={"HX-Request": "true"})

    assert "<html" in whole.text
    assert "<html" not in fragment.text
    for answer in (whole, fragment):
        assert f'hx-get="{page_of(upload)}" hx-trigger="every 1s"' in markup(answer)
        assert "Waiting for a worker" in shown(answer).text


def test_the_page_shows_how_far_a_running_import_is(admin, upload):
    cache.set(f"import:{upload.pk}:progress", (1234, 0.5, 10.0))

    answer = admin.get(page_of(upload))
    page = shown(answer)

    assert "1,234 rows" in page.text
    assert 'value="50"' in answer.text
    assert "about 10 s left" in page.text


@pytest.mark.parametrize("state", [State.CHECKED, State.DONE, State.FAILED, State.CANCELLED])
def test_the_page_of_an_import_that_does_not_run_asks_no_more(admin, upload, state):
    checked(upload)
    Import.objects.update(state=state, error="votes.csv, line 3: no")

    answer = admin.get(page_of(upload), headers={"HX-Request": "true"})

    assert "hx-trigger" not in answer.text
    said = shown(answer).part("import").text
    assert ("votes.csv, line 3: no" in said) == (state == State.FAILED)


def test_a_checked_import_shows_counts_preview_and_the_button_to_store(admin, upload):
    page = shown(admin.get(page_of(checked(upload))))

    counts = {kind: new for kind, new, *_ in page.table("Rows by kind").rows}
    assert counts == {"Examples": "1", "Responses": "1", "Votes": "2"}
    assert page_of(upload, "store-import") in page.actions
    assert page.table("Preview of the first responses").column("Text") == ["Text of r1."]
    assert "skip_bad" not in page.fields


def test_bad_rows_are_shown_and_storing_needs_a_tick(
    admin, bad_upload, django_capture_on_commit_callbacks
):
    checked(bad_upload)
    page = shown(admin.get(page_of(bad_upload)))
    assert page.table("Problems").column("Line") == ["3 votes.csv"]
    assert page.fields["skip_bad"] == []

    with django_capture_on_commit_callbacks() as sent:
        answer = admin.post(page_of(bad_upload, "store-import"), follow=True)

    bad_upload.refresh_from_db()
    assert (bad_upload.state, len(sent)) == (State.CHECKED, 0)
    assert any("Nothing was imported. Tick" in message for message in shown(answer).messages)


def test_with_the_tick_the_rest_is_sent_to_be_stored(
    admin, bad_upload, django_capture_on_commit_callbacks
):
    checked(bad_upload)

    with django_capture_on_commit_callbacks() as sent:
        admin.post(page_of(bad_upload, "store-import"), {"skip_bad": "on"})
        admin.post(page_of(bad_upload, "store-import"), {"skip_bad": "on"})  # a second click

    bad_upload.refresh_from_db()
    assert (bad_upload.state, bad_upload.skip_bad) == (State.QUEUED, True)
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

    answer = admin.post(reverse("work:cancel", args=["import", upload.pk]), follow=True)

    assert any("Nothing of this file was kept." in message for message in shown(answer).messages)
    upload.refresh_from_db()
    assert upload.state == State.CANCELLED


def test_what_a_file_holds_cannot_run_on_the_page(admin, adam):
    row = json.dumps(example_row("<script>alert(1)</script>")) + '\n{"id": "<img src=x>"}\n'
    file = SimpleUploadedFile("<b>examples.jsonl", row.encode())
    upload = checked(request_import(file, "<i>pilot", "", adam))

    answer = admin.get(page_of(upload))

    examples = shown(answer).table("Preview of the first examples")
    assert examples.column("Id") == ["<script>alert(1)</script>"]
    for tag in ("<script>alert", "<img", "<b>", "<i>"):
        assert tag not in answer.text


@pytest.mark.parametrize("user", ["rosa", "rachel"])
def test_only_admins_may_see_and_touch_an_import(request, client_for, upload, user, settings):
    settings.RESEARCHERS_IMPORT = False
    checked(upload)
    client = client_for(request.getfixturevalue(user))

    answers = [
        client.get(page_of(upload)),
        client.get(page_of(upload, "import-problems")),
        client.post(page_of(upload, "store-import")),
        client.post(reverse("work:cancel", args=["import", upload.pk])),
    ]

    assert [answer.status_code for answer in answers] == [403] * 4
    upload.refresh_from_db()
    assert upload.state == State.CHECKED


def test_researchers_import_where_an_admin_allows_it(
    client_for, rosa, tmp_path, settings, django_capture_on_commit_callbacks
):
    researcher = client_for(rosa)
    settings.RESEARCHERS_IMPORT = False
    assert "Import" not in shown(researcher.get("/data/")).links

    settings.RESEARCHERS_IMPORT = True
    assert "Import" in shown(researcher.get("/data/")).links
    with django_capture_on_commit_callbacks():
        researcher.post(IMPORT, {"file": zipped(tmp_path / "pilot")})
    upload = checked(Import.objects.get())
    with django_capture_on_commit_callbacks():
        researcher.post(page_of(upload, "store-import"))

    assert carried_on(upload).state == State.DONE
    assert Dataset.objects.get().created_by == rosa
