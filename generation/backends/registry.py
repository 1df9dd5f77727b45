"""Language models by kind."""

from collections.abc import Callable
from typing import NamedTuple

from generation.backends import huggingface, openai_http
from generation.backends.base import LanguageModel
from generation.backends.extractive import Extractive
from generation.backends.open_models import kept_open
from generation.model_specs import BackendError, ModelSpec


class LanguageModelKind(NamedTuple):
    """A kind of language model: how it is opened, and what people should know before."""

    title: str
    open: Callable[[ModelSpec], LanguageModel]
    needs_model: bool = True  # False: it works without a checkpoint, and is always available
    is_server: bool = False  # its location is an address
    precisions: tuple[str, ...] = ("fp32",)
    least_at_once: int = 1  # prompts that take hardly longer than one, except on a processor
    architectures: tuple[str, ...] = ()  # endings of the names in config.json


LANGUAGE_MODELS: dict[str, LanguageModelKind] = {
    "extractive": LanguageModelKind(
        "Sentences or triples of the prompt, without a model",
        lambda spec: Extractive(),
        needs_model=False,
    ),
    "language-model": LanguageModelKind(
        "Language model, run here",
        huggingface.TransformersLanguageModel,
        precisions=("fp32", "bf16"),
        least_at_once=huggingface.LEAST_AT_ONCE,
        architectures=huggingface.ARCHITECTURES,
    ),
    "openai": LanguageModelKind(
        "Language model behind a server",
        openai_http.OpenAILanguageModel,
        is_server=True,
        least_at_once=openai_http.AT_ONCE,
    ),
}


def is_server(backend: str) -> bool:
    """Return whether a kind of model is asked over a network, so that its caller mostly waits."""
    return backend in LANGUAGE_MODELS and LANGUAGE_MODELS[backend].is_server


def open_language_model(spec: ModelSpec) -> LanguageModel:
    """Return a language model that is ready to be asked.

    Raises:
        BackendError: there is no such backend, or the model cannot be used.
    """
    kind = LANGUAGE_MODELS.get(spec.backend)
    if kind is None:
        expected = ", ".join(LANGUAGE_MODELS)
        raise BackendError(f"Found the backend {spec.backend!r}; expected one of {expected}")
    if not kind.needs_model:
        return kind.open(spec)
    return kept_open(spec, kind.open, is_server=kind.is_server)
