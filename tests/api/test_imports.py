"""Imports by API: the same rows as by the page, refusals, and who may."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from openpyxl import Workbook

from generation.models import Dataset, Import
from tests.uploading import carried_on, zipped

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]

IMPORTS = "/api/v1/imports/"


def sent(client, file, **choices):
    """Send a file, and return its import; the answer shows it, and says where it is."""
    answer = client.post(IMPORTS, {"file": file, **choices})
    assert answer.status_code == 202, answer.content
    upload = Import.objects.get()
    assert answer["Location"] == f"http://testserver{IMPORTS}{upload.pk}/"
    assert answer.json() == client.get(answer["Location"]).json()
    return upload


def store(client, pk, **asked):
    return client.post(f"{IMPORTS}{pk}/store/", asked, content_type="application/json")


def test_a_file_is_checked_then_stored(admin, tmp_path, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as messages:
        upload = sent(admin, zipped(tmp_path / "pilot"), name="My pilot", study="First")
    address = f"{IMPORTS}{upload.pk}/"
    assert (upload.name, upload.study_name, len(messages)) == ("My pilot", "First", 1)
    assert admin.get(address).json()["state"] == "queued"

    carried_on(upload)
    checked = admin.get(address).json()
    assert (checked["state"], checked["n_problems"], checked["dataset"]) == ("checked", 0, None)
    assert checked["counts"]["votes"]["new"] == 2
    assert not Dataset.objects.exists()

    with django_capture_on_commit_callbacks() as messages:
        stored = store(admin, upload.pk)
    assert (stored.status_code, stored.json()["is_storing"], len(messages)) == (202, True, 1)
    carried_on(upload)
    done = admin.get(address).json()
    assert (done["state"], done["dataset"], done["study"]) == ("done", "my-pilot", "first")
    assert store(admin, upload.pk).status_code == 409  # it is stored already


def test_bad_rows_are_named_and_left_out_only_on_demand(admin, tmp_path):
    upload = sent(admin, zipped(tmp_path / "pilot", bad=True))
    address = f"{IMPORTS}{upload.pk}/"
    assert store(admin, upload.pk).status_code == 409  # it is not checked yet

    carried_on(upload)
    found = admin.get(address).json()
    [problem] = found["problems"]
    assert (found["n_problems"], problem["file"], problem["line"]) == (1, "votes.csv", 3)
    assert problem["found"] == '"=r9"'
    assert "skip_bad" in store(admin, upload.pk).json()["detail"]

    assert store(admin, upload.pk, skip="yes").status_code == 400
    assert store(admin, upload.pk, skip_bad=True).status_code == 202
    carried_on(upload)
    assert admin.get(address).json()["counts"]["votes"] == {"new": 1, "unchanged": 0, "bad": 1}


def test_a_table_whose_columns_are_not_known_needs_a_mapping(admin):
    table = b"was,wo\nja,da\n"
    upload = carried_on(sent(admin, SimpleUploadedFile("table.csv", table), format="table"))

    found = admin.get(f"{IMPORTS}{upload.pk}/").json()
    assert (found["state"], found["counts"]) == ("checked", {})
    refused = store(admin, upload.pk)
    assert (refused.status_code, "mapping" in refused.json()["detail"]) == (409, True)


def test_the_sheet_and_the_line_of_a_table_are_chosen(admin, tmp_path):
    book = Workbook()
    book["Sheet"].append(["question", "answer"])
    book["Sheet"].append(["Who?", "She."])
    second = book.create_sheet("Ratings")
    for row in (["question", "answer"], ["frage", "text"], ["Why?", "So."], ["When?", "Now."]):
        second.append(row)
    book.save(tmp_path / "t.xlsx")
    file = SimpleUploadedFile("t.xlsx", (tmp_path / "t.xlsx").read_bytes())
    mapping = SimpleUploadedFile("m.toml", b'[columns]\nfrage = "question"\ntext = "response"\n')

    upload = carried_on(sent(admin, file, sheet="Ratings", header_line=2, mapping_file=mapping))

    place = upload.report["look"]["place"]
    assert (place["sheet"], place["header_line"]) == ("Ratings", 2)
    assert admin.get(f"{IMPORTS}{upload.pk}/").json()["counts"]["responses"]["new"] == 2


@pytest.mark.parametrize(
    ("choices", "field"),
    [
        ({}, "file"),
        ({"file": SimpleUploadedFile("empty.csv", b"")}, "file"),
        ({"file": SimpleUploadedFile("a.csv", b"a"), "format": "loaf"}, "format"),
        ({"file": SimpleUploadedFile("a.csv", b"a"), "saved_mapping": "none"}, "saved_mapping"),
        ({"file": SimpleUploadedFile("a.csv", b"a"), "colour": "red"}, "colour"),
        ({"file": SimpleUploadedFile("a.csv", b"a"), "header_line": "0"}, "header_line"),
        ({"pasted": "question\nWho?", "name": "a"}, "pasted"),
    ],
)
def test_what_cannot_be_imported_is_refused_at_its_field(admin, choices, field):
    answer = admin.post(IMPORTS, choices)

    assert (answer.status_code, [*answer.json()]) == (400, [field])
    assert not Import.objects.exists()


def test_a_body_that_is_no_form_is_refused(admin):
    assert admin.post(IMPORTS, {"name": "a"}, content_type="application/json").status_code == 415
    cut = "multipart/form-data; boundary=x"
    assert admin.post(IMPORTS, b"--x\r\nno", content_type=cut).status_code == 400


def test_importers_alone_import_and_read_imports(api, admin, tmp_path, settings):
    upload = sent(admin, zipped(tmp_path / "pilot"))
    address = f"{IMPORTS}{upload.pk}/"

    settings.RESEARCHERS_IMPORT = False
    for refused in (api.post(IMPORTS, {}), api.get(address), store(api, upload.pk)):
        assert refused.status_code == 403
        assert refused.json()["detail"] == "Only admins may import data on this site."
    settings.RESEARCHERS_IMPORT = True
    assert api.get(address).status_code == 200

    assert admin.get(f"{IMPORTS}{upload.pk + 1}/").status_code == 404
    assert store(admin, upload.pk + 1).status_code == 404
    assert Import.objects.count() == 1


def test_a_loss_is_said_and_accepted_only_on_demand(admin):
    table = b"question,answer,rating\nWho?,She.,4\nWho?,She.,5\n"
    upload = carried_on(sent(admin, SimpleUploadedFile("table.csv", table)))

    [(what, n)] = admin.get(f"{IMPORTS}{upload.pk}/").json()["losses"].items()
    assert (n, "other values in rating" in what) == (1, True)
    refused = store(admin, upload.pk)
    assert (refused.status_code, "accept" in refused.json()["detail"]) == (409, True)

    assert store(admin, upload.pk, accept=True).status_code == 202
    carried_on(upload)
    assert admin.get(f"{IMPORTS}{upload.pk}/").json()["state"] == "done"
