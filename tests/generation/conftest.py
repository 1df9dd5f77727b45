"""A model that any grid of these tests can name."""

import pytest

from generation.backends.registry import LANGUAGE_MODELS, LanguageModelKind
from tests.generation.question_makers import LOGGING, Noting


@pytest.fixture
def noting(monkeypatch: pytest.MonkeyPatch) -> Noting:
    """A model called 'noting', which notes what it is asked."""
    model = Noting()
    kind = LanguageModelKind("Notes", lambda spec: model, needs_model=False)
    monkeypatch.setitem(LANGUAGE_MODELS, LOGGING, kind)
    return model
