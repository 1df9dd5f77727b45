"""The pages of disagreements between raters and an auto-metric."""

import csv
import io

import pytest
from django.urls import reverse

from annotation.models import GoldAnswer, Target
from annotation.schemes import load_scheme
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.models import Adjudication, AutoScore
from evaluation.reports.base import Choices
from evaluation.runs.names import run_parts
from evaluation.studies.disagreements.cases import Winner
from evaluation.studies.disagreements.worklist import disagreements
from evaluation.studies.templatetags.windows import MarkedPiece, around, pieces
from generation.models import Passage
from tests.evaluation.makers_of_scores import (
    MILL,
    disputed,
    make_run,
    make_score,
    make_scores,
    window,
)
from tests.evaluation.pages import example_address, response_address
from tests.makers import (
    example_row,
    import_rows,
    rated,
    response_row,
    scheme_of,
    statements,
    vote_row,
)
from tests.shown import markup, shown

pytestmark = pytest.mark.once

NAME = "Auto-AIS, v3, localized K = 2, lexical"
WINDOW = "The mill closed in 1971 after the flood. Its wheel was sold."


def address(study, name="disagreements", *args, **query):
    return reverse(f"evaluation:{name}", args=[study.slug, *args], query=query)


def cases_of(answer):
    """Return key of the response → what is shown of each case, in order."""
    return {next(iter(case.links)): case for case in shown(answer).parts("case")}


# --- which they are -------------------------------------------------------------------------


def test_pages_and_file_say_when_a_score_on_the_threshold_is_a_yes(researcher, tmp_path):
    study = rated(tmp_path, {"a": {"attributable": ["no"] * 3}})
    run = make_run(study.dataset, threshold=0.7, is_yes_at_threshold=True)
    make_scores(run, {"a": 0.7})

    listed = shown(researcher.get(address(study)))
    file = researcher.get(address(study, "disagreements-csv")).getvalue().decode()
    [row] = csv.DictReader(io.StringIO(file))
    response = shown(researcher.get(response_address("a")))

    assert "at least 0.70" in listed.text
    assert (row["kind"], row["threshold"], row["is_yes_at_threshold"]) == (
        "false alarm",
        "0.7",
        "yes",
    )
    assert response.table("Scores").column("Label") == ["yes ≥ 0.70"]


def test_a_nominal_question_without_a_positive_label_says_so(tmp_path, researcher):
    votes = {"a": {"q": ["red", "red"]}}
    study = rated(tmp_path, votes, scheme=scheme_of({"q": {"nominal": ["red", "blue"]}}))
    run = make_run(study.dataset)
    make_scores(run, {"a": 0.9})

    question = load_scheme(study.scheme).question("q")
    assert question is not None
    assert disagreements(study, run, question, Choices()) == []
    [message] = shown(researcher.get(address(study))).messages
    assert "no label of this question" in message


# --- the winning window ---------------------------------------------------------------------


def test_spans_are_cut_out_of_a_text_and_those_that_overlap_are_one():
    assert pieces("abcdefgh", [(4, 6), (1, 3), (2, 4)]) == [
        MarkedPiece("a"),
        MarkedPiece("bcdef", True),
        MarkedPiece("gh"),
    ]
    assert pieces("abc", []) == [MarkedPiece("abc")]
    assert pieces("abc", [(0, 9), (5, 7)]) == [MarkedPiece("abc", True)]


@pytest.mark.parametrize("filler", ["word ", "x", " ", "\n"])
def test_a_long_passage_is_cut_around_its_window(filler):
    before, after = filler * 4000, filler * 4000
    text = f"{before}The window.{after}"

    end = len(before) + len("The window.")

    found = around(Winner(None, Passage(text=text), len(before), end, "", None))

    assert [piece.text for piece in found if piece.is_marked] == ["The window."]
    assert sum(len(piece.text) for piece in found) < 500


# --- pages ----------------------------------------------------------------------------------


def test_a_case_shows_response_window_kind_votes_and_score(tmp_path, researcher):
    study, run = disputed(tmp_path)

    answer = researcher.get(address(study))
    case = cases_of(answer)["r-miss"]

    assert case.text.startswith("Response · r-miss · cool ")
    assert "Question of e-r-miss? The mill closed in 1971." in case.text
    assert "Evidence, The mill , sentences 3–4 of 5" in case.text
    assert case.facts == {"Kind": "missed", "Votes": "3:2", "Score": "0.30"}
    assert [mark.text for mark in case.parts("window")] == [WINDOW]
    assert 'aria-label="3 yes, 2 no"' in answer.text
    assert case.links["r-miss"] == f"{response_address('r-miss')}?run={run.pk}"


