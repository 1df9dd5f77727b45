"""Uploads of entries by page: packed files, large files and odd file names."""

import gzip

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.datastructures import MultiValueDict

from evaluation.graphs.construction.forms import EntriesForm
from evaluation.graphs.construction.services.entries_check import MOST_ROWS, WEB_LIMITS

HEAD = "paragraph,name_1,relation,name_2\n"
ROW = "They wed.,Anne Hathaway,spouse,William Shakespeare\n"
COMMAND = "For a larger file, use the command build_kg_dataset."


def form_of(content, name="entries.csv"):
    file = SimpleUploadedFile(name, content)
    return EntriesForm({}, MultiValueDict({"file": [file]}))


def test_what_is_packed_counts_as_unpacked():
    row = f"{'They wed. ' * 900},Anne Hathaway,spouse,William Shakespeare\n"
    packed = gzip.compress((HEAD + row * (WEB_LIMITS.max_bytes // len(row) + 1)).encode())
    assert len(packed) < 100_000

    form = form_of(packed, "entries.csv.gz")

    assert not form.is_valid()
    [said] = form.errors["file"]
    assert "found more than 4,194,304 bytes once unpacked" in said
    assert said.endswith(COMMAND)


@pytest.mark.parametrize(("n", "is_valid"), [(MOST_ROWS, True), (MOST_ROWS + 1, False)])
def test_a_page_reads_so_many_rows(n, is_valid):
    form = form_of((HEAD + ROW * n).encode())

    assert form.is_valid() == is_valid
    if not is_valid:
        [said] = form.errors["file"]
        assert said == f"entries.csv: found more than 2,000 rows; expected fewer. {COMMAND}"


@pytest.mark.parametrize("name", ["漢" * 200 + ".csv", "e" * 251 + ".csv"])
def test_a_name_longer_than_a_disk_takes_is_read(name):
    form = form_of((HEAD + ROW).encode(), name)

    assert form.is_valid()
    assert len(form.check.entries) == 1
    assert form.check.file == name
