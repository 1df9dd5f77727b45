"""The claims of citations in responses, parsed from the responses' texts."""

from collections.abc import Collection, Mapping, Sequence

from generation.models import Citation, Entity, Response, Triple
from generation.text.citations import NAME, ParsedAnswer, parse_citations
from generation.text.cited_vocabulary import Vocabulary
from generation.text.compared_triples import citations_of, compared, other_names, without_names
from generation.text.flat_graph import Triple as Fact

RESPONSES_AT_ONCE = 500  # responses that are parsed and written together
MOST_CITATIONS = 32_767  # citations of one response; a small integer holds no more


def store_cited_facts(responses: Collection[int]) -> int:
    """Parse the texts of responses, and store what each complete citation claims.

    A name beside other claims is stored as well, if it differs from the names in the shown text and
    in the database. A citation that has its content already keeps it, because raters may have
    judged it. An incomplete citation takes a number but gets no row, because raters cannot judge
    it.

    Args:
        responses: ids of responses.

    Returns:
        The number of citations that these responses have now.
    """
    ids = sorted(set(responses))
    by_dataset: dict[int, Vocabulary] = {}
    return sum(
        _store_facts_of(ids[start : start + RESPONSES_AT_ONCE], by_dataset)
        for start in range(0, len(ids), RESPONSES_AT_ONCE)
    )


def _store_facts_of(ids: Collection[int], by_dataset: dict[int, Vocabulary]) -> int:
    """Store the citations of one batch, and return how many there are now.

    `by_dataset` holds the vocabularies of datasets that are known already; new ones are added.
    """
    known = {
        (response, number): bool(qid)
        for response, number, qid in Citation.objects.filter(response__in=ids).values_list(
            "response", "number", "qid"
        )
    }
    facts = cited_facts(ids, by_dataset)
    Citation.objects.bulk_create(
        [fact for key, fact in facts.items() if not known.get(key)],
        batch_size=2000,
        update_conflicts=True,
        unique_fields=["response", "number"],
        update_fields=["sentence", "qid", "relation", "value"],
    )
    return len(known.keys() | facts.keys())


def cited_facts(
    ids: Collection[int], by_dataset: dict[int, Vocabulary]
) -> dict[tuple[int, int], Citation]:
    """Return the complete citations of responses, by response and number. Nothing is stored.

    `by_dataset` is that of `_store_facts_of`.
    """
    responses = Response.objects.filter(pk__in=ids).only("text", "graph_shown", "dataset_id")
    without_graph = {r.dataset_id for r in responses if not r.graph_shown}
    by_dataset |= vocabularies(without_graph - by_dataset.keys())
    graphs = {response.pk: response.graph_shown for response in responses}
    parsed: dict[int, ParsedAnswer] = {}
    for dataset in {response.dataset_id for response in responses}:
        answers = {
            response.pk: parse_citations(
                response.text, *(shown_vocabulary(response.graph_shown) or by_dataset[dataset])
            )
            for response in responses
            if response.dataset_id == dataset
        }
        parsed |= without_own_names(dataset, answers, graphs)
    return {
        (response, fact.number): Citation(response_id=response, **fact._asdict())
        for response, answer in parsed.items()
        for fact in citations_of(answer, triples_of(graphs[response]))
        if fact.is_complete and _fits(fact.number, fact.qid, fact.relation)
    }


def without_own_names(
    dataset: int,
    answers: Mapping[int, ParsedAnswer],
    graphs: Mapping[int, Sequence[Sequence[str]] | None],
) -> dict[int, ParsedAnswer]:
    """Return answers without the names that the database has for their entities, as label or alias.

    This takes one query, or none if no name differs from those in the shown text.

    Args:
        dataset: the dataset's id.
        answers: answers by any key.
        graphs: the graphs that were shown, by the same keys.
    """
    doubtful = [
        name
        for key, answer in answers.items()
        if answer.names
        for name in other_names(answer, triples_of(graphs[key]))
    ]
    if not doubtful:
        return dict(answers)
    own = _names_of(dataset, {name.qid for name in doubtful})
    return {key: without_names(answer, own) for key, answer in answers.items()}


def _names_of(dataset: int, qids: Collection[str]) -> frozenset[Fact]:
    """Return labels and aliases of some entities, in the form in which names are compared."""
    entities = Entity.objects.filter(dataset=dataset, qid__in=qids).order_by()
    return frozenset(
        compared((qid, NAME, name))
        for qid, label, alias in entities.values_list("qid", "label", "aliases__name")
        for name in (label, alias)
        if name
    )


def triples_of(graph: Sequence[Sequence[str]] | None) -> list[Fact]:
    """Return the triples of a graph as a response stores them."""
    return [(qid, relation, value) for qid, relation, value in graph or ()]


def shown_vocabulary(graph: Sequence[Sequence[str]] | None) -> Vocabulary | None:
    """Return the vocabulary of the graph that the model was shown; None if there is none."""
    if not graph:
        return None
    return Vocabulary.of(triples_of(graph))


def vocabularies(datasets: Collection[int]) -> dict[int, Vocabulary]:
    """Return the vocabulary of each dataset's own graph."""
    triples = Triple.objects.order_by().filter(subject__dataset__in=datasets)
    entities = Entity.objects.filter(dataset__in=datasets).exclude(qid__regex=r"^Q[0-9]+$")
    relations: dict[int, set[str]] = {dataset: set() for dataset in datasets}
    qids: dict[int, set[str]] = {dataset: set() for dataset in datasets}
    for dataset, name in triples.values_list("subject__dataset", "relation").distinct():
        relations[dataset].add(name)
    for dataset, name in entities.values_list("dataset", "qid"):
        qids[dataset].add(name)
    return {
        dataset: Vocabulary(frozenset(relations[dataset]), frozenset(qids[dataset]))
        for dataset in datasets
    }


def _fits(number: int, qid: str, relation: str) -> bool:
    """Return whether the database can hold a citation; no graph has longer names either."""
    return number <= MOST_CITATIONS and len(qid) <= 100 and len(relation) <= 300
