"""Runs that cannot be compared as they are: left out of the tables, or marked in them."""

from dataclasses import replace
from typing import Any

import pytest
from django.urls import reverse

from evaluation.graphs.experiments.figures import experiment_picture, run_figure_text
from evaluation.graphs.experiments.pages.progress import state_of
from evaluation.graphs.experiments.pages.tables import TABLES, table_rows
from evaluation.graphs.experiments.reports.accuracy import accuracy_report
from evaluation.graphs.experiments.reports.citation_table import citation_table
from evaluation.graphs.experiments.reports.costs import Cost, cost_columns
from evaluation.graphs.experiments.reports.quality_table import quality_table
from evaluation.graphs.experiments.reports.removal import removal_report
from evaluation.reports.columns import UNKNOWN, Estimate
from evaluation.reports.formats import write_report
from generation.models import Grid, GridChunk, GridSetup
from tests.charts import valid
from tests.evaluation.hand_ablated import RUNS, answers, import_answers, setup, three_runs
from tests.evaluation.hand_cited import ADA, CHESS, MILLER, WRITER, score_answers, score_citations
from tests.shown import shown

pytestmark = pytest.mark.once

GOLD = "graph-gold"
FOUR = dict.fromkeys(("q1", "p1", "p2", "p3"), WRITER)


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


def of_state(prompt, mark, retrieval, said=None):
    """Return answers to prompts made from one state of the graph."""
    made_by = setup(prompt, graph=mark, made_with={"retrieval": retrieval})
    rows = answers(said or {"q1": WRITER}, made_by)
    return [row | {"id": f"{mark}-{row['id']}"} for row in rows]


def cell_of(dataset, key, row, name):
    [table_row] = table_rows(dataset, key, [row], "", [])
    names = [shown.name for shown in TABLES[key]]
    return table_row.cells[names.index(name)]


# --- the state of the graph -----------------------------------------------------------------


def test_steps_of_an_ablation_are_of_one_state_of_the_graph(tmp_path):
    behind = [row for n in (1, 2) for row in of_state(f"{GOLD}-minus-{n}", "new", "B")]
    before = of_state(GOLD, "old", "A")
    dataset = import_answers(tmp_path / "in", [*before, *behind])

    report = removal_report(dataset)

    # The gold graph was asked of before it changed: it is no beginning of this line.
    assert [row["n_removed"] for row in report.records] == [1, 2]
    assert report.left_out["setups_of_another_state_of_the_graph"] == 1

    again = import_answers(
        tmp_path / "again", [*before, *of_state(GOLD, "new", "B"), *behind], "again"
    )
    report = removal_report(again)
    assert [(row["n_removed"], row["graph_mark"]) for row in report.records] == [
        (0, "new"),
        (1, "new"),
        (2, "new"),
    ]
    assert report.left_out["setups_of_another_state_of_the_graph"] == 1


def test_accuracy_is_of_one_state_of_the_graph_and_of_the_gold_entities(tmp_path):
    rows = [
        *of_state(GOLD, "m1", "A"),
        *of_state("graph-accuracy-80", "m2", "A|gold:x"),
        *of_state("graph-accuracy-60", "m3", "A|gold:y"),
        *of_state("graph-accuracy-40", "m2", "A|gold:x"),
    ]
    report = accuracy_report(import_answers(tmp_path, rows))

    # Marks differ by design: that of the whole graph says nothing of gold entities.
    assert [row["accuracy"] for row in report.records] == [100, 80, 40]
    assert report.left_out["setups_of_another_state_of_the_graph"] == 1


def test_marks_say_the_state_where_it_is_not_known_what_responses_were_made_with(tmp_path):
    rows = [*answers({"q1": WRITER}, setup(GOLD, graph="m1"))]
    for p in (80, 40):
        rows += answers({"q1": WRITER}, setup(f"graph-accuracy-{p}", graph="m2"))

    report = accuracy_report(import_answers(tmp_path, rows))

    assert [row["accuracy"] for row in report.records] == [100, 80, 40]


# --- short runs -----------------------------------------------------------------------------


