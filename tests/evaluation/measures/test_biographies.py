"""Years and centuries of dates as graphs write them, also before Christ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.biographies import (
    biography_relations,
    century_in_words,
    century_of,
    following,
    is_untranslated,
    year_in_words,
    year_of,
)


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("1593-07-08", 1593),
        # With a year 0 (XSD 1.1), as BioKaLMA and Wikidata's RDF write them.
        ("-0039-12-25", -40),  # Alexander Helios, born in 40 BC
        ("-0704-01-01", -705),  # Sargon II, died in 705 BC
        ("-0001-01-01", -2),
        ("0000-01-01", -1),
        ("0001-01-01", 1),
        ("+1452-04-15T00:00:00Z", 1452),  # Wikidata's form
        ("0098-01-01", 98),
        ("1593", 1593),
        ("1593-07", 1593),
        ("1593-00-00", 1593),  # only the year is known
        (" -43 ", -44),  # Caesar died in 44 BC
        ("-9999-01-01", -10000),
        ("46118ae173498fb8c783a2d03ef717af", None),  # BioKaLMA has six of these
        ("46118", None),
        ("-10000-01-01", None),
        ("1593-13-01", None),
        ("1593-07-32", None),
        ("July 8 1593", None),
        ("t1234567", None),
        ("١٥٩٣", None),
        ("", None),
    ],
)
def test_the_year_of_a_date(date, year):
    assert year_of(date) == year


@pytest.mark.parametrize(
    ("year", "century", "words"),
    [
        # A century ends with its hundredth year, before Christ it begins with it.
        (1, 1, "1st century"),
        (100, 1, "1st century"),
        (101, 2, "2nd century"),
        (1600, 16, "16th century"),
        (1601, 17, "17th century"),
        (2001, 21, "21st century"),
        (1201, 13, "13th century"),
        (-1, -1, "1st century BC"),
        (-100, -1, "1st century BC"),
        (-101, -2, "2nd century BC"),
        (-1950, -20, "20th century BC"),
        (-2200, -22, "22nd century BC"),
        (-1010, -11, "11th century BC"),
    ],
)
def test_the_century_of_a_year(year, century, words):
    assert century_of(year) == century
    assert century_in_words(century) == words


def test_years_are_said_as_the_paper_says_them():
    assert (year_in_words(-1950), year_in_words(2001)) == ("1950 BC", "2001")


@given(st.integers(-9999, 9999).filter(bool))
def test_centuries_follow_each_other_without_a_century_0(year):
    next_year = 1 if year == -1 else year + 1
    assert century_of(next_year) in (century_of(year), following(century_of(year)))
    written = year if year > 0 else year + 1
    assert year_of(f"{'-' if written < 0 else ''}{abs(written):04d}-06-15") == year


def test_a_bare_qid_has_no_name():
    assert is_untranslated(" Q42 ")
    assert not any(map(is_untranslated, ["Q", "Q0", "Q42 Club", "q42", "France"]))


@pytest.mark.parametrize(
    ("relation", "kind"),
    [
        ("date of birth", "birth"),
        ("country of citizenship", "country"),
        ("place of birth", "city"),
        ("place of death", None),  # counts are of origins, not of places of death
        ("occupation", "occupation"),
        ("country", None),  # its meaning for a person is not stated
    ],
)
def test_what_relations_mean(relation, kind):
    assert biography_relations().meaning.get(relation) == kind
