"""Datasets, examples, responses, studies and votes by API."""

from functools import partial

import pytest

from annotation.models import Rater, Study, Vote
from generation.models import Response
from tests.annotation.makers import material, opened, rate_next, raters_of
from tests.makers import example_row, import_rows, rated, response_row, statements, vote_row

pytestmark = pytest.mark.once


def rows_of(answer):
    return answer["results"]


# --- datasets -------------------------------------------------------------------------------


def test_datasets_say_what_they_hold(read, pilot, tmp_path):
    import_rows(tmp_path / "b", "empty", examples=[example_row("x", evidence=[])])

    empty, found = rows_of(read("datasets/"))

    assert (empty["slug"], empty["n_examples"]) == ("empty", 1)
    assert (empty["n_passages"], empty["n_responses"]) == (0, 0)
    assert (found["slug"], found["name"]) == ("pilot", "pilot")
    # e0 brings a passage of its own, e1 two, e2 none.
    assert (found["n_examples"], found["n_passages"], found["n_responses"]) == (3, 3, 4)


def test_a_dataset_comes_with_its_setups(read, pilot):
    setups = read("datasets/pilot/")["setups"]

    assert [(s["name"], s["n_responses"]) for s in setups] == [
        ("b · T 0.7 · top_p=0.9", 1),
        ("model-a", 2),
        ("model-c", 1),
    ]
    assert setups[0]["temperature"] == 0.7
    assert setups[0]["settings"] == {"top_p": 0.9}


@pytest.mark.parametrize(
    "address", ["datasets/none/", "studies/none/", "examples/0/", "responses/99999999999999999999/"]
)
def test_what_is_not_there_is_not_found(api, pilot, address):
    answer = api.get(f"/api/v1/{address}")

    assert answer.status_code == 404
    assert "detail" in answer.json()


# --- examples and responses -----------------------------------------------------------------


def test_examples_come_with_dialog_and_evidence(read, pilot):
    _, example, bare = rows_of(read("examples/", dataset="pilot"))

    assert [turn["text"] for turn in example["turns"]] == [
        "Who built the mill?",
        "The monks.",
        "When did it close?",
    ]
    assert [turn["parent_index"] for turn in example["turns"]] == [-1, 0, 1]
    assert [(p["key"], p["is_golden"], p["text"]) for p in example["evidence"]] == [
        ("p1", True, "It closed in 1971."),
        ("p2", False, "It was built of stone."),
    ]
    assert example["golden_answer"] == "In 1971."
    assert (bare["turns"], bare["evidence"], bare["golden_answer"]) == ([], [], None)
    assert read(f"examples/{example['id']}/") == example


def test_responses_say_what_was_shown_and_what_is_golden(read, pilot):
    r1, r2, r3, _ = rows_of(read("responses/"))

    assert (r1["key"], r1["setup"], r1["text"]) == ("r1", "model-a", "It closed in 1971.")
    assert (r1["dataset"], r1["example"], r1["dialog"]) == ("pilot", "e1", "e1")
    assert [passage["key"] for passage in r1["evidence_shown"]] == ["p2"]
    assert [passage["key"] for passage in r1["evidence_golden"]] == ["p1"]
    assert [c["number"] for c in r1["citations"]] == [2]
    assert r1["meta"] == {"tokens": 7}
    assert (r2["is_evidence_stated"], r2["evidence_shown"]) == (False, [])
    assert (r3["is_evidence_stated"], r3["evidence_shown"]) == (True, [])
    assert read(f"responses/{r1['id']}/") == r1


def test_responses_are_filtered_by_dataset_setup_and_example(read, pilot, tmp_path):
    import_rows(
        tmp_path / "b",
        "other",
        examples=[example_row("e1")],
        responses=[response_row("x1", "e1")],
    )

    def keys(**parameters):
        return [row["key"] for row in rows_of(read("responses/", **parameters))]

    assert keys() == ["r1", "r2", "r3", "r4", "x1"]
    assert keys(dataset="pilot") == ["r1", "r2", "r3", "r4"]
    assert keys(setup="model-a") == ["r1", "r4", "x1"]
    assert keys(example="e1", dataset="pilot") == ["r1", "r2", "r3"]
    assert keys(dataset="other", setup="model-c") == []


# --- studies and votes ----------------------------------------------------------------------


