"""Samples in files: an export holds how each was drawn and what was decided about it by hand."""

import copy
import json
from typing import Any

import pytest
from django.utils import timezone

from evaluation.exchange.interchange import BadRows
from evaluation.votes.export import export_folder
from generation.filters import Filters
from generation.models import ASKED, Dataset, Sample
from generation.sample_choices import SampleChoices
from generation.sample_reading import sample_report
from generation.services.samples import SAMPLES, decide, request_sample
from tests.makers import (
    contents,
    example_row,
    forget,
    import_path,
    import_rows,
    is_empty,
    problems_of,
    write_files,
)

pytestmark = pytest.mark.both

WHY = "The question does not follow from the dialog."
DRAWN_BY = {
    "filters": {
        "on": ["has-history", "long-answer"],
        "max_evidence_tokens": 200,
        "tokenizer": "white-space",
        "exact_match": "keep",
    },
    "part": "dev",
    "size": 3,
    "seed": 7,
    "split_seed": 2,
}
SAMPLE = {
    "name": "by hand",
    "parameters": DRAWN_BY,
    "members": [
        {"example": "e2", "verdict": "keep", "at": "2026-03-01T10:00:00+00:00"},
        {"example": "e0", "verdict": "drop", "reason": WHY, "at": "2026-03-01T10:01:00+00:00"},
        {"example": "e1"},
    ],
}


def examples():
    return [example_row(f"e{number}") for number in range(4)]


def imported(folder, *samples):
    dataset = import_rows(folder, "pilot", examples=examples(), samples=list(samples)).dataset
    assert dataset
    return dataset


def changed(**more):
    """Return the sample with some of its keys otherwise; 'filters.on' is a key inside another."""
    row: Any = copy.deepcopy(SAMPLE)
    for path, value in more.items():
        *outer, last = path.split(".")
        place: Any = row
        for key in outer:
            place = place[int(key)] if isinstance(place, list) else place[key]
        place[int(last) if isinstance(place, list) else last] = value
    return row


def said(sample):
    columns = ("position", "example__key", "verdict", "reason", "at")
    return (
        [getattr(sample, name) for name in ("name", "parameters", "cascade", "n_done", "n_total")],
        sample.state,
        list(sample.members.values_list(*columns)),
    )


@pytest.fixture
def verified(tmp_path, rosa):
    """Draw 3 of 4 examples by seed 5; the first is kept, the second dropped, the third open."""
    dataset = imported(tmp_path / "pilot")
    sample = request_sample(dataset, SampleChoices("first", Filters(), size=3, seed=5), rosa)
    SAMPLES.claim_and_do(sample.pk)
    first, second, _ = sample.members.all()
    decide(first, "keep", "", rosa)
    decide(second, "drop", WHY, rosa)
    sample.refresh_from_db()
    return sample


# --- there and back -------------------------------------------------------------------------


def test_a_sample_comes_back_from_an_export_with_seed_members_and_verdicts(verified, tmp_path):
    before = said(verified)
    report = sample_report(verified)
    export_folder(verified.dataset, None, tmp_path / "export")
    forget(verified.dataset)
    assert is_empty()

    outcome = import_path(tmp_path / "export")

    again = Sample.objects.get()
    assert outcome.counts["samples"] == {"new": 1, "unchanged": 0, "bad": 0}
    assert said(again) == before
    assert again.parameters["seed"] == 5
    assert [verdict for _, _, verdict, _, _ in before[2]] == ["keep", "drop", ""]
    assert [reason for _, _, _, reason, _ in before[2]] == ["", WHY, ""]
    assert sample_report(again)[1:] == report[1:]


def test_an_export_says_when_somebody_decided_and_not_who(verified, tmp_path, rosa):
    export_folder(verified.dataset, None, tmp_path / "export")

    text = (tmp_path / "export/samples.jsonl").read_text(encoding="utf-8")
    [row] = map(json.loads, text.splitlines())

    first, second, third = verified.members.select_related("example")
    assert row["members"] == [
        {"example": first.example.key, "verdict": "keep", "at": first.at.isoformat()},
        {
            "example": second.example.key,
            "verdict": "drop",
            "reason": WHY,
            "at": second.at.isoformat(),
        },
        {"example": third.example.key},
    ]
    assert row["parameters"]["seed"] == 5
    assert rosa.username not in text
    assert rosa.rater_code not in text


def test_importing_an_export_again_changes_nothing(verified, tmp_path):
    export_folder(verified.dataset, None, tmp_path / "export")
    before = contents()

    outcome = import_path(tmp_path / "export")

    assert outcome.counts["samples"] == {"new": 0, "unchanged": 1, "bad": 0}
    assert contents() == before


def test_asking_for_an_imported_sample_again_is_asking_for_the_same(verified, tmp_path):
    """It was drawn by these choices, so it is not drawn once more."""
    export_folder(verified.dataset, None, tmp_path / "export")
    other = import_path(tmp_path / "export", "elsewhere").dataset
    assert other

    same = request_sample(other, SampleChoices("first", Filters(), size=3, seed=5), None)

    assert (same.state, same.pk) == ("done", Sample.objects.get(dataset=other).pk)


