"""A language model that answers as it is told, and keeps the prompts that it was sent."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from evaluation.backends.registry import BACKENDS, BackendKind
from generation.backends.base import Completion, Decoding, Prompt
from generation.backends.registry import LANGUAGE_MODELS, LanguageModelKind

BACKEND = "told-model"


class ToldLanguageModel:
    """A model whose texts or whole completions a function makes of prompt and decoding."""

    signature = "told"
    files: dict[str, str] = {}
    device = "cpu"

    def __init__(
        self, answer: Callable[[Prompt, Decoding], Completion | str], revision: str = ""
    ) -> None:
        self.answer = answer
        self.revision = revision
        self.asked: list[tuple[Prompt, Decoding]] = []

    @property
    def texts(self) -> list[str]:
        """The texts of the prompts that it was sent."""
        return [prompt.text for prompt, _ in self.asked]

    def complete(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        for prompt in prompts:
            self.asked.append((prompt, decoding))
            said = self.answer(prompt, decoding)
            yield Completion(said) if isinstance(said, str) else said


@pytest.fixture
def told_model(monkeypatch) -> Callable[..., ToldLanguageModel]:
    """Return a function that makes a model of a reply function; it is asked from then on."""

    def tell(reply: Callable[[str], str], revision: str = "") -> ToldLanguageModel:
        model = ToldLanguageModel(lambda prompt, decoding: reply(prompt.text), revision)
        kind = LanguageModelKind("Told", lambda spec: model)
        monkeypatch.setitem(LANGUAGE_MODELS, BACKEND, kind)
        # A backend that 'needs no model' is opened each time, so that the last one told is asked.
        kind_here = BackendKind("Told", lambda spec: model, needs_model=False)
        monkeypatch.setitem(BACKENDS, BACKEND, kind_here)
        return model

    return tell
