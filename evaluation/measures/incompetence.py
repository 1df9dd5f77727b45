"""[NA]: whether an answer admits that its graph lacks knowledge (KaLMA, 4.4, figure 3).

Triples are removed from the graph that a model is shown. Each sentence with [NA] should be about
one of them, and each of them should have a sentence with [NA] about it. Pairs are those of
alignment: the premise is the sentence without citations, the hypothesis is `relation: value`.

Where something was removed and no sentence has [NA], recall and F1 are 0 and precision is undefined
(our reading): a model that never admits a gap is the worst, and there is no sentence to judge.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.alignment import pair_of
from evaluation.measures.citation import f1
from evaluation.measures.entailment import Pair
from evaluation.statistics.intervals import Floats, Indexes, Statistic, share_from
from evaluation.statistics.jackknife import InRange
from generation.text.compared_triples import compared, knowledge
from generation.text.flat_graph import Triple


class Best(NamedTuple):
    """The highest probabilities of one answer, among its sentences with [NA] × removed triples."""

    of_sentences: Floats  # (n_sentences,): the highest of each sentence
    of_removed: Floats  # (n_removed,): the highest of each removed triple


def absent_knowledge(removed: Sequence[Triple]) -> list[Triple]:
    """Return the removed triples that are knowledge, each only once, in order."""
    known = knowledge(removed)
    first: dict[Triple, Triple] = {}
    for triple in removed:
        first.setdefault(compared(triple), triple)
    return [triple for form, triple in first.items() if form in known]


def pairs_of(na_sentences: Sequence[str], absent: Sequence[Triple]) -> list[Pair]:
    """Return a pair for every sentence with every triple, sentence by sentence."""
    return [
        pair_of(sentence, relation, value)
        for sentence in na_sentences
        for _, relation, value in absent
    ]


def best_of(probabilities: Sequence[float] | Floats, n_sentences: int, n_removed: int) -> Best:
    """Return the highest probability of each sentence and of each triple.

    Without sentences or without triples there are no pairs, and the highest probability is 0.

    Args:
        probabilities: the probabilities of the pairs of `pairs_of`, in order.
        n_sentences: number of sentences.
        n_removed: number of removed triples.

    Raises:
        ValueError: there are not n_sentences × n_removed probabilities.
    """
    table = np.asarray(probabilities, dtype=float).reshape(n_sentences, n_removed)
    return Best(table.max(axis=1, initial=0.0), table.max(axis=0, initial=0.0))


def incompetence_statistics(
    of_sentences: Floats,
    sentence_answers: Indexes,
    of_removed: Floats,
    removed_answers: Indexes,
    n_answers: int,
    cut: float = 0.5,
) -> Floats:
    """Return four counts for each answer: (n_answers, 4).

    They are the numbers of its sentences with [NA] that entail a removed triple, of its sentences
    with [NA], of its removed triples that such a sentence entails, and of its removed triples. An
    answer from whose graph nothing was removed has zeros, because it is not known what its [NA]
    should be about.

    Args:
        of_sentences: (n_sentences,) the highest probability of each sentence.
        sentence_answers: (n_sentences,) the answer of each sentence, 0 .. n_answers - 1.
        of_removed: (n_removed,) the highest probability of each removed triple.
        removed_answers: (n_removed,) the answer of each removed triple.
        n_answers: number of answers.
        cut: a probability above this is a yes.
    """
    n_removed = np.bincount(removed_answers, minlength=n_answers)
    n_found = np.bincount(removed_answers, weights=of_removed > cut, minlength=n_answers)
    n_sentences = np.bincount(sentence_answers, minlength=n_answers)
    n_right = np.bincount(sentence_answers, weights=of_sentences > cut, minlength=n_answers)
    counts = np.column_stack([n_right, n_sentences, n_found, n_removed])
    return np.where((n_removed > 0)[:, np.newaxis], counts, 0.0)


def incompetence_figures(statistics: Floats, dialogs: Indexes) -> dict[str, Statistic]:
    """Return micro precision and recall (shares) and F1, each in [0, 1], for intervals.

    All three are undefined where nothing was removed. Where something was removed and no sentence
    has [NA], precision is undefined, and recall and F1 are 0.

    Args:
        statistics: (n_answers, 4), from `incompetence_statistics`.
        dialogs: (n_answers,) the dialog of each answer.
    """
    return {
        "precision": Statistic(statistics[:, :2], dialogs, share_from),
        "recall": Statistic(statistics[:, 2:], dialogs, share_from),
        "f1": Statistic(statistics, dialogs, InRange(na_f1_from)),
    }


def na_f1(precision: Floats, recall: Floats) -> Floats:
    """Return 2PR / (P + R): 0 where only precision is undefined, NaN where recall is undefined.

    Undefined precision means that no sentence has [NA]. Defined recall means that something was
    removed.
    """
    return f1(np.where(np.isnan(precision), 0.0, precision), recall)


def na_f1_from(sums: Floats) -> Floats:
    """Return F1 from the sums of `incompetence_statistics`: (..., 4) to (...)."""
    return na_f1(share_from(sums[..., :2]), share_from(sums[..., 2:]))
