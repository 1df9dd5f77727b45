"""Scores by shared words of pairs as short as a sentence and a triple."""

import pytest

from evaluation.backends.base import Entailment
from evaluation.backends.lexical import Lexical
from evaluation.measures.alignment import pair_of
from evaluation.metrics.alignment import AlignmentMetric
from evaluation.metrics.base import ScoreRequest

BORN = "She was born in Rome in 1593."
EMPEROR = "He was a Gupta emperor."
TRAVELLER = "She worked as a writer and traveller."
ALIGNED = [
    ("Ada was a painter.", "occupation", "painter"),
    (TRAVELLER, "occupation", "writer"),
    (BORN, "place of birth", "Rome"),
    (BORN, "date of birth", "1593-07-08"),
    ("She was an Italian Baroque painter.", "country of citizenship", "Italy"),
    ("Her husband Ben died early.", "spouse", "Ben"),
    ("He succeeded his father Samudragupta on the throne.", "father", "Samudragupta"),
    (EMPEROR, "position held", "Gupta emperor"),
]
NOT_ALIGNED = [
    ("Ada was a painter.", "place of birth", "Rome"),
    (BORN, "place of death", "Naples"),
    (BORN, "occupation", "painter"),
    ("Her husband Ben died early.", "spouse", "Karl"),
    (EMPEROR, "religion", "Hinduism"),
    (TRAVELLER, "sex or gender", "male"),
]


def n_above(threshold, rows):
    answers = Lexical().entailment([pair_of(*row) for row in rows])
    return sum(answer.probability > threshold for answer in answers)


@pytest.mark.parametrize(("threshold", "n_found"), [(0.5, 1), (0.3, 6)])
def test_half_is_too_much_for_triples_whose_relation_is_not_said(threshold, n_found):
    assert n_above(threshold, ALIGNED) == n_found
    assert n_above(threshold, NOT_ALIGNED) == 0


def test_underscores_of_a_relation_do_not_hide_its_words():
    [answer] = Lexical().entailment(
        [pair_of("His date of birth is 1596.", "date_of_birth", "1596")]
    )

    assert answer.probability == 1


def test_a_cut_premise_is_counted():
    scored = AlignmentMetric().scored(ScoreRequest([]), [Entailment(0.75, is_truncated=True)])

    assert (scored.score, scored.n_truncated) == (0.75, 1)
