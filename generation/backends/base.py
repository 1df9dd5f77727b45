"""What a language model is here: prompts in, completions out."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol


class Prompt(NamedTuple):
    """What a language model is given: one text, and for models that take it a system message."""

    text: str
    system: str = ""


class Decoding(NamedTuple):
    """How completions are decoded; every field changes them."""

    temperature: float = 0.0  # 0: the most likely token each time
    top_p: float = 1.0
    top_k: int = 0  # of so many most likely tokens; 0: of all
    max_tokens: int = 16  # of a completion
    stop: tuple[str, ...] = ()  # a completion ends before the first of these
    seed: int = 0
    n_top: int = 0  # log-probabilities wanted, of so many most likely tokens at each place


class Token(NamedTuple):
    """One token of a completion; `top` are the most likely ones at its place, itself or not."""

    text: str
    log_probability: float
    top: tuple[tuple[str, float], ...] = ()  # text, natural logarithm of its probability


class Completion(NamedTuple):
    """What a model made of a prompt, or why it made nothing."""

    text: str = ""
    problem: str = ""  # why there is no text
    tokens: tuple[Token, ...] = ()  # where log-probabilities were wanted and the model gives them
    is_cut: bool = False  # it ended because it was as long as it may be
    n_prompt_tokens: int = 0
    n_tokens: int = 0


class LanguageModel(Protocol):
    """Anything that completes prompts."""

    signature: str  # every choice that changes a completion, apart from which model and decoding
    revision: str  # of its files; "" behind a server that does not say
    files: dict[str, str]  # name → SHA-256 of what it was loaded from
    device: str  # where it computes: "cpu", "cuda: NVIDIA …", "server"

    def complete(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        """Yield a completion for each prompt, in the same order, as they come.

        A prompt that does not fit, or that a server refuses for good, gets a completion with a
        problem. The same prompt and decoding give the same text whatever stands beside them, as
        far as the model can promise that.

        Raises:
            BackendError: the model cannot be used any more (a wrong key, a model that is gone).
        """
        ...


def probability_of(log_probability: float) -> float:
    """Return a probability from its natural logarithm, in [0, 1]."""
    return min(1.0, math.exp(log_probability))


def cut_at(text: str, stop: Sequence[str]) -> str:
    """Return a text up to the first of some stop strings."""
    return text[: min((at for end in stop if (at := text.find(end)) >= 0), default=len(text))]
