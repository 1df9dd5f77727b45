"""Alignment: whether sentences say what their citations claim (KaLMA, 4.3).

The premise is a sentence without its citations, and the hypothesis is `relation: value` of one of
its citations. This is the reverse of attribution, where the evidence entails the answer.
"""

import numpy as np

from evaluation.measures.entailment import Pair
from evaluation.statistics.intervals import Floats, Indexes
from generation.text.citations import relation_name


def hypothesis(relation: str, value: str) -> str:
    """Return a triple in the form in which a model is asked about it: 'place of birth: Rome'.

    It names no subject, because the sentence may say 'she'.
    """
    return f"{relation_name(relation)}: {' '.join(value.split())}"


def pair_of(sentence: str, relation: str, value: str) -> Pair:
    """Return the pair that asks a model: does the sentence entail the triple?"""
    return Pair(premise=sentence, hypothesis=hypothesis(relation, value))


def alignment_statistics(n_aligned: Indexes, n_pairs: Indexes) -> Floats:
    """Return four numbers for each answer: (n_answers, 4).

    The first two are its number of aligned pairs and its number of pairs; their sums give the micro
    share. The last two are the share of aligned pairs, and 1 if the answer has pairs; their sums
    give the macro share, a mean over answers. An answer without pairs has zeros.

    Args:
        n_aligned: (n_answers,) number of pairs whose sentence entails the triple.
        n_pairs: (n_answers,) number of pairs with a score, not smaller than `n_aligned`.
    """
    shares = np.divide(n_aligned, n_pairs, out=np.zeros(len(n_pairs)), where=n_pairs > 0)
    return np.column_stack([n_aligned, n_pairs, shares, n_pairs > 0])
