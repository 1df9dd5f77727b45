"""Models whose answers are attributable and sensible by construction."""

from tests.constructed_model import constructed_models  # noqa: F401 - a fixture
