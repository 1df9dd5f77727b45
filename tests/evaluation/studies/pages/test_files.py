"""The downloads of a study: reports, votes, the whole study."""

import csv
import io
import json
import zipfile

import pytest
from django.urls import reverse

from accounts.models import User
from annotation.models import Rater, Study, Vote
from evaluation.reports.base import Choices
from evaluation.studies.reports.raters import raters_report
from evaluation.studies.reports.study import ON_PAGE
from tests.evaluation.makers_of_scores import disputed
from tests.makers import (
    rated,
    scheme_of,
)

pytestmark = pytest.mark.once


@pytest.mark.parametrize(("query", "choices"), [("", Choices()), ("?by=setup", Choices(True))])
def test_the_report_is_downloaded_as_the_page_shows_it(researcher, pilot, query, choices):
    address = reverse("evaluation:report", args=["pilot", "raters", "json"])

    answer = researcher.get(address + query)

    assert answer["Content-Type"] == "application/json"
    assert 'filename="pilot-raters.json"' in answer["Content-Disposition"]
    expected = raters_report(Study.objects.get(), choices).as_json()
    assert json.loads(answer.content) == json.loads(json.dumps(expected))


@pytest.mark.parametrize("report", [kind.key for kind in ON_PAGE])
@pytest.mark.parametrize(("format_key", "suffix"), [("csv", "csv"), ("latex", "tex")])
def test_every_report_comes_as_csv_and_latex_too(researcher, tmp_path, report, format_key, suffix):
    study, _ = disputed(tmp_path)

    answer = researcher.get(reverse("evaluation:report", args=[study.slug, report, format_key]))

    name = f'filename="{study.slug}-{report}.{suffix}"'
    assert name in answer["Content-Disposition"]
    without_rows = ("uncertainty", "time", "position", "sensibleness")
    assert ("attributable" in answer.text) == (report not in without_rows)


def test_reports_and_formats_that_do_not_exist_are_not_found(researcher, pilot):
    for report, format_key in (("raters", "exe"), ("raters", "table"), ("nothing", "csv")):
        url = reverse("evaluation:report", args=["pilot", report, format_key])
        assert researcher.get(url).status_code == 404


def tidy(client):
    answer = client.get(reverse("evaluation:votes", args=["pilot"]))
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_the_tidy_csv_has_one_row_per_vote(researcher, pilot):
    rows = tidy(researcher)

    assert len(rows) == Vote.objects.count() == 8
    assert rows[3] == {
        "study": "pilot",
        "arm": "separate",
        "dialog": "e1",
        "example": "e1",
        "response": "r1",
        "setup": "model-a",
        "citation": "",
        "question": "specific",
        "rater": "cleo",
        "answer": "no",
        "implied": "yes",
        "surplus": "no",
        "excluded": "no",
        "flagged": "no",
        "gold": "no",
        "simulated": "no",
        "position": "",
        "seconds": "",
        "at": "",
        "source_id": "",
    }
    assert (rows[5]["arm"], rows[5]["position"]) == ("merged", "2")
    assert rows[6]["citation"] == "2"


def test_in_the_tidy_csv_no_cell_is_a_formula(researcher, tmp_path):
    scheme = scheme_of({"=q": {"nominal": ["=yes", "no"]}})
    rated(tmp_path / "a", {"=r": {"=q": ["=yes"]}}, scheme=scheme, setups={"=r": "+setup"})
    # Since the CSV file was not written by us, '=r' is taken literally.

    [row] = tidy(researcher)

    assert (row["response"], row["question"], row["answer"]) == ("'=r", "'=q", "'=yes")
    assert row["setup"] == "'+setup"


def test_the_tidy_csv_holds_codes_and_no_names(researcher, pilot):
    person = User.objects.create_user("rachel.secret", "rachel@secret.example")
    Rater.objects.filter(code="anna").update(user=person, code=person.rater_code)

    rows = tidy(researcher)

    assert person.rater_code in {row["rater"] for row in rows}
    assert "secret" not in str(rows)


def test_study_and_dataset_can_be_taken_away_as_zip(researcher, pilot):
    def names(address):
        answer = researcher.get(address)
        assert 'filename="pilot.zip"' in answer["Content-Disposition"]
        with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as archive:
            return set(archive.namelist())

    of_dataset = names(reverse("evaluation:export-dataset", args=["pilot"]))
    of_study = names(reverse("evaluation:export-study", args=["pilot"]))

    assert of_dataset == {"examples.jsonl", "responses.jsonl", "runs.jsonl", "scores.csv"}
    assert of_study - of_dataset == {
        "study.json",
        "scheme.json",
        "raters.csv",
        "votes.csv",
        "flags.csv",
    }


def test_a_study_that_does_not_exist_is_not_found(researcher):
    for name in ("study", "votes", "export-study"):
        assert researcher.get(reverse(f"evaluation:{name}", args=["nothing"])).status_code == 404
