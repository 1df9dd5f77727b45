"""The pages of reports on cited answers: their figures are the report's; access to them."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from accounts.access import Role
from evaluation.graphs.reports.alignment import alignment_report
from evaluation.graphs.reports.citations import CitationChoices, citations_report
from evaluation.graphs.reports.graph_retrieval import graph_retrieval
from evaluation.graphs.reports.incompetence import incompetence_report
from evaluation.graphs.reports.mode_differences import REASON_SENTENCES, both_modes
from evaluation.graphs.reports.quality import quality_report
from evaluation.measures.authors_citation import Difference
from evaluation.measures.citation import Mode
from evaluation.reports.columns import Estimate, Format
from evaluation.reports.formats import write_report
from evaluation.reports.numbers import decimal, percent
from generation.models import Response
from tests.conftest import person
from tests.evaluation.hand_ablated import removal_rows, three_runs
from tests.evaluation.hand_cited import import_cited, score_answers, score_citations
from tests.makers import example_row, import_rows, response_row, statements
from tests.shown import shown

pytestmark = pytest.mark.once

REPORTS = ("citations", "alignment", "incompetence", "retrieval", "quality")


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


@pytest.fixture(scope="module")
def scored(tmp_path_factory, module_database):
    """The hand-made dataset with a run of each kind, imported once for all tests here."""
    dataset = import_cited(tmp_path_factory.mktemp("cited"), "cited pages")
    score_citations(dataset, {("c1", 1): 0.9, ("c1", 2): 0.4, ("c2", 1): None, ("c3", 1): 0.6})
    found = {
        "na_sentences": [{"text": "Born.", "probability": 0.7}],
        "removed": [{"text": "occupation: miller", "probability": 0.7}],
    }
    score_answers(
        dataset, "incompetence", {"c2": 0.7}, {"c2": found}, backend="lexical", signature="na"
    )
    score_answers(
        dataset,
        "fluency",
        {"c1": 4.0, "c2": 5.0, "c3": "no score in the reply"},
        backend="language-model",
        model_name="small",
        signature="fluency",
        parameters={"mode": "integer", "repeats": 3},
    )
    return dataset


def address(name, dataset, *more):
    return reverse(f"graphs:{name}", args=[dataset.slug, *more])


def cells(answer):
    """Return the cells of the page's first table, row by row."""
    return shown(answer).tables[0].rows


def listed(answer):
    """Return the keys of the answers that a page lists, in its order."""
    table = shown(answer).table("Answers with")
    return [name.split("? ")[1].split()[0] for name in table.column("Answer to")]


def interval(row, name):
    """Return the interval of a figure of a record as percent; "" without one."""
    return Format.PERCENT.interval(
        Estimate(*(row[f"{name}{end}"] for end in ("", "_low", "_high")))
    )


def cell(row, name):
    """Return a figure with its interval as a cell has them."""
    return f"{percent(row[name])} {interval(row, name)}".strip()


# --- every figure is the report's -----------------------------------------------------------


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("rounds", ["all", "later"])
def test_every_figure_on_citations_is_the_reports(researcher, scored, mode, rounds):
    answer = researcher.get(
        address("report", scored, "citations"), {"mode": mode, "rounds": rounds}
    )

    report = citations_report(scored, CitationChoices(mode, rounds))
    figures = ("aligned", "correctness", "precision", "recall", "f1")
    macro = tuple(f"macro_{name}" for name in figures[1:])
    for row, on_page in zip(report.records, cells(answer), strict=True):
        assert on_page[2:4] == [
            decimal(row["citations_per_answer"]),
            decimal(row["na_per_answer"]),
        ]
        assert on_page[4:] == [cell(row, name) for name in (*figures, *macro)]
    assert report.signature in shown(answer).text


