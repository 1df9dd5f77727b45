"""A small knowledge graph with questions about it, as interchange files and as a dataset."""

from pathlib import Path
from typing import Any

from generation.models import Dataset
from tests.makers import import_rows


def triple(relation: str, value: str, value_qid: str = "") -> dict[str, str]:
    said = {"relation": relation, "value": value}
    return said | {"value_qid": value_qid} if value_qid else said


ENTITIES = [
    {
        "qid": "Q7259",
        "label": "Ada Lovelace",
        "type": "human",
        "aliases": ["Augusta Ada King"],
        "triples": [
            triple("instance of", "human"),
            triple("place of birth", "London", "Q84"),
            triple("occupation", "mathematician"),
            triple("field of work", "mathematics, computing"),
            triple("date of death", ""),
            triple("father", "Lord Byron", "Q5679"),
        ],
    },
    {
        "qid": "Q5679",
        "label": "Lord Byron",
        "type": "human",
        "triples": [
            triple("occupation", "poet"),
            triple("notable work", "Cain: A Mystery"),
            triple("child", "Ada Lovelace", "Q7259"),
        ],
    },
    {"qid": "Q84", "label": "London", "type": "city", "triples": [triple("country", "England")]},
]
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "born",
        "question": "Where was Ada Lovelace born?",
        "entities": ["Q7259"],
        "retrieved": ["Q7259", "Q404"],  # the graph has no Q404
        "minimum": [["Q7259", "place of birth", "London", 1]],
    },
    {
        "id": "family",
        "question": "Who was the father of Ada Lovelace, and what did Lord Byron write?",
        "entities": ["Q5679", "Q7259"],
        "retrieved": [],
    },
    {"id": "nobody", "question": "Who built the lighthouse?", "entities": []},
]


def lovelace(folder: Path, name: str = "lovelace", **more: Any) -> Dataset:
    """Import graph and questions; 'family' has no retrieved entities, the last no gold entities."""
    rows: dict[str, Any] = {"entities": ENTITIES, "kg_questions": QUESTIONS} | more
    outcome = import_rows(folder / name, name, **rows)
    assert outcome.dataset is not None
    return outcome.dataset
