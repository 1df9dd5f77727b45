"""An open study, and raters who sit down to it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.models import (
    Study,
)
from tests.annotation.makers import claimed, material, opened, raters_of
from tests.annotation.rating.desk import ClientFor, Desk


@pytest.fixture
def study(tmp_path: Path, db: None) -> Study:
    return opened(material(tmp_path / "material"), raters=6)


@pytest.fixture
def sit_down(client_for: ClientFor) -> Callable[..., Desk]:
    """Return a function that gives a rater of a study the next unit."""

    def sit_down(study: Study, number: int = 0) -> Desk:
        rater = raters_of(study)[number]
        return Desk(rater, client_for(rater.user), claimed(rater))

    return sit_down


@pytest.fixture
def desk(study: Study, sit_down: Callable[..., Desk]) -> Desk:
    return sit_down(study)
