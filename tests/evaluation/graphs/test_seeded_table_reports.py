"""Tables 3 and 4: means and deviations over seeded runs, worked out by hand."""

import math
from typing import Any

import pytest

from evaluation.graphs.experiments.reports import citation_table, quality_table
from evaluation.graphs.experiments.reports.citation_table import citation_table as table_3
from evaluation.graphs.experiments.reports.quality_table import quality_table as table_4
from evaluation.graphs.reports.citations import CitationChoices, citations_report
from evaluation.measures.citation import Mode
from evaluation.reports.report import record
from generation.models import Call, Grid, KGQuestion, Response
from tests.evaluation.hand_ablated import RUNS, answers, close, import_answers, setup, three_runs
from tests.evaluation.hand_cited import CHESS, LONDON, WRITER, score_answers, score_citations

pytestmark = pytest.mark.once

GOLD, RETRIEVED = "graph-gold", "graph-retrieved"


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


@pytest.fixture(scope="module")
def seeded(tmp_path_factory, module_database):
    return three_runs(tmp_path_factory.mktemp("seeded"))


# --- table 3 --------------------------------------------------------------------------------


def runs_of(table, dataset, row):
    """Return the rows of the runs behind a row."""
    return [record(each) for each in table.with_run_rows(dataset, row["group"])[1]]


def test_table_3_is_mean_and_deviation_of_three_runs(seeded):
    [row] = table_3(seeded).records

    # Of the runs: precision 2/3, 2/3, 1/1; recall 2/3, 2/3, 1/3; correctness 3/3, 2/3, 1/1.
    # Means 7/9, 5/9, 8/9. Distances from it are 1/9, 1/9 and 2/9 each time, so the deviation is
    # sqrt((1 + 1 + 4) / 81 / (3 - 1)) = sqrt(1/27).
    for name, mean in (("precision", 7 / 9), ("recall", 5 / 9), ("correctness", 8 / 9)):
        assert row[name] == close(mean)
        assert row[f"{name}_deviation"] == close(math.sqrt(1 / 27))
    # F1 of the means: 2 (7/9) (5/9) / (12/9) = 35/54. The runs' own are 2/3, 2/3 and 1/2.
    assert row["f1"] == close(35 / 54)
    # Of answers q1, q2. Precision 1, 0; 1/2, 1; 1, 0 (cites nothing): means 1/2, 3/4, 1/2.
    # Recall 2/2, 0; 1/2, 1; 1/2, 0: means 1/2, 3/4, 1/4.
    assert (row["macro_precision"], row["macro_recall"]) == (close(7 / 12), close(1 / 2))
    assert row["macro_recall_deviation"] == close(1 / 4)
    assert row["macro_f1"] == close(2 * (7 / 12) * (1 / 2) / (7 / 12 + 1 / 2))
    assert "f1_deviation" not in row
    assert (row["n_runs"], row["seeds"], row["n_answers"], row["n_citations"]) == (
        3,
        "1, 2, 3",
        6,
        7,
    )
    assert (row["label"], row["graph"], row["prompt"]) == ("small (0.5)", "retrieved", RETRIEVED)


def test_a_row_leads_to_its_runs_and_they_are_what_its_means_are_over(seeded):
    [row] = table_3(seeded).records

    setups = seeded.setups.filter(pk__in=row["setup_ids"]).order_by("settings__seed")
    runs = runs_of(citation_table, seeded, row)

    assert [each.settings["seed"] for each in setups] == [1, 2, 3]
    assert [run["setup_id"] for run in runs] == [each.pk for each in setups]
    assert [run["precision"] for run in runs] == [close(2 / 3), close(2 / 3), 1.0]
    assert [run["f1"] for run in runs] == [close(2 / 3), close(2 / 3), close(1 / 2)]
    # They say what the report on citations says of each setup, intervals and counts too.
    of_setups = {each["setup_id"]: each for each in citations_report(seeded).records}
    for run in runs:
        shared = run.keys() & of_setups[run["setup_id"]].keys()
        assert {name: run[name] for name in shared} == {
            name: of_setups[run["setup_id"]][name] for name in shared
        }
        assert {"recall_low", "macro_f1", "n_citations"} <= shared


def test_alignment_is_over_the_runs_that_have_it(seeded):
    keys = [f"small-{RETRIEVED}-{seed}" for seed in (1, 2)]
    run = score_citations(
        seeded,
        {
            (f"{keys[0]}-q1", 1): 0.9,
            (f"{keys[0]}-q1", 2): 0.9,
            (f"{keys[0]}-q2", 1): 0.1,
            (f"{keys[1]}-q1", 1): 0.9,
            (f"{keys[1]}-q1", 2): 0.1,
            (f"{keys[1]}-q2", 1): 0.1,
        },
    )

    report = table_3(seeded)
    [row] = report.records

    # 2 of 3 and 1 of 3: the mean 1/2, the deviation sqrt(2 (1/6)² / 1); run 3 was not asked about.
    assert row["aligned"] == close(1 / 2)
    assert row["aligned_deviation"] == close(math.sqrt(2 / 36))
    assert (row["aligned_n_undefined"], row["n_aligned_pairs"]) == (1, 6)
    assert row["alignment_run"] == run.pk
    assert f"alignment by {run.full_signature}" in report.signature
    assert [each["aligned"] for each in runs_of(citation_table, seeded, row)] == [
        close(2 / 3),
        close(1 / 3),
        None,
    ]