def four_questions(tmp_path, sizes):
    """Return a dataset of a gold run of four answers, and one of each size without a member."""
    rows = answers(FOUR, setup(GOLD))
    for seed, n in enumerate(sizes, start=1):
        some = dict(list(FOUR.items())[:n])
        removed = {q: [ADA[1]] for q in some}
        rows += answers(some, setup(f"{GOLD}-minus-1", seed), removed=removed)
    return import_answers(tmp_path, rows, more=["p1", "p2", "p3"])


def test_a_run_with_under_half_of_the_answers_is_left_out_of_an_ablation(tmp_path):
    dataset = four_questions(tmp_path, (4, 2, 1))  # all, half and a quarter of the largest

    report = removal_report(dataset)
    gold, one = report.records

    assert (one["n_runs"], one["seeds"], report.left_out["runs_with_few_answers"]) == (2, "1, 2", 1)
    assert (gold["n_common"], one["n_common"]) == (2, 2)
    assert one["n_answers"] == 2 * 2
    assert cell_of(dataset, "removal", report.rows[1], "n_common").text == "2"


def test_a_run_before_the_end_of_its_grid_is_left_out_of_an_ablation(tmp_path):
    dataset = four_questions(tmp_path, (4, 3))
    second = dataset.setups.get(prompt=f"{GOLD}-minus-1", settings__seed=2)
    grid = Grid.objects.create(dataset=dataset, name="on", choices={}, state="cancelled")
    GridSetup.objects.create(grid=grid, setup=second, position=0)
    GridChunk.objects.create(grid=grid, setup=second, number=1, examples=[])

    report = removal_report(dataset)
    assert [(row["seeds"], row["n_common"]) for row in report.records] == [("1", 4), ("1", 4)]
    assert report.left_out["runs_not_at_their_end"] == 1

    # Another grid has come to the end of the same run.
    done = Grid.objects.create(dataset=dataset, name="done", choices={}, state="done")
    GridSetup.objects.create(grid=done, setup=second, position=0)
    report = removal_report(dataset)
    assert [(row["n_runs"], row["n_common"]) for row in report.records] == [(1, 3), (2, 3)]
    assert report.left_out["runs_not_at_their_end"] == 0


def test_a_set_that_few_have_does_not_make_the_whole_graphs_run_the_measure(tmp_path):
    rows = answers(FOUR, setup(GOLD))
    rows += answers({"q1": WRITER}, setup(f"{GOLD}-minus-1"), removed={"q1": [ADA[1]]})

    report = removal_report(import_answers(tmp_path, rows, more=["p1", "p2", "p3"]))

    assert [row["n_common"] for row in report.records] == [1, 1]
    assert report.left_out["runs_with_few_answers"] == 0


# --- marks of table 3 -----------------------------------------------------------------------


@pytest.fixture
def uneven(tmp_path):
    """Three runs: two citations, one of them needed; one, needed; none. q1 by the first alone."""
    rows = answers({"q2": f"{MILLER} {CHESS}", "q3": "[NA]"}, setup(seed=1))
    rows += answers({"q2": MILLER}, setup(seed=2))
    return import_answers(tmp_path, [*rows, *answers({"q2": "[NA]"}, setup(seed=3))])


def test_as_latex_it_has_the_columns_of_the_papers_table_3(uneven):
    """KaLMA, table 3: Model, Align.; Micro: Corr., Prec., Rec., F1; Macro: Prec., Rec., F1."""
    lines = write_report(citation_table(uneven), "latex").splitlines()

    above, rules, titles = lines[lines.index(r"\toprule") + 1 :][:3]
    groups = ((1, "Alignment"), (4, "Micro"), (3, "Macro"))
    heads = " & ".join(rf"\multicolumn{{{n}}}{{c}}{{{name}}}" for n, name in groups)
    assert above == rf" & {heads} \\"
    assert rules == r"\cmidrule(lr){2-2} \cmidrule(lr){3-6} \cmidrule(lr){7-9}"
    micro = ("Correct", "Precision", "Recall", "F1")
    assert titles.removesuffix(r" \\").split(" & ") == [
        "Model and temperature",
        *(rf"{name}, \%" for name in ("Aligned", *micro, *micro[1:])),
    ]


