"""A study of a small dataset, planned and open, its raters, and the researcher who sets it up."""

import pytest

from tests.annotation.planned import make_dataset, make_open_study, make_raters, make_study


@pytest.fixture
def dataset(db, tmp_path):
    return make_dataset(tmp_path)


@pytest.fixture
def planned(dataset, rosa):
    return make_study(dataset, rosa)


@pytest.fixture
def raters(db):
    return make_raters(5)


@pytest.fixture
def opened(dataset, rosa, raters):
    return make_open_study(dataset, rosa, raters)
