"""The words for setups, directions and figures on the page of a study."""

from typing import NamedTuple

import pytest

from evaluation.reports.numbers import p_value, percent
from evaluation.reports.setups import short_names
from evaluation.studies.reports.direction import Direction
from evaluation.studies.templatetags.studies import directions

pytestmark = pytest.mark.once


class Setup(NamedTuple):
    setup: str
    model: str
    temperature: float


def setup_rows(*temperatures):
    return [Setup(f"m {t}", "m", t) for t in temperatures]


@pytest.mark.parametrize(
    ("temperatures", "expected"),
    [
        ((0.0, 0.7), ["T 0.0", "T 0.7"]),
        ((0.71, 0.74), ["T 0.71", "T 0.74"]),
        ((0.70000001, 0.70000002), ["T 0.70000001", "T 0.70000002"]),
    ],
)
def test_temperatures_that_differ_are_called_differently(temperatures, expected):
    assert list(short_names(setup_rows(*temperatures)).values()) == expected


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        (Direction(favours="cool"), "favours T 0.0"),
        (Direction(helps="cool"), "helps T 0.0"),
        (Direction(harms="warm, hot"), "harms T 0.7, hot"),
        (Direction(favours="cool", harms="warm"), "favours T 0.0; harms T 0.7"),
        (Direction(), ""),
    ],
)
def test_what_merging_does_to_a_setup_is_one_phrase(direction, expected):
    assert directions(direction, {"cool": "T 0.0", "warm": "T 0.7"}) == expected


def test_small_p_values_and_negative_percents_are_written_as_in_papers():
    assert [p_value(p) for p in (0.00099, 0.001, 0.0385, 0.9999)] == ["<.001", ".001", ".038", "1"]
    assert [percent(share, 0) for share in (-0.054, -0.001, 0.5)] == ["−5", "0", "50"]