def test_studies_say_how_they_are_made(read, pilot, tmp_path):
    here = opened(material(tmp_path / "here"), raters=5, name="Here", seed=7)

    rated_here, imported = rows_of(read("studies/"))

    assert (rated_here["slug"], rated_here["dataset"]) == (here.slug, "here")
    assert (rated_here["scheme"], rated_here["state"]) == ("AIS", "open")
    assert (rated_here["raters_per_unit"], rated_here["n_raters"]) == (5, 5)
    assert (rated_here["seed"], rated_here["setups"]) == (7, ["cool", "warm"])
    assert (imported["is_imported"], imported["state"]) == (True, "closed")
    assert imported["arms"] == ["separate", "merged"]
    assert imported["n_raters"] == 3
    assert [s["slug"] for s in rows_of(read("studies/", state="open"))] == [here.slug]
    assert [s["slug"] for s in rows_of(read("studies/", dataset="pilot"))] == ["pilot"]


def test_one_study_comes_with_its_scheme_in_full(read, pilot):
    study = read("studies/pilot/")

    assert [q["key"] for q in study["scheme_in_full"]["questions"]] == ["sensible", "specific"]
    assert study["mixing"] == "order"
    assert study["text_format"] == "plain"
    # It was imported, and its file says nothing of a draw.
    assert (study["n_sampled"], study["draw"], study["has_uniform_draw"]) == (None, None, True)


def test_votes_have_the_columns_of_the_tidy_file(read, pilot):
    by_question = rows_of(read("votes/", study="pilot", arm="separate", question="specific"))

    assert [(v["rater"], v["answer"], v["implied"]) for v in by_question] == [
        ("cleo", "no", True),
        ("anna", "yes", False),
        ("ben", "no", True),  # ben said no to sensible
    ]
    [merged] = rows_of(read("votes/", arm="merged"))
    assert (merged["study"], merged["response"], merged["position"]) == ("pilot", "r1", 2)
    assert merged["response_id"] == Response.objects.get(key="r1").pk
    assert (merged["dialog"], merged["example"], merged["setup"]) == ("e1", "e1", "model-a")
    assert (merged["citation"], merged["surplus"], merged["gold"]) == (None, False, False)
    assert [v["citation"] for v in rows_of(read("votes/", rater="anna"))] == [None, None, None, 2]


def test_surplus_votes_and_excluded_raters_are_told(read, pilot):
    Vote.objects.filter(rater__code="ben").update(is_surplus=True)
    Rater.objects.filter(code="cleo").update(is_excluded=True)

    facts = {v["rater"]: (v["surplus"], v["excluded"]) for v in rows_of(read("votes/"))}

    assert facts == {"anna": (False, False), "ben": (True, False), "cleo": (False, True)}


def test_votes_on_a_flagged_response_are_told(read, pilot, tmp_path):
    # Two of three raters flag a, one of three flags b: only a is flagged by more than half.
    flags = [{"response": r, "rater": w, "reason": "cut off"} for r, w in ("a1", "a2", "b1")]
    rated(
        tmp_path / "flags",
        {key: {"q": ["yes", "no", "no"]} for key in ("a", "b")},
        name="flags",
        flags=[flag | {"rater": f"w{flag['rater']}"} for flag in flags],
    )

    votes = rows_of(read("votes/", study="flags"))

    assert {v["response"]: v["flagged"] for v in votes} == {"a": True, "b": False}
    assert not any(v["flagged"] for v in rows_of(read("votes/", study="pilot")))


def test_votes_made_here_name_raters_by_code_alone(api, tmp_path):
    study = opened(material(tmp_path / "here"), raters=3, raters_per_unit=3)
    for rater in raters_of(study):
        rate_next(rater)

    answer = api.get("/api/v1/votes/", {"study": study.slug})

    assert {v["rater"] for v in answer.json()["results"]} == {r.code for r in raters_of(study)}
    assert "rater-1" not in answer.text
    assert all(v["at"] for v in answer.json()["results"])


def test_answers_are_the_words_of_their_scales(read, tmp_path):
    scheme = {
        "key": "own",
        "questions": [
            {"key": "stars", "scale": {"ordinal": [1, 5]}},
            {"key": "tone", "scale": {"nominal": ["kind", "rude"]}},
        ],
    }
    import_rows(
        tmp_path / "a",
        examples=[example_row()],
        responses=[response_row()],
        votes=[vote_row(answer="4", question="stars"), vote_row(answer="rude", question="tone")],
        scheme=scheme,
    )

    assert [v["answer"] for v in rows_of(read("votes/"))] == ["4", "rude"]


