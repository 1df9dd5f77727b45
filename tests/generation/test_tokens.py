"""The share of an answer's tokens that a passage contains."""

import math

import pytest

from generation.text.tokens import token_recall


@pytest.mark.parametrize(
    ("wanted", "found", "share"),
    [
        ("The mill closed.", "the MILL, closed", 1.0),
        ("the mill and the miller", "the mill", 2 / 5),  # 'the' is wanted twice, found once
        ("mill", "the mill, the mill", 1.0),
        ("mill", "", 0.0),
    ],
)
def test_recall_is_the_share_of_the_wanted_tokens_that_are_found(wanted, found, share):
    assert token_recall(wanted, found) == pytest.approx(share)


def test_without_a_wanted_token_there_is_no_share():
    assert math.isnan(token_recall(" … ", "mill"))
