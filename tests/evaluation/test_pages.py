"""The pages of one example, one response and one study, and the files they offer."""

import csv
import io
import json
import re
import zipfile
from functools import partial

import pytest
from django.urls import reverse

from accounts.models import User
from annotation.models import Rater, Study, Vote
from evaluation.reports import Choices, raters_report
from generation.models import Dataset, Example, Response
from tests.makers import (
    example_row,
    import_path,
    import_rows,
    rated,
    response_row,
    scheme_of,
    statements,
    vote_row,
)

pytestmark = pytest.mark.django_db

HTML = "<script>alert(1)</script>"
STUDIES = "/studies/"
PAIR = scheme_of({"sensible": "yes_no", "specific": "yes_no"}, specific={"after": ["sensible"]})


@pytest.fixture
def researcher(rosa, client_for):
    return client_for(rosa)


@pytest.fixture
def pilot(tmp_path):
    turns = [
        {"speaker": "user", "text": "Who built the mill?"},
        {"speaker": "assistant", "text": "The monks."},
        {"speaker": "user", "text": "When did it close?"},
    ]
    evidence = [
        {"id": "p1", "title": "The mill", "text": "It closed in 1971.", "golden": True},
        {"id": "p2", "title": "The bridge", "text": "It was built of stone."},
    ]
    import_rows(
        tmp_path / "pilot",
        examples=[
            example_row("e0"),
            example_row("e1", turns=turns, evidence=evidence, golden_answer="In 1971."),
            {"id": "e2", "turns": None},
        ],
        responses=[
            response_row("r1", "e1", text="It closed in 1971.", evidence_shown=["p2"], tokens=7),
            response_row("r2", "e1", setup={"model": "b", "temperature": 0.7, "top_p": 0.9}),
            response_row("r3", "e1", setup="model-c", evidence_shown=[]),
            response_row("r4", "e2"),
        ],
        votes=[
            vote_row("r1", "anna", "yes", "sensible"),
            vote_row("r1", "ben", "no", "sensible"),
            vote_row("r1", "cleo", "no", "sensible"),
            vote_row("r1", "cleo", "no", "specific", implied="1"),
            vote_row("r1", "anna", "yes", "specific"),
            vote_row("r1", "anna", "yes", "sensible", arm="merged", position="2"),
            vote_row("r1", "anna", "yes", "sensible", citation="2"),
        ],
        flags=[{"response": "r2", "rater": "ben", "reason": "cut off"}],
        scores=[
            {"response": "r1", "metric": "rouge", "score": "0.25", "signature": "v1|k2"},
            {"response": "r1", "metric": "nli", "score": "1", "citation": "2"},
        ],
        scheme=PAIR,
    )
    return Dataset.objects.get()


def flat(answer):
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.text)