# --- filters and pages ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "parameters", "message"),
    [
        ("responses/", {"dataset": "none"}, "There is no dataset 'none'."),
        ("responses/", {"setup": "none"}, "There is no setup 'none'."),
        ("responses/", {"example": "none"}, "There is no example 'none'."),
        ("studies/", {"state": "none"}, "Select a valid choice."),
        ("votes/", {"study": "none"}, "There is no study 'none'."),
        ("votes/", {"arm": "none"}, "Select a valid choice."),
        ("votes/", {"question": "none"}, "The questions are: sensible, specific."),
        ("votes/", {"response": "none"}, "There is no response 'none'."),
        ("votes/", {"rater": "none"}, "There is no rater 'none'."),
        ("votes/", {"raters": "anna"}, "There is no such parameter. The parameters are: study"),
        (
            "datasets/",
            {"cursor": "x"},
            "There is no such parameter. The parameters are: limit, offset.",
        ),
    ],
)
def test_a_filter_that_means_nothing_is_refused(refused, pilot, address, parameters, message):
    [(parameter, [said])] = refused(address, **parameters).items()

    assert parameter in parameters
    assert message in said


def test_a_question_of_another_study_is_refused(refused, pilot, tmp_path):
    opened(material(tmp_path / "here"), raters=5, name="Here")

    message = refused("votes/", study="pilot", question="attributable")["question"][0]

    assert message == "There is no question 'attributable'. The questions are: sensible, specific."


@pytest.mark.parametrize("limit", ["0", "-1", "x", "", "9" * 40])
def test_any_limit_gives_a_page_of_500_rows_at_most(read, tmp_path, limit):
    rows = [response_row(f"r{n}") for n in range(502)]
    import_rows(tmp_path / "a", examples=[example_row()], responses=rows)

    page = rows_of(read("responses/", limit=limit))

    assert len(page) == (500 if limit.startswith("9") else 100)


@pytest.mark.parametrize("offset", ["-1", "x", "9" * 40])
def test_any_offset_is_answered(read, pilot, offset):
    assert read("datasets/", offset=offset)["count"] == 1


def test_following_next_gives_every_row_once(api, pilot):
    page = api.get("/api/v1/votes/", {"limit": 2}).json()
    seen = page["results"]
    while page["next"]:
        page = api.get(page["next"]).json()
        seen += page["results"]

    assert [v["id"] for v in seen] == sorted(Vote.objects.values_list("pk", flat=True))


@pytest.mark.parametrize("cursor", ["cD14", "cD0lMDA=", "cD0xLjU=", "cj14", "é"])
def test_a_cursor_that_nobody_gave_out_is_not_found(api, pilot, cursor):
    """The cursors hold position 'x', a null character and 1.5, among others."""
    assert api.get("/api/v1/votes/", {"cursor": cursor}).status_code == 404


def test_lists_cost_the_same_for_one_row_and_for_thirty(api, tmp_path):
    def make(name, n):
        import_rows(
            tmp_path / name,
            name,
            examples=[example_row(f"{name} {i}") for i in range(n)],
            responses=[
                response_row(
                    f"{name} {i}", f"{name} {i}", setup=f"m{i}", evidence_shown=[f"p-{name} {i}"]
                )
                for i in range(n)
            ],
            votes=[vote_row(f"{name} {i}", f"w{i}", citation=1) for i in range(n)],
            scores=[{"response": f"{name} {i}", "metric": f"m{i}", "score": 1} for i in range(n)],
        )

    def costs(name):
        addresses = [f"{kind}/?dataset={name}" for kind in ("examples", "responses", "runs")]
        addresses += [f"votes/?study={name}", f"datasets/{name}/", f"studies/{name}/"]
        addresses += ["datasets/", "studies/", "scores/"]
        return {
            address.replace(name, "…"): len(statements(partial(api.get, f"/api/v1/{address}")))
            for address in addresses
        }

    make("one", 1)
    of_one = costs("one")
    make("thirty", 30)
    for n in range(30):
        make(f"more{n}", 1)

    assert costs("thirty") == of_one
    assert max(of_one.values()) <= 9
    assert Study.objects.count() == 32


# --- in a browser ---------------------------------------------------------------------------


def test_a_browser_that_is_signed_in_reads_too(rosa, client_for, pilot):
    assert client_for(rosa).get("/api/v1/datasets/pilot/").status_code == 200


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
@pytest.mark.parametrize("address", ["datasets/pilot/", "votes/", "studies/", "responses/"])
def test_what_is_only_read_takes_nothing_else(api, pilot, method, address):
    assert getattr(api, method)(f"/api/v1/{address}").status_code == 405
