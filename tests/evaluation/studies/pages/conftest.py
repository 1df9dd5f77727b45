"""A researcher and a small study, whose figures no other test has."""

import pytest

from tests.evaluation.pages import make_pilot


@pytest.fixture(autouse=True)
def own_cache(own_cache_and_folder):
    """Figures of other tests stay theirs."""


@pytest.fixture
def pilot(tmp_path):
    return make_pilot(tmp_path)
