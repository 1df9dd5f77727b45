"""Words in any script, their number, and the share of them that a passage contains."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.text.tokens import count_tokens, count_words, token_recall, tokens


@pytest.mark.parametrize(
    ("text", "words", "n_tokens", "n_words"),
    [
        ("It's 7.5 m_s, café.", "it s 7 5 m_s café", 10, 4),
        ("STRASSE Straße", "strasse strasse", 2, 2),
        ("灯塔建于1846年。", "灯塔 塔建 建于 1846 年", 7, 6),
        ("桥 iPhone手机", "桥 iphone 手机", 4, 4),
        ("コーヒー", "コー ーヒ ヒー", 4, 4),
        ("\uff21\uff11 \uff76\uff85", "a1 カナ", 3, 3),  # characters of full and half width
        ("등대는 높다", "등대는 높다", 2, 2),
        ("हिन्दी में", "हिन्दी में", 2, 2),
        ("بُنِيَ المنار", "بُنِيَ المنار", 2, 2),
        ("น้ำใหญ่", "น้ำ ำใ ให หญ่", 5, 5),  # marks stay with their letter
        ("co\xadoperate a\u200bb", "cooperate ab", 2, 2),
        ("👩\u200d🔬 ok", "ok", 3, 2),
    ],
)
def test_words_of_any_script(text, words, n_tokens, n_words):
    assert tokens(text) == words.split()
    assert (count_tokens(text), count_words(text)) == (n_tokens, n_words)


@given(st.text(alphabet="aéß\u01301_ .'\u0301\u0345\u200d\xad灯かのーनीกำ한ﬀ\uff21\uff61ή"))
def test_both_codings_of_a_text_have_the_same_words(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))

    assert tokens(composed) == tokens(decomposed)
    assert count_tokens(composed) == count_tokens(decomposed)


@pytest.mark.parametrize(
    ("wanted", "found", "share"),
    [
        ("The mill closed.", "the MILL, closed", 1.0),
        ("the mill and the miller", "the mill", 2 / 5),  # 'the' is wanted twice, found once
        ("mill", "the mill, the mill", 1.0),
        ("mill", "", 0.0),
    ],
)
def test_recall_is_the_share_of_the_wanted_tokens_that_are_found(wanted, found, share):
    assert token_recall(wanted, found) == pytest.approx(share)


def test_without_a_wanted_token_there_is_no_share():
    assert math.isnan(token_recall(" … ", "mill"))
