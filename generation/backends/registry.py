"""Language models by kind."""

from collections.abc import Callable
from typing import NamedTuple

from generation.backends import huggingface, openai_http
from generation.backends.base import LanguageModel, ModelSpec


class LanguageModelKind(NamedTuple):
    """A kind of language model: how it is opened, and what people should know before."""

    title: str
    open: Callable[[ModelSpec], LanguageModel]
    is_server: bool = False  # its location is an address
    precisions: tuple[str, ...] = ("fp32",)
    longest_call_seconds: float = 0.0  # that one completion may take
    least_at_once: int = 1  # prompts that take hardly longer than one, where no processor computes
    architectures: tuple[str, ...] = ()  # in config.json: how they end


LANGUAGE_MODELS: dict[str, LanguageModelKind] = {
    "language-model": LanguageModelKind(
        "Language model, run here",
        huggingface.TransformersLanguageModel,
        precisions=("fp32", "bf16"),
        longest_call_seconds=huggingface.LONGEST_CALL_SECONDS,
        least_at_once=huggingface.LEAST_AT_ONCE,
        architectures=huggingface.ARCHITECTURES,
    ),
    "openai": LanguageModelKind(
        "Language model behind a server",
        openai_http.OpenAILanguageModel,
        is_server=True,
        longest_call_seconds=openai_http.LONGEST_CALL_SECONDS,
        least_at_once=openai_http.AT_ONCE,
    ),
}
