"""Language models by kind."""

from collections.abc import Callable
from typing import NamedTuple

from generation.backends.base import LanguageModel, ModelSpec


class LanguageModelKind(NamedTuple):
    """A kind of language model: how it is opened, and what people should know before."""

    title: str
    open: Callable[[ModelSpec], LanguageModel]
    is_server: bool = False  # its location is an address
    precisions: tuple[str, ...] = ("fp32",)
    longest_call_seconds: float = 0.0  # that one completion may take


LANGUAGE_MODELS: dict[str, LanguageModelKind] = {}
