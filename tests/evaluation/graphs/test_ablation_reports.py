"""Removed knowledge and retrieval accuracy: table 5 and figures 4 and 5, worked out by hand."""

import math
from typing import Any

import pytest

from evaluation.graphs.experiments.reports import accuracy, removal
from evaluation.graphs.experiments.reports.accuracy import accuracy_report
from evaluation.graphs.experiments.reports.removal import removal_report
from evaluation.reports.report import record
from tests.evaluation.hand_ablated import (
    accuracy_rows,
    answers,
    close,
    import_answers,
    removal_rows,
    setup,
)
from tests.evaluation.hand_cited import CHESS, WRITER, score_answers
from tests.makers import import_rows

pytestmark = pytest.mark.once

GOLD = "graph-gold"


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


# --- table 5 and figure 4 -------------------------------------------------------------------


def runs_of(table, dataset, row):
    """Return the rows of the runs behind a row."""
    return [record(each) for each in table.with_run_rows(dataset, row["group"])[1]]


def test_removal_compares_the_examples_that_all_rows_have(tmp_path):
    dataset = import_answers(tmp_path, removal_rows())

    report = removal_report(dataset)
    gold, one, two = report.records

    assert [row["n_removed"] for row in report.records] == [0, 1, 2]
    assert len({row["family"] for row in report.records}) == 1
    # q3's set is empty: nothing can be removed from it. It is left out of the gold row as well.
    assert [row["n_common"] for row in report.records] == [2, 2, 2]
    assert [row["n_other_answers"] for row in report.records] == [1, 0, 0]
    assert report.left_out["answers_to_examples_that_not_all_rows_have"] == 1
    assert [row["n_runs"] for row in report.records] == [1, 2, 2]
    assert (gold["precision"], gold["recall"], gold["f1"]) == (1.0, 1.0, 1.0)
    # Precision 1 of 2 and 1 of 3, recall 1 of 3 twice.
    assert one["precision"] == close((1 / 2 + 1 / 3) / 2)
    assert one["precision_deviation"] == close(math.sqrt(2 * (1 / 12) ** 2))
    assert (one["recall"], one["recall_deviation"]) == (close(1 / 3), 0.0)
    assert one["f1"] == close(2 * (5 / 12) * (1 / 3) / (5 / 12 + 1 / 3))
    assert (two["precision"], two["recall"], two["f1"]) == (0.0, 0.0, 0.0)
    # q2 has but one member.
    assert [row["n_triples_removed"] for row in report.records] == [0, 4, 6]
    assert [row["n_unknown_removed"] for row in report.records] == [0, 0, 0]
    assert [row["removed_per_answer"] for row in report.records] == [0.0, 1.0, 1.5]
    assert [each["precision"] for each in runs_of(removal, dataset, one)] == [
        close(1 / 2),
        close(1 / 3),
    ]
    assert [each["precision"] for each in runs_of(removal, dataset, gold)] == [1.0]  # not 3 of 4


def test_removal_has_the_figures_on_na_of_the_newest_run(tmp_path):
    dataset = import_answers(tmp_path, removal_rows())

    def said(sentences, removed):
        return {
            "na_sentences": [{"text": "", "probability": p} for p in sentences],
            "removed": [{"text": "", "probability": p} for p in removed],
        }

    minus_2 = f"small-{GOLD}-minus-2"
    details = {
        f"{minus_2}-1-q1": said([0.9], [0.9, 0.1]),
        f"{minus_2}-1-q2": said([], [0.0]),
        f"{minus_2}-2-q1": said([0.2, 0.8], [0.8, 0.8]),
        f"{minus_2}-2-q2": said([], [0.0]),
        f"small-{GOLD}-minus-1-1-q1": said([], [0.0]),
        f"small-{GOLD}-1-q1": said([], []),
    }
    scores: Any = dict.fromkeys(details, 0.5)
    scores |= {f"small-{GOLD}-1-q1": "nothing was removed from its graph"}
    scores |= {f"small-{GOLD}-minus-1-2-q1": "too long"}
    run = score_answers(dataset, "incompetence", scores, details, backend="lexical")

    report = removal_report(dataset)
    gold, one, two = report.records

    # Seed 1: precision 1 of 1, recall 1 of 3. Seed 2: 1 of 2, 2 of 3.
    assert (two["na_precision"], two["na_recall"]) == (close(3 / 4), close(1 / 2))
    assert two["na_f1"] == close(2 * (3 / 4) * (1 / 2) / (3 / 4 + 1 / 2))
    assert two["na_precision_deviation"] == close(math.sqrt(2 * (1 / 4) ** 2))
    assert (two["n_na_answers"], two["n_asked_triples"], two["n_found_triples"]) == (4, 6, 3)
    assert (two["n_asked_sentences"], two["n_right_sentences"]) == (3, 2)
    # Seed 1: one answer without a sentence with [NA], 0 of 1 triple. Seed 2: its answer failed.
    assert (one["na_precision"], one["na_recall"], one["na_f1"]) == (None, 0.0, 0.0)
    assert (one["na_precision_n_undefined"], one["na_recall_n_undefined"]) == (2, 1)
    assert (one["n_asked_sentences"], one["n_asked_triples"]) == (0, 1)
    assert (one["n_na_answers"], one["n_na_failed"], one["na_run"]) == (1, 1, run.pk)
    assert (gold["na_precision"], gold["n_na_answers"], gold["na_run"]) == (None, 0, None)
    assert f"[NA] by {run.full_signature}" in report.signature
    assert runs_of(removal, dataset, two)[1]["na_precision"] == close(1 / 2)


def test_of_graphs_that_have_changed_the_newest_counts(tmp_path):
    rows = removal_rows()
    older = answers({"q1": WRITER, "q2": CHESS}, setup(GOLD, graph="0ld"))
    alone = answers({"q1": WRITER}, setup(GOLD, temperature=0.9))
    dataset = import_answers(tmp_path, [*(r | {"id": f"o{n}"} for n, r in enumerate(older)), *rows])
    import_rows(tmp_path / "alone", dataset.name, responses=[r | {"id": "alone"} for r in alone])

    report = removal_report(dataset)

    assert [row["graph_mark"] for row in report.records] == [""] * 3
    assert report.left_out["setups_of_another_state_of_the_graph"] == 1
    assert report.left_out["setups_without_an_ablation"] == 1


# --- figure 5 -------------------------------------------------------------------------------


def test_accuracy_falls_from_100_with_the_measured_share_beside_it(tmp_path):
    dataset = import_answers(tmp_path, accuracy_rows())

    report = accuracy_report(dataset)

    assert [row["accuracy"] for row in report.records] == [100, 80, 40]
    # Of q1, q2 the sub-graphs of Q1, Q2 are gold: both, one, none of two.
    assert [row["gold_share"] for row in report.records] == [1.0, 0.5, 0.0]
    assert [row["n_gold_subgraphs"] for row in report.records] == [2, 1, 0]
    assert [row["n_subgraphs"] for row in report.records] == [2, 2, 2]
    assert [row["recall"] for row in report.records] == [1.0, close(1 / 3), 0.0]
    assert [row["correctness"] for row in report.records] == [1.0, 1.0, None]
    [run] = runs_of(accuracy, dataset, report.records[1])
    assert (run["accuracy"], run["gold_share"], run["recall"]) == (80, 0.5, close(1 / 3))
