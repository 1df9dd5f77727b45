"""The material: datasets, knowledge graphs, setups and responses."""

from generation.models.datasets import Dataset, Example, ExamplePassage, Import, Passage, Turn
from generation.models.graphs import (
    Alias,
    Entity,
    KGQuestion,
    MinimumTriple,
    QuestionEntity,
    Triple,
)
from generation.models.setups import Citation, Response, ResponsePassage, Setup

__all__ = [
    "Alias",
    "Citation",
    "Dataset",
    "Entity",
    "Example",
    "ExamplePassage",
    "Import",
    "KGQuestion",
    "MinimumTriple",
    "Passage",
    "QuestionEntity",
    "Response",
    "ResponsePassage",
    "Setup",
    "Triple",
    "Turn",
]
