"""Alignment: whether sentences say what the citations behind them claim (KaLMA, 4.3).

The premise is a sentence without its citations, the hypothesis `relation: value` of one citation
in it: the other way round than for attribution, where evidence entails the answer.
"""

import numpy as np

from evaluation.measures.entailment import Pair
from evaluation.statistics.intervals import Floats, Indexes
from generation.text.citations import relation_name


def hypothesis(relation: str, value: str) -> str:
    """Return a triple as a model is asked about it: 'place of birth: Rome'.

    It names no subject: the sentence may say 'she'.
    """
    return f"{relation_name(relation)}: {' '.join(value.split())}"


def pair_of(sentence: str, relation: str, value: str) -> Pair:
    """Return what a model is asked: does the sentence entail the triple?"""
    return Pair(premise=sentence, hypothesis=hypothesis(relation, value))


def alignment_statistics(n_aligned: Indexes, n_pairs: Indexes) -> Floats:
    """Return what each answer adds to the figures: (n_answers, 4).

    Its aligned pairs, its pairs: their sums give the micro share. The share of the one in the
    other, and 1 where it has pairs: their sums give the macro share, a mean over answers. An
    answer without pairs has zeros.

    Args:
        n_aligned: (n_answers,) pairs whose sentence entails the triple.
        n_pairs: (n_answers,) pairs with a score; n_aligned of them at most.
    """
    shares = np.divide(n_aligned, n_pairs, out=np.zeros(len(n_pairs)), where=n_pairs > 0)
    return np.column_stack([n_aligned, n_pairs, shares, n_pairs > 0])
