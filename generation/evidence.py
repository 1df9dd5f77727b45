"""The evidence that a response is judged against. Every study, run and figure names its choice.

Evidence is passages and, for a question about a knowledge graph, triples.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from django.db import models
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from generation.models import (
    Example,
    ExamplePassage,
    QuestionEntity,
    Response,
    ResponsePassage,
    Turn,
)
from generation.retrieval.bm25 import Bm25
from generation.retrieval.dataset_index import index_of
from generation.retrieval.subgraphs import shown_subgraphs
from generation.text.graph_prompts import Graph, shown_graphs

RETRIEVED_PASSAGES = 3
BY_SHARED_WORDS = Bm25(idf="lucene")  # a passage scores above 0 if and only if it shares a word

Passages = Mapping[int, tuple[int, ...]]  # response id → passage ids, in the order shown


class EvidenceChoice(models.TextChoices):
    """The kinds of evidence that a judgement can be made against.

    They are what the model was given, the golden passages, and the passages that BM25 finds best
    for the dialog with the response.
    """

    SHOWN = "shown"
    GOLDEN = "golden"
    RETRIEVED = "retrieved"


def with_n_shown(examples: QuerySet[Example]) -> QuerySet[Example]:
    """Return the examples with `n_shown`, the number of passages that only their responses show.

    Responses may come with passages that are no evidence of their example, as in a table with one
    row per response. Each passage counts once for an example.
    """
    of_example = ExamplePassage.objects.filter(
        example=OuterRef("response__example"), passage=OuterRef("passage")
    )
    shown = ResponsePassage.objects.filter(~Exists(of_example), response__example=OuterRef("pk"))
    n_shown = (
        shown.order_by().values("response__example").annotate(n=Count("passage", distinct=True))
    )
    return examples.annotate(n_shown=Coalesce(Subquery(n_shown.values("n")), 0))


def evidence_of(
    responses: QuerySet[Response], choice: str, only: Collection[int] | None = None
) -> Passages:
    """Return the passages of each response under an evidence choice. A response may have none.

    If it is not known what was shown for a response, the golden passages count as shown.

    Args:
        responses: responses of one dataset.
        only: ids of responses. All others are left out, because retrieving for them would cost
            time.
    """
    if choice == EvidenceChoice.RETRIEVED:
        return _retrieved(responses, only)
    golden = _in_order(
        ExamplePassage.objects.filter(example__responses__in=responses, is_golden=True).distinct(),
        "example",
    )
    shown = (
        _in_order(ResponsePassage.objects.filter(response__in=responses), "response")
        if choice == EvidenceChoice.SHOWN
        else {}
    )
    return {
        pk: shown.get(pk, ())
        if choice == EvidenceChoice.SHOWN and is_stated
        # The golden passages of the dialog, whatever the model was given.
        else golden.get(example, ())
        for pk, example, is_stated in responses.values_list("pk", "example", "is_evidence_stated")
        if only is None or pk in only
    }


def graphs_of(
    responses: QuerySet[Response], choice: str, only: Collection[int] | None = None
) -> Iterator[tuple[int, Graph]]:
    """Yield the id of each response with the triples that it is judged against; it may have none.

    Shown: the graph that the model was given. Golden: the sub-graphs of the question's gold
    entities. Triples are as in prompts: the entity's name comes first, and a triple without a value
    is
    left out. If neither passages nor a graph are known to be shown, the gold sub-graphs count as
    shown.
    A search finds only passages, so the retrieved evidence has no triples.

    Args:
        responses: responses of one dataset.
        only: ids of responses. All others are left out.
    """
    rows = responses.order_by().values_list(
        "pk", "dataset", "example", "graph_shown", "is_evidence_stated"
    )
    golden: Mapping[int, Graph] | None = None
    for pk, dataset, example, stored, is_stated in rows.iterator(chunk_size=500):
        if only is not None and pk not in only:
            continue
        graph = _stated_graph(choice, stored, is_stated)
        if graph is None and golden is None:
            golden = _gold_graphs(dataset, responses.order_by().values("example"))
        yield pk, (golden or {}).get(example, ()) if graph is None else graph


def graphs_of_loaded(responses: Sequence[Response], choice: str) -> list[Graph]:
    """Return the graphs that `graphs_of` yields, for loaded responses in their order.

    This takes 3 queries at most.

    Args:
        responses: responses of one dataset.
    """
    stated = [_stated_graph(choice, r.graph_shown, r.is_evidence_stated) for r in responses]
    asked = {r.example_id for r, graph in zip(responses, stated, strict=True) if graph is None}
    golden = _gold_graphs(responses[0].dataset_id, asked) if asked else {}
    return [
        golden.get(response.example_id, ()) if graph is None else graph
        for response, graph in zip(responses, stated, strict=True)
    ]


def same_graph(responses: Sequence[Response], choice: str) -> Graph:
    """Return the triples that all responses to one example are judged against.

    They are in the order of the first response. If the responses differ, there are none.
    """
    graphs = graphs_of_loaded(responses, choice)
    return graphs[0] if len(set(map(frozenset, graphs))) == 1 else ()


def _stated_graph(
    choice: str, stored: Sequence[Sequence[str]] | None, is_stated: bool
) -> Graph | None:
    """Return the graph that a response itself states. None: the gold sub-graphs count."""
    if choice == EvidenceChoice.RETRIEVED:
        return ()
    if choice == EvidenceChoice.SHOWN and (is_stated or stored is not None):
        return graph_in_order(stored)
    return None


def graph_in_order(stored: Sequence[Sequence[str]] | None) -> Graph:
    """Return the triples of a stored graph as prompts and pages show them.

    They are grouped by entity. White space inside a relation or a value becomes one space. If no
    graph is stored, there are no triples.
    """
    triples = ((qid, relation, value) for qid, relation, value in stored or ())
    return tuple(triple for of_entity in shown_graphs(triples) for triple in of_entity)


def _gold_graphs(dataset: int, examples: QuerySet[Any] | Collection[int]) -> Mapping[int, Graph]:
    """Return the sub-graphs of the gold entities of some examples.

    This takes one query if the examples have no gold entities, otherwise 3.
    """
    entities = QuestionEntity.objects.filter(question__example__in=examples, is_retrieved=False)
    gold: dict[int, list[str]] = defaultdict(list)
    rows = entities.order_by("question", "position").values_list("question__example", "qid")
    for example, qid in rows:
        gold[example].append(qid)
    if not gold:
        return {}
    found = shown_subgraphs(dataset, {qid for qids in gold.values() for qid in qids})
    return {
        example: graph_in_order(
            [triple for qid in dict.fromkeys(qids) for triple in found.get(qid, ())]
        )
        for example, qids in gold.items()
    }


def _in_order(rows: QuerySet[Any], of: str) -> Passages:
    """Return the passages of each example or response, in their order."""
    passages: dict[int, tuple[int, ...]] = defaultdict(tuple)
    for owner, passage in rows.order_by(of, "position").values_list(of, "passage").iterator():
        passages[owner] += (passage,)
    return passages


def _retrieved(responses: QuerySet[Response], only: Collection[int] | None) -> Passages:
    """Return the dataset's best passages for each dialog with its response.

    A passage counts only if it shares a word with them.
    """
    dataset = responses.values_list("dataset", flat=True).first()
    if dataset is None:
        return {}
    index = index_of(dataset, BY_SHARED_WORDS)
    dialogs: dict[int, str] = defaultdict(str)
    turns = Turn.objects.filter(example__in=responses.values("example"))
    for example, text in turns.order_by("example", "index").values_list("example", "text"):
        dialogs[example] += f"{text} "
    return {
        pk: tuple(
            hit.passage
            for hit in index.ranked(dialogs[example] + text, RETRIEVED_PASSAGES)
            if hit.score > 0  # the passage shares a word
        )
        for pk, example, text in responses.values_list("pk", "example", "text")
        if only is None or pk in only
    }