def test_setups_that_differ_only_in_seed_are_one_row_and_unfold(researcher, tmp_path):
    dataset = three_runs(tmp_path, "families", more=removal_rows())
    page = shown(researcher.get(address("report", dataset, "citations")))

    whole, removed, setups = page.tables
    # One run with gold graphs, and three runs whose means are those of table 3.
    assert [row[0] for row in whole.rows] == [
        "small (0.5), graph, gold 1 run",
        "small (0.5), graph, retrieved here 3 runs",
    ]
    # Correct 8/9, precise 7/9, recalled 5/9, each with the deviation sqrt(1/27).
    means = [" ".join(cell.split()[:2]) for cell in whole.rows[1][5:8]]
    assert means == ["88.9 (19.2)", "77.8 (19.2)", "55.6 (19.2)"]
    assert "(" not in "".join(whole.rows[0][5:8])
    assert [len(table.rows) for table in (removed, setups)] == [2, 3 + 1 + 2 + 2]
    # The row leads to the answers of its three runs, two each.
    [behind] = whole.links[1].values()
    assert len(listed(researcher.get(behind))) == 3 * 2


def test_every_figure_on_alignment_and_na_is_the_reports(researcher, scored):
    alignment = cells(researcher.get(address("report", scored, "alignment")))
    na = cells(researcher.get(address("report", scored, "incompetence")))

    [row] = alignment_report(scored).records
    counts = (
        *("n_pairs", "n_answers", "n_without_citations", "n_not_asked", "n_failed"),
        *("n_truncated", "n_assumed", "n_incomplete", "n_not_scored"),
    )
    assert alignment[0][2:] == [
        cell(row, "aligned"),
        cell(row, "macro_aligned"),
        *(str(row[name]) for name in counts),
    ]
    [row] = incompetence_report(scored).records
    of_na = ("n_answers", "n_na_sentences", "n_removed", "n_failed")
    assert na[0][2:] == [
        *(cell(row, name) for name in ("precision", "recall", "f1")),
        *(str(row[name]) for name in of_na),
    ]


def test_every_figure_on_quality_and_retrieval_is_the_reports(researcher, scored):
    quality_page = researcher.get(address("report", scored, "quality"))
    [quality] = cells(quality_page)
    retrieval = cells(researcher.get(address("report", scored, "retrieval")))

    [row] = quality_report(scored).records
    assert quality[3:] == [
        "integer × 3",
        decimal(row["mean"]),  # two dialogs are too few for an interval
        decimal(row["deviation"]),
        str(row["n"]),
        str(row["n_failed"]),
        str(row["n_not_asked"]),
    ]
    assert "own judge" in quality[1]  # setup and judge are both called 'small'
    assert "intervals of means" not in shown(quality_page).text  # there is no interval
    rows = graph_retrieval(scored).report.records
    assert [on_page[1:3] for on_page in retrieval] == [
        [cell(row, "precision"), cell(row, "recall")] for row in rows
    ]


def test_the_page_on_differences_has_both_modes_side_by_side_and_says_why(researcher, scored):
    page = shown(researcher.get(address("differences", scored)))

    setup, *_ = both_modes(scored, "all")
    paper, code, difference = page.table("Numbers of each setup").rows[:3]
    # Correct 6 of 8 here; there the incomplete citation is not counted: 6 of 7.
    assert paper[1:4] == ["Paper", str(setup.n_here), "75.0"]
    assert code[:3] == ["Authors’ code", str(setup.n_there), "85.7"]
    assert difference[:3] == ["Difference", "", "+10.7"]
    assert paper[3:] == [percent(here) for _, here, _, _ in setup.figures]
    assert code[2:] == [percent(there) for _, _, there, _ in setup.figures]
    assert "4 of 6" in page.text
    reasons = [why.partition(".")[0] for why in page.table("Answers with").column("Why")]
    assert reasons == ["Repeated citation", "Incomplete citation", "No citation", "Empty graph"]


def test_each_reason_has_a_sentence():
    assert set(REASON_SENTENCES) == set(Difference)


def test_differences_may_be_listed_by_their_reason(researcher, scored):
    answer = researcher.get(address("differences", scored), {"reason": "repeated"})

    assert listed(answer) == ["c1"]


# --- what is behind -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "keys"),
    [
        ("", ["c1", "c2", "c3", "c4", "w1", "w2"]),
        ("wrong", ["c2", "w2"]),
        ("incomplete", ["c2"]),
        ("correct", ["c2", "c3"]),
        ("unknown", ["c4"]),
        ("minimum", ["c1"]),
        ("missed", ["c2", "w1", "w2"]),
        ("none", ["w1"]),
        ("na", ["c2", "w1"]),
        ("nonsense", ["c1", "c2", "c3", "c4", "w1", "w2"]),
    ],
)
def test_the_answers_behind_a_figure_are_listed_by_verdict(researcher, scored, verdict, keys):
    answer = researcher.get(address("answers", scored), {"verdict": verdict})

    assert listed(answer) == keys


