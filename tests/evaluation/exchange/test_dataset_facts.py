"""The description of a dataset: read from a file, shown, changed by page, and exported."""

import json

import pytest
from django.urls import reverse

from evaluation.votes.export import export_folder
from generation.importers.errors import DatasetError
from generation.models import Dataset
from tests.makers import audit_actions, example_row, import_path, import_rows, is_empty
from tests.shown import shown

pytestmark = pytest.mark.once

FACTS = {
    "description": "Questions about mills.\n\nAsked in 2026.",
    "licence": "CC BY 4.0",
    "source": "https://example.org/mills",
    "language": "English",
}


@pytest.fixture
def mills(tmp_path):
    return import_rows(tmp_path / "mills", "mills", examples=[example_row()], dataset=FACTS).dataset


def address(dataset):
    return reverse("generation:describe", args=[dataset.slug])


def test_what_a_file_says_of_its_dataset_is_kept_and_exported(mills, tmp_path):
    export_folder(mills, None, tmp_path / "out")

    assert mills.facts == FACTS
    assert json.loads((tmp_path / "out" / "dataset.json").read_text("utf-8")) == FACTS
    again = import_path(tmp_path / "out", "again").dataset
    assert again
    assert again.facts == FACTS


def test_a_later_file_adds_what_nobody_has_said_and_changes_nothing(mills, tmp_path):
    Dataset.objects.update(language="")

    import_rows(
        tmp_path / "later",
        "mills",
        examples=[example_row()],
        dataset={"licence": "none", "language": "Latin"},
    )

    mills.refresh_from_db()
    assert mills.facts == FACTS | {"language": "Latin"}


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"author": "Ada"}, r"dataset.json: found .author.; expected description or licence or"),
        ({"licence": ["MIT"]}, r'dataset.json, licence: found \["MIT"\]; expected a text of at'),
        (
            {"language": "a" * 101},
            r"language: found 101 characters; expected a text of at most 100",
        ),
        ({"source": "\0"}, r"dataset.json: found .*NUL"),
    ],
)
def test_what_cannot_be_said_of_a_dataset_is_told_and_nothing_is_stored(tmp_path, said, error):
    with pytest.raises(DatasetError, match=error):
        import_rows(tmp_path / "bad", examples=[example_row()], dataset=said)

    assert is_empty()


def test_it_is_described_by_page_and_shown_where_it_is_looked_at(researcher, mills):
    answer = researcher.post(
        address(mills),
        {"description": "<b>Mills</b>", "licence": "MIT", "source": "", "language": ""},
        follow=True,
    )

    mills.refresh_from_db()
    assert mills.facts == {"description": "<b>Mills</b>", "licence": "MIT"}
    assert audit_actions()[-1] == ("dataset.described", "mills")
    said = shown(answer).text
    assert "<b>Mills</b>" in said
    assert "licence: MIT" in said


def test_what_is_too_long_is_said_and_changes_nothing(researcher, mills):
    answer = researcher.post(address(mills), FACTS | {"licence": "a" * 201})

    assert answer.status_code == 422
    assert set(shown(answer).errors) == {"licence"}
    mills.refresh_from_db()
    assert mills.facts == FACTS


def test_where_only_admins_import_they_alone_describe(
    researcher, adam, client_for, mills, settings
):
    settings.RESEARCHERS_IMPORT = False

    assert researcher.post(address(mills), FACTS).status_code == 403
    assert client_for(adam).post(address(mills), FACTS).status_code == 302
