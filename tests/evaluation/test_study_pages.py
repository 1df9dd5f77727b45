"""The list of studies, the page of one, and the files it offers."""

import csv
import io
import json
import re
import zipfile

import pytest
from django.urls import reverse

from accounts.models import User
from annotation.models import Rater, Study, Vote
from evaluation.reports import Choices, raters_report
from generation.models import Response
from tests.evaluation.pages import make_pilot, response_address, words
from tests.makers import (
    import_path,
    rated,
    scheme_of,
    statements,
)

pytestmark = pytest.mark.django_db

HTML = "<script>alert(1)</script>"
STUDIES = "/studies/"


@pytest.fixture
def researcher(rosa, client_for):
    return client_for(rosa)


@pytest.fixture
def pilot(tmp_path):
    return make_pilot(tmp_path)


# --- studies --------------------------------------------------------------------------------


def test_the_list_of_studies_shows_scheme_arms_raters_and_state(researcher, pilot, tmp_path):
    rated(tmp_path / "b", {"x": {"sensible": ["yes"], "specific": ["no"]}}, name="second")
    Study.objects.filter(name="second").update(is_imported=False, raters_per_unit=5, state="open")

    text = words(researcher.get(STUDIES))

    assert "second second own separate 1 open pilot pilot own separate, merged 3 imported" in text


def test_the_list_of_studies_costs_the_same_for_3_and_for_30(researcher, tmp_path):
    def cost(n):
        for i in range(n):
            rated(tmp_path / f"{n}-{i}", {"r": {"q": ["yes", "no"]}}, name=f"study {n}-{i}")
        return len(statements(lambda: researcher.get(STUDIES)))

    assert cost(3) == cost(27)


def test_without_studies_the_list_says_how_one_comes_to_be(researcher):
    assert "No studies yet" in researcher.get(STUDIES).text


def test_a_study_shows_means_agreement_and_what_is_left_out(researcher, pilot):
    text = words(researcher.get(reverse("evaluation:study", args=["pilot"])))

    assert "What raters said, separate arm" in text
    assert "Rater agreement, merged arm" in text
    assert "1 implied votes" in text
    assert raters_report(Study.objects.get()).signature.replace("'", "&#x27;") in text
    # On 'sensible' in the separate arm: yes, no, no, and yes about a citation.
    assert "no: 1, yes: 1" in text
    assert "3 votes" not in text
    assert re.search(r"Votes 7 1 of them implied", text)


def test_a_study_of_several_setups_has_a_table_by_setup(researcher, tmp_path):
    votes = {"a": {"q": ["yes"]}, "b": {"q": ["no"]}}
    rated(tmp_path / "a", votes, setups={"a": "model <one>", "b": "model-two"})

    text = words(researcher.get(reverse("evaluation:study", args=["pilot"])))

    assert "By setup, separate arm" in text
    assert "Question model &lt;one&gt; model-two" in text
    assert re.search(r"Q 100\.0 · n 1 0\.0 · n 1", text)


@pytest.mark.parametrize(
    "scale",
    ["yes_no", {"ordinal": [0, 2]}, {"ordinal": [-2, 2]}, {"nominal": ["0", "1", "2"]}],
    ids=str,
)
def test_a_study_page_shows_every_kind_of_scale(researcher, tmp_path, scale):
    scheme = scheme_of({"q": scale, "never asked": scale})
    rated(tmp_path / "a", {"a": {"q": ["1", "0"]}, "b": {"q": ["1", "1"]}}, scheme=scheme)

    assert words(researcher.get(reverse("evaluation:study", args=["pilot"])))


def test_a_study_of_two_hundred_questions_has_a_page(researcher, tmp_path):
    questions = {f"q{n}": ["yes", "no"] for n in range(200)}
    rated(tmp_path / "a", {"a": questions, "b": questions})

    assert "Q199" in words(researcher.get(reverse("evaluation:study", args=["pilot"])))


