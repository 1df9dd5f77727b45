"""The interface of a language model: it receives prompts and returns completions."""

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from generation.text.chat_messages import Message

PromptKind = Literal["any", "chat", "continued"]


class Prompt(NamedTuple):
    """The input of a language model: a chat that ends with the user's message, or a text.

    A text of any kind is the user's message for chat models, and other models continue it.
    """

    text: str  # the last message, or the whole text
    system: str = ""
    earlier: tuple[Message, ...] = ()  # messages between the system's and the last
    kind: PromptKind = (
        "any"  # "chat": only for chat models; "continued": continued by chat models too
    )

    @property
    def chat(self) -> tuple[Message, ...]:
        """All its messages."""
        system = [Message("system", self.system)] if self.system else []
        return (*system, *self.earlier, Message("user", self.text))

    @property
    def identity(self) -> tuple[object, ...]:
        """The parts that tell it from others. Random numbers depend on them, as before chats."""
        return (self.text, self.system) if self.kind == "any" else tuple(self)


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


def prompt_of_chat(messages: Sequence[Message]) -> Prompt:
    """Return the prompt of a chat. Where the user does not say the last word, it ends in nothing.

    Args:
        messages: one of the system at most, which comes first.
    """
    system = "".join(message.text for message in messages if message.role == "system")
    turns = [message for message in messages if message.role != "system"]
    last = turns.pop().text if turns and turns[-1].role == "user" else ""
    return Prompt(last, system, tuple(turns), "chat")


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