def test_as_latex_tables_3_and_4_have_rows_of_one_kind_and_name_it(tmp_path):
    """KaLMA prints each model once, as 'ChatGPT (0.5)'; its graphs are retrieved."""
    gold = [*answers(RUNS[1], setup("graph-gold")), *answers(RUNS[1], setup("graph-imported"))]
    dataset = three_runs(tmp_path / "all", "all kinds", gold)
    alone = import_answers(tmp_path / "gold", answers(RUNS[1], setup("graph-gold")), "gold")

    for table in (citation_table, quality_table):
        assert len(table(dataset).rows) == 3
        text = write_report(table(dataset), "latex")
        assert text.count("small (0.5)") == 1
        assert (
            r"\caption{all kinds. Prompt type: Graph, retrieved here. Rows of other prompt types "
            "are left out: 1 of Graph, as imported, 1 of Graph, gold.}" in text
        )
    assert "Prompt type: Graph, gold.}" in write_report(citation_table(alone), "latex")


def test_a_mean_over_fewer_runs_says_over_how_many(uneven):
    report = citation_table(uneven)
    [row] = report.rows

    # Precision 1/2, 1/1, undefined: mean 3/4, deviation sqrt(2 (1/4)²) = .3536. Recall 1, 1, 0.
    assert (row.precision.value, row.n_undefined("precision")) == (0.75, 1)
    cell = cell_of(uneven, "citations", row, "precision")
    assert (cell.text, cell.beside) == ("75.0", "(35.4) of 2 runs")
    recall = cell_of(uneven, "citations", row, "recall")
    assert (recall.text, recall.beside) == ("66.7", "(57.7)")
    assert "75.0 (35.4), of 2 &" in write_report(report, "latex")
    assert "66.7 (57.7) &" in write_report(report, "latex")
    assert run_figure_text(row, "precision").startswith("75.0 (35.4)")
    assert run_figure_text(row, "precision").endswith(", 2 runs")
    assert run_figure_text(row, "recall").endswith(", 3 runs")


def test_runs_of_different_size_are_called_so(uneven):
    [row] = citation_table(uneven).rows

    assert (row.n_answers_least, row.n_answers_most, row.counts.n_answers) == (1, 2, 4)
    [table_row] = table_rows(uneven, "citations", [row], "", [])
    assert "runs of different size" in table_row.tags


def test_answers_that_alignment_did_not_score_are_counted(uneven):
    assert citation_table(uneven).records[0]["n_without_alignment"] is None  # there is no run
    score_citations(uneven, {("small-graph-retrieved-1-q2", 1): 0.9})

    [row] = citation_table(uneven).rows

    # The answer of run 2 has a citation and no score; the others without a score have none.
    assert row.n_without_alignment == 1
    [table_row] = table_rows(uneven, "citations", [row], "", [])
    assert "1 answer without alignment" in table_row.tags
    assert cell_of(uneven, "citations", row, "aligned").beside == "of 1 run"


def test_an_answer_from_a_graph_without_something_is_in_no_table_of_whole_graphs(tmp_path):
    said_by = {"model": "gpt-4", "temperature": 0.5, "prompt": "ours", "seed": 1}
    rows = answers({"q1": WRITER, "q2": MILLER}, said_by, removed={"q1": [ADA[1]], "q2": []})
    rows += answers({"q1": WRITER}, setup(f"{GOLD}-minus-1"), removed={"q1": [ADA[1]]})
    dataset = import_answers(tmp_path, rows)
    score_answers(dataset, "fluency", {"gpt-4-ours-1-q1": 1.0, "gpt-4-ours-1-q2": 5.0})

    for report in (citation_table(dataset), quality_table(dataset)):
        [row] = report.records
        assert (row["model"], row["n_answers"]) == ("gpt-4", 1)
        assert report.left_out["answers_with_removed_knowledge"] == 1  # the others are said to be
    assert citation_table(dataset).records[0]["recall"] == 1.0  # q2 alone
    assert quality_table(dataset).records[0]["fluency"] == 5.0