def test_without_variation_the_page_says_so_in_words(researcher, tmp_path):
    rated(tmp_path / "a", {"a": {"q": ["yes", "yes"]}, "b": {"q": ["yes", "yes"]}})

    text = words(researcher.get(reverse("evaluation:study", args=["pilot"])))

    assert "no variation: every vote compared is the same" in text


def test_the_switches_change_the_report_with_and_without_htmx(researcher, pilot):
    address = reverse("evaluation:study", args=["pilot"])
    choices = {"with_implied": "on"}

    page = researcher.get(address, choices)
    fragment = researcher.get(address, choices, headers={"HX-Request": "true"})

    for answer in (page, fragment):
        assert "agreement over given and implied votes" in words(answer)
        assert "raters.csv?with_implied=on&amp;by=setup" in answer.text
    assert "<html" not in fragment.text
    assert 'name="with_implied" checked' in page.text


def test_simulated_raters_are_announced(researcher, tmp_path):
    raters = [{"rater": "w1", "simulated": "yes"}]
    rated(tmp_path / "a", {"a": {"q": ["yes"]}}, raters=raters)

    text = words(researcher.get(reverse("evaluation:study", args=["pilot"])))

    assert "Simulated raters." in text
    assert "0 excluded, 1 simulated" in text


def test_mtrag_has_a_page_for_its_study_and_its_responses(researcher, shared):
    import_path(shared / "data/mtrag_human_eval/mtrag_human_eval_part1.json")

    assert ".40" in words(researcher.get(reverse("evaluation:study", args=["pilot"])))
    key = Response.objects.order_by("pk").values_list("key", flat=True)[0]
    assert "Faithfulness" in words(researcher.get(response_address(key)))


# --- files to take away ---------------------------------------------------------------------


@pytest.mark.parametrize(("query", "choices"), [("", Choices()), ("?by=setup", Choices(True))])
def test_the_report_is_downloaded_as_the_page_shows_it(researcher, pilot, query, choices):
    address = reverse("evaluation:report", args=["pilot", "json"])

    answer = researcher.get(address + query)

    assert answer["Content-Type"] == "application/json"
    assert 'filename="pilot-raters.json"' in answer["Content-Disposition"]
    expected = raters_report(Study.objects.get(), choices)._asdict()
    assert json.loads(answer.content) == json.loads(json.dumps(expected))


@pytest.mark.parametrize(("format_key", "suffix"), [("csv", "csv"), ("latex", "tex")])
def test_the_report_comes_as_csv_and_latex_too(researcher, pilot, format_key, suffix):
    answer = researcher.get(reverse("evaluation:report", args=["pilot", format_key]))

    assert f'filename="pilot-raters.{suffix}"' in answer["Content-Disposition"]
    assert "sensible" in answer.text


def test_a_report_in_a_format_that_does_not_exist_is_not_found(researcher, pilot):
    for format_key in ("exe", "table"):
        url = reverse("evaluation:report", args=["pilot", format_key])
        assert researcher.get(url).status_code == 404


def tidy(client):
    answer = client.get(reverse("evaluation:votes", args=["pilot"]))
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_the_tidy_csv_has_one_row_per_vote(researcher, pilot):
    rows = tidy(researcher)

    assert len(rows) == Vote.objects.count() == 7
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
    }
    assert (rows[5]["arm"], rows[5]["position"]) == ("merged", "2")
    assert rows[6]["citation"] == "2"


def test_in_the_tidy_csv_no_cell_is_a_formula(researcher, tmp_path):
    scheme = scheme_of({"=q": {"nominal": ["=yes", "no"]}})
    rated(tmp_path / "a", {"=r": {"=q": ["=yes"]}}, scheme=scheme, setups={"=r": "+setup"})
    # Written as CSV and not by us, '=r' is taken as it stands.

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

    assert of_dataset == {"examples.jsonl", "responses.jsonl", "scores.csv"}
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
