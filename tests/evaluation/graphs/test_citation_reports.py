"""The reports on cited answers, worked out by hand; the command and the API print them."""

import csv
import io
import json
import math
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.services import create_api_token
from evaluation.graphs.reports.alignment import alignment_report
from evaluation.graphs.reports.citations import CitationChoices, citations_report
from evaluation.graphs.reports.cited_answers import REASONS, cited_answers, read_answers
from evaluation.graphs.reports.graph_retrieval import graph_retrieval
from evaluation.graphs.reports.incompetence import incompetence_report
from evaluation.graphs.reports.mode_differences import (
    DifferenceChoices,
    both_modes,
    differences_report,
)
from evaluation.graphs.reports.quality import quality_report
from evaluation.measures.authors_citation import Difference
from evaluation.measures.citation import CitationCounts, Mode, citation_figures
from evaluation.reports.formats import write_report
from evaluation.reports.registry import CannotReport
from generation.choices.declaration import ChoiceError
from generation.models import Response
from tests.evaluation.commands import failure
from tests.evaluation.hand_cited import import_cited, score_answers, score_citations
from tests.makers import example_row, import_path, import_rows, response_row, statements

pytestmark = pytest.mark.once

FIGURES = ("correctness", "precision", "recall", "f1")
MACRO = tuple(f"macro_{name}" for name in FIGURES)


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


@pytest.fixture(scope="module")
def cited(tmp_path_factory, module_database):
    return import_cited(tmp_path_factory.mktemp("cited"))


def figures(row, names=FIGURES + MACRO):
    return [row[name] for name in names]


# --- citations ------------------------------------------------------------------------------


def test_figures_as_the_paper_defines_them(cited):
    cool, warm = citations_report(cited).records

    # Correct of cited: c1 3 of 3, c2 1 of 3, c3 1 of 1, c4 1 of 1. Minimum sets of 2, 1, 0, ?.
    # Precise: c1 3 of 3, c2 0 of 3, c3 0 of 1; c4's set is not known. Hit: c1 2 of 2, c2 0 of 1.
    assert figures(cool) == pytest.approx(
        [
            6 / 8,
            3 / 7,
            2 / 3,
            2 * (3 / 7) * (2 / 3) / (3 / 7 + 2 / 3),
            (1 + 1 / 3 + 1 + 1) / 4,
            (1 + 0 + 0) / 3,
            (1 + 0) / 2,
            2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2),
        ]
    )
    # w1 cites nothing: precision 0, recall 0 of 2. w2: 0 of 1, for the graph was empty; 0 of 1.
    assert figures(warm) == [0.0] * 8
    assert (cool["n_answers"], cool["n_citations"], cool["n_incomplete"]) == (4, 8, 1)
    assert (cool["n_na_sentences"], cool["n_other_brackets"]) == (1, 1)
    assert (cool["citations_per_answer"], cool["na_per_answer"]) == (2.0, 0.25)
    assert (cool["n_with_minimum"], cool["n_empty_minimum"], cool["n_unknown_minimum"]) == (2, 1, 1)
    assert (warm["n_answers"], warm["n_without_citations"], warm["seed"]) == (2, 1, 2)
    assert (cool["model"], cool["temperature"], cool["graph"]) == ("small", 0.0, "gold")


def test_figures_as_the_authors_code_computes_them(cited):
    cool, warm = citations_report(cited, CitationChoices(Mode.AUTHORS_CODE)).records

    # Without the incomplete one 7 citations, 6 correct. Different members cited: c1 2 of 3
    # citations, c2 0 of 2, c3 0 of 1; recall as before.
    assert figures(cool) == pytest.approx(
        [
            6 / 7,
            2 / 6,
            2 / 3,
            2 * (1 / 3) * (2 / 3) / (1 / 3 + 2 / 3),
            (1 + 1 / 2 + 1 + 1) / 4,
            (2 / 3 + 0 + 0) / 3,
            (1 + 0) / 2,
            2 * (2 / 9) * (1 / 2) / (2 / 9 + 1 / 2),
        ]
    )
    # w2's graph is empty: skipped. w1 cites nothing: recall 0, and no precision at all.
    assert figures(warm) == [None, None, 0.0, None, None, None, 0.0, None]
    assert (warm["n_answers"], warm["n_skipped"]) == (1, 1)


def test_rounds_2_to_6_leave_sets_without_rounds_out_and_say_so(cited):
    report = citations_report(cited, CitationChoices(rounds="later"))
    cool, _ = report.records

    # Of q1 only London counts: c1 cites it twice, 2 of 3, and hits 1 of 1. q2's set has no rounds.
    assert (cool["precision"], cool["recall"]) == pytest.approx((2 / 4, 1.0))
    assert report.left_out["sets_without_rounds"] == 1
    assert report.left_out["answers_with_unknown_minimum"] == 3  # c2, c4 and w2
    assert "minimum set: rounds 2 to 6" in report.signature