# --- costs ----------------------------------------------------------------------------------


def cost(price, currency="EUR", n_without_seconds=0):
    return Cost(1, 4, 0, 100, 10, 2.5, n_without_seconds, price, currency if price else "")


def test_what_some_calls_cost_is_not_the_cost_of_a_row(uneven):
    assert cost_columns([cost(1.5), cost(2.0)]).price == 3.5
    assert cost_columns([cost(1.5), cost(2.0)]).seconds == 5.0
    assert cost_columns([cost(1.5), cost(2.0, "USD")]).price is None
    some = cost_columns([cost(1.5), cost(None, n_without_seconds=3)])
    assert (some.price, some.n_calls_without_price) == (None, 4)
    assert (some.seconds, some.n_calls_without_seconds) == (None, 3)

    [row] = citation_table(uneven).rows
    for name, below in (("price", "not of 4 calls"), ("seconds", "not of 3 calls")):
        cell = cell_of(uneven, "citations", replace(row, costs=some), name)
        assert (cell.text, cell.below) == ("—", below)
    # Where no call has a price there is nothing to tell apart.
    free = cell_of(uneven, "citations", replace(row, costs=cost_columns([cost(None)])), "price")
    assert (free.text, free.below) == ("—", "")
    partly = replace(row, costs=cost_columns([cost(1.5)], 1))
    [table_row] = table_rows(uneven, "citations", [partly], "", [])
    assert "costs of 2 runs" in table_row.tags


# --- which run is read ----------------------------------------------------------------------


def test_table_4_reads_the_newest_run_that_is_done_and_step_2_says_which(uneven, rosa, client_for):
    key = "small-graph-retrieved-1-q2"
    said_by: dict[str, Any] = {"backend": "language-model", "model_name": "judge"}
    whole = score_answers(uneven, "fluency", {key: 1.0}, signature="a", **said_by)
    sample = score_answers(
        uneven, "fluency", {key: 4.0}, signature="b", parameters={"n_sampled": 1}, **said_by
    )
    assert quality_table(uneven).records[0]["fluency"] == 4.0
    assert quality_table(uneven).records[0]["fluency_run"] == sample.pk

    newest = score_answers(uneven, "fluency", {}, signature="c", state="running", **said_by)

    read = {each.metric: run for each, run in state_of(uneven, "quality").scores}
    assert (read["fluency"], read["coherence"]) == (sample, None)
    address = reverse("graphs:experiment", args=[uneven.slug, "quality"])
    metrics = shown(client_for(rosa).get(address)).table("Metrics")
    read_there = metrics.row("Fluency (G-Eval)")["Run in the table"]
    assert read_there.startswith(f"run {sample.pk} ")
    # Alignment is a figure of all answers: there the whole run goes before a later sample.
    first = score_citations(uneven, {(key, 1): 0.9})
    score_citations(uneven, {(key, 1): 0.9}, signature="s", parameters={"n_sampled": 1})
    read = {each.metric: run for each, run in state_of(uneven, "citations").scores}
    assert read == {"alignment": first}
    assert citation_table(uneven).records[0]["alignment_run"] == first.pk
    assert newest.pk > sample.pk > whole.pk


# --- figures 4 and 5 ------------------------------------------------------------------------


def test_the_axis_has_the_steps_of_the_rows(tmp_path):
    row = removal_report(four_questions(tmp_path, (4,))).rows[0]
    others = ("precision", "recall", "na_precision", "na_recall", "na_f1")
    undefined: dict[str, Any] = dict.fromkeys(others, UNKNOWN)
    alone = replace(row, f1=Estimate(0.5), **undefined)
    rows = [replace(alone, n_removed=n) for n in (0, 2, 5)]

    [panel] = valid(experiment_picture("removal", rows))["concat"]
    x = panel["layer"][0]["encoding"]["x"]
    assert x["axis"]["values"] == [0, 2, 5]
    low, high = x["scale"]["domain"]
    assert low < 0 < 5 < high
    assert experiment_picture("removal", []) is None
