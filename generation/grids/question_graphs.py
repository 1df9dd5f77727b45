"""The sub-graphs that prompts about a knowledge graph show: retrieved, imported or gold ones.

Gold sub-graphs may lack knowledge: members of the minimum set are removed, or whole sub-graphs are
replaced (KaLMA, 5.2, 5.3).
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from generation.grids.material import ExampleMaterial
from generation.models import Entity, KGQuestion, MinimumTriple, QuestionEntity
from generation.retrieval.graph_state import graph_hash
from generation.retrieval.subgraphs import SubgraphRetriever, shown_subgraphs, subgraphs
from generation.text.compared_triples import knowledge
from generation.text.dialog_prompts import BudgetError, BuiltPrompt
from generation.text.flat_graph import Triple
from generation.text.graph_ablation import (
    Place,
    removed_members,
    replaced,
    stand_ins,
    stated_members,
    without,
)
from generation.text.graph_prompts import build_graph_prompt
from generation.text.prompt_types import Graph, PromptType

# Reasons why an example has no prompt about a graph.
NO_QUESTION = "no question about a knowledge graph"
NO_GOLD = "no gold entities are known"
NO_IMPORTED = "no retrieved list was imported"
NO_MINIMUM = "no knowledge of a minimum set to remove"


def askable(dataset_id: int) -> dict[Graph, set[int]]:
    """Return the examples of a dataset that have a prompt, by the sub-graphs shown; one query.

    The result agrees with `QuestionGraphs._problem` for each example.
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


def removable(dataset_id: int) -> dict[int, int]:
    """Return how many members of each example's minimum set can be removed, if any can.

    These are the different members that its gold sub-graphs state. The number of queries does not
    depend on the number of examples, unless there are many thousands of entities.
    """
    members = _members(MinimumTriple.objects.filter(question__example__dataset=dataset_id))
    gold: dict[int, list[str]] = defaultdict(list)
    entities = QuestionEntity.objects.filter(
        question__example__dataset=dataset_id, is_retrieved=False
    )
    for example, qid in entities.order_by().values_list("question__example", "qid"):
        gold[example].append(qid)
    found = subgraphs(dataset_id, {qid for minimum in members.values() for qid, _, _ in minimum})
    sizes = {
        example: len(stated_members(minimum, _triples(found, gold[example])))
        for example, minimum in members.items()
    }
    return {example: n for example, n in sizes.items() if n}


def _members(rows: QuerySet[MinimumTriple]) -> dict[int, list[Triple]]:
    """Return the minimum sets by example, with one query."""
    minimum: dict[int, list[Triple]] = defaultdict(list)
    columns = ("question__example", "qid", "relation", "value")
    for example, qid, relation, value in rows.order_by("question", "position").values_list(
        *columns
    ):
        minimum[example].append((qid, relation, value))
    return minimum


def _triples(found: Mapping[str, Iterable[Triple]], qids: Iterable[str]) -> tuple[Triple, ...]:
    """Return the triples of some entities, each entity once."""
    return tuple(triple for qid in dict.fromkeys(qids) for triple in found.get(qid, ()))


def graph_mark(signature: str) -> str:
    """Return the eight characters that identify a graph in a setup's name.

    Args:
        signature: see `QuestionGraphs.signature`.
    """
    return sha256(signature.encode()).hexdigest()[:8]


def without_entities(dataset_id: int) -> dict[Graph, set[int]]:
    """Return the examples with entities that the graph lacks, keyed as in `askable`; one query."""
    in_graph = Entity.objects.filter(dataset=dataset_id, qid=OuterRef("qid"))
    missing = QuestionEntity.objects.filter(
        ~Exists(in_graph), question__example__dataset=dataset_id
    ).values_list("question__example", "is_retrieved")
    rows = set(missing)
    return {
        "retrieved": set(),  # entities that are found here are in the graph
        "imported": {example for example, is_retrieved in rows if is_retrieved},
        "gold": {example for example, is_retrieved in rows if not is_retrieved},
    }


def graph_marks(dataset_id: int, kinds: Iterable[PromptType]) -> dict[PromptType, str]:
    """Return the mark of the graph that prompts of each type show; types without a graph have none.

    Types that depend on the same data get the same mark.
    """
    alike: dict[tuple[Graph, bool], list[PromptType]] = defaultdict(list)
    for kind in dict.fromkeys(kinds):
        if kind.graph:
            alike[kind.graph, kind.accuracy < 100].append(kind)
    return {
        kind: graph_mark(QuestionGraphs(dataset_id, some[0]).signature)
        for some in alike.values()
        for kind in some
    }


class GraphPrompt(NamedTuple):
    """The prompt of one question, or the reason why there is none."""

    prompt: BuiltPrompt | None
    problem: str = ""
    removed: tuple[Triple, ...] | None = None  # members; None: its type removes none
    n_not_in_graph: int = 0  # members that its graph does not state, so they are never removed


class _PromptGraph(NamedTuple):
    """The triples that a prompt shows, and how many entities of its question the graph lacks."""

    triples: tuple[Triple, ...]
    n_missing: int