def words(answer):
    """Return the text of a page without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", flat(answer)))


def example_address(key):
    example = Example.objects.get(key=key)
    return reverse("evaluation:example", args=[example.dataset.slug, example.pk])


def response_address(key):
    response = Response.objects.get(key=key)
    return reverse("evaluation:response", args=[response.dataset.slug, response.pk])


# --- one example ----------------------------------------------------------------------------


def test_an_example_shows_dialog_evidence_golden_answer_and_responses(researcher, pilot):
    text = words(researcher.get(example_address("e1")))

    dialog = [text.index(turn) for turn in ("Who built", "The monks.", "When did it close?")]
    assert dialog == sorted(dialog)
    assert "In 1971." in text
    assert "2 passages" in text
    assert re.search(r"The mill golden p1 It closed in 1971\.", text)
    assert "The bridge p2" in text
    assert "3 responses" in text


def test_an_example_shows_what_was_said_about_each_response(researcher, pilot):
    text = words(researcher.get(example_address("e1")))

    assert "Sensible no 2/3" in text
    assert "Specific undecided 1/2" in text
    assert "pilot, merged arm" in text
    assert "pilot, separate arm, citation 2" in text
    assert "pilot, separate arm 1 flag" in text
    assert "rouge 0.25" in text


def test_an_example_leads_to_its_neighbours_in_the_dataset(researcher, pilot, tmp_path):
    import_rows(tmp_path / "other", "other", examples=[example_row("x")])

    first, middle, last = (researcher.get(example_address(key)).text for key in ("e0", "e1", "e2"))

    assert 'rel="prev"' not in first
    assert f'href="{example_address("e1")}"' in first
    assert f'rel="prev" href="{example_address("e0")}"' in middle
    assert f'rel="next" href="{example_address("e2")}"' in middle
    assert 'rel="next"' not in last


def test_an_example_of_which_little_is_known_says_so(researcher, pilot):
    text = words(researcher.get(example_address("e2")))

    assert "The import brought no dialog." in text
    assert "The import brought no evidence." in text
    assert "— not known" in text
    assert "No votes and no scores yet." in text


# --- one response ---------------------------------------------------------------------------


def test_a_response_shows_every_vote_by_code(researcher, pilot):
    text = words(researcher.get(response_address("r1")))

    assert "Question Majority For it anna ben cleo" in text
    assert "Sensible no 2 of 3 yes no no" in text
    assert "Specific undecided 1 of 2 yes — (no)" in text
    assert "pilot , merged arm" in text
    assert "pilot , separate arm, citation 2" in text


def test_a_response_shows_its_scores_setup_and_meta_data(researcher, pilot):
    text = words(researcher.get(response_address("r1")))

    assert "rouge v1|k2 0.250" in text
    assert "nli citation 2 1.000" in text
    assert "Name model-a" in text
    assert "tokens 7" in text
    other = words(researcher.get(response_address("r2")))
    assert "Name b · T 0.7 · top_p=0.9 Model b Temperature 0.7" in other
    assert "top_p 0.9" in other


def test_a_response_shows_its_flags_with_their_reason(researcher, pilot):
    assert "flagged by ben: cut off" in words(researcher.get(response_address("r2")))


@pytest.mark.parametrize(
    ("key", "is_there", "is_not_there"),
    [
        ("r1", "The bridge", "The mill"),
        ("r2", "The mill golden", "The bridge"),
        ("r3", "Nothing was shown.", "The mill"),
    ],
)
def test_a_response_stands_beside_the_evidence_that_counts_as_shown(
    researcher, pilot, key, is_there, is_not_there
):
    text = words(researcher.get(response_address(key)))

    assert is_there in text
    assert is_not_there not in text
    assert ("does not say what the model was shown" in text) == (key == "r2")


def test_a_response_leads_to_the_others_of_its_example(researcher, pilot):
    text = researcher.get(response_address("r1")).text

    assert response_address("r2") in text
    assert response_address("r3") in text
    assert response_address("r4") not in text
    assert example_address("e1") in text


def test_a_response_that_nobody_rated_or_scored_says_so(researcher, pilot):
    text = words(researcher.get(response_address("r4")))

    assert "Nobody has rated this response yet." in text
    assert "No auto-metric has scored this response." in text


def test_a_late_vote_is_shown_as_surplus_and_not_counted(researcher, pilot):
    Vote.objects.filter(rater__code="cleo", question="sensible").update(is_surplus=True)

    text = words(researcher.get(response_address("r1")))

    assert "Sensible undecided 1 of 2 yes no no surplus" in text


def test_an_excluded_rater_s_vote_is_shown_as_such_and_not_counted(researcher, pilot):
    Rater.objects.filter(code="cleo").update(is_excluded=True)

    text = words(researcher.get(response_address("r1")))

    assert "cleo excluded" in text
    assert "Sensible undecided 1 of 2 yes no no" in text


# --- whatever the data are ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["items", "keys", "values", "get", "0"])
def test_meta_data_and_settings_may_have_any_name(researcher, tmp_path, name):
    import_rows(
        tmp_path / "a",
        examples=[example_row(meta={name: "of the example", "n": [1, None, "x"]})],
        responses=[
            response_row(setup={"model": "b", name: "of the setup"}, meta={name: "of the response"})
        ],
    )

    assert f"{name} of the example" in words(researcher.get(example_address("e1")))
    text = words(researcher.get(response_address("r1")))
    assert f"{name} of the setup" in text
    assert f"{name} of the response" in text


def test_html_in_the_data_is_shown_as_text_on_every_page(researcher, tmp_path):
    evidence = [{"id": HTML, "title": HTML, "url": f"javascript:{HTML}", "text": HTML}]
    outcome = import_rows(
        tmp_path / "a",
        HTML,
        examples=[
            example_row(
                "e1",
                dialog=HTML,
                turns=[{"speaker": HTML, "text": HTML}, {"speaker": "user", "text": HTML}],
                evidence=evidence,
                golden_answer=HTML,
                meta={HTML: HTML},
            )
        ],
        responses=[
            response_row(text=HTML, setup={"model": HTML, HTML: HTML}, meta={HTML: [HTML]}),
            response_row("r2", setup=HTML, evidence_shown=[HTML]),
        ],
        votes=[vote_row("r1", HTML, HTML, HTML), vote_row("r1", "b", "ok", HTML)],
        flags=[{"response": "r1", "rater": HTML, "reason": HTML}],
        scores=[{"response": "r1", "metric": HTML, "score": 1, "signature": HTML}],
    )
    assert outcome.study
    assert outcome.dataset
    study = reverse("evaluation:study", args=[outcome.study.slug])
    delete = reverse("evaluation:export-dataset", args=[outcome.dataset.slug])

    for url in (
        example_address("e1"),
        response_address("r1"),
        response_address("r2"),
        study,
        STUDIES,
    ):
        text = researcher.get(url).text
        assert "<script>alert" not in text, url
        assert "&lt;script&gt;alert(1)" in text, url
        assert 'href="javascript:' not in text, url
    assert researcher.get(delete).status_code == 200


def test_an_example_and_a_response_are_found_under_their_own_dataset_only(
    researcher, pilot, tmp_path
):
    import_rows(tmp_path / "b", "other", examples=[example_row("x")])

    for address in (example_address("e1"), response_address("r1")):
        assert researcher.get(address).status_code == 200
        assert researcher.get(address.replace("/pilot/", "/other/")).status_code == 404
        assert researcher.get(address.replace("/pilot/", "/nothing/")).status_code == 404


def test_raters_see_no_responses_no_votes_and_no_reports(rachel, client_for, pilot):
    client = client_for(rachel)
    of_study = [
        reverse("evaluation:study", args=["pilot"]),
        reverse("evaluation:report", args=["pilot", "json"]),
        reverse("evaluation:votes", args=["pilot"]),
        reverse("evaluation:export-study", args=["pilot"]),
        reverse("evaluation:export-dataset", args=["pilot"]),
    ]

    for url in (example_address("e1"), response_address("r1"), STUDIES, *of_study):
        assert client.get(url).status_code == 403, url


def test_the_pages_cost_the_same_for_few_and_many_responses_and_votes(researcher, tmp_path):
    def costs(name, n):
        import_rows(
            tmp_path / name,
            name,
            examples=[
                example_row(name, evidence=[{"id": f"p{i}", "text": "T."} for i in range(n)])
            ],
            responses=[
                response_row(f"{name} {i}", name, setup=f"m{i}", evidence_shown=["p0"])
                for i in range(n)
            ],
            votes=[
                vote_row(f"{name} {i}", f"w{j}", "yes", citation=j % 2 + 1)
                for i in range(n)
                for j in range(n)
            ],
            flags=[{"response": f"{name} {i}", "rater": "w0"} for i in range(n)],
            scores=[
                {"response": f"{name} {i}", "metric": f"m{j}", "score": 1, "citation": 1}
                for i in range(n)
                for j in range(n)
            ],
        )
        urls = (
            example_address(name),
            response_address(f"{name} 0"),
            reverse("evaluation:study", args=[name]),
        )
        return [len(statements(partial(researcher.get, url))) for url in urls]

    assert costs("few", 3) == costs("many", 12)


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
