"""The baseline without a model, and how backends are opened."""

import math

import pytest

from evaluation.backends.lexical import Lexical
from evaluation.backends.registry import BACKENDS, open_backend
from evaluation.measures.entailment import Pair
from generation.model_specs import BackendError, ModelSpec


def probability(premise, hypothesis):
    [found] = Lexical().entailment([Pair(premise, hypothesis)])
    assert not found.is_truncated
    assert found.problem == ""
    return found.probability


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        # rome, capital, italy; 'is', 'the' and 'of' do not count
        ("Rome is Italy's capital.", "Rome is the capital of Italy.", 3 / 3),
        ("Rome lies in Italy.", "Rome is the capital of Italy.", 2 / 3),
        ("ROME", "rome Rome rome, Paris", 1 / 2),  # distinct words, in any case
        ("Rome.", "Oslo.", 0),
        ("", "Rome.", 0),
        ("It was so.", "It is", 1 / 2),  # function words count where nothing else is left
        ("Capitals of Italy", "capital", 0),  # words as they are written
        ("It opened in 1912.", "In 1912", 1),
    ],
)
def test_lexical_is_the_share_of_the_hypothesis_words_that_the_premise_has(
    premise, hypothesis, expected
):
    assert probability(premise, hypothesis) == pytest.approx(expected)


def test_lexical_has_no_number_for_a_hypothesis_without_words():
    [found] = Lexical().entailment([Pair("Rome.", "?!")])

    assert math.isnan(found.probability)
    assert found.problem == "the response has no words"


def test_lexical_keeps_the_order_of_pairs():
    pairs = [Pair("a cat", "cat"), Pair("a dog", "cat"), Pair("a cat", "cat")]

    assert [found.probability for found in Lexical().entailment(pairs)] == [1, 0, 1]
    assert Lexical().entailment([]) == []


def test_backends_open_by_name():
    assert {"lexical", "heuristic", "transformers"} <= set(BACKENDS)
    assert open_backend(ModelSpec("lexical")).signature == "lexical|v:2"
    assert open_backend(ModelSpec("lexical")).revision == ""


def test_an_unknown_backend_is_refused_with_the_ones_there_are():
    with pytest.raises(BackendError, match="backend 'gpt'; expected one of added_words, lexical"):
        open_backend(ModelSpec("gpt"))