def test_an_answer_leads_to_its_response_and_to_its_question(researcher, scored):
    setup = scored.setups.get(temperature=0.5)
    table = shown(researcher.get(address("answers", scored), {"setup": setup.pk})).table()

    response = Response.objects.get(dataset=scored, key="w1")
    assert {*table.links[0].values()} == {
        reverse("evaluation:response", args=[scored.slug, response.pk]),
        address("question", scored, response.example_id),
    }
    # 'I do not know [NA].' cites nothing: precision 0, recall 0 of 2.
    assert table.rows[0][2:] == ["no citation", "1", "—", "0.0", "0.0"]


def test_of_an_unknown_minimum_set_it_is_not_said_what_is_needed(researcher, scored):
    answer = researcher.get(address("answers", scored), {"verdict": "unknown"})

    # c4 cites one triple of its graph; which ones it needs is not known.
    assert cells(answer)[0][2:6] == ["—", "1 correct", "0", "0"]


def test_each_mode_says_what_its_words_mean(researcher, scored):
    def text(mode):
        return shown(researcher.get(address("report", scored, "citations"), {"mode": mode})).text

    assert "Precise: it is correct and in the minimum set" in text("paper")
    of_code = text("authors_code")
    assert "do not ask whether a triple was shown" in of_code
    assert "1 citation not counted" in of_code  # c2's
    assert "Precise: it is correct" not in of_code


def test_the_row_says_how_many_answers_are_in_precision_and_in_recall(researcher, scored):
    setup, *_ = cells(researcher.get(address("report", scored, "citations")))

    # c4 says no minimum set, c3 an empty one: c1, c2 and c3 are in precision, c1 and c2 in recall.
    assert setup[1] == "4 3 in precision 2 in recall"


def test_the_setups_are_listed_as_they_are_spelt(researcher, scored):
    offered = shown(researcher.get(address("answers", scored))).choices("setup")

    for pk, name in scored.setups.values_list("pk", "name"):
        assert offered[str(pk)] == name


def test_htmx_gets_the_list_alone(researcher, scored):
    for name in ("answers", "differences"):
        answer = researcher.get(address(name, scored), headers={"HX-Request": "true"})
        assert "<html" not in answer.text
    answer = researcher.get(address("report", scored, "citations"), headers={"HX-Request": "true"})
    assert "<html" not in answer.text


# --- files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("report", REPORTS)
def test_table_and_figure_come_as_files(researcher, scored, report):
    starts = {"csv": b"study,", "json": b"{", "latex": b"% ", "svg": b"<svg"}
    for format_key, start in starts.items():
        answer = researcher.get(address("report-file", scored, report, format_key))
        assert answer.status_code == 200, format_key
        assert answer.content.startswith(start)
        assert f"-{report}." in answer["Content-Disposition"]


def test_files_have_the_choices_of_the_address(researcher, scored):
    said = {"mode": "authors_code", "rounds": "later"}
    answer = researcher.get(address("report-file", scored, "citations", "json"), said)

    report = citations_report(scored, CitationChoices(Mode.AUTHORS_CODE, "later"))
    assert answer.text == write_report(report, "json")


@pytest.mark.parametrize("format_key", ["pdf", "png"])
def test_a_figure_is_drawn_for_papers(researcher, scored, format_key):
    answer = researcher.get(address("report-file", scored, "citations", format_key))

    assert answer.content.startswith({"pdf": b"%PDF", "png": b"\x89PNG"}[format_key])


def test_what_there_is_not_is_not_found(researcher, scored):
    assert researcher.get(address("report", scored, "nonsense")).status_code == 404
    assert researcher.get(address("report-file", scored, "citations", "doc")).status_code == 404
    assert researcher.get(reverse("graphs:answers", args=["none"])).status_code == 404


# --- states ---------------------------------------------------------------------------------


