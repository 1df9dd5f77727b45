"""The separation of a model's answer from its reasoning, which it writes before.

Some servers return reasoning in a field of its own. Other models write it into their text, between
marks: '<think>It may be 2.</think>4'. In both cases only the answer is a model's text.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from django.conf import settings

from generation.backends.base import Completion, Token, cut_at

# The tokens that a judge may use for thinking, and how signatures state them.
THINKING_TOKENS: int = settings.THINKING_TOKENS
THINKING_SIGNATURE = f"|think:{THINKING_TOKENS}" if THINKING_TOKENS else ""
RAN_OUT = "ran out of tokens while thinking: raise the limit (now {:,})"
ENDED = "a stop string ended the reply while the model was thinking"

_NAMES = "think|thinking|thought|thoughts|reasoning"
_OPENS = rf"<(?:{_NAMES})>|\[THINK\]|◁think▷"
_CLOSES = rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷"
_MARK = re.compile(rf"(?P<opens>{_OPENS})|{_CLOSES}", re.IGNORECASE)
_OPENED = re.compile(rf"(?:{_OPENS})\s*\Z", re.IGNORECASE)
# The format 'harmony' has channels, of which the last one is the answer.
_CHANNEL = re.compile(r"\s*(?:<\|start\|>\w*)?<\|channel\|>")
_FINAL = re.compile(r"<\|channel\|>\s{0,9}final[^<]{0,99}<\|message\|>")
_MARKS = re.compile(rf"{_OPENS}|{_CLOSES}|<\|\w+\|>(?:analysis|final|assistant)?", re.IGNORECASE)


class _Reasoning(NamedTuple):
    """The places where reasoning starts and ends in a text, marks included."""

    spans: list[tuple[int, int]]
    is_open: bool = False  # whether the last one has no end


def opens_reasoning(prompt: str) -> str:
    """Return the mark at the end of a prompt with which reasoning begins; "" if there is none."""
    found = _OPENED.search(prompt)
    return found[0].strip() if found else ""


def answer_of(
    completion: Completion, most_tokens: int, *, reasoning: str = "", stop: Sequence[str] = ()
) -> Completion:
    """Return a completion whose text is the answer, with the reasoning beside it.

    If there is nothing but reasoning, the completion has a problem, and its tokens still count.

    Args:
        completion: a completion with the whole text; `is_cut` if it has reached its limit.
        most_tokens: that limit.
        reasoning: reasoning that a server has returned apart from the text.
        stop: the answer ends before the first of these; in reasoning they are nothing special.
    """
    text = completion.text
    found = _reasoning_in(text)
    inside = [_plain(text[start:end]) for start, end in found.spans]
    thoughts = "\n\n".join(filter(None, (reasoning.strip(), *inside)))
    whole = _without(found.spans, text).strip() if found.spans else text
    answer = cut_at(whole, stop)
    if (found.spans or reasoning) and completion.is_cut and not answer.strip():
        problem = RAN_OUT.format(most_tokens)
    else:
        problem = ENDED if found.is_open else ""
    return completion._replace(
        text="" if problem else answer,
        problem=problem,
        tokens=_up_to(len(answer), _of_answer(completion.tokens)),
        is_cut=completion.is_cut and answer == whole,
        reasoning=thoughts,
    )


def _reasoning_in(text: str) -> _Reasoning:
    """Return where the reasoning of a text is.

    If the prompt has opened it, it starts with the text. If it has no end, it is taken for
    reasoning only if no other text comes before it.
    """
    if _CHANNEL.match(text):
        finals = [found.end() for found in _FINAL.finditer(text)]
        return _Reasoning([(0, finals[-1] if finals else len(text))], is_open=not finals)
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for mark in _MARK.finditer(text):
        if mark["opens"]:
            start = mark.start() if start is None else start
        elif start is not None or not spans:
            spans.append((start or 0, mark.end()))
            start = None
    is_open = start is not None and not _without(spans, text[:start]).strip()
    return _Reasoning([*spans, (start or 0, len(text))] if is_open else spans, is_open)


def _without(spans: Sequence[tuple[int, int]], text: str) -> str:
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def _plain(reasoning: str) -> str:
    return _MARKS.sub("", reasoning).strip()


def _of_answer(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens that do not belong to reasoning."""
    together = "".join(token.text for token in tokens)
    spans = _reasoning_in(together).spans
    kept, end = [], 0
    for token in tokens:
        start, end = end, end + len(token.text)
        if not any(first < end and start < last for first, last in spans):
            kept.append(token)
    return kept


def _up_to(n_characters: int, tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return the tokens that make up the first characters of a text."""
    kept = []
    for token in tokens:
        if n_characters <= 0:
            break
        kept.append(token)
        n_characters -= len(token.text)
    return tuple(kept)
