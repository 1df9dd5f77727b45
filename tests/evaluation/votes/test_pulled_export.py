"""An export gives back exactly what a pull stored, whatever the endpoint answered."""

import random

import pytest

from evaluation.votes.export import export_folder
from generation.models import Entity
from generation.retrieval.sparql_results import Term
from generation.retrieval.wikibase import Shape, described
from generation.services.datasets import create_dataset
from generation.services.graphs import store_entities
from tests.makers import import_path

pytestmark = pytest.mark.once

WD = "http://www.wikidata.org/entity/"
DATE = "http://www.w3.org/2001/XMLSchema#dateTime"
TEXTS = (
    *("", " ", "\t\n", "\xa0", "a", " a", "a ", "\u2003a\u2003", "A", "b", "two\nlines", "\r"),
    *(
        "\u2028",
        "\x1f",
        "\x7f",
        "é",
        "e\u0301",
        "安妮",
        '"',
        "\\",
        "null",
        "1",
        "x" * 501,
        "a" * 499,
    ),
    " " * 250 + "far",
)
PROPERTIES = (f"{WD}P31", f"{WD}P1", "http://other/prop#x y", "http://other/prop/", "/", " ")
N_ENTITIES = 150


def made_up(rng, qid):
    """Return what an endpoint may say of an entity: rows of labels, rows of statements."""
    entity = Term("uri", WD + qid)

    def text(datatype=""):
        return Term("literal", rng.choice(TEXTS), datatype, rng.choice(("en", "mul", "")))

    def value():
        named = Term(rng.choice(("uri", "bnode")), rng.choice((f"{WD}Q1", "http://a/b", "", " ")))
        return rng.choice((named, text(), text(DATE), text("http://d")))

    labels = [{"entity": entity, rng.choice(("label", "alias")): text()} for _ in range(6)]
    statements = []
    for _ in range(8):
        property_ = Term("uri", rng.choice(PROPERTIES))
        row = {"entity": entity, "property": property_, "value": value()}
        row |= {name: text() for name in ("relation", "label") if rng.random() < 0.6}
        statements.append(row)
    return labels, statements


def test_what_is_pulled_exported_and_imported_again_is_unchanged(tmp_path):
    rng = random.Random(7)
    made = [made_up(rng, f"Q{n}") for n in range(N_ENTITIES)]
    found = described(
        [row for labels, _ in made for row in labels],
        [row for _, statements in made for row in statements],
        Shape(),
        "http://host/sparql",
    )
    dataset = create_dataset("pulled")
    store_entities(dataset, [each.record for each in found.values()])

    export_folder(dataset, None, tmp_path / "out")
    outcome = import_path(tmp_path / "out", "pulled")

    assert (outcome.n_problems, outcome.problems) == (0, [])
    assert outcome.counts["entities"] == {"new": 0, "unchanged": N_ENTITIES, "bad": 0}
    assert Entity.objects.count() == N_ENTITIES
