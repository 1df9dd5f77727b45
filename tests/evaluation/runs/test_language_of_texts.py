"""Runs over a dataset that says its language: cut by its rules, named in signature and page."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.metrics.registry import is_of_earlier_rule
from generation.models import Dataset
from generation.retrieval.dataset_index import has_index, index_of
from tests.evaluation.metric_runs import done, mill, requested
from tests.evaluation.told import rows_of
from tests.makers import example_row, import_rows
from tests.shown import shown

pytestmark = pytest.mark.once
TEXT = "Die Mühle brannte am 3. März. Sie steht am Fluss."


def german_mill(folder) -> Dataset:
    turns = [{"speaker": "user", "text": "Wann brannte die Mühle?"}]
    evidence = [{"id": "p1", "text": TEXT, "golden": True}]
    dataset = import_rows(
        folder / "d",
        "muehle",
        examples=[example_row("e1", turns=turns, evidence=evidence)],
        responses=[
            {
                "id": "r1",
                "example": "e1",
                "setup": "s",
                "text": "Sie brannte am 3. März.",
                "evidence_shown": ["p1"],
            }
        ],
    ).dataset
    assert dataset
    return dataset


def test_the_language_of_a_dataset_cuts_its_sentences_and_makes_other_runs(tmp_path):
    dataset = german_mill(tmp_path)
    english = done(dataset, window=1)
    Dataset.objects.update(language="Deutsch")
    dataset.refresh_from_db()

    german = done(dataset, window=1)

    assert "language" not in english.signature
    assert "|language:de|" in german.signature
    assert german.parameters["language"] == "de"
    # As English, the passage has three sentences: 'am 3.' and 'März.' end two of them.
    texts = [
        TEXT[window["start"] : window["end"]]
        for run in (english, german)
        for window in rows_of(run)["r1"].windows
    ]
    assert texts == ["Die Mühle brannte am 3.", "Die Mühle brannte am 3. März."]


@pytest.mark.parametrize(
    ("said", "in_words"),
    [
        ("", "not said"),
        ("German", "German"),
        (
            "Chinese",
            "Chinese. No function words of Chinese are known, so all its words count",
        ),
    ],
)
def test_the_page_of_a_run_says_the_language_and_what_is_lacking(
    said, in_words, client_for, rosa, tmp_path
):
    dataset = mill(tmp_path, 1)
    Dataset.objects.update(language=said)
    dataset.refresh_from_db()

    page = shown(client_for(rosa).get(reverse("evaluation:run", args=[done(dataset).pk])))

    assert dict(page.table("Choices of the run").rows)["Language"] == in_words


def test_a_run_whose_words_were_those_of_english_is_of_an_earlier_rule(tmp_path):
    run = requested(mill(tmp_path, 1))
    assert not is_of_earlier_rule(run)

    run.signature = run.signature.replace("|tokens:unicode-words", "")

    assert is_of_earlier_rule(run)


def test_an_index_of_other_words_is_built_anew(tmp_path, settings, monkeypatch):
    settings.MEDIA_ROOT = tmp_path / "media"
    dataset = mill(tmp_path, 1)
    monkeypatch.setattr("generation.retrieval.dataset_index.TOKENISER", "lower-words")
    index_of(dataset.pk)
    assert has_index(dataset.pk)

    monkeypatch.undo()

    assert not has_index(dataset.pk)


def test_an_import_says_the_language_where_the_dataset_does_not(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("question,answer\nWann?,Am 3. März.\n", "utf-8")

    for said in ("German", "French"):
        call_command("import_dataset", file, "--name=rows", f"--language={said}")

    assert Dataset.objects.get().language == "German"