def test_what_is_left_out_is_counted(cited):
    assert citations_report(cited).left_out == {
        "responses_without_a_known_graph": 1,  # w3
        "repeated_responses": 0,
        "answers_with_unknown_minimum": 1,  # c4
        "answers_with_empty_minimum": 1,  # c3
        "answers_without_citations": 1,  # w1
    }
    by_code = citations_report(cited, CitationChoices(Mode.AUTHORS_CODE)).left_out
    assert by_code["answers_with_an_empty_graph"] == 1  # w2
    assert by_code["citations_not_counted"] == 1  # [Q2] in c2


@pytest.mark.parametrize("mode", list(Mode))
def test_the_figures_are_those_of_the_metric_itself(cited, mode):
    answers = cited_answers(cited).at(cited_answers(cited).is_counted[mode].nonzero()[0])
    for row in citations_report(cited, CitationChoices(mode)).records:
        table: Any = answers.of_setups([row["setup_id"]]).counts[mode].tolist()
        known: Any = [[None if math.isnan(n) else n for n in counts] for counts in table]
        counts = [CitationCounts(*each) for each in known]

        expected = citation_figures(counts, mode)._asdict()
        for name, figure in expected.items():
            assert row[name] == (None if math.isnan(figure) else pytest.approx(figure)), name


def test_intervals_hold_their_figures_and_are_undefined_for_one_dialog(cited):
    cool, warm = citations_report(cited).records

    for name in FIGURES + MACRO:
        if name in ("f1", "macro_f1"):  # no share, and four dialogs are too few to resample
            assert cool[f"{name}_low"] is cool[f"{name}_high"] is None
        else:
            assert 0 <= cool[f"{name}_low"] <= cool[name] <= cool[f"{name}_high"] <= 1
    assert warm["correctness_low"] is None  # one answer cites


def test_one_setup_may_be_chosen(cited):
    [cool, _] = citations_report(cited).records

    report = citations_report(cited, CitationChoices(setup=cool["setup"]))

    [row] = report.records
    assert figures(row) == figures(cool)
    assert f"setup {cool['setup']} only" in report.signature
    with pytest.raises(ChoiceError, match=r"cited has no setup 'x'\. It has: small"):
        citations_report(cited, CitationChoices(setup="x"))


def test_a_dataset_without_a_graph_is_an_error_that_says_so(tmp_path):
    import_rows(tmp_path, "plain", examples=[example_row()], responses=[response_row()])
    dataset = Response.objects.get(dataset__name="plain").dataset

    for report in (citations_report, alignment_report, incompetence_report):
        with pytest.raises(CannotReport, match="plain has no knowledge graph"):
            report(dataset)


def test_answers_are_read_in_lots_with_a_fixed_number_of_queries(cited, monkeypatch):
    whole = read_answers(cited)
    n_queries = len(statements(lambda: read_answers(cited)))
    monkeypatch.setattr("evaluation.graphs.reports.cited_answers.LOT", 2)

    assert len(statements(lambda: read_answers(cited))) == n_queries
    assert read_answers(cited).data_hash == whole.data_hash


def test_answers_are_kept_until_another_comes(tmp_path):
    dataset = import_cited(tmp_path / "a", "kept")
    before = cited_answers(dataset)
    assert len(statements(lambda: cited_answers(dataset))) == 4  # all for the version

    row = response_row("more", "q1", setup="other", text="[NA]", graph_shown=[])
    import_rows(tmp_path / "b", "kept", responses=[row])

    assert len(cited_answers(dataset).responses) == len(before.responses) + 1


def test_exported_and_imported_again_it_says_the_same(cited, tmp_path):
    call_command("export", "cited", str(tmp_path / "out"))
    again = import_path(tmp_path / "out", "again").dataset
    assert again is not None

    for choices in (CitationChoices(), CitationChoices(Mode.AUTHORS_CODE, "later")):
        here, there = citations_report(cited, choices), citations_report(again, choices)
        assert there.signature == here.signature
        assert [figures(row) for row in there.records] == [figures(row) for row in here.records]


# --- where the modes differ -----------------------------------------------------------------


def test_each_answer_says_why_it_is_counted_differently(cited):
    answers = cited_answers(cited)
    keys = dict(Response.objects.values_list("pk", "key"))

    said = {
        keys[pk]: [reason for reason, holds in zip(REASONS, row, strict=True) if holds]
        for pk, row in zip(answers.responses.tolist(), answers.reasons, strict=True)
    }
    assert said == {
        "c1": [Difference.REPEATED],
        "c2": [Difference.INCOMPLETE],
        "c3": [],
        "c4": [],
        "w1": [Difference.NO_CITATION],
        "w2": [Difference.EMPTY_GRAPH],
    }


