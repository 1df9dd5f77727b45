"""Auto-AIS: the pairs that an entailment model is asked about, and the score from its answers.

Attribution/fluency paper, 5.1. E is the evidence, Q the last user question, A the response:

    flavor  premise  hypothesis
    v0      E        A           (not in the paper: for responses without a question)
    v1      E Q      A
    v2      E        Q A
    v3      E Q      Q A

A backend may also get the three apart; then no flavor applies.
"""

import math
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from evaluation.measures.added_words import added_words
from generation.text.languages import NOT_SAID
from generation.text.sentences import split_sentences

Flavor = Literal["v0", "v1", "v2", "v3"]
WITHOUT_QUESTION: Flavor = "v0"
# In place of a flavor: the backend gets evidence, question and response apart.
APART: Literal["apart"] = "apart"
Split = Literal["whole", "mean", "min"]

QUESTION_IN_PREMISE = {"v0": False, "v1": True, "v2": False, "v3": True}
QUESTION_IN_HYPOTHESIS = {"v0": False, "v1": False, "v2": True, "v3": True}


_HAS_WORDS = re.compile(r"\w")


class EntailmentError(ValueError):
    """A response about which no model can be asked."""


class Pair(NamedTuple):
    """One question to a model: does the premise entail the hypothesis?"""

    premise: str
    hypothesis: str


class ApartAsk(NamedTuple):
    """One question to a backend that gets the three texts apart: does the evidence support this?"""

    evidence: str
    user_question: str
    response: str


class EvidencePassage(NamedTuple):
    """One piece of the evidence."""

    pk: int | None  # None: no stored passage, such as the text of a graph
    text: str


class Window(NamedTuple):
    """A stretch of evidence: sentences `first` to `last` of a passage, both included, from 0.

    `start` and `end` are character offsets in the passage. If `passage` is None, the window is the
    whole evidence, and they are offsets in the joined text.
    """

    passage: int | None
    first: int
    last: int
    start: int
    end: int
    text: str


class AutoAis(NamedTuple):
    """Every choice of Auto-AIS that changes a score, apart from evidence and model."""

    flavor: Flavor | Literal["apart"] = "v3"
    window: int = 2  # sentences; 0: the whole evidence at once
    hypothesis: Split = "whole"  # others go sentence by sentence and take the mean or the lowest

    def __str__(self) -> str:
        evidence = f"localized:{self.window}" if self.window else "whole"
        answer = "whole" if self.hypothesis == "whole" else f"sentences:{self.hypothesis}"
        return f"{self.flavor}|{evidence}|{answer}"


class EntailmentQuestion(NamedTuple):
    """The asks about one response: hypothesis by hypothesis, each with every window."""

    asks: list[Pair] | list[ApartAsk]
    windows: list[Window]
    n_hypotheses: int
    adds_nothing: bool = False  # texts come apart, and the response adds no word to the question


class EntailmentVerdict(NamedTuple):
    """The score of a response, and the index of the best window of each hypothesis."""

    score: float
    best: list[int]


def windows(passages: Sequence[EvidencePassage], k: int, language: str = NOT_SAID) -> list[Window]:
    """Return each passage's runs of `k` consecutive sentences, in order of passages and sentences.

    A passage of `k` sentences or fewer is one window. The text of a window is the part of the
    passage from the start of its first sentence to the end of its last. If `k` is 0, there is one
    window: all passages, joined by line breaks. A passage of white space gives no window.

    Raises:
        ValueError: `k` is negative.
    """
    if k < 0:
        raise ValueError(f"windows of {k} sentences, expected 0 (the whole evidence) or more")
    if k == 0:
        text = "\n".join(stripped for each in passages if (stripped := each.text.strip()))
        last = len(split_sentences(text, language)) - 1
        return [Window(None, 0, last, 0, len(text), text)] if text else []
    return [window for passage in passages for window in _windows_of(passage, k, language)]