def test_one_run_has_no_deviation_and_its_own_interval(tmp_path):
    dataset = import_answers(tmp_path, answers(RUNS[0], setup()))

    [row], [alone] = table_3(dataset).records, citations_report(dataset).records

    assert row["precision_deviation"] is None
    for name in ("precision", "precision_low", "precision_high", "f1", "macro_recall_high"):
        assert row[name] == alone[name]


def test_runs_differ_in_nothing_but_seed_and_run(tmp_path):
    said = RUNS[0]
    rows = [
        *answers(said, setup(seed=1)),
        *answers(said, setup(seed=2, run="b")),  # the same
        *answers(said, setup(seed=3, precision="bf16")),
        *answers(said, setup(seed=4, temperature=0.9)),
        *answers(said, setup(GOLD, seed=5)),
        *answers(said, setup(seed=6, graph="abcd1234")),
        *answers(said, setup(seed=7, max_tokens=50)),
        *answers(said, setup("my own", seed=8)),
        *answers(said, setup(f"{GOLD}-minus-1", seed=9)),  # belongs to table 5
    ]
    rows += [row | {"id": f"n{n}", "setup": f"named {n}"} for n, row in enumerate(rows[:2])]
    dataset = import_answers(tmp_path, rows)

    report = table_3(dataset)

    assert [(row["label"], row["seeds"], row["n_runs"]) for row in report.records] == [
        ("named 0", "", 1),
        ("named 1", "", 1),
        *[("small (0.5)", seeds, len(seeds.split(", "))) for seeds in SEEDS_IN_ORDER],
        ("small (0.9)", "4", 1),
    ]
    by_seeds = {row["seeds"]: row for row in report.records}
    assert by_seeds["3"]["precision"] == close(2 / 3)  # the figure
    assert by_seeds["3"]["model_precision"] == "bf16"
    assert by_seeds["6"]["graph_mark"] == "abcd1234"
    assert by_seeds["7"]["other_settings"] == "max_tokens=50"
    assert (by_seeds["8"]["prompt_title"], by_seeds["8"]["graph"]) == ("my own", "")
    assert report.left_out["setups_of_ablations"] == 1
    assert len({row["group"] for row in report.records}) == len(report.records)


# By prompt: gold, retrieved, my own; then by their other settings.
SEEDS_IN_ORDER = ("5", "6", "7", "3", "1, 2", "8")


def test_what_the_calls_cost_is_summed_over_the_runs_and_unknown_is_counted(seeded):
    [row] = table_3(seeded).records
    assert [row[name] for name in COSTS] == [None] * len(COSTS)  # imported
    assert (row["n_runs_without_calls"], row["n_calls_without_price"]) == (3, 0)

    first, second, _ = seeded.setups.filter(pk__in=row["setup_ids"]).order_by("settings__seed")
    priced = {"name": "small", "price": {"input": 2.0, "output": 10.0}}
    euros = grid_of(seeded, "euros", models=[priced], currency="EUR")
    call(euros, first, "q1", tokens=(100, 20), seconds=1.5)
    call(euros, first, "q2", tokens=(0, 30), seconds=None)  # it does not say: 70 by our count
    call(euros, first, "q3", problem="no answer")
    unpriced = grid_of(seeded, "unpriced", models=[{"name": "small"}])
    call(unpriced, second, "q1", tokens=(50, 5), seconds=0.5)

    [row] = table_3(seeded).records

    assert (row["n_calls"], row["n_failed_calls"]) == (4, 1)
    assert (row["prompt_tokens"], row["completion_tokens"]) == (100 + 70 + 50, 20 + 30 + 5)
    # Two calls do not say their seconds, the last has no price: the others' sum is not that of all.
    assert (row["seconds"], row["n_calls_without_seconds"]) == (None, 2)
    assert (row["price"], row["currency"]) == (None, "EUR")
    assert (row["n_calls_without_price"], row["n_runs_without_calls"]) == (1, 1)
    # Of a million tokens: (170 · 2 + 50 · 10) EUR.
    assert [run["price"] for run in runs_of(citation_table, seeded, row)] == [
        close(840e-6),
        None,
        None,
    ]
    # Other currencies cannot be added.
    dollars = grid_of(seeded, "dollars", models=[priced], currency="USD")
    call(dollars, second, "q2", tokens=(50, 5), seconds=0.5)
    [row] = table_3(seeded).records
    assert (row["price"], row["currency"]) == (None, "EUR, USD")


COSTS = ("n_calls", "n_failed_calls", "prompt_tokens", "completion_tokens", "seconds", "price")


def grid_of(dataset, name, **grid):
    return Grid.objects.create(dataset=dataset, name=name, choices=grid)


