"""Retrieval and the baselines tell right from wrong in twelve languages, by texts written here."""

import tomllib
import unicodedata
from pathlib import Path

import pytest

from evaluation.backends.added_words import AddedWords
from evaluation.backends.lexical import Lexical
from evaluation.measures.entailment import ApartAsk, Pair
from generation.retrieval.bm25 import IDF_RULES, Bm25, PassageIndex

CLAIMS = tomllib.loads(
    (Path(__file__).parents[2] / "data" / "claims_in_languages.toml").read_text("utf-8")
)


@pytest.mark.parametrize("language", CLAIMS)
def test_the_passage_of_a_question_is_found_first(language):
    passages = [evidence for evidence, *_ in CLAIMS[language]][::-1]

    for idf in IDF_RULES:
        index = PassageIndex(passages, Bm25(idf=idf))
        for evidence, question, *_ in CLAIMS[language]:
            [(place, score)] = index.ranked(unicodedata.normalize("NFD", question), 1)
            assert (passages[place], score > 0) == (evidence, True)


@pytest.mark.parametrize("language", CLAIMS)
def test_baselines_tell_a_supported_answer_from_another(language):
    lexical, added_words = Lexical(language), AddedWords(language)

    for evidence, question, *answers in CLAIMS[language]:
        by_words = lexical.entailment([Pair(evidence, answer) for answer in answers])
        by_added = added_words.entailment(
            [ApartAsk(evidence, question, answer) for answer in answers]
        )
        for supported, unsupported in (by_words, by_added):
            assert supported.probability > unsupported.probability