def _windows_of(passage: EvidencePassage, k: int, language: str) -> list[Window]:
    sentences = split_sentences(passage.text, language)
    found = []
    for first in range(min(len(sentences), max(1, len(sentences) - k + 1))):
        last = min(first + k, len(sentences)) - 1
        start, end = sentences[first].start, sentences[last].end
        found.append(Window(passage.pk, first, last, start, end, passage.text[start:end]))
    return found


def ask(
    choices: AutoAis,
    passages: Sequence[EvidencePassage],
    user_question: str,
    answer: str,
    language: str = NOT_SAID,
) -> EntailmentQuestion:
    """Return the asks that decide whether the passages entail an answer.

    White space around texts is removed, and texts are joined by one space. Where the texts stay
    apart, only sentences that add a word to the question are asked about, if there is one.

    Args:
        choices: the choices of Auto-AIS.
        passages: the evidence, in the order shown.
        user_question: the last user turn; it is left out if it is empty.
        answer: the response.
        language: what the dataset calls the language of its texts, see `generation.text.languages`.

    Raises:
        EntailmentError: the response is empty or has no words, or the evidence is empty.
    """
    if not answer.strip():
        raise EntailmentError("the response is empty")
    evidence = windows(passages, choices.window, language)
    if not evidence:
        raise EntailmentError("there is no evidence text")
    is_whole = choices.hypothesis == "whole"
    sentences = [each.text for each in split_sentences(answer, language)]
    # A sentence without words, such as a rule, a bullet or a smiley, claims nothing.
    claims = [answer] if is_whole else [each for each in sentences if _HAS_WORDS.search(each)]
    if not claims:
        raise EntailmentError("the response has no words")
    if choices.flavor == APART:
        return _asked_apart(evidence, user_question, claims, language)
    in_premise = user_question if QUESTION_IN_PREMISE[choices.flavor] else ""
    in_hypothesis = user_question if QUESTION_IN_HYPOTHESIS[choices.flavor] else ""
    premises = [_joined(window.text, in_premise) for window in evidence]
    hypotheses = [_joined(in_hypothesis, claim) for claim in claims]
    pairs = [Pair(premise, hypothesis) for hypothesis in hypotheses for premise in premises]
    return EntailmentQuestion(pairs, evidence, len(hypotheses))


def _asked_apart(
    evidence: list[Window], user_question: str, claims: list[str], language: str
) -> EntailmentQuestion:
    adding = [claim for claim in claims if added_words(user_question, claim, language)]
    asked = adding or claims
    asks = [
        ApartAsk(window.text.strip(), user_question.strip(), claim.strip())
        for claim in asked
        for window in evidence
    ]
    return EntailmentQuestion(asks, evidence, len(asked), adds_nothing=not adding)


def _joined(before: str, after: str) -> str:
    return f"{before.strip()} {after.strip()}".strip()


def verdict(
    choices: AutoAis, question: EntailmentQuestion, probabilities: Sequence[float]
) -> EntailmentVerdict:
    """Return the mean (or minimum) over hypotheses of the highest probability over windows.

    Args:
        choices: the choices of Auto-AIS.
        question: the question that was asked.
        probabilities: the probabilities of the question's pairs, in their order. Of windows with
            equal probabilities the first is the best.

    Returns:
        A score in [0, 1], and one window per hypothesis.

    Raises:
        ValueError: there is not one probability in [0, 1] per pair. The caller must handle a pair
            that failed (NaN), because a score without it would be a different score.
    """
    if len(probabilities) != len(question.asks):
        raise ValueError(f"{len(probabilities)} probabilities for {len(question.asks)} pairs")
    if wrong := [p for p in probabilities if not 0 <= p <= 1]:
        raise ValueError(f"probability {wrong[0]}, expected 0 to 1")
    n_windows = len(question.windows)
    rows = [
        probabilities[row * n_windows : (row + 1) * n_windows]
        for row in range(question.n_hypotheses)
    ]
    highest = [max(row) for row in rows]
    score = min(highest) if choices.hypothesis == "min" else math.fsum(highest) / len(highest)
    best = [list(row).index(top) for row, top in zip(rows, highest, strict=True)]
    return EntailmentVerdict(float(score), best)
