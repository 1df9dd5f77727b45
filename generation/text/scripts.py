"""Scripts: which one a text is written in, and the language that this tells, if it does."""

from collections import Counter
from functools import lru_cache
from unicodedata import combining

import regex

# A letter of a script that puts no blanks between words, so that white space tells nothing about
# them, for `regex` with its version 1. The long vowel mark of kana is one.
UNSPACED = (
    r"[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
    r"&&[\p{L}\p{Nl}]]"
)
MOST_READ = 300  # characters from the start of a text, which are enough to tell its script
KANA, HAN, ARABIC = "Kana", "Han", "Arabic"
# The language that texts of a script are in unless the dataset says another; "" where none stands
# out.
_LANGUAGES = {
    "Latin": "",
    "Cyrillic": "",
    ARABIC: "ar",
    "Devanagari": "hi",
    "Hangul": "ko",
    "Hebrew": "he",
    "Greek": "el",
    "Bengali": "bn",
    "Gurmukhi": "pa",
    "Gujarati": "gu",
    "Oriya": "or",
    "Tamil": "ta",
    "Telugu": "te",
    "Kannada": "kn",
    "Malayalam": "ml",
    "Sinhala": "si",
    "Armenian": "hy",
    "Georgian": "ka",
    "Ethiopic": "am",
    HAN: "zh",
    KANA: "ja",
    "Thai": "th",
    "Lao": "lo",
    "Khmer": "km",
    "Myanmar": "my",
    "Tibetan": "bo",
}
_UNSPACED = frozenset([HAN, KANA, "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"])
_LETTER = regex.compile(
    "|".join(rf"(?P<{name}>\p{{{name}}})" for name in _LANGUAGES if name != KANA)
    + rf"|(?P<{KANA}>[\p{{Hiragana}}\p{{Katakana}}])"
)
_URDU = regex.compile("[ٹڈڑںےہ]")
_PERSIAN = regex.compile("[یکپچژگ]")


def script_of(text: str) -> str:
    """Return the script of most words of a text by its name in Unicode; "" if it has no letters.

    A letter of a script without blanks counts as a word. Kana with or without Han is 'Kana'.
    """
    n_words: Counter[str] = Counter()
    before = ""
    for letter in text[:MOST_READ]:
        script = _script_of_letter(letter)
        if script and (script != before or script in _UNSPACED):
            n_words[script] += 1
        if not combining(letter):
            before = script
    if not n_words:
        return ""
    if n_kana := n_words.pop(KANA, 0):
        n_words[HAN] += n_kana
    [(script, _)] = n_words.most_common(1)
    return KANA if script == HAN and n_kana else script


@lru_cache(maxsize=10_000)
def _script_of_letter(letter: str) -> str:
    found = _LETTER.match(letter)
    return (found.lastgroup or "") if found else ""


def language_of_script(text: str) -> str:
    """Return the code of the language that a text's script stands for; "" if it tells none."""
    script = script_of(text)
    if script == ARABIC and _URDU.search(text, endpos=MOST_READ):
        return "ur"
    if script == ARABIC and _PERSIAN.search(text, endpos=MOST_READ):
        return "fa"
    return _LANGUAGES.get(script, "")