class QuestionGraphs:
    """The sub-graphs of a dataset's questions, chosen in one way.

    Replacements are drawn among the gold entities that the dataset's questions had when the first
    questions were looked up.
    """

    def __init__(self, dataset_id: int, kind: PromptType, seed: int = 0) -> None:
        """Choose the dataset and the type of prompts.

        Args:
            kind: a type about a graph.
            seed: the seed that decides what its sub-graphs lack.
        """
        if kind.graph is None:
            raise ValueError(f"prompt type {kind.key}; expected one about a graph")
        self._dataset_id, self._kind, self._seed = dataset_id, kind, seed
        self._graph: Graph = kind.graph

    def prompts(
        self, materials: Sequence[ExampleMaterial], budget: int | None
    ) -> list[GraphPrompt]:
        """Return the prompt of each question; the number of queries is the same for any number."""
        minimum = self._minimum(materials)
        return [
            self._prompt(material, shown, minimum.get(material.id, []), budget)
            for material, shown in zip(materials, self._shown(materials), strict=True)
        ]

    def _prompt(
        self,
        material: ExampleMaterial,
        shown: _PromptGraph,
        minimum: list[Triple],
        budget: int | None,
    ) -> GraphPrompt:
        if problem := self._problem(material):
            return GraphPrompt(None, problem)
        question = material.turns[-1].text
        try:
            whole = build_graph_prompt(shown.triples, question, budget)
        except BudgetError as exc:
            return GraphPrompt(None, str(exc))
        whole = whole._replace(n_missing_entities=shown.n_missing)
        return (
            self._lacking(whole, material, minimum) if self._kind.n_removed else GraphPrompt(whole)
        )

    def _lacking(
        self, whole: BuiltPrompt, material: ExampleMaterial, minimum: list[Triple]
    ) -> GraphPrompt:
        """Return a prompt without some members of the minimum set that the whole prompt holds.

        Triples that a budget has cut stay out: removing knowledge makes no room for other triples.
        """
        graph = whole.graph or ()
        stated = stated_members(minimum, graph)
        if not stated:
            return GraphPrompt(None, NO_MINIMUM)
        removed = removed_members(stated, self._kind.n_removed, self._seed, material.key)
        left = build_graph_prompt(without(graph, removed), material.turns[-1].text)
        counted = left._replace(
            n_missing_entities=whole.n_missing_entities,
            n_triples_left_out=whole.n_triples_left_out,
        )
        return GraphPrompt(
            counted, removed=removed, n_not_in_graph=len(knowledge(minimum)) - len(stated)
        )

    def _problem(self, material: ExampleMaterial) -> str:
        """Return why an example has no such prompt, as far as it alone shows this; "" if it has."""
        about = material.about_graph
        if about is None:
            return NO_QUESTION
        if self._graph == "gold" and not about.gold:
            return NO_GOLD
        return NO_IMPORTED if self._graph == "imported" and about.imported is None else ""

    def _minimum(self, materials: Sequence[ExampleMaterial]) -> dict[int, list[Triple]]:
        """Return the minimum sets by example, if the type removes members; one query at most."""
        if not self._kind.n_removed:
            return {}
        ids = [material.id for material in materials]
        return _members(MinimumTriple.objects.filter(question__example__in=ids))

    def _shown(self, materials: Sequence[ExampleMaterial]) -> list[_PromptGraph]:
        """Return what each question's prompt may show, with texts, in the order of its entities.

        It is empty for an example without a question or without such a prompt. An entity that the
        graph does not have shows nothing.
        """
        qids = self._qids(materials)
        found = shown_subgraphs(self._dataset_id, {qid for each in qids for qid in each})
        return [_PromptGraph(_triples(found, each), len(set(each) - found.keys())) for each in qids]

    @property
    def signature(self) -> str:
        """The signature of the graph and, if sub-graphs are retrieved, of the search.

        If sub-graphs are replaced, it also covers the gold entities of all questions.
        """
        if self._graph == "retrieved":
            return self._retriever.signature
        if self._kind.accuracy == 100:
            return graph_hash(self._dataset_id)
        said = json.dumps(sorted((*place, qid) for place, qid in self._places.items()))
        gold = sha256(said.encode()).hexdigest()[:16]
        return f"{graph_hash(self._dataset_id)}|gold:{gold}"

    @cached_property
    def _retriever(self) -> SubgraphRetriever:
        return SubgraphRetriever(self._dataset_id)

    @cached_property
    def _places(self) -> dict[Place, str]:
        """All gold entities of the dataset's questions that the graph has."""
        in_graph = Entity.objects.filter(dataset=self._dataset_id, qid=OuterRef("qid"))
        rows = QuestionEntity.objects.filter(
            Exists(in_graph), question__example__dataset=self._dataset_id, is_retrieved=False
        ).order_by()
        found = rows.values_list("question__example__key", "position", "qid")
        return {(key, position): qid for key, position, qid in found}

    @cached_property
    def _stand_ins(self) -> dict[Place, str]:
        return stand_ins(self._places, self._kind.accuracy, self._seed)

    def _qids(self, materials: Sequence[ExampleMaterial]) -> list[tuple[str, ...]]:
        """Return the entities of each question, in order; none if none are known."""
        asked = [material for material in materials if material.about_graph]
        by_example = dict(zip((each.id for each in asked), self._of(asked), strict=True))
        return [by_example.get(material.id, ()) for material in materials]

    def _of(self, asked: Collection[ExampleMaterial]) -> Iterable[tuple[str, ...]]:
        if self._graph == "retrieved":
            questions = [material.turns[-1].text for material in asked]
            return [found.qids for found in self._retriever.retrieved(questions)]
        known = [(each.key, each.about_graph) for each in asked if each.about_graph]
        if self._graph == "imported":
            return [about.imported or () for _, about in known]
        if self._kind.accuracy == 100:
            return [about.gold for _, about in known]
        return [replaced(key, about.gold, self._stand_ins) for key, about in known]
