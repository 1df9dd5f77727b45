"""Sentences in twenty languages; `tests/data` has eight of each, cut by hand.

They hold what makes sentences hard to tell: abbreviations, initials, numbers, dates, quotations and
dialogue.
"""

import time
import tomllib
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.text.languages import language_codes, rules_in_words, said_languages
from generation.text.sentences import split_sentences

TEXTS = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "sentences_of_languages.toml").read_text("utf-8")
)


def sentences_of(marked: str) -> tuple[str, list[str]]:
    """Return a text and its sentences, as they are marked."""
    lines = " ".join(line.strip() for line in marked.strip().splitlines())
    return lines.replace("|", ""), [each.strip() for each in lines.split("|") if each.strip()]


@pytest.mark.parametrize("language", TEXTS)
def test_sentences_are_cut_as_by_hand(language):
    text, wanted = sentences_of(TEXTS[language])

    assert [each.text for each in split_sentences(text, language)] == wanted
    assert len(wanted) == 8


@pytest.mark.parametrize("language", TEXTS)
def test_both_codings_of_a_text_have_the_same_sentences(language):
    text, _ = sentences_of(TEXTS[language])

    composed, decomposed = (
        [unicodedata.normalize("NFC", each.text) for each in split_sentences(coded, language)]
        for coded in (unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text))
    )

    assert composed == decomposed


@given(
    st.text(alphabet="aÉñ1। .。\uff01؟'\"“”«»「」《》()[]\n\u0301\u3099かはनी"),
    st.sampled_from(["", "de", "fr"]),
)
def test_in_any_script_nothing_is_lost_and_both_codings_agree(text, language):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    sentences = split_sentences(composed, language)

    assert "".join("".join(s.text.split()) for s in sentences) == "".join(composed.split())
    assert [each.text for each in sentences] == [
        unicodedata.normalize("NFC", each.text) for each in split_sentences(decomposed, language)
    ]


@pytest.mark.parametrize(
    "piece", ["灯塔。", "“高い。”", "दीप।", "«Ja.» ", "《", "(。", "\uff11\uff0e", '"。']
)
def test_time_grows_with_the_length_in_any_script(piece):
    text = piece * (100_000 // len(piece))

    started = time.perf_counter()
    split_sentences(text)

    assert time.perf_counter() - started < 5  # quadratic time would take minutes


@pytest.mark.parametrize(
    ("said", "codes", "in_words"),
    [
        ("", "", "not said"),
        ("English", "", "English"),
        ("Deutsch", "de", "German"),
        ("pt-BR", "pt", "Portuguese"),
        ("en, german", "en+de", "English, German"),
        ("Русский", "", "Russian"),  # read so anyway, as its script is
        ("украинский, uk_UA", "uk", "Ukrainian"),
        ("Klingon", "", "not said"),
    ],
)
def test_a_dataset_may_call_its_language_in_many_ways(said, codes, in_words):
    assert language_codes(said) == codes
    assert rules_in_words(said) == in_words


def test_where_no_language_is_said_latin_script_is_read_as_english():
    assert said_languages("") == ()
    assert [s.text for s in split_sentences("Am 3. März. See Fig. 2.")] == [
        "Am 3.",
        "März.",
        "See Fig. 2.",
    ]
