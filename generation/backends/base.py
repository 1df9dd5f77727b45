"""The interface of a language model: it receives prompts and returns completions."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol


class Prompt(NamedTuple):
    """The input of a language model: a text and, for models that take one, a system message."""

    text: str
    system: str = ""


class Decoding(NamedTuple):
    """The settings of decoding. Each of them changes completions."""

    temperature: float = 0.0  # 0: the most likely token each time
    top_p: float = 1.0
    top_k: int = 0  # draw from this many most likely tokens; 0: from all
    max_tokens: int = 16  # length of a completion, at most
    stop: tuple[str, ...] = ()  # a completion ends before the first of these
    seed: int = 0
    n_top: int = 0  # number of most likely tokens per place whose log-probabilities are wanted


class Token(NamedTuple):
    """One token of a completion.

    `top` has the most likely tokens at its place, whether this token is one of them or not.
    """

    text: str
    log_probability: float
    top: tuple[tuple[str, float], ...] = ()  # text, natural logarithm of its probability


class Completion(NamedTuple):
    """The text that a model wrote for a prompt, or the reason why there is none."""

    text: str = ""
    problem: str = ""  # reason why there is no text
    tokens: tuple[Token, ...] = ()  # empty unless wanted and given by the model
    is_cut: bool = False  # the text ended because it had reached the length that is allowed
    n_prompt_tokens: int = 0
    n_tokens: int = 0  # those of reasoning included
    reasoning: str = ""  # what the model thought before its text; no part of the text

    @property
    def whole(self) -> str:
        """All that the model wrote: its reasoning between marks, and its text."""
        return f"<think>{self.reasoning}</think>\n\n{self.text}" if self.reasoning else self.text


class LanguageModel(Protocol):
    """An object that completes prompts."""

    signature: str  # every choice that changes a completion, apart from the model and the decoding
    revision: str  # revision of the model's files; "" behind a server that does not report it
    files: dict[str, str]  # name → SHA-256 of each file that the model was loaded from
    device: str  # the place of computation: "cpu", "cuda: NVIDIA …", "server"

    def complete(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        """Yield a completion for each prompt, in the same order, as soon as each is ready.

        A prompt that does not fit, or that a server refuses for good, gets a completion with a
        problem. The same prompt and decoding give the same text whatever other prompts are asked
        beside it, as far as the model can promise that.

        Raises:
            BackendError: the model cannot be used any more (a wrong key, a model that is gone).
        """
        ...


def probability_of(log_probability: float) -> float:
    """Return a probability from its natural logarithm, in [0, 1]."""
    return min(1.0, math.exp(log_probability))


def cut_at(text: str, stop: Sequence[str]) -> str:
    """Return the part of a text before the first of some stop strings."""
    return text[: min((at for end in stop if (at := text.find(end)) >= 0), default=len(text))]
