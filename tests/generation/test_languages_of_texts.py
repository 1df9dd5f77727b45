"""The language of a text, for `lang`: what its dataset says, or what its script tells."""

import pytest

from generation.text.languages import language_of
from generation.text.scripts import script_of
from generation.text_html import plain_html

# text, what is said, its language; scripts are those of the Unicode Character Database
LANGUAGES = [
    ("The mill closed.", "", ""),
    ("The mill closed.", "German", "de"),
    ("O moinho fechou.", "pt_BR", "pt-BR"),
    ("Møllen lukkede.", "da", "da"),
    ("Møllen lukkede.", "Danish", ""),  # a language without an entry is known by its code only
    ("The mill closed.", "English, German", ""),
    ("The mill closed.", "English, Danish", ""),
    ("The mill closed.", "Japanese", ""),
    ("The mill closed.", "English and Arabic", "en"),
    ("أغلق المصنع.", "English and Arabic", "ar"),
    ("أغلق المصنع.", "German", "ar"),
    ("کارخانه بسته شد.", "", "fa"),
    ("یہ مل بند ہے", "", "ur"),
    ("清水寺", "", "zh"),
    ("清水寺", "Japanese", "ja"),
    ("清水寺は京都にある。", "", "ja"),
    ("清水寺は京都にある。", "zh-Hant", "ja"),
    ("故宮", "zh-Hant", "zh-Hant"),
    ("使用 Transformer 模型", "", "zh"),
    ("The temple 清水寺 is in Kyoto.", "", ""),
    ("공장은 문을 닫았다.", "", "ko"),
    ("पवनचक्की बंद हो गई।", "", "hi"),
    ("गिरणी बंद झाली.", "mr", "mr"),
    ("โรงสีปิด", "", "th"),
    ("הטחנה נסגרה.", "", "he"),
    ("Мельница закрылась.", "", ""),
    ("Мельница закрылась.", "Russian", "ru"),
    ("1971", "German", "de"),
    ("1971", "", ""),
]


@pytest.mark.parametrize(("text", "said", "language"), LANGUAGES)
def test_the_language_of_a_text_is_what_is_said_or_what_its_script_tells(text, said, language):
    assert language_of(text, said) == language


def test_a_word_weighs_as_much_as_a_letter_of_a_script_without_blanks():
    assert [script_of(text) for text in ("é e\u0301", "ab 中", "ab cd 中", "中 ab", "です")] == [
        "Latin",
        "Latin",
        "Latin",
        "Han",
        "Kana",
    ]


def test_a_short_paragraph_follows_its_text():
    assert plain_html("清水寺\n\n京都にある。\n\nIt is old.") == (
        '<p lang="ja" dir="auto">清水寺</p>\n<p lang="ja" dir="auto">京都にある。</p>\n'
        '<p dir="auto">It is old.</p>'
    )
