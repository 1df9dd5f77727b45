"""Words that are the points of a scale: those of usual scales, and labels that begin with a number.

A scale stores its points as numbers; these words say which number an answer is.
"""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from annotation.schemes import MAX_POINTS
from generation.importers.cell_meanings import folded, spelled, whole_number

FEWEST_WORDS = 3  # good and bad alone may be labels
# The usual scales from their lowest point, those with fewer points first. `/` parts two words for
# one point, of which the first is the scale's own.
_NEUTRAL = "neutral/neither agree nor disagree/neither/undecided"
_FAIR = "fair/ok/okay/average/acceptable/neutral/medium"
USUAL_SCALES = tuple(
    tuple(tuple(point.split("/")) for point in scale.split(", "))
    for scale in (
        f"disagree, {_NEUTRAL}, agree",
        f"bad/poor, {_FAIR}, good",
        "low, medium/moderate, high",
        "never, sometimes, always",
        "dissatisfied, neutral, satisfied",
        "unlikely, neutral, likely",
        "strongly disagree, disagree, agree, strongly agree",
        "completely disagree, disagree, agree, completely agree",
        "poor, fair, good, excellent",
        "very bad/very poor, bad/poor, good, very good/excellent",
        "never, sometimes, often, always",
        "never, rarely/seldom, often, always",
        f"strongly disagree, disagree, {_NEUTRAL}, agree, strongly agree",
        f"completely disagree, disagree, {_NEUTRAL}, agree, completely agree",
        "poor, fair, good, very good, excellent",
        f"very bad/very poor, bad/poor, {_FAIR}, good, very good/excellent",
        "very low, low, medium/moderate, high, very high",
        "never, rarely/seldom, sometimes, often/frequently/usually, always",
        "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied",
        "very unlikely, unlikely, neutral, likely, very likely",
        "not at all, slightly/a little, moderately/somewhat, very/quite a bit, extremely",
        f"strongly disagree, disagree, somewhat disagree/slightly disagree, {_NEUTRAL}, "
        "somewhat agree/slightly agree, agree, strongly agree",
        f"completely disagree, disagree, somewhat disagree/slightly disagree, {_NEUTRAL}, "
        "somewhat agree/slightly agree, agree, completely agree",
        f"very bad/very poor, bad/poor, somewhat bad/somewhat poor, {_FAIR}, somewhat good, good, "
        "very good/excellent",
        "never, very rarely, rarely/seldom, sometimes, often/frequently, very often/usually, "
        "always",
    )
)
# `1 - bad`, `3: ok`, `4 (good)`, `5. great`, `(1) bad`
_NUMBERED = re.compile(
    r"\(?(?P<number>\d{1,3})(?:\)|\s*[-\N{EN DASH}\N{EM DASH}:.=]|\s(?=\())"
    r"\s*(?P<word>\(?[^\W\d].*)"
)


class WordedScale(NamedTuple):
    """An ordinal scale whose points have words.

    Attributes:
        low, high: its lowest and its highest point.
        words: word → point.
        ends: the words at both ends. None: one of them has none.
    """

    low: int
    high: int
    words: Mapping[str, int]
    ends: tuple[str, str] | None


def worded_scale(answers: Collection[str]) -> WordedScale | None:
    """Return the scale of which all answers are points. None: there is none.

    A usual scale needs three of its words, and labels with numbers two numbers.
    """
    return _usual_scale(answers) or _numbered_scale(answers)


def _usual_scale(answers: Collection[str]) -> WordedScale | None:
    """Return the usual scale with the fewest points that has all these words."""
    spelling = {_plain(answer): spelled(answer) for answer in answers}
    if len(spelling) < FEWEST_WORDS:
        return None
    for scale in USUAL_SCALES:
        if spelling.keys() <= {word for point in scale for word in point}:
            named = [[w for w in point if w in spelling] or [point[0]] for point in scale]
            words = {spelling.get(w, w): n for n, point in enumerate(named, start=1) for w in point}
            low, high = (spelling.get(w, w) for w in (named[0][0], named[-1][0]))
            return WordedScale(1, len(scale), words, (low, high))
    return None


def _plain(word: str) -> str:
    return folded(re.sub(r"[-_]", " ", word))


def _numbered_scale(answers: Collection[str]) -> WordedScale | None:
    """Return the scale of labels that begin with their number, each number with one word."""
    words: dict[str, int] = {}
    word_of: dict[int, str] = {}
    for answer in map(spelled, answers):
        number = whole_number(answer)
        if number is None:
            numbered = _NUMBERED.fullmatch(answer)
            if numbered is None:
                return None
            number, word = int(numbered["number"]), _without_brackets(numbered["word"])
            if folded(word_of.setdefault(number, word)) != folded(word):
                return None
            words[answer] = number
        word_of.setdefault(number, "")
    low, high = min(word_of, default=0), max(word_of, default=0)
    if not words or low < 0 or not low < high < MAX_POINTS:
        return None
    ends = (word_of[low], word_of[high])
    return WordedScale(low, high, words, ends if all(ends) else None)


def _without_brackets(word: str) -> str:
    return word[1:-1] if word.startswith("(") and word.endswith(")") else word
