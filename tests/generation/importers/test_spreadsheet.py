"""Cells of CSV files that no spreadsheet program runs, and that come back as they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.importers.spreadsheet import original_text, safe_cell

# Programs for Chinese and Japanese take the full-width forms of = + - @ for the signs themselves.
FULL_WIDTH = ["\uff1d", "\uff0b", "\uff0d", "\uff20"]
BEGINNINGS = ["=", "+", "-", "@", "\t", "\r", "\n", *FULL_WIDTH]


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_what_a_spreadsheet_takes_for_a_formula_gets_an_apostrophe(beginning):
    text = f"{beginning}1+1"

    assert safe_cell(text) == f"'{text}"
    assert safe_cell(f"'{text}") == f"''{text}"


@pytest.mark.parametrize("text", ["", "1+1", "a=b", "'", "'tis", " =1", "1\uff0d1"])
def test_other_texts_stay_as_they_are(text):
    assert safe_cell(text) == text


@given(st.text(st.sampled_from([*BEGINNINGS, "'", "1", "a"])))
def test_every_text_comes_back(text):
    assert original_text(safe_cell(text)) == text
