"""Reports are made again from an export, and whatever differs is named."""

import csv
import io
import json
import re
import zipfile

import pytest
from django.core.management import call_command

from evaluation.exchange.manifest_differences import report_differences
from evaluation.models import MetricRun
from generation.models import Dataset
from tests.evaluation.commands import failure
from tests.makers import example_row, forget, import_rows, response_row, vote_row
from tests.services import missing, url_of

pytestmark = pytest.mark.once

N = 6  # responses of each setup, each about an example of its own


@pytest.fixture(scope="module")
def study(module_database, tmp_path_factory):
    """A study with two arms and with scores by both axes of a trade-off."""
    keys = [f"r{number}" for number in range(1, 2 * N + 1)]
    votes = [
        vote_row(key, rater, "yes" if (place + who) % 3 else "no", "attributable", arm=arm)
        for place, key in enumerate(keys)
        for who, rater in enumerate(("R01", "R02", "R03"))
        for arm in ("separate", "merged")
    ]
    scores = [
        {
            "response": key,
            "metric": metric,
            "score": f"{(place * 7 % 10) / 10}",
            "signature": f"{metric}|t:0.5",
        }
        for place, key in enumerate(keys)
        for metric in ("auto_ais", "sensible")
    ]
    return import_rows(
        tmp_path_factory.mktemp("study") / "rows",
        study={"raters_per_unit": 3, "seed": 5},
        examples=[example_row(f"e{number}") for number in range(N)],
        responses=[
            response_row(key, f"e{place % N}", setup={"model": "ab"[place // N]})
            for place, key in enumerate(keys)
        ],
        votes=votes,
        scores=scores,
    ).study


@pytest.fixture(scope="module")
def bundle(study, tmp_path_factory):
    return bundled("pilot", tmp_path_factory.mktemp("bundle") / "pilot-bundle.zip")


def bundled(name, path):
    call_command("export", name, str(path), "--bundle", stdout=io.StringIO())
    return path


def reproduced(*arguments):
    out = io.StringIO()
    call_command("reproduce", *map(str, arguments), stdout=out)
    return out.getvalue()


def not_equal(*arguments):
    out = io.StringIO()
    error = failure("reproduce", *arguments, stdout=out)
    assert error.startswith("Not equal: ")
    return out.getvalue()


def manifest_in(path, *only):
    """Return the manifest in a bundle, with all its reports or with some by their keys."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    if only:
        manifest["reports"] = [each for each in manifest["reports"] if each["report"] in only]
    return manifest


def unpacked(bundle, folder):
    """Unpack the export of a bundle."""
    folder.mkdir()
    with zipfile.ZipFile(bundle) as archive:
        for name in archive.namelist():
            if name.startswith("export/"):
                (folder / name.removeprefix("export/")).write_bytes(archive.read(name))
    return folder


def change_votes(folder, change):
    path = folder / "votes.csv"
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys())
    writer.writeheader()
    writer.writerows(change(rows))
    path.write_text(text.getvalue(), encoding="utf-8")


def with_another_answer(rows):
    for row in rows:
        if (row["response"], row["rater"], row["arm"]) == ("r3", "R02", "separate"):
            row["answer"] = {"yes": "no", "no": "yes"}[row["answer"]]
    return rows


# --- equal ----------------------------------------------------------------------------------


def test_all_reports_of_a_study_and_of_its_dataset_are_equal(bundle, tmp_path):
    dataset = Dataset.objects.get()
    dataset.name = dataset.slug = "material"
    dataset.save()
    of_dataset = bundled("material", tmp_path / "dataset.zip")
    names = {each["report"] for each in manifest_in(of_dataset)["reports"]}
    forget(dataset)

    assert "Equal: 13 reports on the study 'pilot', to the last digit." in reproduced(bundle)
    assert "on the dataset 'material', to the last digit." in reproduced(of_dataset)
    assert {"tradeoff", "takeaways", "comparable", "retrieval"} <= names


@pytest.mark.skipif(bool(missing("postgresql")), reason="no PostgreSQL")
def test_reports_are_equal_on_a_scratch_database_of_postgresql(bundle, monkeypatch):
    monkeypatch.setenv("ATTEST_REPRODUCE_DATABASE_URL", url_of("postgresql"))

    said = reproduced(bundle)

    assert "Equal: 13 reports" in said


def test_a_manifest_with_choices_needs_its_export(study, tmp_path):
    run = MetricRun.objects.get(metric="auto_ais")
    out, export = io.StringIO(), tmp_path / "pilot.zip"
    chosen = ("--attribution", f"run-{run.pk}", "--by-score")
    call_command(
        "report", "tradeoff", "--dataset", "pilot", *chosen, "--format", "manifest", stdout=out
    )
    manifest = tmp_path / "tradeoff.manifest.json"
    manifest.write_text(out.getvalue())
    call_command("export", "pilot", str(export), stdout=io.StringIO())

    [of_report] = json.loads(out.getvalue())["reports"]
    said = failure("reproduce", manifest)

    assert of_report["choices"]["attribution"] == "auto_ais: auto_ais|t:0.5"
    assert of_report["choices"]["by_score"] is True
    assert said.endswith("is a manifest alone. Give the export of its data as well.")
    assert "tradeoff: equal" in reproduced(manifest, export)


# --- not equal ------------------------------------------------------------------------------


def test_a_changed_vote_is_named_from_the_manifest_alone(bundle, tmp_path):
    folder = unpacked(bundle, tmp_path / "changed")
    change_votes(folder, with_another_answer)
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(manifest_in(bundle, "raters")))

    said = not_equal(manifest, folder)

    # r3 is at place 2 and R02 is rater 1: (2 + 1) % 3 is 0, so the answer was no.
    assert (
        "Data: response r3, question attributable, rater R02, separate arm: was no, is yes" in said
    )
    assert re.search(r"^raters: row 1 \(question attributable, .*\): .* was .*, is ", said, re.M)


def test_a_missing_vote_is_named_if_the_bundle_holds_it(bundle, tmp_path):
    folder = unpacked(bundle, tmp_path / "changed")
    change_votes(folder, lambda rows: rows[1:])

    said = not_equal(bundle, folder)

    assert (
        "Data: response r1, question attributable, rater R01, separate arm: the vote no is missing"
    ) in said


def test_another_response_other_code_and_an_unknown_report_are_told_apart(bundle, tmp_path):
    folder = unpacked(bundle, tmp_path / "changed")
    manifest = manifest_in(bundle, "raters")
    manifest["reports"].append(manifest["reports"][0] | {"report": "newer"})
    manifest["code"]["version"] = "0123456789abcdef"
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(manifest))
    responses = folder / "responses.jsonl"
    responses.write_text(responses.read_text("utf-8").replace("Text of r2.", "Another text."))

    said = not_equal(path, folder)

    assert "Note: the code was 0123456789abcdef, is " in said
    assert "Data: responses.jsonl: r2 differs" in said
    assert "raters: equal" in said
    assert "newer: it cannot be made: This version of Attest has no such report." in said


# --- refused --------------------------------------------------------------------------------


def test_what_is_missing_or_no_manifest_is_said(bundle, tmp_path):
    other = tmp_path / "other.json"
    other.write_text('{"format": "something"}')
    of_future = tmp_path / "future.json"
    of_future.write_text(json.dumps(manifest_in(bundle) | {"version": 2}))
    (tmp_path / "empty").mkdir()

    assert "found no file or folder" in failure("reproduce", tmp_path / "none.json")
    assert "found no file or folder" in failure("reproduce", bundle, tmp_path / "none.zip")
    assert "found no manifest; expected" in failure("reproduce", other, bundle)
    assert "version: found 2; expected 1" in failure("reproduce", of_future, bundle)
    assert "found no examples.jsonl" in failure("reproduce", bundle, tmp_path / "empty")


def test_an_export_of_another_study_or_dataset_is_refused(bundle, tmp_path):
    import_rows(
        tmp_path / "b",
        "second",
        examples=[example_row("x1")],
        responses=[response_row("x", "x1")],
        votes=[vote_row("x")],
    )
    of_second = tmp_path / "second.zip"
    call_command("export", "second", str(of_second), stdout=io.StringIO())
    out, manifest = io.StringIO(), tmp_path / "retrieval.json"
    call_command("report", "retrieval", "--dataset", "pilot", "--format", "manifest", stdout=out)
    manifest.write_text(out.getvalue())

    assert 'found the study "second"; expected the study "pilot"' in failure(
        "reproduce", bundle, of_second
    )
    assert 'found no example of the manifest; expected an export of the dataset "pilot"' in failure(
        "reproduce", manifest, of_second
    )


def test_a_bundle_has_a_readme_and_each_report_as_a_table(bundle, tmp_path):
    with zipfile.ZipFile(bundle) as archive:
        names, readme = archive.namelist(), archive.read("README.txt").decode()

    assert {"reports/report-raters.csv", "reports/report-raters.tex", "export/votes.csv"} <= {
        *names
    }
    assert "manage.py reproduce pilot-bundle.zip" in readme
    assert "- Human alignment: not here. pilot does not ask one yes/no question" in readme
    assert "Give a name that ends in .zip" in failure("export", "pilot", tmp_path / "x", "--bundle")


def test_rows_that_are_left_keep_their_numbers_when_one_is_missing():
    """The second row is gone, and the third differs: it is row 3 of the manifest."""
    same = {"left_out": {}, "signature": "s"}
    rows = [{"question": q, "n": n} for q, n in (("a", 1), ("b", 2), ("c", 3), ("d", 4))]
    now = [rows[0], {"question": "c", "n": 5}, rows[3]]

    found = report_differences({**same, "rows": rows}, {**same, "rows": now})

    assert found == ["the row (question b) is missing now", "row 3 (question c): n was 3, is 5"]
