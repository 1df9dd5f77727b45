"""A manifest has what it takes to make a report again, in words that hold in every database."""

import json
from dataclasses import fields

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.services import create_api_token
from annotation.models import Study
from evaluation.models import MetricRun
from evaluation.reports.local_ids import RunId, SetupId, id_fields
from evaluation.reports.manifest import package_versions
from evaluation.reports.registry import all_reports
from evaluation.reports.report import ReportRow
from evaluation.votes.digests import FileDigest, changed_row, row_hash
from tests.evaluation.pages import make_pilot

pytestmark = pytest.mark.once

IDS = ("run", "metric_run", "setup_id", "setup_ids", "alignment_run", "na_run")


def every_row_type(row_type=ReportRow):
    for each in row_type.__subclasses__():
        yield each
        yield from every_row_type(each)


@pytest.fixture
def pilot(tmp_path):
    make_pilot(tmp_path)
    return Study.objects.get()


def printed(capsys, *arguments):
    call_command("report", *arguments, "--format", "manifest")
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("kind", all_reports().values(), ids=list(all_reports()))
def test_each_report_says_its_methods_with_references(kind):
    paragraph = kind.methods.paragraph("x | seed 7 | data 0a1b")

    assert len(paragraph) > 100, "declare `methods` of the report"
    assert "{" not in paragraph
    assert "data is 0a1b." in paragraph
    assert kind.methods.texts


def test_ids_in_rows_are_declared_as_such():
    all_reports()

    for row_type in every_row_type():
        known = id_fields(row_type)
        plain = {
            field.name
            for field in fields(row_type)
            if field.name in IDS and field.name not in known
        }
        # The name of a run of a setup, and columns about a run, are no ids.
        of_text = {"run"} if row_type.__name__ in ("SetupColumns", "RunOfPairs") else set()
        assert plain <= of_text, f"{row_type.__name__}: use {RunId} or {SetupId}"


def test_a_manifest_names_what_a_report_is_made_from(pilot, capsys):
    manifest = printed(capsys, "raters", "--study", "pilot", "--by-setup")

    [of_report] = manifest["reports"]
    assert manifest["subject"] == {
        "kind": "study",
        "name": "pilot",
        "slug": "pilot",
        "dataset": "pilot",
    }
    assert of_report["choices"]["by_setup"] is True
    assert of_report["choices"]["truth"] == "separate"
    assert of_report["signature"].startswith("raters | ")
    assert of_report["seeds"] == [pilot.seed]
    assert "Fleiss (1971)" in " ".join(of_report["references"])
    assert manifest["packages"]["numpy"] == package_versions()["numpy"]
    assert set(manifest["code"]) == {"attest", "version"}
    assert manifest["data"]["votes.csv"]["rows"] > 0
    assert "separate / r1" in manifest["data"]["votes.csv"]["items"]
    assert {run["metric"] for run in manifest["runs"]} == {
        *MetricRun.objects.values_list("metric", flat=True)
    }


def test_rows_name_runs_and_setups_in_place_of_ids(pilot, capsys):
    [of_report] = printed(capsys, "agreement", "--study", "pilot")["reports"]

    names = {f"{run.metric}: {run.full_signature}" for run in MetricRun.objects.all()}
    assert {row["run"] for row in of_report["rows"]} <= names
    assert of_report["rows"]
    assert set(of_report["runs"]) <= names


def test_page_and_api_give_the_manifest_of_the_command(pilot, researcher, rosa, capsys):
    api = Client(headers={"Authorization": f"Bearer {create_api_token(rosa, 'tests')}"})
    expected = printed(capsys, "raters", "--study", "pilot")
    addresses = [
        reverse("evaluation:report-file-of-study", args=["pilot", "raters", "manifest"]),
        reverse("evaluation:report", args=["pilot", "raters", "manifest"]),
    ]

    for address in addresses:
        answer = researcher.get(address)
        assert 'filename="pilot-raters.manifest.json"' in answer["Content-Disposition"]
        assert answer.json() == expected
    assert api.get("/api/v1/studies/pilot/reports/raters/manifest/").json() == expected
    nothing = reverse("evaluation:report-file-of-dataset", args=["pilot", "recipe", "manifest"])
    assert researcher.get(nothing).status_code == 404


def test_methods_and_manifest_are_on_the_pages(pilot, researcher):
    report = researcher.get(reverse("evaluation:report-of-study", args=["pilot", "raters"]))
    methods = researcher.get(reverse("evaluation:study-methods", args=["pilot"]))

    for page in (report, methods):
        assert "Krippendorff’s alpha, nominal or ordinal" in page.text
        assert "Psychological Bulletin 76(5)" in page.text
    assert reverse("evaluation:study-bundle", args=["pilot"]) in methods.text
    assert ">manifest</a>" in report.text


def test_a_bundle_is_downloaded_by_researchers_only(pilot, researcher, client):
    address = reverse("evaluation:study-bundle", args=["pilot"])

    answer = researcher.get(address)

    assert 'filename="pilot-bundle.zip"' in answer["Content-Disposition"]
    assert b"".join(answer.streaming_content).startswith(b"PK")
    assert researcher.post(address).status_code == 405
    assert researcher.get(reverse("evaluation:study-bundle", args=["none"])).status_code == 404
    assert "/accounts/sign-in/" in client.get(address)["Location"]


def test_a_large_study_is_bundled_by_the_command(pilot, researcher, monkeypatch):
    monkeypatch.setattr("evaluation.studies.reports.cached_figures.MOST_VOTES_AT_ONCE", 0)

    answer = researcher.get(reverse("evaluation:study-bundle", args=["pilot"]))

    assert answer.status_code == 409
    assert "manage.py export pilot pilot-bundle.zip --bundle" in answer.text


# --- digests --------------------------------------------------------------------------------


def vote(answer, rater="a", **more):
    return {"rater": rater, "question": "q", "answer": answer} | more


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ([vote("yes"), vote("no", "b")], [vote("no"), vote("no", "b")], (vote("yes"), vote("no"))),
        ([vote("no", "b")], [vote("no"), vote("no", "b")], (None, vote("no"))),
        ([vote("yes"), vote("yes", "b")], [vote("no"), vote("no", "b")], None),
        ([vote("yes", seconds="3")], [vote("yes", seconds="4")], None),
    ],
    ids=["changed", "added", "two changed", "another column"],
)
def test_one_changed_vote_is_found_by_the_difference_of_two_sums(before, now, expected):
    digest = sum(map(row_hash, before))

    assert changed_row(digest, now, {"q": ("yes", "no")}) == expected


def test_a_digest_does_not_depend_on_the_order_of_items_or_on_empty_cells():
    assert FileDigest(2, {"a": 1, "b": 2}).sha256 == FileDigest(2, {"b": 2, "a": 1}).sha256
    assert row_hash({"x": "1", "y": ""}) == row_hash({"x": "1"})
    assert row_hash({"x": "1"}) != row_hash({"x": "2"})
