"""Recall and precision of a ranking, worked out by hand."""

import math

import pytest

from generation.retrieval.recall import precision_at, recall_at

RANKING = [11, 12, 13, 14]


@pytest.mark.parametrize(
    ("golden", "k", "recall", "precision"),
    [
        ({12}, 1, 0, 0),
        ({12}, 2, 1, 1 / 2),
        ({12}, 4, 1, 1 / 4),
        ({11, 14, 99}, 1, 1 / 3, 1),  # 99 is in no ranking
        ({11, 14, 99}, 4, 2 / 3, 2 / 4),
        ({11}, 10, 1, 1 / 10),  # out of k, though the ranking has four
    ],
)
def test_recall_is_of_the_golden_and_precision_of_the_first_k(golden, k, recall, precision):
    assert recall_at(RANKING, golden, k) == pytest.approx(recall)
    assert precision_at(RANKING, golden, k) == pytest.approx(precision)


def test_without_golden_passages_neither_is_defined():
    assert math.isnan(recall_at(RANKING, set(), 2))
    assert math.isnan(precision_at(RANKING, set(), 2))


def test_the_first_none_is_an_error():
    with pytest.raises(ValueError, match="first 0"):
        recall_at(RANKING, {11}, 0)
