"""Twenty entries for a construction, the graph that they are looked up in, and their results.

Besides the entities of `tests.wikidata_shape`, that graph has the Kleins, whose sub-graphs are so
small that their rounds end early, and two couples named Weber.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.wikidata_nodes import Node
from tests.wikidata_shape import by_hand

_KLEINS = [
    Node("Q2000007", "Otto Klein", (("P31", "Q5"), ("P26", "Q2000008"), ("P106", "Q1028181"))),
    Node("Q2000008", "Ida Klein", (("P31", "Q5"), ("P26", "Q2000007"))),
    Node("Q2000009", "Hans Klein", (("P31", "Q5"), ("P40", "Q2000007"), ("P106", "Q36180"))),
]
_WEBERS = [
    Node("Q2000003", "Maria Weber", (("P31", "Q5"), ("P26", "Q2000005"))),
    Node("Q2000004", "Maria Weber", (("P31", "Q5"), ("P26", "Q2000006"))),
    Node("Q2000005", "Karl Weber", (("P31", "Q5"),)),
    Node("Q2000006", "Karl Weber", (("P31", "Q5"),)),
]


class Entry(NamedTuple):
    """One entry, and its result found by hand: the pair and its property, or the problem."""

    name_1: str
    relation: str
    name_2: str
    found: tuple[str, str, str] | str
    detail: str = ""  # words of the explanation, when the entry is left out


ORAZIO, ARTEMISIA = "Orazio Gentileschi", "Artemisia Gentileschi"
SHAKESPEARE = "William Shakespeare"
ENTRIES = [
    Entry(ORAZIO, "child", ARTEMISIA, ("Q367360", "Q212657", "P40")),
    Entry(ARTEMISIA, "father", ORAZIO, ("Q212657", "Q367360", "P22")),
    # The edge decides between two Anne Hathaways: here it is the wife, next the actress.
    Entry("Anne Hathaway", "spouse", SHAKESPEARE, ("Q232478", "Q692", "P26")),
    Entry("Anne Hathaway", "husband", "Adam Shulman", ("Q36301", "Q1000002", "P26")),
    Entry(SHAKESPEARE, "child", "Susanna Hall", ("Q692", "Q1000006", "P40")),
    Entry(
        *("Susanna Hall", "mother", "Anne Hathaway", "wrong_relation"),
        "found Q232478 P40 Q1000006; expected P25 from name 1 to name 2",
    ),
    # P40 (child) leads from name 2 to name 1 here.
    Entry("Susanna Hall", "parent", SHAKESPEARE, ("Q1000006", "Q692", "P40")),
    Entry("Hans Klein", "child", "Otto Klein", ("Q2000009", "Q2000007", "P40")),
    Entry("Shakespeare", "spouse", "Anne Hathaway", "incomplete_name", "found “Shakespeare”"),
    Entry(SHAKESPEARE, "spouse", "Anne", "incomplete_name", "found “Anne”"),
    Entry("Aristotle 384", "spouse", "Plato", "incomplete_name", "“Aristotle 384” and “Plato”"),
    Entry(ORAZIO, "patron", ARTEMISIA, "unknown_relation", "found the relation “patron”"),
    Entry("Nobody Whoever", "spouse", SHAKESPEARE, "not_found", "named “Nobody Whoever”;"),
    Entry(
        *(ARTEMISIA, "spouse", ORAZIO, "wrong_relation"),
        "found Q212657 P22 Q367360, Q212657 P1066 Q367360, Q367360 P40 Q212657; expected P26 from "
        "name 1 to name 2, or P26 from name 2 to name 1",
    ),
    Entry(
        *("Flannery O'Connor", "spouse", "Dwayne Johnson", "not_connected"),
        "no edge between Flannery O'Connor (Q234579) and Dwayne Johnson (Q10738)",
    ),
    Entry(
        *("Maria Weber", "spouse", "Karl Weber", "ambiguous"),
        "found 2 pairs: Q2000003 and Q2000005 (P26), Q2000004 and Q2000006 (P26); expected one",
    ),
    Entry("Otto Klein", "spouse", "Ida Klein", ("Q2000007", "Q2000008", "P26")),
    # The model never writes a readable completion for this entry (`FAILS`).
    Entry(ARTEMISIA, "mother", "Prudenzia di Ottaviano Montoni", ("Q212657", "Q1000004", "P25")),
    Entry("Artemisia Lomi", "spouse", "Pierantonio Stiattesi", ("Q212657", "Q1000003", "P26")),
    Entry(
        *("Flannery O'Connor", "child", "Anne Hathaway", "not_connected"),
        "no edge between Flannery O'Connor (Q234579) and Anne Hathaway (Q36301, Q232478)",
    ),
]
FAILS = 18
BUILT = [1, 2, 3, 4, 5, 7, 8, 17, 19]


def paragraph(number: int) -> str:
    """Return the paragraph of an entry, which contains its number."""
    entry = ENTRIES[number - 1]
    return f"Much is told of {entry.name_1} and {entry.name_2} (entry {number})."


def graph() -> list[Node]:
    """Return the entities among which the entries are looked up."""
    return [*by_hand(), *_KLEINS, *_WEBERS]


def rows() -> Iterator[dict[str, str]]:
    """Yield the rows of the file."""
    for number, entry in enumerate(ENTRIES, start=1):
        yield {
            "paragraph": paragraph(number),
            "name_1": entry.name_1,
            "relation": entry.relation,
            "name_2": entry.name_2,
        }


def written_file(folder: Path) -> Path:
    """Write `entries.csv`, and return its path."""
    path = folder / "entries.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, ["paragraph", "name_1", "relation", "name_2"])
        table.writeheader()
        table.writerows(rows())
    return path
