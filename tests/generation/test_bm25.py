"""Passages ranked by shared words: rank-bm25's figures, from an index that can be on disk."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

from generation.retrieval.bm25 import IDF_RULES, Bm25, PassageIndex
from generation.text.tokens import tokens
from tests.published import shared_folder

LUCENE = Bm25(idf="lucene")
ROME = [
    "Rome is a city in Italy.",
    "The mill closed in 1971.",
    "The mill of Rome closed, says the owner.",
]

words = st.text(alphabet="ab cé.", max_size=12)
passages = st.lists(words, max_size=8)
choices = st.builds(Bm25, st.sampled_from(list(IDF_RULES)), st.floats(0, 3), st.floats(0, 1))


def places(ranking):
    return [place for place, _ in ranking]


def test_tokens_are_words_in_lower_case():
    assert tokens("Rome's 2nd Émigré, état_civil — no?") == [
        "rome",
        "s",
        "2nd",
        "émigré",
        "état_civil",
        "no",
    ]


def test_a_score_is_that_of_the_formula():
    # N = 3 passages of 3, 1 and 2 words (mean 2). 'mill' is in one of them, twice:
    # idf = ln(2.5 / 1.5); tf part = 2 · 2.5 / (2 + 1.5 · (0.25 + 0.75 · 3/2)) = 5 / 4.0625.
    index = PassageIndex(["mill mill fire", "flood", "the owner"])

    expected = math.log(2.5 / 1.5) * 5 / 4.0625
    assert index.scores("Mill?") == pytest.approx([expected, 0, 0])
    # A word counts as often as the query says it.
    assert index.scores("mill, mill") == pytest.approx([2 * expected, 0, 0])


def test_lucenes_rule_weighs_a_word_of_all_passages_above_zero():
    # N = 2, n = 2: ln(1 + 0.5 / 2.5) = ln 1.2; all lengths are the mean: tf part = 2.5 / 2.5.
    index = PassageIndex(["the mill", "the flood"], LUCENE)

    assert index.scores("the") == pytest.approx([math.log(1.2), math.log(1.2)])


@given(st.lists(words, min_size=1, max_size=8), words, st.floats(0, 3), st.floats(0, 1))
def test_scores_are_rank_bm25s_own(texts, query, k1, b):
    documents = [tokens(text) for text in texts]
    if not any(documents):
        return  # rank-bm25 divides by their mean length
    if k1 * (1 - b) == 0:
        return  # rank-bm25 divides by 0 for an empty passage; tiny numbers give 0 too
    okapi = BM25Okapi(documents, k1=k1, b=b)

    scores = PassageIndex(texts, Bm25(k1=k1, b=b)).scores(query)

    assert scores.tolist() == okapi.get_scores(tokens(query)).tolist()


@given(passages, words, st.integers(0, 9), choices)
def test_the_best_are_those_of_a_plain_sort(texts, query, k, bm25):
    index = PassageIndex(texts, bm25)
    scores = [round(float(score), 6) for score in index.scores(query)]

    ranking = index.ranked(query, k)

    assert places(ranking) == sorted(range(len(texts)), key=lambda i: (-scores[i], i))[:k]
    assert [round(score, 6) for _, score in ranking] == [scores[i] for i, _ in ranking]


@given(passages, words, st.integers(0, 9), st.sets(st.integers(0, 7)))
def test_what_is_left_out_makes_room_for_the_next(texts, query, k, without):
    index = PassageIndex(texts)
    without = {place for place in without if place < len(texts)}

    found = places(index.ranked(query, k, without))

    everything = places(index.ranked(query, len(texts)))
    assert found == [place for place in everything if place not in without][:k]


def test_the_passage_that_says_more_about_the_query_comes_first():
    # 'mill' is in 1 and 2, 'rome' in 0 and 2, '1971' in 1 alone and weighs most.
    index = PassageIndex(ROME, LUCENE)

    assert places(index.ranked("rome mill", 1)) == [2]
    assert places(index.ranked("the mill in 1971", 1)) == [1]


def test_a_rare_word_weighs_more_than_a_frequent_one():
    index = PassageIndex(["mill Rome", "mill flood", "mill fire", "mill owner"])

    assert places(index.ranked("mill flood", 4)) == [1, 0, 2, 3]


def test_scores_closer_than_a_millionth_are_ties():
    # The word is in each of 1,501 passages and Lucene's rule weighs it by about 1 / 3,000; that
    # one passage is longer by a word makes less than a millionth where length hardly counts.
    index = PassageIndex(["mill fire"] + ["mill"] * 1500, Bm25("lucene", b=0.001))
    first, second = index.scores("mill")[:2]

    assert 0 < second - first < 5e-7
    assert places(index.ranked("mill", 2)) == [0, 1]


def test_there_are_always_k_where_there_are_so_many():
    index = PassageIndex(["a flood", "the mill", "a fire"])

    assert places(index.ranked("mill", 2)) == [1, 0]
    assert places(index.ranked("?!", 2)) == [0, 1]
    assert places(index.ranked("mill", 9)) == [1, 0, 2]


@pytest.mark.parametrize("texts", [[], [""], ["", " . "]])
def test_passages_without_a_word_score_nothing(texts):
    index = PassageIndex(texts)

    assert index.scores("mill").tolist() == [0.0] * len(texts)
    assert places(index.ranked("mill", 3)) == list(range(len(texts)))


def test_a_negative_number_of_passages_is_an_error():
    with pytest.raises(ValueError, match="-1"):
        PassageIndex(["the mill"]).ranked("mill", -1)


@pytest.mark.parametrize("texts", [ROME, ["é", "e", "ß ﬁ", "mill"], [], ["", " . "]])
def test_an_index_comes_back_from_its_folder(tmp_path, texts):
    PassageIndex(texts).save(tmp_path)

    for bm25 in (Bm25(), Bm25("lucene", 0.9, 0.4)):
        loaded = PassageIndex.load(tmp_path, bm25)
        fresh = PassageIndex(texts, bm25)
        for query in ("the mill in Rome", "é e ß", ""):
            assert loaded.scores(query).tolist() == fresh.scores(query).tolist()


def test_a_loaded_index_is_mapped_not_read(tmp_path):
    PassageIndex(ROME).save(tmp_path)

    loaded = PassageIndex.load(tmp_path)

    parts = loaded._matrix
    assert all(isinstance(part.base, np.memmap) for part in parts)
    assert not any(part.flags.writeable for part in parts)


def test_each_choice_changes_the_signature():
    made = [Bm25(), Bm25("lucene"), Bm25(k1=1.2), Bm25(k1=1.20000001), Bm25(b=0.5)]

    assert Bm25().signature == "bm25|v:1|idf:okapi-epsilon|k1:1.5|b:0.75|tokens:unicode-words"
    assert len({bm25.signature for bm25 in made}) == len(made)


def test_questions_of_qrecc_find_what_rank_bm25_finds():
    path = shared_folder() / "data" / "scai_qrecc21" / "joined_items.json"
    if not path.exists():
        pytest.skip(f"no {path}")
    items = json.loads(path.read_text("utf-8"))
    texts = [passage["text"] for item in items for passage in item["passages"]]
    okapi = BM25Okapi([tokens(text) for text in texts])
    index = PassageIndex(texts)
    assert (len(items), len(texts)) == (95, 348)

    for item in items:
        scores = [round(float(score), 6) for score in okapi.get_scores(tokens(item["rewrite"]))]
        expected = sorted(range(len(texts)), key=lambda i: (-scores[i], i))[:10]
        assert places(index.ranked(item["rewrite"], 10)) == expected
