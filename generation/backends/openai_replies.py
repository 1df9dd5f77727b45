"""Answers of servers that speak the protocol of OpenAI's HTTP interface, read with distrust."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from generation.backends.base import Completion, Token, cut_at

LONGEST_QUOTE = 200  # characters that are quoted from a server's message


class Nonsense(Exception):
    """An answer that is no completion; the message says what was found in it."""


def completion_of(body: bytes, stop: Sequence[str]) -> Completion:
    """Return the completion in a server's answer, cut at the first of the stop strings.

    Raises:
        Nonsense: the answer holds no completion.
    """
    answer = _json_of(body)
    choice = _choice_of(answer)
    text = _text_of(choice)
    if choice.get("finish_reason") == "content_filter":
        raise Nonsense("the server's filter took its answer away")
    kept = cut_at(text, stop)
    usage = answer.get("usage")
    return Completion(
        kept,
        tokens=_up_to(len(kept), _tokens_of(choice)),
        is_cut=choice.get("finish_reason") == "length" and kept == text,
        n_prompt_tokens=_count(usage, "prompt_tokens"),
        n_tokens=_count(usage, "completion_tokens"),
    )


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


def _text_of(choice: Mapping[str, Any]) -> str:
    """Return the text of a choice: the content of its message, or its own text."""
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else choice.get("text")
    if isinstance(message, dict) and text is None and (said := said_in(message.get("refusal"))):
        raise Nonsense(f"the model refused: {said}")
    if not isinstance(text, str):
        raise Nonsense(f"the server answered with {_kind(text)}, expected a text")
    return text


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


def _up_to(n_characters: int, tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return the tokens that make up the first characters of a text."""
    kept = []
    for token in tokens:
        if n_characters <= 0:
            break
        kept.append(token)
        n_characters -= len(token.text)
    return tuple(kept)


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