def test_answers_that_are_counted_differently_are_a_report_with_files(cited, rosa, client_for):
    """Counts differ: c1 cites a member twice, c2 incompletely, w1 nothing, w2 had no graph.

    c3 and c4 are counted alike.

    c2 cites 3, of which 1 is right; the code leaves out the incomplete one: 1 of 2.
    """
    report = differences_report(cited, DifferenceChoices())

    assert [(row.response, row.reasons.partition(";")[0]) for row in report.rows] == [
        ("c1", "repeated citation"),
        ("c2", "incomplete citation"),
        ("w1", "no citation"),
        ("w2", "empty graph"),
    ]
    c2, w2 = report.rows[1], report.rows[3]
    assert (c2.n_citations, c2.authors_n_citations) == (3, 2)
    assert [c2.correctness, c2.authors_correctness] == pytest.approx([1 / 3, 1 / 2])
    assert (w2.authors_n_citations, w2.authors_correctness) == (None, None)
    assert report.left_out["answers_counted_alike"] == 2
    file = reverse("evaluation:report-file-of-dataset", args=[cited.slug, "differences", "csv"])
    assert client_for(rosa).get(file).text == write_report(report, "csv")


def test_both_modes_stand_side_by_side(cited):
    cool, warm = both_modes(cited, "all")

    figures_of = {name: (here, there, minus) for name, here, there, minus in cool.figures}
    assert figures_of["correctness"] == pytest.approx((6 / 8, 6 / 7, 6 / 7 - 6 / 8))
    assert (warm.n_here, warm.n_there) == (2, 1)
    assert {name: minus for name, _, _, minus in warm.figures}["precision"] is None


# --- alignment, [NA], quality ---------------------------------------------------------------


def test_alignment_is_over_pairs_and_over_answers(cited):
    run = score_citations(
        cited, {("c1", 1): 0.9, ("c1", 2): 0.4, ("c1", 3): 0.8, ("c2", 1): None, ("c3", 1): 0.5}
    )

    report = alignment_report(cited)
    [row] = report.records

    # c1 2 of 3, c3 0 of 1 (.5 is no yes); c2 has failed, c4 was not asked.
    assert (row["aligned"], row["macro_aligned"]) == pytest.approx((2 / 4, (2 / 3 + 0) / 2))
    assert (row["n_pairs"], row["n_answers"], row["n_failed"]) == (4, 2, 1)
    # Of c2 one citation is incomplete, and one was not asked about; nor was all of c4.
    assert (row["n_incomplete"], row["n_not_scored"], row["n_not_asked"]) == (1, 1, 1)
    assert (row["n_without_citations"], row["n_all_failed"]) == (0, 1)
    assert report.left_out["answers_with_failed_pairs"] == 1
    assert row["run_signature"] == run.full_signature
    # Table 3 has it beside the citations.
    beside = citations_report(cited)
    assert beside.records[0]["aligned"] == row["aligned"]
    assert beside.records[1]["aligned"] is None
    assert f"alignment by {run.full_signature}" in beside.signature


def test_na_is_over_answers_with_something_removed(cited):
    def said(sentences, removed):
        return {
            "na_sentences": [{"text": "", "probability": p} for p in sentences],
            "removed": [{"text": "", "probability": p} for p in removed],
        }

    details = {"c1": said([0.9, 0.2], [0.9]), "c2": said([0.6], [0.6, 0.3]), "c3": said([], [0.0])}
    scores = {"c1": 0.9, "c2": 0.45, "c3": 0.0, "c4": "nothing was removed from its graph"}
    score_answers(cited, "incompetence", scores, details, backend="lexical", signature="na")

    report = incompetence_report(cited)
    [row] = report.records

    # [NA] sentences: 1 of 2, 1 of 1, none. Removed: 1 of 1, 1 of 2, 0 of 1.
    assert (row["precision"], row["recall"]) == pytest.approx((2 / 3, 2 / 4))
    assert row["f1"] == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert (row["n_answers"], row["n_na_sentences"], row["n_removed"]) == (3, 3, 4)
    assert report.left_out["answers_with_nothing_removed"] == 1


def test_without_any_na_recall_and_f1_are_0_and_the_triples_are_counted(cited):
    removed = {"na_sentences": [], "removed": [{"text": "", "probability": 0.0}]}
    score_answers(cited, "incompetence", {"c1": 0.0}, {"c1": removed}, backend="lexical")

    [row] = incompetence_report(cited).records

    assert (row["precision"], row["recall"], row["f1"]) == (None, 0.0, 0.0)
    assert (row["n_na_sentences"], row["n_removed"], row["n_found"]) == (0, 1, 0)


