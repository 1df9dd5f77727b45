"""Precision and recall of [NA], by hand (KaLMA, 4.4 and figure 3)."""

import math

import numpy as np
import pytest

from evaluation.measures.entailment import Pair
from evaluation.measures.incompetence import (
    absent_knowledge,
    best_of,
    incompetence_figures,
    incompetence_statistics,
    na_f1_from,
    pairs_of,
)
from evaluation.statistics.intervals import bootstrap_intervals

REMOVED = [
    ("Q1", "date of birth", "1596"),
    ("Q1", "spouse", "Ada"),
    ("Q2", "occupation", "painter"),
]
ALL_RIGHT = {"precision": 1, "recall": 1, "f1": 1}
SENTENCES = ["He was born in some year.", "His wife is not known."]


def counts_of(tables, cut=0.5):
    """Return the statistics of answers, each a table of probabilities: sentences × removed."""
    best = [best_of(np.ravel(table), *np.shape(table)) for table in tables]
    return incompetence_statistics(
        np.concatenate([each.of_sentences for each in best]),
        np.repeat(np.arange(len(best)), [len(each.of_sentences) for each in best]),
        np.concatenate([each.of_removed for each in best]),
        np.repeat(np.arange(len(best)), [len(each.of_removed) for each in best]),
        len(best),
        cut,
    )


def figures_of(statistics):
    """Return precision, recall and F1 of answers, by name."""
    figures = incompetence_figures(statistics, np.arange(len(statistics)))
    return {
        name: float(figure.measure(figure.statistics.sum(axis=0)))
        for name, figure in figures.items()
    }


def test_every_sentence_is_asked_about_with_every_triple():
    assert pairs_of(SENTENCES, REMOVED[:2]) == [
        Pair(SENTENCES[0], "date of birth: 1596"),
        Pair(SENTENCES[0], "spouse: Ada"),
        Pair(SENTENCES[1], "date of birth: 1596"),
        Pair(SENTENCES[1], "spouse: Ada"),
    ]


def test_names_are_no_knowledge_and_a_triple_counts_once():
    removed = [("Q1", "name", "Artemisia"), REMOVED[0], ("Q1", "qid", "Q1"), *REMOVED[:2]]

    assert absent_knowledge(removed) == REMOVED[:2]


def test_a_date_that_is_not_known_is_no_knowledge_and_spelling_makes_no_other_triple():
    """As citations are compared: '_' is a space, 'Name' is a relation of its own."""
    removed = [
        ("Q1", "date_of_death", " "),
        ("Q1", " name ", "Artemisia"),
        ("Q1", "date_of_birth", "1596 "),
        REMOVED[0],
        ("Q1", "Name", "Gentileschi"),
    ]

    assert absent_knowledge(removed) == [removed[2], removed[4]]


def test_figure_3():
    """Two sentences with [NA], three removed triples: one sentence is about two of them.

    Precision: 1 of 2 sentences. Recall: 2 of 3 triples. F1: 2 · ½ · ⅔ / (½ + ⅔) = 4/7.
    """
    found = figures_of(counts_of([[[0.9, 0.8, 0.1], [0.2, 0.3, 0.4]]]))

    assert found == pytest.approx({"precision": 1 / 2, "recall": 2 / 3, "f1": 4 / 7})


def test_no_figure_exceeds_1_where_pairs_would():
    """The published code counts pairs: three for one sentence, two for one triple."""
    one_sentence = figures_of(counts_of([[[1.0, 1.0, 1.0]]]))
    one_triple = figures_of(counts_of([[[1.0], [1.0]]]))

    assert one_sentence == one_triple == ALL_RIGHT


def test_an_answer_that_admits_nothing_counts_in_recall_alone():
    """1 of 1 sentence; 1 of 1 + 2 triples."""
    found = figures_of(counts_of([[[0.7]], np.zeros((0, 2))]))

    assert (found["precision"], found["recall"]) == (1, 1 / 3)


def test_an_answer_from_whose_graph_nothing_was_removed_is_in_no_figure():
    statistics = counts_of([[[0.7]], np.zeros((3, 0))])

    assert statistics.tolist() == [[1, 1, 1, 1], [0, 0, 0, 0]]


def test_where_nothing_was_removed_all_is_undefined():
    assert all(map(math.isnan, figures_of(counts_of([np.zeros((2, 0))])).values()))


def test_a_model_that_never_admits_a_gap_has_recall_0_and_f1_0_and_no_precision():
    """Two triples were removed and no sentence has [NA]: 0 of 2 triples, none of 0 sentences."""
    found = figures_of(counts_of([np.zeros((0, 2))]))

    assert math.isnan(found["precision"])
    assert (found["recall"], found["f1"]) == (0, 0)


def test_only_a_probability_above_the_threshold_is_a_yes():
    assert set(figures_of(counts_of([[[0.5]]])).values()) == {0}
    assert figures_of(counts_of([[[0.5]]], cut=0.4)) == ALL_RIGHT


def test_answers_are_added_up_before_they_are_divided():
    """Sentences 1 + 0 of 2 + 1, triples 1 + 0 of 1 + 3: ⅓ and ¼, F1 2/12 / (7/12) = 2/7."""
    found = figures_of(counts_of([[[0.9], [0.1]], [[0.2, 0.1, 0.0]]]))

    assert found == pytest.approx({"precision": 1 / 3, "recall": 1 / 4, "f1": 2 / 7})


def test_f1_is_taken_of_many_resamples_at_once():
    """The third has nothing admitted, the fourth nothing removed."""
    sums = np.array([[1, 2, 2, 3], [0, 2, 0, 3], [0, 0, 0, 3], [0, 0, 0, 0]])

    assert np.allclose(na_f1_from(sums), [4 / 7, 0, 0, math.nan], equal_nan=True)


def test_the_only_dialog_that_admits_leaves_an_f1_of_0_when_it_is_left_out():
    """One of 10 dialogs admits, rightly: F1 = 2 · 1/10 / (11/10) = .18182.

    F1 is 0 without it and 2/10 without another one; the mean is .18. V = 9/10 · (.18² + 9 · .02²) =
    .0324, n = .18182 · .81818 / .0324 = 4.5914, and t² of 9 degrees = 5.1174. Middle = (.18182 +
    5.1174 / 9.1828) / (1 + 1.11456) = .34953, half = √(1.11456 · (.14876 + 1.11456 / 4)) / 2.11456
    = .32640.
    """
    statistics = np.array([[1.0, 1.0, 1.0, 1.0], *[[0.0, 0.0, 0.0, 1.0]] * 9])
    f1 = incompetence_figures(statistics, np.arange(10))["f1"]

    [interval] = bootstrap_intervals([f1], 10, seed=1)

    assert interval == pytest.approx((0.34953 - 0.32640, 0.34953 + 0.32640), abs=1e-4)


def test_all_three_have_intervals_over_dialogs():
    statistics = counts_of([[[0.9], [0.1]], [[0.2, 0.1, 0.0]], [[0.9]], [[0.8, 0.1]], [[0.7]]])
    figures = incompetence_figures(statistics, np.arange(5))

    found = bootstrap_intervals(list(figures.values()), 5, seed=1)

    for interval, figure in zip(found, figures_of(statistics).values(), strict=True):
        assert interval.low < figure < interval.high


def test_a_table_that_is_no_table_is_refused():
    with pytest.raises(ValueError, match="cannot reshape"):
        best_of([0.1, 0.2, 0.3], 2, 2)