def test_without_a_graph_every_page_says_so(researcher, tmp_path):
    import_rows(tmp_path, "plain", examples=[example_row()], responses=[response_row()])

    for report in REPORTS:
        page = shown(researcher.get(reverse("graphs:report", args=["plain", report])))
        assert "No knowledge graph" in page.headings
        file = reverse("graphs:report-file", args=["plain", report, "csv"])
        of_graphs = {"of": "graphs"} if report == "retrieval" else {}
        # Text quality is reported on whatever was scored, also without a graph.
        expected = 200 if report == "quality" else 404
        assert researcher.get(file, of_graphs).status_code == expected
    for name in ("answers", "differences"):
        assert researcher.get(reverse(f"graphs:{name}", args=["plain"])).status_code == 200


def test_without_answers_the_page_leads_to_a_grid(researcher, tmp_path):
    entity = {"qid": "Q1", "label": "Ada", "triples": []}
    import_rows(tmp_path, "bare", entities=[entity])

    for report in ("citations", "alignment", "incompetence", "quality"):
        page = shown(researcher.get(reverse("graphs:report", args=["bare", report])))
        assert "No answers yet" in page.headings
        assert f"{reverse('grids:new')}?dataset=bare" in page.addresses
    retrieval = reverse("graphs:report", args=["bare", "retrieval"])
    assert "No questions" in shown(researcher.get(retrieval)).headings


def test_without_runs_and_minimum_sets_the_page_says_what_is_missing(researcher, tmp_path):
    graph = [["Q1", "occupation", "writer"]]
    import_rows(
        tmp_path,
        "young",
        kg_questions=[{"id": "q", "question": "Who?", "entities": []}],
        responses=[
            response_row("r", "q", text="She writes [Q1, occupation: writer].", graph_shown=graph)
        ],
    )

    citations, alignment, na = (
        shown(researcher.get(reverse("graphs:report", args=["young", name])))
        for name in ("citations", "alignment", "incompetence")
    )

    assert "need minimum knowledge sets" in citations.text
    assert citations.tables[0].rows[0][4:] == ["—", "100.0", "—", "—", "—", "100.0", "—", "—", "—"]
    assert "No alignment run yet" in alignment.headings
    start = f"{reverse('evaluation:start-run')}?metric=alignment&over=dataset%3Ayoung"
    assert start in alignment.addresses
    assert researcher.get(start).status_code == 200
    assert "Nothing was removed" in na.text


def test_a_wrong_choice_is_said_and_the_usual_one_taken(researcher, scored):
    answer = researcher.get(address("report", scored, "citations"), {"mode": "mine"})

    page = shown(answer)
    assert "The usual one is taken." in page.text
    assert "Citations, as the paper defines them" in page.headings


# --- who may, and what it costs -------------------------------------------------------------


def test_raters_see_no_report(client_for, scored, rachel):
    rater: Client = client_for(rachel)
    for name, more in (
        ("report", ["citations"]),
        ("report-file", ["citations", "csv"]),
        ("answers", []),
        ("differences", []),
    ):
        assert rater.get(address(name, scored, *more)).status_code == 403
        assert Client().get(address(name, scored, *more)).status_code == 302


def test_more_answers_cost_no_more_queries(client_for, db, tmp_path, scored):
    researcher = client_for(person("ruth", Role.RESEARCHER))
    graph = [["Q1", "occupation", "writer"]]
    keys = [f"m{n}" for n in range(40)]
    import_rows(
        tmp_path,
        "many",
        entities=[{"qid": "Q1", "label": "Ada", "triples": []}],
        kg_questions=[{"id": key, "question": "Who?", "entities": ["Q1"]} for key in keys],
        responses=[
            response_row(key, key, text="Writes [Q1, occupation: writer].", graph_shown=graph)
            for key in keys
        ],
    )

    def cost(slug, name, *more):
        url = reverse(f"graphs:{name}", args=[slug, *more])
        return len(statements(lambda: researcher.get(url)))

    for name, more in (("report", ["citations"]), ("answers", []), ("differences", [])):
        assert cost("many", name, *more) <= cost(scored.slug, name, *more), name


def test_the_chart_holds_the_tables_figures_and_has_its_place(researcher, scored):
    answer = researcher.get(address("report", scored, "citations"))
    chart = shown(answer).data("plots")["charts"]["figures"]

    # Its place is as high as the chart with its axis and legend, before it is drawn.
    assert f'<canvas height="{chart["height"] + 80}"' in answer.text
    text = json.dumps(chart)
    assert '"value": 75.0' in text
    assert '"value": 42.86' in text  # precision 3 of 7
