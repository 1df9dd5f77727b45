"""Schemes whose texts are in several languages: shown in one, stored in none."""

import pytest

from annotation.scheme_languages import languages_of
from annotation.schemes import built_in_schemes, load_scheme

COLOURS = {
    "key": "C",
    "title": {"en": "Colours", "de": "Farben"},
    "questions": [
        {
            "key": "is",
            "scale": "yes_no",
            "wording": {"fr": "Est-ce vrai ?", "de": "Stimmt es?"},
        },
        {
            "key": "colour",
            "wording": "Which colour?",
            "scale": {"nominal": [{"en": "red", "de": "rot"}, "blue"]},
            "examples": [
                {"answer": "red", "text": "A rose.", "reason": {"en": "It is.", "de": "So."}}
            ],
        },
        {
            "key": "how",
            "scale": {"ordinal": [1, 2]},
            "ends": ["dull", {"de": "hell", "en": "bright"}],
        },
    ],
    "impossible": [{"is": "no", "colour": "red"}],
}


def test_a_scheme_is_shown_in_one_language_and_counts_the_same():
    usual, german = load_scheme(COLOURS), load_scheme(COLOURS, "de-at")

    assert languages_of(COLOURS) == ("en", "de", "fr")
    assert (usual.title, german.title) == ("Colours", "Farben")
    # A text without English is in its first language, and one that is not in German in English.
    assert [question.wording for question in usual.questions] == [
        "Est-ce vrai ?",
        "Which colour?",
        "How",
    ]
    assert [question.wording for question in german.questions] == [
        "Stimmt es?",
        "Which colour?",
        "How",
    ]
    assert [scheme.questions[1].scale.labels for scheme in (usual, german)] == [
        ("red", "blue"),
        ("rot", "blue"),
    ]
    assert german.questions[1].examples[0] == ("rot", "A rose.", "So.")
    assert german.questions[2].ends == ("dull", "hell")
    assert usual.impossible == german.impossible == ({"is": 0, "colour": 0},)


@pytest.mark.parametrize("key", sorted(built_in_schemes()))
def test_every_scheme_of_attest_is_german_throughout(key):
    data = built_in_schemes()[key]
    english, german = load_scheme(data), load_scheme(data, "de")

    assert languages_of(data) == ("en", "de")
    assert english.title != german.title
    for one, other in zip(english.questions, german.questions, strict=True):
        same = {"key", "scale", "after", "better", "with_evidence"}
        texts = [name for name in one._fields if name not in same and getattr(one, name)]
        assert [name for name in texts if getattr(one, name) == getattr(other, name)] == []
        assert all(getattr(one, name) == getattr(other, name) for name in same)
        pairs = zip(one.examples, other.examples, strict=True)
        assert all(a.text != b.text and a.reason != b.reason for a, b in pairs)
