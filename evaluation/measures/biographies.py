"""Facts about people's lives in a graph, and the years and centuries of its dates (KaLMA, 2.3).

`biography_relations.json` lists the relations for a person's origin, occupation, birth and death.
A graph's dates follow ISO 8601 and XSD 1.1, which have a year 0: 0000 is 1 BC, -0039 is 40 BC.
Here years are counted as historians count them, without a year 0: 40 BC is -40.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from generation.text.citations import relation_name

LISTS = Path(__file__).with_name("biography_relations.json")
BIRTH, DEATH = "birth", "death"
FARTHEST_YEAR = 9999  # a written year farther from year 0 cannot be part of a person's life

_DATE = re.compile(r"(?P<year>[+-]?\d{1,6})(-(0\d|1[0-2])(-([0-2]\d|3[01])(T.*)?)?)?", re.ASCII)
_QID = re.compile(r"Q[1-9]\d*", re.ASCII)
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


class BiographyRelations(NamedTuple):
    """The types of entities that are people, and the relations about them, all in lower case."""

    people: frozenset[str]  # types of entities that are people
    meaning: Mapping[str, str]  # relation → country, city, occupation, birth or death
    signature: str


@cache
def biography_relations() -> BiographyRelations:
    """Return the relations of the data file."""
    read = LISTS.read_bytes()
    content = json.loads(read)
    meaning = {
        relation_name(relation).casefold(): kind
        for kind, relations in content["relations"].items()
        for relation in relations
    }
    people = frozenset(map(str.casefold, content["people"]))
    digest = hashlib.sha256(read).hexdigest()[:8]
    return BiographyRelations(people, meaning, f"relations:{digest}")


def year_of(date: str) -> int | None:
    """Return the year of a date in ISO 8601, negative before Christ; None if it is no date.

    '1593-07-08' → 1593, '1593' → 1593, '0000' → -1, '-0039-12-25' → -40: 40 BC.
    """
    found = _DATE.fullmatch(date.strip())
    if not found or abs(written := int(found["year"])) > FARTHEST_YEAR:
        return None
    return written if written > 0 else written - 1


def is_untranslated(value: str) -> bool:
    """Return whether a value is only a qid, because its entity has no name in the graph."""
    return _QID.fullmatch(value.strip()) is not None


def century_of(year: int) -> int:
    """Return the century of a year, negative before Christ: 1601 → 17, 1600 → 16, -764 → -8."""
    century = (abs(year) - 1) // 100 + 1
    return century if year > 0 else -century


def year_in_words(year: int) -> str:
    """Return a year as text: '1593', '1950 BC'."""
    return str(year) if year > 0 else f"{-year} BC"


def century_in_words(century: int) -> str:
    """Return a century as text: '21st century', '8th century BC'."""
    n = abs(century)
    ending = "th" if n % 100 in (11, 12, 13) else _ENDINGS.get(n % 10, "th")
    return f"{n}{ending} century{'' if century > 0 else ' BC'}"


def following(century: int) -> int:
    """Return the next century; there is no century 0."""
    return 1 if century == -1 else century + 1
