"""The pages of one example and of one response."""

from functools import partial

import pytest
from django.urls import reverse

from annotation.models import Rater, Vote
from tests.evaluation.pages import example_address, make_pilot, response_address
from tests.evaluation.studies.pages.address import NAMES
from tests.makers import (
    example_row,
    import_rows,
    response_row,
    statements,
    vote_row,
)
from tests.shown import shown

pytestmark = pytest.mark.once

HTML = "<script>alert(1)</script>"
STUDIES = "/studies/"


@pytest.fixture
def pilot(tmp_path):
    return make_pilot(tmp_path)


# --- one example ----------------------------------------------------------------------------


def test_an_example_shows_dialog_evidence_golden_answer_and_responses(researcher, pilot):
    page = shown(researcher.get(example_address("e1")))

    assert [turn.text for turn in page.parts("turn")] == [
        "User Who built the mill?",
        "Assistant The monks.",
        "User When did it close?",
    ]
    assert "In 1971." in page.text
    assert "2 passages" in page.text
    assert [passage.text for passage in page.parts("passage")] == [
        "The mill golden p1 It closed in 1971.",
        "The bridge p2 It was built of stone.",
    ]
    assert "3 responses" in page.headings


def test_an_example_shows_what_was_said_about_each_response(researcher, pilot):
    page = shown(researcher.get(example_address("e1")))

    tags = [tag.text for tag in page.parts("tag")]
    assert {"Sensible no 2/3", "Specific no 2/3", "rouge 0.25"} <= {*tags}
    assert "pilot, merged arm" in page.text
    assert "pilot, separate arm, citation 2" in page.text
    assert "pilot, separate arm 1 flag" in page.text


def test_an_example_leads_to_its_neighbours_in_the_dataset(researcher, pilot, tmp_path):
    import_rows(tmp_path / "other", "other", examples=[example_row("x")])

    first, middle, last = (
        shown(researcher.get(example_address(key))).links for key in ("e0", "e1", "e2")
    )

    assert "Previous" not in first
    assert first["Next"] == example_address("e1")
    assert middle["Previous"] == example_address("e0")
    assert middle["Next"] == example_address("e2")
    assert last["Previous"] == example_address("e1")
    assert "Next" not in last


def test_an_example_of_which_little_is_known_says_so(researcher, pilot):
    page = shown(researcher.get(example_address("e2")))

    for unknown in ("no dialog", "no evidence", "— not known", "No votes and no scores"):
        assert unknown in page.text


# --- one response ---------------------------------------------------------------------------


def test_a_response_shows_every_vote_by_code(researcher, pilot):
    separate, of_citation, merged, _ = shown(researcher.get(response_address("r1"))).tables

    assert separate.columns == ["Question", "Majority", "Votes for it", "anna", "ben", "cleo"]
    assert separate.rows == [
        ["Sensible", "no", "2 of 3", "yes", "no", "no"],
        ["Specific", "no", "2 of 3", "yes", "(no)", "(no)"],
    ]
    assert merged.caption.endswith("merged arm")
    assert of_citation.caption.endswith("separate arm, citation 2")


def test_a_response_shows_its_scores_setup_and_meta_data(researcher, pilot):
    page = shown(researcher.get(response_address("r1")))

    scores = page.table("Scores")
    assert scores.row("rouge v1|k2 (imported)")["Score"] == "0.250"
    assert scores.row("nli (imported) citation 2")["Score"] == "1.000"
    assert page.facts == {"Name": "model-a", "tokens": "7"}
    assert shown(researcher.get(response_address("r2"))).facts == {
        "Name": "b · T 0.7 · top_p=0.9",
        "Model": "b",
        "Temperature": "0.7",
        "top_p": "0.9",
    }


def test_a_response_shows_its_flags_with_their_reason(researcher, pilot):
    assert "flagged by ben: cut off" in shown(researcher.get(response_address("r2"))).text


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
    text = shown(researcher.get(response_address(key))).text

    assert is_there in text
    assert is_not_there not in text
    assert ("does not say what the model was shown" in text) == (key == "r2")


def test_a_response_leads_to_the_others_of_its_example(researcher, pilot):
    addresses = shown(researcher.get(response_address("r1"))).addresses

    assert response_address("r2") in addresses
    assert response_address("r3") in addresses
    assert response_address("r4") not in addresses
    assert example_address("e1") in addresses


def test_a_response_that_nobody_rated_or_scored_says_so(researcher, pilot):
    page = shown(researcher.get(response_address("r4")))

    assert "No rater has rated" in page.text
    assert "No auto-metric has scored" in page.text
    assert page.tables == []


def test_a_late_vote_is_shown_as_surplus_and_not_counted(researcher, pilot):
    Vote.objects.filter(rater__code="cleo", question="sensible").update(is_surplus=True)

    votes = shown(researcher.get(response_address("r1"))).tables[0]

    assert votes.rows[0] == ["Sensible", "tied", "1 of 2", "yes", "no", "no surplus"]


def test_an_excluded_rater_s_vote_is_shown_as_such_and_not_counted(researcher, pilot):
    Rater.objects.filter(code="cleo").update(is_excluded=True)

    votes = shown(researcher.get(response_address("r1"))).tables[0]

    assert votes.columns[3:] == ["anna", "ben", "cleo excluded"]
    assert votes.rows[0] == ["Sensible", "tied", "1 of 2", "yes", "no", "no"]


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

    assert f"{name} of the example" in shown(researcher.get(example_address("e1"))).text
    setup, imported = shown(researcher.get(response_address("r1"))).parts("pairs")
    assert setup.facts[name] == "of the setup"
    assert imported.facts[name] == "of the response"


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
    study = [reverse(f"evaluation:{name}", args=[outcome.study.slug]) for name in NAMES]
    delete = reverse("evaluation:export-dataset", args=[outcome.dataset.slug])

    for url in (
        example_address("e1"),
        response_address("r1"),
        response_address("r2"),
        *study,
        STUDIES,
    ):
        answer = researcher.get(url)
        page = shown(answer)
        assert "<script>alert" not in answer.text, url
        assert HTML in page.text, url
        assert not any(to.startswith("javascript:") for to in page.addresses), url
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
        *(reverse(f"evaluation:{name}", args=["pilot"]) for name in NAMES),
        reverse("evaluation:disagreements", args=["pilot"]),
        reverse("evaluation:report", args=["pilot", "raters", "json"]),
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
            *(reverse(f"evaluation:{page}", args=[name]) for page in NAMES),
        )
        researcher.get(urls[-1])  # makes the figures: one statement for each run
        return [len(statements(partial(researcher.get, url))) for url in urls]

    assert costs("few", 3) == costs("many", 12)
