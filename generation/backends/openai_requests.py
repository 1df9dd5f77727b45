"""Requests to servers that speak the protocol of OpenAI's HTTP interface, in terms they accept."""

import re
from collections.abc import Mapping
from typing import Any

from generation.backends.base import Decoding, Prompt
from generation.model_specs import BackendError
from generation.text.chat_messages import as_protocol

# The number of likely tokens per place that may be asked for. Some servers accept fewer than the
# protocol allows.
MOST_TOP = {"chat": 20, "completions": 5}
FEWER_TOP = 5
MOST_STOPS = 4  # stop strings in a request; texts are cut at all of them here
_NOT_TAKEN = re.compile(
    r"(?i)unsupported|not (?:be )?support|n't support|unknown|unrecogni[sz]ed|deprecated"
    r"|not (?:allowed|permitted|accepted)|only the default"
)
_CHANGES_NOTHING = ("seed", "stop")  # servers decide what a seed does; stops are cut here
_CHANGES_COMPLETIONS = ("temperature", "top_p", "top_k")


class Requests:
    """A builder of requests to one server, which leaves out what the server has refused before."""

    def __init__(self, kind: str, model: str) -> None:
        self._kind = kind
        self._model = model
        self._limit = "max_tokens"  # newer models of OpenAI use another name for it
        self._most_top = MOST_TOP[kind]
        self._left_out: frozenset[str] = frozenset()

    def request(self, prompt: Prompt, decoding: Decoding) -> dict[str, Any]:
        """Return the request for a prompt.

        Settings that equal the protocol's defaults are left out, except the temperature.
        """
        request: dict[str, Any] = {
            "model": self._model,
            self._limit: decoding.max_tokens,
            "temperature": decoding.temperature,
        }
        if decoding.temperature:
            request |= {"seed": decoding.seed}
        if decoding.top_p < 1:
            request |= {"top_p": decoding.top_p}
        if decoding.top_k:  # not in the protocol, but many servers accept it
            request |= {"extra_body": {"top_k": decoding.top_k}}
        if decoding.stop:
            request |= {"stop": list(decoding.stop[:MOST_STOPS])}
        for name in self._left_out:
            request.pop(name, None)
        n_top = min(decoding.n_top, self._most_top)
        if self._kind == "chat":
            messages = as_protocol(prompt.chat)
            top = {"logprobs": True, "top_logprobs": n_top} if n_top else {}
            return {**request, "messages": messages, **top}
        if prompt.kind == "chat":
            raise BackendError(
                "Found messages for a server's address that ends in /completions; expected a text. "
                "List the model by its address for chats, or ask it in the form plain"
            )
        text = f"{prompt.system}\n\n{prompt.text}" if prompt.system else prompt.text
        return {**request, "prompt": text, **({"logprobs": n_top} if n_top else {})}

    def adapts(self, request: Mapping[str, Any], said: str) -> bool:
        """Change how requests are made after a refusal; return whether anything could be changed.

        The change applies to all later requests. Only settings that change no completion are
        touched: the limit gets another name, the seed or the stop strings are left out, and fewer
        likely tokens are asked for, then none.

        Args:
            said: the reason that the server gave for its refusal.
        """
        if "logprobs" in request and "logprob" in said:
            n_top = request.get("top_logprobs", request["logprobs"])
            fewer = FEWER_TOP if n_top > FEWER_TOP else 0
            self._most_top = min(self._most_top, fewer)  # another thread may have lowered it
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
    """Return the setting that completions need and the server refuses: 'temperature 0'.

    The result is "" if the refusal is not about such a setting.
    """
    if not _NOT_TAKEN.search(said):
        return ""
    sent = {**request, **request.get("extra_body", {})}
    name = _named(_CHANGES_COMPLETIONS, sent, said)
    return f"{name} {sent[name]:g}" if name else ""


def _named(names: tuple[str, ...], request: Mapping[str, Any], said: str) -> str:
    there = (name for name in names if name in request and re.search(rf"\b{name}\b", said))
    return next(there, "")
