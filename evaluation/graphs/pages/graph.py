"""Knowledge graphs as their pages show them.

This module only reads, with a fixed number of queries.
"""

from collections.abc import Collection, Sequence
from typing import Generic, NamedTuple, TypeVar

from django.db.models import Count, Q
from django.urls import reverse

from evaluation.graphs.figures.one_hop import OneHop, Value, one_hop, spokes
from generation.models import Entity, KGQuestion, QuestionEntity, Response, Triple

MOST_TRIPLES = 500  # triples that the page of an entity lists
MOST_LISTED = 25  # incoming edges, namesakes and questions, each, on the page of an entity

T = TypeVar("T")


class GraphCounts(NamedTuple):
    """The size of a dataset's graph, and the number of questions and answers about it."""

    n_entities: int = 0
    n_triples: int = 0
    n_questions: int = 0
    n_answers: int = 0  # responses to these questions whose shown graph is known
    n_ad_hoc: int = 0  # further questions, which researchers asked to try something


class FirstRows(NamedTuple, Generic[T]):
    """The first rows of a list, and how many there are in all."""

    rows: Sequence[T]
    n: int

    @property
    def n_more(self) -> int:
        return self.n - len(self.rows)


class TripleRow(NamedTuple):
    """One triple of an entity's table.

    `url` is the page of the entity that the value is, or "" if the value is no stored entity.
    """

    relation: str
    value: str
    value_qid: str
    url: str


class EntityLink(NamedTuple):
    """An entity of the graph with its page."""

    label: str
    url: str


class Incoming(NamedTuple):
    """An edge that leads to the entity of the page."""

    entity: Entity
    relation: str


class NamedIn(NamedTuple):
    """A question that names an entity."""

    example: int
    text: str
    is_gold: bool
    is_retrieved: bool


class EntityPage(NamedTuple):
    """An entity with all that its page shows."""

    aliases: Sequence[str]
    triples: FirstRows[TripleRow]
    picture: OneHop
    incoming: FirstRows[Incoming]
    namesakes: FirstRows[Entity]
    questions: FirstRows[NamedIn]


def counts_of(datasets: Collection[int]) -> dict[int, GraphCounts]:
    """Return what the graphs of some datasets hold, by dataset. This takes five queries."""
    entities = Entity.objects.filter(dataset__in=datasets).order_by()
    triples = Triple.objects.filter(subject__dataset__in=datasets).order_by()
    questions = KGQuestion.objects.filter(example__dataset__in=datasets).order_by()
    answers = Response.objects.filter(dataset__in=datasets, graph_shown__isnull=False).order_by()
    ad_hoc = questions.filter(example__is_ad_hoc=True)
    counted = [
        dict(rows.values_list(dataset).annotate(n=Count("pk")))
        for rows, dataset in (
            (entities, "dataset"),
            (triples, "subject__dataset"),
            (questions.of_benchmark(), "example__dataset"),
            (answers.of_benchmark(), "dataset"),
            (ad_hoc, "example__dataset"),
        )
    ]
    return {pk: GraphCounts(*(counts.get(pk, 0) for counts in counted)) for pk in datasets}


def entity_page(entity: Entity) -> EntityPage:
    """Return an entity with its neighbours, namesakes and questions, by at most ten queries."""
    triples = _triples(entity)
    values = [(row.relation, Value(row.value, row.url)) for row in triples.rows if row.value]
    aliases = list(entity.aliases.order_by("name").values_list("name", flat=True))
    return EntityPage(
        aliases=aliases,
        triples=triples,
        picture=one_hop(entity.label, spokes(values)),
        incoming=_incoming(entity),
        namesakes=_namesakes(entity, aliases),
        questions=_questions(entity),
    )


def pages_of(dataset_id: int, slug: str, qids: Collection[str]) -> dict[str, str]:
    """Return the pages of those entities that are in the graph, by qid. This takes one query."""
    return {qid: link.url for qid, link in links_of(dataset_id, slug, qids).items()}


def links_of(dataset_id: int, slug: str, qids: Collection[str]) -> dict[str, EntityLink]:
    """Return labels and pages of those entities that are in the graph, by qid, in one query."""
    found = Entity.objects.filter(dataset=dataset_id, qid__in=set(qids)).order_by()
    return {
        qid: EntityLink(label, reverse("graphs:entity", args=[slug, pk]))
        for pk, qid, label in found.values_list("pk", "qid", "label")
    }


def _triples(entity: Entity) -> FirstRows[TripleRow]:
    triples = entity.triples.order_by("position")
    rows = list(triples.values_list("relation", "value", "value_qid")[:MOST_TRIPLES])
    urls = pages_of(entity.dataset_id, entity.dataset.slug, {qid for _, _, qid in rows if qid})
    listed = [TripleRow(*row, urls.get(row[2], "")) for row in rows]
    return FirstRows(listed, triples.count() if len(rows) == MOST_TRIPLES else len(rows))


def _incoming(entity: Entity) -> FirstRows[Incoming]:
    edges = Triple.objects.filter(subject__dataset=entity.dataset_id, value_qid=entity.qid)
    rows = edges.select_related("subject").order_by("subject__label", "subject", "position")
    listed = [Incoming(edge.subject, edge.relation) for edge in rows[:MOST_LISTED]]
    return FirstRows(listed, edges.count())


def _namesakes(entity: Entity, aliases: Sequence[str]) -> FirstRows[Entity]:
    """Return the other entities that have one of this entity's names."""
    names = [entity.label, *aliases]
    others = Entity.objects.filter(
        Q(label__in=names) | Q(aliases__name__in=names), dataset=entity.dataset_id
    )
    others = others.exclude(pk=entity.pk).distinct()
    return FirstRows(list(others.order_by("label", "qid")[:MOST_LISTED]), others.count())


def _questions(entity: Entity) -> FirstRows[NamedIn]:
    named = QuestionEntity.objects.filter(
        question__example__dataset=entity.dataset_id, qid=entity.qid
    )
    by_example = named.order_by("question__example").values_list("question__example").distinct()
    examples = [pk for (pk,) in by_example[:MOST_LISTED]]
    rows = named.filter(question__example__in=examples, question__example__turns__index=0)
    texts: dict[int, str] = {}
    as_what: dict[int, set[bool]] = {}
    columns = "question__example", "question__example__turns__text", "is_retrieved"
    for example, text, is_retrieved in rows.order_by("question__example").values_list(*columns):
        texts[example] = text
        as_what.setdefault(example, set()).add(is_retrieved)
    listed = [
        NamedIn(pk, texts.get(pk, ""), False in as_what.get(pk, ()), True in as_what.get(pk, ()))
        for pk in examples
    ]
    return FirstRows(listed, by_example.count())
