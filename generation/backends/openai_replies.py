"""Answers of servers that speak the protocol of OpenAI's HTTP interface, read with distrust."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from generation.backends.base import Completion, Decoding, Token
from generation.backends.reasoning import RAN_OUT, answer_of

LONGEST_QUOTE = 200  # characters that are quoted from a server's message
# Fields of a message with what the model thought; servers differ.
_REASONING = ("reasoning_content", "reasoning", "thinking")
_NO_COUNTS = Completion()
_TEXT_PARTS = ("text", "output_text")
_REASONING_PARTS = ("thinking", "reasoning")


class Nonsense(Exception):
    """An answer that is no completion; the message says what was found in it."""

    def __init__(self, why: str, counted: Completion = _NO_COUNTS) -> None:
        super().__init__(why)
        self.counted = counted  # a completion without a text, whose tokens count


class _Said(NamedTuple):
    """The text of a choice, or None, and the reasoning that a server has set apart from it."""

    text: str | None
    reasoning: str = ""


def completion_of(
    body: bytes, stop: Sequence[str], most_tokens: int = Decoding().max_tokens
) -> Completion:
    """Return the completion in a server's answer, cut at the first of the stop strings.

    Args:
        body: the server's answer.
        stop: the stop strings.
        most_tokens: the limit that the server was given, for the message about it.

    Raises:
        Nonsense: the answer holds no completion.
    """
    answer = _json_of(body)
    usage = answer.get("usage")
    counted = Completion(
        n_prompt_tokens=_count(usage, "prompt_tokens"), n_tokens=_count(usage, "completion_tokens")
    )
    try:
        choice = _choice_of(answer)
        said = _said(choice)
        return _completion(choice, said, counted, stop, most_tokens)
    except Nonsense as nonsense:
        raise Nonsense(str(nonsense), counted) from None


def _completion(
    choice: Mapping[str, Any],
    said: _Said,
    counted: Completion,
    stop: Sequence[str],
    most_tokens: int,
) -> Completion:
    reason = choice.get("finish_reason")
    if reason == "content_filter":
        raise Nonsense("the server's filter took its answer away")
    is_cut = reason == "length"
    if is_cut and not said.text:  # servers may keep the reasoning to themselves
        problem = RAN_OUT.format(most_tokens)
        return counted._replace(problem=problem, is_cut=True, reasoning=said.reasoning)
    if said.text is None:
        found = "reasoning alone" if said.reasoning else "nothing"
        raise Nonsense(f"the server answered with {found}, expected a text")
    whole = counted._replace(text=said.text, tokens=_tokens_of(choice), is_cut=is_cut)
    return answer_of(whole, most_tokens, reasoning=said.reasoning, stop=stop)


def said_in(error: object) -> str:
    """Return in one short line what a server says went wrong; "" if it says nothing."""
    if isinstance(error, Mapping):
        return next(
            filter(None, (said_in(error.get(key)) for key in ("error", "message", "detail"))), ""
        )
    if not isinstance(error, str) or error.lstrip().startswith("<"):  # a web page for people
        return ""
    return " ".join(error.split())[:LONGEST_QUOTE]


def _json_of(body: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise Nonsense("the server answered with something that is no JSON") from None
    if not isinstance(answer, dict):
        raise Nonsense(f"the server answered with {_kind(answer)}, expected an object")
    return answer


def _choice_of(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = answer.get("choices")
    if not choices and (said := said_in(answer.get("error"))):
        raise Nonsense(f"the server answered with an error: {said}")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Nonsense("the server's answer has no choices")
    return choices[0]


def _said(choice: Mapping[str, Any]) -> _Said:
    """Return the text of a choice, which is the content of its message or its own text."""
    message = choice.get("message")
    if not isinstance(message, dict):
        return _Said(_text(choice.get("text")))
    found = (message.get(name) for name in _REASONING)
    reasoning = next((each for each in found if each and isinstance(each, str)), "")
    content = message.get("content")
    if isinstance(content, list):
        in_parts = "".join(_texts_in(content, is_reasoning=True))
        content = "".join(_texts_in(content, is_reasoning=False))
        reasoning = reasoning or in_parts
    if content is None and (said := said_in(message.get("refusal"))):
        raise Nonsense(f"the model refused: {said}")
    return _Said(_text(content), reasoning)


def _text(content: object) -> str | None:
    if content is not None and not isinstance(content, str):
        raise Nonsense(f"the server answered with {_kind(content)}, expected a text")
    return content


def _texts_in(parts: Sequence[Any], *, is_reasoning: bool) -> Iterator[str]:
    """Yield the texts of a content in parts, or those of its parts with reasoning."""
    for part in parts:
        if not isinstance(part, dict):
            raise Nonsense(f"the server answered with {_kind(part)} in a list, expected parts")
        kind = part.get("type")
        if kind == "refusal" and (said := said_in(part.get("refusal"))):
            raise Nonsense(f"the model refused: {said}")
        if kind not in (*_TEXT_PARTS, *_REASONING_PARTS):
            raise Nonsense(f"the server answered with a part {str(kind)[:30]!r}, expected a text")
        if (kind in _REASONING_PARTS) == is_reasoning:
            inside = next((part[name] for name in ("text", *_REASONING) if part.get(name)), "")
            if isinstance(inside, list):
                yield from _texts_in(inside, is_reasoning=False)
            else:
                yield _text(inside) or ""


def _tokens_of(choice: Mapping[str, Any]) -> tuple[Token, ...]:
    """Return the tokens with their log-probabilities; none if these are missing or unusable."""
    found = choice.get("logprobs")
    if not isinstance(found, dict):
        return ()
    try:
        if isinstance(found.get("content"), list):
            return tuple(
                Token(
                    str(token["token"]),
                    _logarithm(token["logprob"]),
                    tuple(
                        (str(other["token"]), _logarithm(other["logprob"]))
                        for other in token.get("top_logprobs") or ()
                    ),
                )
                for token in found["content"]
            )
        return tuple(
            Token(
                str(text),
                _logarithm(value),
                tuple((str(other), _logarithm(at)) for other, at in (top or {}).items()),
            )
            for text, value, top in zip(
                found["tokens"], found["token_logprobs"], found["top_logprobs"], strict=True
            )
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return ()


def _logarithm(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ValueError(f"{value!r} is no logarithm of a probability")
    return float(value)


def _count(usage: object, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and value > 0 else 0


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return names.get(type(value), "nothing" if value is None else "a number")
