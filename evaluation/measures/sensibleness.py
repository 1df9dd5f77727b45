"""Sensibleness and specificity: prompts for a language model, and a baseline without one.

The source is the attribution/fluency paper, 5.2 and 9.4. A prompt is a *preamble* (instructions and
demonstrations) and the dialog with the reply to judge; all of it is one line.
"""

import math
import re
from collections.abc import Sequence

import numpy as np
import regex
from numpy.typing import ArrayLike

from evaluation.measures.labelled_replies import labelled_value
from evaluation.statistics.intervals import Indexes, Statistic, share_from
from evaluation.statistics.rater_answers import mean_from
from generation.text.languages import NOT_SAID, function_words
from generation.text.prompts import prompt_text
from generation.text.sentences import split_sentences
from generation.text.tokens import tokens

SEPARATOR = "###"
LAST_TURNS = 2  # turns whose words the heuristic compares: the question and the turn before it
YES = 0.5  # a score, or rater score, of this or more is a yes

Turns = Sequence[tuple[str, str]]  # speaker, text

_ASKED = "Dialog: {context} Final reply: {input}"  # the beginning of a prompt's last line
_SEPARATORS = re.compile(r"#{3,}")
_NUMBER = r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+"
_SCALE = r"\(\s*(?:from\s+)?0\s*(?:-|–|—|to)\s*1\s*\)"
_OF_1 = r"(?:/\s*|out\s+of\s+)1(?:\.0)?"
_IS_WHOLE = regex.compile(r"[\p{Sentence_Terminal}…][\"'\p{Pe}\p{Pf}\p{Pi}]*$")
_IS_CUT = regex.compile(r"[,;:\u3001\uff0c\uff1b\uff1a\u060c\u061b\p{Ps}\p{Pd}]$")


# --- prompts --------------------------------------------------------------------------------


def preamble_of(name: str) -> str:
    """Return the preamble of a prompt file, 'sensible' or 'specific', as one line."""
    before, asked, _ = _one_line(prompt_text(name)).partition(_ASKED)
    if not asked:
        raise ValueError(f"{name}.txt: no line {_ASKED!r}")
    return before.strip()


def instructions_of(name: str) -> str:
    """Return the text before the demonstrations of a prompt file, including its separator."""
    return f"{preamble_of(name).partition(SEPARATOR)[0]}{SEPARATOR}"


def demonstration(turns: Turns, text: str, score: float) -> str:
    """Return a dialog and its reply with the raters' score, in the form used in a preamble."""
    return f"{_asked_about(turns, text)} Answer: {round(float(score), 2)} {SEPARATOR}"


def prompt(preamble: str, turns: Turns, text: str) -> str:
    """Return the prompt that asks about a reply in its dialog.

    It ends in '###', as in the paper: a model continues with 'Answer: 0.8 ###'.

    Args:
        preamble: instructions and demonstrations, with '###' at the end.
        turns: the turns of the dialog, including the last user question.
        text: the reply.
    """
    return f"{_one_line(preamble)} {_asked_about(turns, text)}"


def parse_reply(reply: str) -> float | None:
    """Return the number in [0, 1] in a model's reply; None if the reply is anything else.

    The text from '###' on is cut off. A label may be before the number ('Answer:', 'Score:'), '/1'
    and a full stop may be after it, and marks around each: '**Answer: 0.8**'.
    """
    answer = reply.partition(SEPARATOR)[0]
    found = labelled_value(answer, _NUMBER, scale=_SCALE, unit=_OF_1)
    score = float(found["value"]) if found else math.nan
    return score if 0 <= score <= 1 else None


def _asked_about(turns: Turns, text: str) -> str:
    """Return a dialog and its final reply: 'Dialog: A: … Final reply: B: … ###'.

    A is the user, or the last speaker if no turn is by a user. B is every other speaker, and the
    reply is by B.
    """
    speakers = [speaker.lower() for speaker, _ in turns]
    user = "user" if "user" in speakers else speakers[-1] if speakers else ""
    said = [
        f"{'A' if speaker == user else 'B'}: {_inside(said)}"
        for speaker, (_, said) in zip(speakers, turns, strict=True)
    ]
    return f"Dialog: {' '.join(said)} Final reply: B: {_inside(text)} {SEPARATOR}"