def test_the_list_says_what_is_compared_and_what_is_left_out(tmp_path, researcher):
    study, _ = disputed(tmp_path)

    page = shown(researcher.get(address(study)))

    assert NAME in page.headings
    assert "3 of 4 cases" in page.text
    assert "majority of the separate arm" in page.text
    [tabs] = page.parts("tabs")
    assert [*tabs.links] == ["Disagreements 3", "Missed 2", "False alarm 1", "Tied 1"]
    assert "Not compared: 1 tied." in page.text
    assert "The list is no sample" in page.text


def test_evidence_without_a_window_scrolls_in_its_case(researcher, tmp_path):
    study, run = disputed(tmp_path)

    def n_panes(answer):
        return [len(case.parts("pane-limit")) for case in shown(answer).parts("case")]

    assert n_panes(researcher.get(address(study))) == [0, 0, 0]

    AutoScore.objects.filter(run=run).update(windows=[])

    answer = researcher.get(address(study))
    assert n_panes(answer) == [1, 1, 1]
    pane = 'tabindex="0" role="group" aria-label="Evidence of response r-'
    assert markup(answer).count(pane) == 3


def test_where_raters_and_metric_agree_the_list_says_so(researcher, tmp_path):
    study, _ = disputed(tmp_path)
    other = make_run(study.dataset, signature="other")
    make_scores(other, {"r-miss": 0.9, "r-far": 0.9, "r-false": 0.1, "r-same": 0.9})

    page = shown(researcher.get(address(study)))

    assert "0 of 4 cases" in page.text
    assert "the two agree" in page.text
    assert not page.parts("case")


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ({}, ["r-miss", "r-false", "r-far"]),
        ({"kind": "missed"}, ["r-miss", "r-far"]),
        ({"kind": "false alarm"}, ["r-false"]),
        ({"setup": "cool"}, ["r-miss", "r-false"]),
        ({"setup": "cool", "kind": "missed"}, ["r-miss"]),
        ({"question": "understand"}, []),
        ({"status": "open"}, ["r-miss", "r-far"]),
        ({"status": "adjudicated"}, ["r-false"]),
        # What the address says wrongly is as usual.
        ({"run": "99", "question": "x", "truth": "y", "kind": "z"}, ["r-miss", "r-false", "r-far"]),
    ],
)
def test_the_list_is_filtered_by_its_address(tmp_path, researcher, rosa, query, keys):
    study, _ = disputed(tmp_path)
    Adjudication.objects.create(
        study=study,
        target=Target.objects.get(response__key="r-false"),
        question="attributable",
        answer=0,
        note="The date is not there.",
        by=rosa,
    )

    assert [*cases_of(researcher.get(address(study, **query)))] == keys


def test_the_main_run_is_shown_unless_another_is_chosen(tmp_path, researcher):
    study, first = disputed(tmp_path)
    imported = make_run(study.dataset, metric="rouge", signature="", is_imported=True)
    # Of two runs over both setups, the newer one that no threshold choice made.
    second = make_run(study.dataset, signature="auto_ais|other")
    make_scores(second, {"r-same": 0.2, "r-miss": 0.9})
    made_for = {"made_for": "threshold choice"}
    make_scores(make_run(study.dataset, signature="third", parameters=made_for), {"r-far": 0.1})

    assert "r-same" in cases_of(researcher.get(address(study)))
    assert "r-miss" in cases_of(researcher.get(address(study, run=first.pk)))
    page = shown(researcher.get(address(study, run=imported.pk)))
    assert "Nothing to compare yet" in page.headings


def test_htmx_gets_the_list_alone(tmp_path, researcher):
    study, _ = disputed(tmp_path)

    answer = researcher.get(address(study), headers={"HX-Request": "true"})

    page = shown(answer)
    assert page.text == page.part("disagreement-list").text
    assert "<html" not in answer.text


def test_a_study_without_a_run_says_how_to_get_one(tmp_path, researcher):
    study = rated(tmp_path, {"a": {"q": ["yes"]}})

    assert "No auto-metric yet" in shown(researcher.get(address(study))).headings
    assert researcher.get(address(study, "disagreements-csv")).status_code == 404