def call(grid, of, example, tokens=(0, 0), **more):
    response = Response.objects.filter(setup=of, example__key=example).first()
    Call.objects.create(
        grid=grid,
        setup=of,
        example=grid.dataset.examples.get(key=example),
        response=None if "problem" in more else response,
        prompt="?",
        n_tokens=70,
        n_model_prompt_tokens=tokens[0],
        n_model_completion_tokens=tokens[1],
        **more,
    )


def test_what_is_left_out_and_what_is_made_up_are_counted(tmp_path):
    unknown = dict.fromkeys(("q1", "q2"))  # no graph is said
    rows = [
        *answers(RUNS[0], setup(seed=1)),
        *answers(RUNS[1], setup(seed=2), graph_shown={"q2": None}),
        *answers(RUNS[2], setup(seed=3), graph_shown=unknown),
    ]
    dataset = import_answers(tmp_path, rows)
    KGQuestion.objects.filter(example__key="q1").update(is_minimum_made_up=True)

    report = table_3(dataset)
    [row] = report.records

    # A run of which no graph is known is none of the row's.
    assert (row["n_runs"], row["seeds"], row["n_answers"]) == (2, "1, 2", 3)
    assert (row["n_unknown_graph"], row["n_made_up_minimum"]) == (1, 2)
    assert report.left_out["responses_without_a_known_graph"] == 3
    assert report.left_out["made_up_minimum_sets"] == 1
    assert [run["n_unknown_graph"] for run in runs_of(citation_table, dataset, row)] == [0, 1]


def test_mode_and_rounds_are_the_readers_choice(seeded):
    by_code = table_3(seeded, CitationChoices(Mode.AUTHORS_CODE)).records[0]
    # Run 3's second answer cites nothing: no precision in the code, so 1 there instead of 1/2.
    assert by_code["macro_precision"] == close((1 / 2 + 3 / 4 + 1) / 3)
    later = table_3(seeded, CitationChoices(rounds="later"))
    assert later.left_out["sets_without_rounds"] == 2
    assert later.records[0]["precision"] is later.records[0]["f1"] is None
    assert later.records[0]["precision_n_undefined"] == 3
    assert "minimum set: rounds 2 to 6" in later.signature


def test_intervals_of_a_mean_resample_each_dialog_for_all_runs(tmp_path):
    rows = []
    for seed in (1, 2):
        said = {f"p{n}": (WRITER, LONDON, CHESS)[(n + n // 4) % 3] for n in range(8)}
        rows += answers(said, setup(seed=seed))
    dataset = import_answers(tmp_path, rows, more=[f"p{n}" for n in range(8)])

    [row] = table_3(dataset).records

    assert row["correctness_deviation"] == 0.0  # both runs say the same
    # So their mean is as sure as one of them by the same resamples, and no surer.
    one, _ = runs_of(citation_table, dataset, row)
    assert row["correctness"] == one["correctness"]
    assert 0 <= row["correctness_low"] < row["correctness"] < row["correctness_high"] <= 1
    assert row["f1_low"] == one["f1_low"]  # F1 is resampled for one run as well
    assert row["f1_high"] == one["f1_high"]


# --- table 4 --------------------------------------------------------------------------------


def test_table_4_is_a_mean_over_the_scored_answers_of_all_runs(seeded):
    said: Any = {"backend": "language-model", "parameters": {"mode": "integer"}}
    keys = [f"small-{RETRIEVED}-{seed}-{q}" for seed in (1, 2, 3) for q in ("q1", "q2")]
    old = dict.fromkeys(keys, 1.0)
    score_answers(seeded, "fluency", old, signature="old", model_name="large", **said)
    scores = dict(zip(keys, (5.0, 4.0, 5.0, "no score in the reply", 2.0), strict=False))
    run = score_answers(seeded, "fluency", scores, signature="a", model_name="org/small", **said)
    going = score_answers(seeded, "fluency", old, signature="b", model_name="large", **said)
    type(going).objects.filter(pk=going.pk).update(state="running")
    score_answers(seeded, "coherence", dict.fromkeys(keys[:2], 3.0), signature="c", **said)

    report = table_4(seeded)
    [row] = report.records

    # 5, 4, 5, 2 of four answers; of the runs' means 9/2, 5 and 2 it would be 23/6.
    assert row["fluency"] == close(4.0)
    assert (row["fluency_n"], row["fluency_n_failed"], row["fluency_n_not_scored"]) == (4, 1, 1)
    assert (row["coherence"], row["coherence_n"], row["coherence_n_not_scored"]) == (3.0, 2, 4)
    assert (row["consistency"], row["consistency_n"], row["consistency_run"]) == (None, 0, None)
    assert (row["fluency_run"], row["fluency_is_own_judge"]) == (run.pk, True)
    assert (row["coherence_is_own_judge"], row["is_own_judge"]) == (False, True)
    assert (row["mode"], row["n_runs"], row["n_answers"], row["n_failed"]) == ("integer", 3, 6, 1)
    assert report.left_out["qualities_without_a_run"] == 2
    assert f"fluency by {run.full_signature}" in report.signature
    assert [each["fluency"] for each in runs_of(quality_table, seeded, row)] == [4.5, 5.0, 2.0]