def _inside(text: str) -> str:
    """Return a text as one line without a separator: a Markdown heading keeps only one '#'."""
    return _SEPARATORS.sub("#", _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --- without a language model ---------------------------------------------------------------


def heuristic(turns: Turns, text: str, language: str = NOT_SAID) -> float:
    """Return a guess in [0, 1] at how sensible a reply is: a baseline without understanding.

    The guess is fresh * (1 + overlap + whole) / 3, with

    - fresh: the number of different runs of three words, divided by the number of runs (a shorter
      reply is one run); 0 for a reply of three words or more that repeats a turn word by word;
    - overlap: the number of content words that the reply and the last two turns share, divided by
      the smaller of their numbers of content words; 0 where one has none;
    - whole: 1 when the last sentence ends in a full stop or a similar mark, 0 when it breaks off
      (at a comma, a dash, a function word), else one half.

    Args:
        turns: the turns of the dialog, including the last user question.
        text: the reply.
        language: what the dataset calls the language of its texts, see `languages`.

    Returns:
        The guess; NaN for a reply without words.
    """
    words = tokens(text)
    if not words:
        return math.nan
    empty = function_words(language)
    sentences = [each.text for each in split_sentences(text, language) if tokens(each.text)]
    whole = _wholeness(sentences[-1], empty)
    return _freshness(turns, words) * (1 + _overlap(turns, words, empty) + whole) / 3


def _freshness(turns: Turns, words: list[str]) -> float:
    if len(words) >= 3 and any(tokens(said) == words for _, said in turns):
        return 0.0
    runs = [tuple(words[start : start + 3]) for start in range(max(1, len(words) - 2))]
    return len(set(runs)) / len(runs)


def _overlap(turns: Turns, words: list[str], empty: frozenset[str]) -> float:
    heard = {word for _, said in turns[-LAST_TURNS:] for word in tokens(said)} - empty
    content = set(words) - empty
    fewer = min(len(heard), len(content))
    return len(heard & content) / fewer if fewer else 0.0


def _wholeness(sentence: str, empty: frozenset[str]) -> float:
    if _IS_WHOLE.search(sentence):
        return 1.0
    last = tokens(sentence)[-1:]
    return 0.0 if _IS_CUT.search(sentence) or set(last) <= empty else 0.5


# --- against raters -------------------------------------------------------------------------


def table_1(
    scores: ArrayLike, rater_scores: ArrayLike, dialogs: Indexes, threshold: float = YES
) -> dict[str, Statistic]:
    """Return the measures of the attribution/fluency paper's table 1 over a slice, as figures.

    mse is the mean squared difference of score and rater score. missed means that raters say yes
    and the metric says no (1 → 0 in the paper), false_alarm is the reverse (0 → 1), and error_rate
    counts both (the paper's column 'Acc'). These three are shares of the whole slice, so missed and
    false_alarm add up to error_rate. A rater score of one half or more is a yes, and so is a score
    of the threshold or more.

    Args:
        scores: the metric's scores, in [0, 1]; NaN: none.
        rater_scores: shares of yes votes; NaN: none. Items that lack either are left out.
        dialogs: the dialog of each item, from 0.
        threshold: the metric's threshold.
    """
    score, rater = np.asarray(scores, np.float64), np.asarray(rater_scores, np.float64)
    counts = ~(np.isnan(score) | np.isnan(rater))
    human_yes, metric_yes = rater >= YES, score >= threshold
    missed = counts & human_yes & ~metric_yes
    false_alarm = counts & ~human_yes & metric_yes
    squared = np.where(counts, (np.nan_to_num(score) - np.nan_to_num(rater)) ** 2, 0.0)

    def over_items(part: ArrayLike) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        return np.column_stack([np.asarray(part, np.float64), counts.astype(np.float64)])

    return {
        "mse": Statistic(over_items(squared), dialogs, mean_from),
        "missed": Statistic(over_items(missed), dialogs, share_from),
        "false_alarm": Statistic(over_items(false_alarm), dialogs, share_from),
        "error_rate": Statistic(over_items(missed | false_alarm), dialogs, share_from),
    }
