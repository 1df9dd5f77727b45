"""Alignment of sentences and citations, by hand (KaLMA, 4.3)."""

import numpy as np
import pytest

from evaluation.measures.alignment import alignment_statistics, pair_of
from evaluation.measures.entailment import Pair
from evaluation.statistics.intervals import share_from


def micro_and_macro(n_aligned, n_pairs):
    sums = alignment_statistics(np.array(n_aligned), np.array(n_pairs)).sum(axis=0)
    return share_from(sums[:2]), share_from(sums[2:])


def test_the_sentence_is_the_premise_and_the_triple_the_hypothesis():
    assert pair_of("She was born in Rome.", "place_of_birth", " Rome ") == Pair(
        premise="She was born in Rome.", hypothesis="place of birth: Rome"
    )


def test_micro_weighs_citations_and_macro_weighs_answers_with_citations():
    # Four citations, three of them aligned; one, aligned; none at all.
    micro, macro = micro_and_macro([3, 1, 0], [4, 1, 0])

    assert micro == 4 / 5
    assert macro == (3 / 4 + 1) / 2


def test_an_answer_without_pairs_adds_nothing():
    statistics = alignment_statistics(np.array([2, 0]), np.array([3, 0]))

    assert statistics.tolist() == [[2, 3, 2 / 3, 1], [0, 0, 0, 0]]


def test_without_any_citation_both_are_undefined():
    assert np.isnan(micro_and_macro([0, 0], [0, 0])).all()


@pytest.mark.parametrize(
    ("system", "n", "n_aligned", "percent"),
    [("ChatGPT", 100, 82, 82.0), ("two raters, LLaMA-7B", 200, 91, 45.5)],
)
def test_the_shares_of_the_papers_human_check_are_counts_of_pairs(system, n, n_aligned, percent):
    """KaLMA, table 6: 100 pairs of each system; half a percent is the mean of two raters."""
    micro, _ = micro_and_macro([n_aligned], [n])

    assert round(100 * micro, 1) == percent
