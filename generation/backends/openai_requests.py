"""What a server that speaks the protocol of OpenAI's HTTP interface is sent, in words it takes."""

import re
from collections.abc import Mapping
from typing import Any

from generation.backends.base import Decoding, Prompt

# Likely tokens at a place that may be asked for: some servers take fewer than the protocol has.
MOST_TOP = {"chat": 20, "completions": 5}
FEWER_TOP = 5
MOST_STOPS = 4  # that may be sent; all are looked for here
_NOT_TAKEN = re.compile(
    r"(?i)unsupported|not (?:be )?support|n't support|unknown|unrecogni[sz]ed|deprecated"
    r"|not (?:allowed|permitted|accepted)|only the default"
)
_CHANGES_NOTHING = ("seed", "stop")  # what a seed does is up to the server; stops are cut here
_CHANGES_COMPLETIONS = ("temperature", "top_p", "top_k")


class Requests:
    """Makes the requests to one server, without what it has refused before."""

    def __init__(self, kind: str, model: str) -> None:
        self._kind = kind
        self._model = model
        self._limit = "max_tokens"  # newer models of OpenAI call it otherwise
        self._most_top = MOST_TOP[kind]
        self._left_out: frozenset[str] = frozenset()

    def request(self, prompt: Prompt, decoding: Decoding) -> dict[str, Any]:
        """Return what is sent; what the protocol has by default is not."""
        request: dict[str, Any] = {
            "model": self._model,
            self._limit: decoding.max_tokens,
            "temperature": decoding.temperature,
        }
        if decoding.temperature:
            request |= {"seed": decoding.seed}
        if decoding.top_p < 1:
            request |= {"top_p": decoding.top_p}
        if decoding.top_k:  # not in the protocol, but many servers take it
            request |= {"extra_body": {"top_k": decoding.top_k}}
        if decoding.stop:
            request |= {"stop": list(decoding.stop[:MOST_STOPS])}
        for name in self._left_out:
            request.pop(name, None)
        n_top = min(decoding.n_top, self._most_top)
        if self._kind == "chat":
            messages = [{"role": "user", "content": prompt.text}]
            if prompt.system:
                messages.insert(0, {"role": "system", "content": prompt.system})
            top = {"logprobs": True, "top_logprobs": n_top} if n_top else {}
            return {**request, "messages": messages, **top}
        text = f"{prompt.system}\n\n{prompt.text}" if prompt.system else prompt.text
        return {**request, "prompt": text, **({"logprobs": n_top} if n_top else {})}

    def adapts(self, request: Mapping[str, Any], said: str) -> bool:
        """Return whether a refused request can be made otherwise, as all will be from now on.

        Only what changes no completion is: another name of the limit, no seed, no stop strings,
        fewer likely tokens, then none.

        Args:
            said: why it was refused.
        """
        if "logprobs" in request and "logprob" in said:
            n_top = request.get("top_logprobs", request["logprobs"])
            fewer = FEWER_TOP if n_top > FEWER_TOP else 0
            self._most_top = min(self._most_top, fewer)  # others may have found out meanwhile
            return True
        if not _NOT_TAKEN.search(said):
            return False
        if self._kind == "chat" and "max_tokens" in request and "max_tokens" in said:
            self._limit = "max_completion_tokens"
            return True
        if name := _named(_CHANGES_NOTHING, request, said):
            self._left_out |= {name}
        return bool(name)


def needed(request: Mapping[str, Any], said: str) -> str:
    """Return the setting that completions need and a server does not take: 'temperature 0'."""
    if not _NOT_TAKEN.search(said):
        return ""
    sent = {**request, **request.get("extra_body", {})}
    name = _named(_CHANGES_COMPLETIONS, sent, said)
    return f"{name} {sent[name]:g}" if name else ""


def _named(names: tuple[str, ...], request: Mapping[str, Any], said: str) -> str:
    there = (name for name in names if name in request and re.search(rf"\b{name}\b", said))
    return next(there, "")
