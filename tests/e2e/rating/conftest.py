"""An open study, and a rater who sits before its next unit."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from accounts.models import User
from annotation.models import Rater, Study
from tests.annotation.makers import claimed, material, opened, raters_of
from tests.e2e.rating.keys import (
    Rating,
    unit_url,
)


@pytest.fixture
def study(live_server, tmp_path: Path) -> Study:
    return opened(material(tmp_path / "material"), raters=6, introduction="Read, then answer.")


@pytest.fixture
def rating(page: Page, sign_in: Callable[[User], None]) -> Rating:
    """Return a function that signs a rater in and opens their next unit."""

    def rating(study: Study, number: int = 0) -> Rater:
        rater = raters_of(study)[number]
        assert rater.user is not None
        sign_in(rater.user)
        page.goto(unit_url(claimed(rater)))
        return rater

    return rating