def test_what_is_not_drawn_yet_and_what_was_asked_on_a_page_are_in_no_export(verified, tmp_path):
    dataset = verified.dataset
    request_sample(dataset, SampleChoices("waiting", Filters(), size=1), None)
    Sample.objects.create(
        dataset=dataset, name=f"{ASKED}{'0' * 16}", parameters={}, state=Sample.State.DONE
    )

    export_folder(dataset, None, tmp_path / "export")

    lines = (tmp_path / "export/samples.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["first"]


def test_a_dataset_without_samples_exports_no_file_of_them(tmp_path):
    dataset = imported(tmp_path / "a")

    export_folder(dataset, None, tmp_path / "export")

    assert not (tmp_path / "export/samples.jsonl").exists()


# --- files by hand --------------------------------------------------------------------------


def test_a_sample_in_a_file_is_stored_as_it_says(tmp_path):
    imported(tmp_path / "a", SAMPLE)

    sample = Sample.objects.get()
    assert (sample.name, sample.parameters, sample.state) == ("by hand", DRAWN_BY, "done")
    assert (sample.n_done, sample.cascade) == (3, {})
    ten, past_ten = ("2026-03-01T10:00:00+00:00", "2026-03-01T10:01:00+00:00")
    assert [
        (m.position, m.example.key, m.verdict, m.reason, m.at and m.at.isoformat())
        for m in sample.members.select_related("example")
    ] == [(1, "e2", "keep", "", ten), (2, "e0", "drop", WHY, past_ten), (3, "e1", "", "", None)]


def test_a_sample_may_be_of_examples_that_are_stored_already(tmp_path):
    imported(tmp_path / "a")

    outcome = import_path(write_files(tmp_path / "b", samples=[SAMPLE]) / "samples.jsonl")

    assert outcome.counts["samples"]["new"] == 1
    assert Sample.objects.get().members.count() == 3


def test_a_sample_of_that_name_with_other_verdicts_is_a_problem_and_no_update(tmp_path):
    imported(tmp_path / "a", SAMPLE)
    before = contents()
    other = changed(**{"members.2.verdict": "keep"})

    with pytest.raises(BadRows) as failed:
        imported(tmp_path / "b", other)

    [problem] = failed.value.outcome.problems
    assert problem.found == 'sample "by hand", which is stored with other content'
    assert contents() == before


@pytest.mark.parametrize(
    ("row", "field", "found", "expected"),
    [
        (
            changed(**{"members.0.example": "e9"}),
            "members[1].example",
            '"e9"',
            "the id of an example of this dataset",
        ),
        (
            changed(**{"members.1.reason": " "}),
            "members[2].reason",
            "nothing",
            "the reason why the example is dropped",
        ),
        (
            changed(**{"members.0.reason": WHY}),
            "members[1].reason",
            f'"{WHY}"',
            "no reason, because only a dropped example has one",
        ),
        (changed(**{"members.0.verdict": "maybe"}), "members[1].verdict", '"maybe"', "keep or"),
        (changed(**{"members.2.example": "e0"}), "members[3].example", '"e0" again', "each"),
        (changed(**{"members.0.at": "noon"}), "members[1].at", '"noon"', "a date and time"),
        (changed(members=None), "members", "nothing", "a list of objects"),
        (changed(name=" "), "name", '" "', "text that is not empty"),
        (changed(n_examples=2), "n_examples", "2", "a whole number from 3"),
        (changed(parameters=None), "parameters", "nothing", "an object: filters"),
        (changed(**{"parameters.seed": -1}), "parameters.seed", "-1", "a whole number from 0"),
        (changed(**{"parameters.seed": None}), "parameters.seed", "nothing", "a whole number"),
        (changed(**{"parameters.part": "test"}), "parameters.part", '"test"', "all or dev or"),
        (changed(**{"parameters.part": []}), "parameters.part", "[]", "all or dev or"),
        (changed(**{"parameters.size": 0}), "parameters.size", "0", "a whole number from 1"),
        (changed(**{"parameters.how": 1}), "parameters.how", "an unknown key", "one of"),
        (
            changed(**{"parameters.filters.on": ["short"]}),
            "parameters.filters.on",
            '"short"',
            "some of has-history",
        ),
        (
            changed(**{"parameters.filters.tokenizer": "bpe"}),
            "parameters.filters.tokenizer",
            '"bpe"',
            "words-and-marks or white-space",
        ),
        (changed(cascade={"n": 4}), "cascade", '{"n": 4}', "the table of its filters"),
        (
            changed(cascade={"n": 4, "rows": [{"filter": "long-answer"}]}),
            "cascade",
            '{"n": 4',
            "the table of its filters",
        ),
    ],
)
def test_a_broken_sample_is_one_error_that_says_where_and_what(
    tmp_path, row, field, found, expected
):
    with pytest.raises(BadRows) as failed:
        imported(tmp_path / "a", row)

    assert problems_of(failed.value) == [("samples.jsonl", 1, field)]
    [problem] = failed.value.outcome.problems
    assert problem.found.startswith(found)
    assert problem.expected.startswith(expected)
    assert is_empty()


def test_without_the_bad_sample_the_good_one_is_stored(tmp_path):
    bad = changed(name="bad", **{"members.0.example": "e9"})

    path = write_files(tmp_path / "a", examples=examples(), samples=[bad, SAMPLE])

    outcome = import_path(path, skip_bad=True)

    assert outcome.counts["samples"] == {"new": 1, "unchanged": 0, "bad": 1}
    assert list(Sample.objects.values_list("name", flat=True)) == ["by hand"]


def test_a_dry_run_shows_a_sample_in_a_row(tmp_path):
    path = write_files(tmp_path / "a", examples=examples(), samples=[SAMPLE])

    outcome = import_path(path, dry_run=True)

    assert outcome.preview["samples"] == [
        {
            "line": "1",
            "sample": "by hand",
            "seed": "7",
            "examples": "3",
            "kept": "1",
            "dropped": "1",
        }
    ]
    assert not Dataset.objects.exists()


def test_verdicts_given_after_an_export_make_it_another_sample(verified, tmp_path, rosa):
    export_folder(verified.dataset, None, tmp_path / "export")
    decide(verified.members.last(), "keep", "", rosa)

    with pytest.raises(BadRows):
        import_path(tmp_path / "export")

    assert verified.members.last().at <= timezone.now()