def test_a_run_over_the_whole_evidence_shows_the_passages_of_its_own_choice(tmp_path, researcher):
    evidence = [
        {"id": "golden", "text": "The golden text.", "golden": True},
        {"id": "other", "text": "The other text."},
    ]
    rows = {
        "examples": [example_row("e", evidence=evidence)],
        "responses": [response_row("r", "e", evidence_shown=["other"])],
    }
    study = _imported(tmp_path, rows)
    by_choice = {}
    for choice in ("shown", "golden"):
        run = make_run(
            study.dataset, signature=choice, parameters={"evidence": choice, "window": 0}
        )
        make_scores(run, {"r": 0.1})
        by_choice[choice] = cases_of(researcher.get(address(study, run=run.pk)))["r"].text

    assert "Whole evidence, 1 passage The other text." in by_choice["shown"]
    assert "Whole evidence, 1 passage The golden text." in by_choice["golden"]


def _imported(tmp_path, rows):
    outcome = import_rows(
        tmp_path / "own",
        "own",
        votes=[vote_row("r", rater, "yes", "attributable") for rater in ("x", "y")],
        **rows,
    )
    return outcome.study


def test_of_a_response_judged_by_sentences_the_least_supported_one_is_shown(tmp_path, researcher):
    study, _ = disputed(tmp_path)
    run = make_run(study.dataset, signature="by sentences", parameters={"hypothesis": "mean"})
    make_score(
        run,
        "r-far",
        0.45,
        windows=[
            window("p-r-far", "Its wheel was sold.", 0.7, sentence=0),
            window("p-r-far", "Today it is a museum.", 0.2, sentence=1),
        ],
    )

    case = cases_of(researcher.get(address(study, run=run.pk)))["r-far"]

    [_, evidence, *_] = case.parts("label")
    assert "sentence 2 of 2, 0.20" in evidence.text
    assert evidence.text.endswith("The mill , sentence 5 of 5")


def test_a_page_of_cases_costs_the_same_for_one_and_for_ten(tmp_path, researcher):
    def cost(name, n):
        votes = {f"{name}{i}": {"attributable": ["yes", "yes", "no"]} for i in range(n)}
        study = rated(tmp_path / name, votes, name=name)
        run = make_run(study.dataset)
        for key in votes:
            text = f"Passage of e-{key}."
            make_score(run, key, 0.1, windows=[window(f"p-e-{key}", text)])
        return len(statements(lambda: researcher.get(address(study))))

    assert cost("few", 1) == cost("many", 10)


def test_ten_cases_stand_on_a_page(tmp_path, researcher):
    votes = {f"r{i:02}": {"attributable": ["yes"]} for i in range(12)}
    study = rated(tmp_path, votes)
    make_scores(make_run(study.dataset), dict.fromkeys(votes, 0.1))

    first, second = (researcher.get(address(study, page=n)) for n in (1, 2))

    assert len(cases_of(first)) == 10
    assert len(cases_of(second)) == 2
    assert "1 to 10 of 12" in shown(first).text


def test_html_of_the_data_is_shown_as_text(tmp_path, researcher):
    html = "<script>alert(1)</script> It is <b>here</b>."
    rows = {
        "examples": [example_row("e", evidence=[{"id": "p", "title": html, "text": html}])],
        "responses": [response_row("r", "e", text=html, evidence_shown=["p"])],
    }
    study = _imported(tmp_path, rows)
    run = make_run(study.dataset)
    make_score(run, "r", 0.1, windows=[window("p", html)])

    for page in (address(study), f"{response_address('r')}?run={run.pk}"):
        answer = researcher.get(page)
        assert "<script>alert" not in answer.text
        assert [mark.text for mark in shown(answer).parts("window")] == [html]


# --- as CSV ---------------------------------------------------------------------------------


