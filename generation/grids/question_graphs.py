"""Whose sub-graphs a prompt about a knowledge graph shows: of what is retrieved, or known."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from generation.grids.material import ExampleMaterial
from generation.models import Entity, KGQuestion, QuestionEntity
from generation.retrieval.graph_state import graph_hash
from generation.retrieval.subgraphs import SubgraphRetriever, subgraphs
from generation.text.dialog_prompts import BudgetError, BuiltPrompt
from generation.text.flat_graph import Triple
from generation.text.graph_prompts import build_graph_prompt
from generation.text.prompt_types import Graph

# Why an example has no prompt about a graph.
NO_QUESTION = "no question about a knowledge graph"
NO_GOLD = "no gold entities are known"
NO_IMPORTED = "no retrieved list was imported"


def askable(dataset_id: int) -> dict[Graph, set[int]]:
    """Return the examples of a dataset that have a prompt, by whose sub-graphs it shows; one query.

    As `QuestionGraphs.problem` says it of each.
    """
    gold = QuestionEntity.objects.filter(question=OuterRef("pk"), is_retrieved=False)
    rows = list(
        KGQuestion.objects.filter(example__dataset=dataset_id)
        .annotate(is_gold_known=Exists(gold))
        .values_list("example", "is_gold_known", "is_retrieved_known")
    )
    return {
        "retrieved": {example for example, _, _ in rows},
        "imported": {example for example, _, is_imported_known in rows if is_imported_known},
        "gold": {example for example, is_gold_known, _ in rows if is_gold_known},
    }


def graph_mark(signature: str) -> str:
    """Return the eight signs that a setup's name says a graph by.

    Args:
        signature: see `QuestionGraphs.signature`.
    """
    return sha256(signature.encode()).hexdigest()[:8]


def without_entities(dataset_id: int) -> dict[Graph, set[int]]:
    """Return the examples with entities that the graph does not have, as `askable`; one query."""
    in_graph = Entity.objects.filter(dataset=dataset_id, qid=OuterRef("qid"))
    missing = QuestionEntity.objects.filter(
        ~Exists(in_graph), question__example__dataset=dataset_id
    ).values_list("question__example", "is_retrieved")
    rows = set(missing)
    return {
        "retrieved": set(),  # what is found here is in the graph
        "imported": {example for example, is_retrieved in rows if is_retrieved},
        "gold": {example for example, is_retrieved in rows if not is_retrieved},
    }


class _Shown(NamedTuple):
    """What a prompt shows, and how many of its question's entities are not in the graph."""

    triples: tuple[Triple, ...]
    n_missing: int


class QuestionGraphs:
    """The sub-graphs of a dataset's questions, chosen one way."""

    def __init__(self, dataset_id: int, graph: Graph) -> None:
        self._dataset_id, self._graph = dataset_id, graph

    def problem(self, material: ExampleMaterial) -> str:
        """Return why an example has no such prompt; "" if it has."""
        about = material.about_graph
        if about is None:
            return NO_QUESTION
        if self._graph == "gold":
            return "" if about.gold else NO_GOLD
        return NO_IMPORTED if self._graph == "imported" and about.imported is None else ""

    def prompts(
        self, materials: Sequence[ExampleMaterial], budget: int | None
    ) -> list[tuple[BuiltPrompt | None, str]]:
        """Return the prompt of each question, or None and why there is none."""
        made: list[tuple[BuiltPrompt | None, str]] = []
        for material, shown in zip(materials, self._shown(materials), strict=True):
            if problem := self.problem(material):
                made.append((None, problem))
                continue
            try:
                prompt = build_graph_prompt(shown.triples, material.turns[-1].text, budget)
                made.append((prompt._replace(n_missing_entities=shown.n_missing), ""))
            except BudgetError as exc:
                made.append((None, str(exc)))
        return made

    def shown(self, materials: Sequence[ExampleMaterial]) -> list[tuple[Triple, ...]]:
        """Return the triples that each question's prompt shows, in the order of its entities.

        Empty where there is none, or it has no such prompt; an entity that the graph does not have
        shows nothing. There are as many queries for any number of questions.
        """
        return [each.triples for each in self._shown(materials)]

    def _shown(self, materials: Sequence[ExampleMaterial]) -> list[_Shown]:
        qids = self._qids(materials)
        found = subgraphs(self._dataset_id, {qid for each in qids for qid in each})
        return [
            _Shown(
                tuple(triple for qid in dict.fromkeys(each) for triple in found.get(qid, ())),
                len(set(each) - found.keys()),
            )
            for each in qids
        ]

    @property
    def signature(self) -> str:
        """Which graph it is, and how it is searched where it is."""
        if self._graph == "retrieved":
            return self._retriever.signature
        return graph_hash(self._dataset_id)

    @cached_property
    def _retriever(self) -> SubgraphRetriever:
        return SubgraphRetriever(self._dataset_id)

    def _qids(self, materials: Sequence[ExampleMaterial]) -> list[tuple[str, ...]]:
        """Return the entities of each question, in order."""
        asked = [material for material in materials if not self.problem(material)]
        by_example = dict(zip((each.id for each in asked), self._of(asked), strict=True))
        return [by_example.get(material.id, ()) for material in materials]

    def _of(self, asked: Sequence[ExampleMaterial]) -> Iterable[tuple[str, ...]]:
        if self._graph == "retrieved":
            questions = [material.turns[-1].text for material in asked]
            return [found.qids for found in self._retriever.retrieved(questions)]
        known = [each.about_graph for each in asked if each.about_graph]
        if self._graph == "gold":
            return [about.gold for about in known]
        return [about.imported or () for about in known]