def test_quality_is_a_mean_with_the_deviation_of_the_sample(cited):
    parameters = {"mode": "integer", "repeats": 3}
    scores = {"c1": 3.0, "c2": 4.0, "c3": 5.0, "c4": "no score in the reply", "w1": 2.0}
    said: Any = {"backend": "language-model", "parameters": parameters}
    score_answers(cited, "fluency", scores, signature="a", model_name="org/small", **said)
    score_answers(cited, "coherence", {"c1": 1.0}, signature="b", model_name="large", **said)

    coherence, cool, warm = quality_report(cited).records

    # 3, 4, 5: mean 4, deviation sqrt((1 + 0 + 1) / 2) = 1; the failed one is no 0 and no 3.
    assert (cool["mean"], cool["deviation"], cool["n"], cool["n_failed"]) == (4.0, 1.0, 3, 1)
    assert (warm["mean"], warm["deviation"]) == (2.0, None)  # n is 1
    assert (coherence["metric"], coherence["is_own_judge"]) == ("coherence", False)
    assert cool["is_own_judge"]  # 'org/small' judges 'small'
    assert (cool["mode"], cool["repeats"], cool["judge"]) == ("integer", 3, "org/small")


# --- the command and the API ----------------------------------------------------------------


def printed(capsys, *arguments):
    call_command("report", *arguments)
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_the_command_prints_each_report(cited, capsys):
    for name, report in (
        ("citations", citations_report),
        ("alignment", alignment_report),
        ("incompetence", incompetence_report),
        ("quality", quality_report),
    ):
        found = json.loads(printed(capsys, name, "--dataset", "cited", "--format", "json"))
        assert found == json.loads(json.dumps(report(cited).as_json()))
        for format_key in ("table", "latex"):
            assert name in printed(capsys, name, "--dataset", "cited", "--format", format_key)


def test_mode_and_rounds_are_the_commands_choices(cited, capsys):
    said = ("--mode", "authors_code", "--rounds", "later", "--format", "csv")
    rows = list(
        csv.DictReader(io.StringIO(printed(capsys, "citations", "--dataset", "cited", *said)))
    )

    expected = citations_report(cited, CitationChoices(Mode.AUTHORS_CODE, "later"))
    assert [float(row["recall"]) for row in rows] == [row["recall"] for row in expected.records]
    assert {row["signature"] for row in rows} == {expected.signature}


def test_retrieval_is_of_sub_graphs_where_there_are_questions(cited, capsys, tmp_path):
    found = json.loads(printed(capsys, "retrieval", "--dataset", "cited", "--format", "json"))
    assert found == json.loads(json.dumps(graph_retrieval(cited).report.as_json()))
    import_rows(tmp_path, "plain", examples=[example_row()])

    plain = json.loads(printed(capsys, "retrieval", "--dataset", "plain", "--format", "json"))
    assert "k" in plain["rows"][0]
    error = failure("report", "retrieval", "--dataset", "plain", "--of", "graphs")
    assert error == "plain has no questions about a knowledge graph."


def test_a_mistake_is_one_line(cited, tmp_path):
    import_rows(tmp_path, "plain", examples=[example_row()])

    assert "plain has no knowledge graph" in failure("report", "citations", "--dataset", "plain")
    assert failure("report", "alignment", "--dataset", "cited", "--setup", "x").startswith(
        "cited has no setup 'x'"
    )
    assert "arguments are required: --dataset" in failure("report", "quality")
    assert "invalid choice: 'mine'" in failure(
        "report", "citations", "--dataset", "cited", "--mode", "mine"
    )


def test_the_api_answers_what_the_command_prints(cited, rosa, tmp_path):
    import_rows(tmp_path, "plain", examples=[example_row()])
    headers = {"Authorization": f"Bearer {create_api_token(rosa, 'tests')}"}

    def asked(slug, name, **said):
        url = f"/api/v1/datasets/{slug}/reports/{name}/"
        return Client().get(url, said, headers=headers)

    for name, report in (
        ("citations", citations_report),
        ("alignment", alignment_report),
        ("incompetence", incompetence_report),
        ("quality", quality_report),
        ("retrieval", lambda dataset: graph_retrieval(dataset).report),
    ):
        assert asked(cited.slug, name).json() == json.loads(json.dumps(report(cited).as_json()))
    said = asked(cited.slug, "citations", mode="authors_code", rounds="later").json()
    choices = CitationChoices(Mode.AUTHORS_CODE, "later")
    assert said["signature"] == citations_report(cited, choices).signature
    assert asked("plain", "citations").status_code == 404
    assert asked(cited.slug, "alignment", setup="x").status_code == 400
    assert asked(cited.slug, "citations", mode="mine").status_code == 400
    assert asked(cited.slug, "alignment", mode="paper").status_code == 400
    assert asked(cited.slug, "nonsense").status_code == 404