def test_the_whole_list_is_there_as_csv_with_codes_for_names(tmp_path, researcher, rosa):
    study, run = disputed(tmp_path)
    target = Target.objects.get(response__key="r-miss")
    Adjudication.objects.create(
        study=study, target=target, question="attributable", answer=1, note="=1+1", by=rosa
    )

    answer = researcher.get(address(study, "disagreements-csv"))

    text = b"".join(answer.streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["response"] for row in rows] == ["r-miss", "r-false", "r-far"]
    first = rows[0]
    assert first["run"] == run.signature
    assert (first["kind"], first["n_yes"], first["n_no"]) == ("missed", "3", "2")
    assert (first["score"], first["threshold"]) == ("0.3", "0.5")
    assert first["passage"] == "p-r-miss"
    assert first["window"] == WINDOW
    assert (first["adjudicated"], first["note"]) == ("yes", "'=1+1")
    assert first["by"] == rosa.rater_code
    assert rosa.username not in text


def test_the_csv_keeps_to_the_choices_of_the_address(tmp_path, researcher):
    study, _ = disputed(tmp_path)

    answer = researcher.get(address(study, "disagreements-csv", kind="missed", setup="warm"))

    text = b"".join(answer.streaming_content).decode()
    assert [row["response"] for row in csv.DictReader(io.StringIO(text))] == ["r-far"]


# --- the page of a response -----------------------------------------------------------------


def test_a_response_shows_state_label_and_signature_of_each_score(tmp_path, researcher):
    study, run = disputed(tmp_path)
    failing = make_run(study.dataset, signature="failing")
    make_score(failing, "r-miss", None, problem="the response is empty")
    assuming = make_run(study.dataset, signature="assuming")
    make_score(assuming, "r-miss", 0.0, is_assumed=True)

    def scores_of(key):
        return shown(researcher.get(response_address(key))).table("Scores of auto-metrics").rows

    of_assuming, of_run, of_failing = scores_of("r-miss")  # in the order of their signatures
    assert of_run[:3] == [", ".join(run_parts(run)), "0.300", "no ≤ 0.50"]
    assert of_failing[1] == "— failed: the response is empty"
    assert of_assuming[1:3] == ["0.000", f"assumed {AutoAisMetric.assumed_when}"]
    [score] = scores_of("r-false")
    assert score[1:3] == ["0.800", "yes > 0.50"]


def test_a_response_shows_the_window_of_a_chosen_run_in_the_passage(tmp_path, researcher):
    _, run = disputed(tmp_path)

    assert not shown(researcher.get(response_address("r-miss"))).parts("window")
    page = shown(researcher.get(f"{response_address('r-miss')}?run={run.pk}"))

    assert [mark.text for mark in page.parts("window")] == [WINDOW]
    [passage] = page.parts("passage")
    assert MILL.split(" The mill")[0] in passage.text
    assert f"Shown evidence, as {NAME}" in page.text
    for wrong in ("x", "99", ""):
        page = shown(researcher.get(f"{response_address('r-miss')}?run={wrong}"))
        assert not page.parts("window")


def test_a_gold_item_is_named_gold_and_has_no_majority(tmp_path, researcher):
    study, _ = disputed(tmp_path)
    target = Target.objects.get(response__key="r-miss")
    GoldAnswer.objects.create(study=study, target=target, question="attributable", answer=0)

    page = shown(researcher.get(response_address("r-miss")))

    votes = page.table("Disputed , separate arm gold")
    assert "no report counts these votes" in votes.caption
    assert votes.columns[:3] == ["Question", "Known answer", "Correct votes"]
    assert votes.rows == [["Attributable", "no", "2 of 5", "yes", "yes", "yes", "no", "no"]]
    assert "Majority" not in page.text
    example = shown(researcher.get(example_address("e-r-miss")))
    assert [tag.text for tag in example.parts("tag")][:2] == ["gold", "Attributable known: no 2/5"]


# --- who may --------------------------------------------------------------------------------


def test_raters_see_no_disagreements(tmp_path, rachel, client_for):
    study, _ = disputed(tmp_path)
    target = Target.objects.values_list("pk", flat=True)[0]
    client = client_for(rachel)

    for name, args in (
        ("disagreements", []),
        ("disagreement", [target]),
        ("disagreements-csv", []),
    ):
        assert client.get(address(study, name, *args)).status_code == 403
    assert client.post(address(study, "adjudicate", target)).status_code == 403


def test_a_case_belongs_to_the_dataset_of_its_study(tmp_path, researcher):
    study, _ = disputed(tmp_path)
    disputed(tmp_path, "Other")
    foreign = Target.objects.filter(response__dataset__name="Other")[0]

    assert researcher.get(address(study, "disagreement", foreign.pk)).status_code == 404
