"""The tables of experiments: of runs that were made here, in every format, read in few queries."""

import json

import pytest
from django.core.management import call_command

from evaluation.graphs.experiments.figures import experiment_charts
from evaluation.graphs.experiments.reports.accuracy import accuracy_report
from evaluation.graphs.experiments.reports.citation_table import citation_table as table_3
from evaluation.graphs.experiments.reports.quality_table import quality_table as table_4
from evaluation.graphs.experiments.reports.removal import removal_report
from evaluation.reports.formats import FORMATS, write_report
from evaluation.reports.registry import CannotReport
from tests.evaluation.hand_ablated import (
    RUNS,
    accuracy_rows,
    all_runs,
    answers,
    close,
    import_answers,
    removal_rows,
    setup,
)
from tests.generation.lovelace import lovelace
from tests.generation.question_makers import ask, grid_of, started
from tests.makers import example_row, import_path, import_rows, statements

pytestmark = pytest.mark.once

REPORTS = (table_3, table_4, removal_report, accuracy_report)


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


def axes_of(chart):
    return [layer["encoding"]["x"]["axis"] for layer in chart["layer"]]


def test_the_setups_of_a_grid_are_grouped_over_their_seeds(tmp_path):
    dataset = lovelace(tmp_path)  # gold: born and family; a minimum set, of one: born
    prompts = ["graph-gold", "graph-gold-minus-1", "graph-gold-minus-2", "graph-accuracy-20"]
    models = [{"name": "extractive", "price": {"input": 1.0, "output": 1.0}}]
    ask(started(dataset, grid_of(prompts=prompts, seeds=[1, 2], models=models)))

    gold, one, two = removal_report(dataset).records

    # At temperature 0 only what is removed depends on the seed.
    assert [(row["n_removed"], row["seeds"]) for row in (gold, one, two)] == [
        (0, ""),
        (1, "1, 2"),
        (2, "1, 2"),
    ]
    assert [row["n_common"] for row in (gold, one, two)] == [1, 1, 1]
    assert (gold["n_other_answers"], one["n_other_answers"]) == (1, 0)
    assert [row["n_triples_removed"] for row in (gold, one, two)] == [0, 2, 2]
    assert one["recall"] == 0.0  # what is not shown cannot be cited
    whole, replaced = accuracy_report(dataset).records
    assert (whole["accuracy"], whole["n_common"], whole["gold_share"]) == (100, 2, 1.0)
    # Only one of three sub-graphs, that of born, can be replaced, namely by Lord Byron's: the other
    # entities are gold for family. So it is in each of two runs.
    assert (replaced["accuracy"], replaced["n_runs"]) == (20, 2)
    assert (replaced["n_gold_subgraphs"], replaced["n_subgraphs"]) == (2 * 2, 2 * 3)
    # Figure 5 has them at the share that is there, 2 / 3, and not at the nominal 20.
    chart = experiment_charts("accuracy", accuracy_report(dataset).rows)["recall"]
    [points] = chart["datasets"].values()
    assert [point["x"] for point in points] == [100, round(200 / 3, 3)]
    assert "gold among the sub-graphs shown, % (nominal) 66.7 (20):" in points[1]["said"]
    assert all('[["100"], ["66.7", "(20)"]]' in axis["labelExpr"] for axis in axes_of(chart))
    [table] = table_3(dataset).records
    assert (table["prompt"], table["n_calls"], table["n_failed_calls"]) == ("graph-gold", 2, 0)
    assert table["seconds"] > 0
    assert table["price"] == close((table["prompt_tokens"] + table["completion_tokens"]) / 1e6)


def test_a_row_names_the_usual_seed_too(tmp_path):
    dataset = lovelace(tmp_path)
    prompts = ["graph-gold", "graph-gold-minus-1"]
    models = [{"name": "extractive"}]
    ask(started(dataset, grid_of(prompts=prompts, seeds=[0, 1, 2], models=models)))
    ask(
        started(
            dataset,
            grid_of("warm", "extractive", prompts=["graph-gold"], seeds=[0, 1], temperatures=[0.5]),
        )
    )

    # At temperature 0 nothing is drawn but what is removed; seed 0 is usual, so settings lack it.
    removed = {row["n_removed"]: row["seeds"] for row in removal_report(dataset).records}
    assert removed == {0: "", 1: "0, 1, 2"}
    assert {row["temperature"]: row["seeds"] for row in table_3(dataset).records} == {
        0.0: "",
        0.5: "0, 1",
    }


def test_a_dataset_without_a_graph_is_an_error_that_says_so(tmp_path):
    dataset = import_rows(tmp_path, "plain", examples=[example_row()]).dataset
    assert dataset is not None

    for report in REPORTS:
        with pytest.raises(CannotReport, match="plain has no knowledge graph"):
            report(dataset)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.__name__)
def test_without_responses_there_are_no_rows(tmp_path, report):
    found = report(import_answers(tmp_path, []))

    assert found.rows == []
    assert not any(found.left_out.values()) or report is table_4


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.__name__)
def test_there_are_as_many_queries_for_any_number_of_runs(tmp_path, report):
    few = [*removal_rows()[:5], *answers(RUNS[0], setup())]
    dataset = import_answers(tmp_path / "few", few, "few")
    many = import_answers(tmp_path / "many", [*removal_rows(), *all_runs()], "many")
    for each in (dataset, many):
        report(each)  # answers are kept from now on

    n_queries = len(statements(lambda: report(dataset)))
    assert len(statements(lambda: report(many))) == n_queries == N_QUERIES[report]


# Whether there is a graph, and the setups: 2. Cited answers: 4 to see that the kept ones hold, or
# counted responses: 2. What was removed, though no prompt says so: 1; grids that are not at their
# end: 1. Then alignment with costs, text quality, [NA] with lengths, nothing.
N_QUERIES = {
    table_3: 2 + 4 + 1 + 2,
    table_4: 2 + 2 + 1 + 1,
    removal_report: 2 + 4 + 2 + 2,
    accuracy_report: 2 + 4 + 2,
}


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.__name__)
def test_every_format_prints_it_and_an_exported_dataset_says_the_same(tmp_path, report):
    dataset = import_answers(
        tmp_path / "in", [*removal_rows(), *accuracy_rows(), *all_runs()], "whole"
    )
    call_command("export", "whole", str(tmp_path / "out"))
    again = import_path(tmp_path / "out", "again").dataset
    assert again is not None

    here, there = report(dataset), report(again)

    assert there.signature == here.signature
    assert [row | {"setup_ids": []} for row in there.records] == [
        row | {"setup_ids": []} for row in here.records
    ]
    for format_key in (*FORMATS, "table"):
        assert "small (0.5)" in write_report(here, format_key)
    assert json.loads(write_report(here, "json"))["rows"] == here.records
