"""Importing QReCC with its passages: they are joined before the first question is handed on."""

import json
import shutil

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from evaluation.exchange import interchange, uploads
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import import_dataset
from evaluation.exchange.uploads import request_cancelling, request_import
from generation.importers import open_material, qrecc
from tests.makers import is_empty
from tests.shown import shown
from tests.uploading import State, carried_on, checked

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]

N_QUESTIONS, N_PASSAGES = 3, 4


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "mills"
    folder.mkdir()
    entries = [
        {
            "Context": [],
            "Question": "Why?",
            "Rewrite": "Why did it close?",
            "Answer": "A flood came.",
            "Answer_URL": f"https://example.org/{number}",
            "Conversation_no": number,
            "Turn_no": 1,
            "Conversation_source": "quac",
        }
        for number in range(N_QUESTIONS)
    ]
    passages = [
        {"id": f"https://example.org/{number // 2}_p{number}", "contents": f"Flood {number}."}
        for number in range(N_PASSAGES)  # two for each of the first two questions
    ]
    (folder / "qrecc_test.json").write_text(json.dumps(entries))
    (folder / "passages.jsonl").write_text("".join(json.dumps(p) + "\n" for p in passages))
    return folder


def test_the_join_gives_signs_of_life(folder, monkeypatch):
    monkeypatch.setattr(qrecc, "_WORK", 1)
    monkeypatch.setattr(interchange, "BATCH", 1)
    told = []

    with open_material(folder) as material:
        import_dataset(
            material,
            plan_import(material, "mills"),
            dry_run=True,
            on_progress=lambda n_rows, share: told.append((n_rows, share)),
        )

    # One after the last passage was handed on, and one for each question and passage of the join.
    assert sum(n_rows == N_PASSAGES for n_rows, _ in told) == 1 + N_QUESTIONS + N_PASSAGES
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_cancelling_during_the_join_stops_it(folder, monkeypatch, adam):
    path = shutil.make_archive(str(folder), "zip", folder)
    with open(path, "rb") as file:
        content = SimpleUploadedFile("mills.zip", file.read())
    upload = request_import(content, "mills", "", adam)
    monkeypatch.setattr(uploads, "REPORT_EVERY_SECONDS", 0)
    examples = []
    real_join, real_examples = qrecc.QreccMaterial._joined, qrecc.QreccMaterial._example

    def join(material):
        request_cancelling(upload)
        return real_join(material)

    def example(*args):
        examples.append(args)
        return real_examples(*args)

    monkeypatch.setattr(qrecc.QreccMaterial, "_joined", join)
    monkeypatch.setattr(qrecc.QreccMaterial, "_example", example)

    carried_on(upload)

    assert upload.state == State.CANCELLED
    assert (examples, is_empty()) == ([], True)


def test_command_and_page_say_for_how_many_questions_a_passage_was_found(
    folder, capsys, adam, client_for
):
    call_command("import_dataset", str(folder))
    path = shutil.make_archive(str(folder), "zip", folder)
    with open(path, "rb") as file:
        content = SimpleUploadedFile("mills.zip", file.read())
    upload = checked(request_import(content, "others", "", adam))

    printed = capsys.readouterr().out
    assert "questions with a golden passage: 2\n" in printed
    assert "of them guessed among several passages: 2\n" in printed
    assert "questions without a passage: 1\n" in printed
    address = reverse("evaluation:import-progress", args=[upload.pk])
    page = shown(client_for(adam).get(address)).text
    assert (
        "Questions with a golden passage: 2, of them guessed among several passages: 2, "
        "questions without a passage: 1"
    ) in page
