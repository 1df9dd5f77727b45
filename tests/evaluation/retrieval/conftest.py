"""Four examples over six passages, and a researcher who looks at them."""

import pytest

from generation.models import Dataset
from tests.evaluation.retrieval.searched_examples import asked, passage
from tests.makers import import_rows


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Indexes of other tests stay theirs."""


@pytest.fixture
def dataset(tmp_path):
    """Four examples over six passages; each word of a question stands in one passage alone.

    e1: golden is found first. e2: by its question only 'fire' is found first and golden 'mill' is
    not; with the whole dialog it is first. e3: two golden passages, of which one is found. e4: has
    none. What no word finds follows by key.
    """
    mill, fire = "mill mill", "fire and more words"
    fillers = [passage(f"z{n}", f"filler{n} nothing") for n in range(3)]
    import_rows(
        tmp_path / "a",
        examples=[
            asked("e1", "fire?", evidence=[passage("fire", fire, True), *fillers]),
            asked(
                "e2",
                "The mill, the mill!",
                "Yes, mill.",
                "and fire?",
                evidence=[passage("mill", mill, True)],
                meta={"golden": "guessed"},
            ),
            asked(
                "e3",
                "nothing to be found",
                evidence=[passage("fire", fire, True), passage("mill", mill, True)],
                dialog="e1",
            ),
            asked("e4", "flood?", evidence=[passage("x", "a flood")]),
        ],
    )
    return Dataset.objects.get()
