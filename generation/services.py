"""Every write to datasets, knowledge graphs, setups and responses.

The `store_…` functions take one batch of records that were checked already, skip what the
dataset has, and return how many rows are new. They cost a fixed number of statements each.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from django.db.models import QuerySet
from django.utils.text import slugify

from accounts.models import User
from generation.importers.records import (
    EntityRecord,
    ExampleRecord,
    KGQuestionRecord,
    PassageRecord,
    ResponseRecord,
    SetupRecord,
)
from generation.models import (
    Alias,
    Citation,
    Dataset,
    Entity,
    Example,
    ExamplePassage,
    KGQuestion,
    MinimumTriple,
    Passage,
    QuestionEntity,
    Response,
    ResponsePassage,
    Setup,
    Triple,
    Turn,
)
from generation.text.citations import parse_citations

MOST_KEYS = 10_000  # in one statement; SQLite takes 32,766 values as it comes
RESPONSES_AT_ONCE = 500  # parsed and written together
MOST_CITATIONS = 32_767  # of one response: what a small integer holds
Keyed = TypeVar("Keyed", ExampleRecord, ResponseRecord, KGQuestionRecord)


def digest(content: object) -> str:
    """Return a short hash of what a record says, wherever it stood in its file."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def record_digest(record: ExampleRecord | ResponseRecord | EntityRecord | KGQuestionRecord) -> str:
    """Return the digest of a record without its place in the file (the first field)."""
    return digest(record[1:])


def create_dataset(name: str, created_by: User | None = None) -> Dataset:
    """Make an empty dataset with a slug of its own."""
    return Dataset.objects.create(name=name, slug=free_slug(Dataset, name), created_by=created_by)


# Addresses of pages where a dataset's or a study's slug would stand.
RESERVED_SLUGS = {"import", "mine", "new"}


def free_slug(model: type, name: str) -> str:
    """Return a slug for `name` that no row of `model` (with `slug`) has yet."""
    base = slugify(name)[:100] or "unnamed"
    taken = set(
        model.objects.filter(slug__startswith=base).values_list("slug", flat=True)  # type: ignore[attr-defined]
    )
    taken |= RESERVED_SLUGS
    numbered = (f"{base}-{n}" for n in range(2, len(taken) + 3))
    return next(slug for slug in [base, *numbered] if slug not in taken)


# --- examples and passages ------------------------------------------------------------------


def store_examples(dataset: Dataset, records: Sequence[ExampleRecord]) -> int:
    """Store examples with their turns and evidence; return how many are new."""
    new = _missing(Example, dataset, records)
    examples = Example.objects.bulk_create(
        Example(
            dataset=dataset,
            key=record.key,
            dialog=record.dialog,
            golden_answer=record.golden_answer,
            meta=dict(record.meta),
            digest=record_digest(record),
        )
        for record in new
    )
    Turn.objects.bulk_create(
        (
            Turn(
                example=example,
                index=index,
                parent_index=turn.parent,
                speaker=turn.speaker,
                text=turn.text,
            )
            for example, record in zip(examples, new, strict=True)
            for index, turn in enumerate(record.turns)
        ),
        batch_size=2000,
    )
    passages = _store_passages(dataset, [p for record in new for p in record.evidence])
    ExamplePassage.objects.bulk_create(
        (
            ExamplePassage(
                example=example,
                passage_id=passages[passage.key],
                position=position,
                is_golden=passage.is_golden,
            )
            for example, record in zip(examples, new, strict=True)
            for position, passage in enumerate(record.evidence)
        ),
        batch_size=2000,
    )
    return len(new)


def _store_passages(dataset: Dataset, records: Iterable[PassageRecord]) -> dict[str, int]:
    """Store passages that are new; return the id of each by its key."""
    by_key = {record.key: record for record in records}
    known = ids_by_key(dataset.passages.all(), by_key)
    Passage.objects.bulk_create(
        (
            Passage(
                dataset=dataset,
                key=record.key,
                title=record.title,
                url=record.url,
                text=record.text,
            )
            for key, record in by_key.items()
            if key not in known
        ),
        batch_size=2000,
    )
    return ids_by_key(dataset.passages.all(), by_key)


def ids_by_key(rows: QuerySet[Any], keys: Iterable[str]) -> dict[str, int]:
    """Return the ids of rows by their key, of those that are there."""
    found: dict[str, int] = {}
    for some in in_lots(keys):
        found |= rows.filter(key__in=some).values_list("key", "pk")
    return found


def in_lots(keys: Iterable[str]) -> Iterator[list[str]]:
    """Yield different keys in lots of `MOST_KEYS`.

    One batch may name hundreds of thousands of passages: more than one statement can ask for.
    """
    asked = sorted(set(keys))
    for start in range(0, len(asked), MOST_KEYS):
        yield asked[start : start + MOST_KEYS]


def _missing(
    model: type[Example] | type[Response], dataset: Dataset, records: Sequence[Keyed]
) -> list[Keyed]:
    """Return the records whose key the dataset does not have."""
    keys = [record.key for record in records]
    known = set(model.objects.filter(dataset=dataset, key__in=keys).values_list("key", flat=True))
    return [record for record in records if record.key not in known]


# --- setups and responses -------------------------------------------------------------------


def store_responses(dataset: Dataset, records: Sequence[ResponseRecord]) -> int:
    """Store responses, with setups that are new; return how many responses are new."""
    new = _missing(Response, dataset, records)
    setups = _store_setups(dataset, [record.setup for record in new])
    examples = dict(
        dataset.examples.filter(key__in={r.example for r in new}).values_list("key", "pk")
    )
    responses = Response.objects.bulk_create(
        Response(
            dataset=dataset,
            example_id=examples[record.example],
            setup_id=setups[record.setup.name],
            key=record.key,
            text=record.text,
            is_evidence_stated=record.evidence_shown is not None,
            graph_shown=record.graph_shown,
            removed=record.removed,
            meta=dict(record.meta),
            digest=record_digest(record),
        )
        for record in new
    )
    shown = {key for record in new for key in record.evidence_shown or ()}
    passages = ids_by_key(dataset.passages.all(), shown)
    ResponsePassage.objects.bulk_create(
        (
            ResponsePassage(response=response, passage_id=passages[key], position=position)
            for response, record in zip(responses, new, strict=True)
            for position, key in enumerate(record.evidence_shown or ())
        ),
        batch_size=2000,
    )
    return len(new)


def _store_setups(dataset: Dataset, records: Iterable[SetupRecord]) -> dict[str, int]:
    """Store setups that are new; return the id of each by its name."""
    by_name = {record.name: record for record in records}
    known = set(dataset.setups.filter(name__in=by_name).values_list("name", flat=True))
    Setup.objects.bulk_create(
        Setup(
            dataset=dataset,
            name=name,
            model=record.model,
            temperature=record.temperature,
            prompt=record.prompt,
            run=record.run,
            settings=dict(record.settings),
        )
        for name, record in by_name.items()
        if name not in known
    )
    return dict(dataset.setups.filter(name__in=by_name).values_list("name", "pk"))


def store_citations(
    dataset: Dataset, wanted: Collection[tuple[str, int]]
) -> dict[tuple[str, int], int]:
    """Make sure that the citations (response key, number) exist; return the id of each."""
    keys = {key for key, _ in wanted}
    responses = dict(dataset.responses.filter(key__in=keys).values_list("key", "pk"))
    citations = Citation.objects.filter(response__dataset=dataset, response__key__in=keys)
    known = set(citations.values_list("response__key", "number"))
    Citation.objects.bulk_create(
        Citation(response_id=responses[key], number=number)
        for key, number in sorted(set(wanted) - known)
    )
    return {
        (key, number): pk
        for key, number, pk in citations.values_list("response__key", "number", "pk")
    }


# --- citations of the graph -----------------------------------------------------------------


class Vocabulary(NamedTuple):
    """What citations may name: relations of a graph, and entities, where not called Q123."""

    relations: frozenset[str]
    qids: frozenset[str]


def store_cited_facts(responses: Collection[int]) -> int:
    """Parse the texts of responses, and fill in what each complete citation claims.

    A citation that has its content keeps it: raters may have judged it. An incomplete one takes
    a number and no row: nobody can rate it.

    Args:
        responses: ids.

    Returns:
        How many citations these responses have now.
    """
    ids = sorted(set(responses))
    by_dataset: dict[int, Vocabulary] = {}
    return sum(
        _store_facts_of(ids[start : start + RESPONSES_AT_ONCE], by_dataset)
        for start in range(0, len(ids), RESPONSES_AT_ONCE)
    )


def _store_facts_of(ids: Collection[int], by_dataset: dict[int, Vocabulary]) -> int:
    """Do one batch; `by_dataset` is what is known already of datasets, and grows."""
    responses = Response.objects.filter(pk__in=ids).only("text", "graph_shown", "dataset_id")
    without_graph = {r.dataset_id for r in responses if not r.graph_shown}
    by_dataset |= _vocabularies(without_graph - by_dataset.keys())
    parsed = {
        response.pk: parse_citations(
            response.text,
            *(_shown_vocabulary(response.graph_shown) or by_dataset[response.dataset_id]),
        )
        for response in responses
    }
    known = {
        (response, number): bool(qid)
        for response, number, qid in Citation.objects.filter(response__in=ids).values_list(
            "response", "number", "qid"
        )
    }
    facts = {
        (response, fact.number): Citation(response_id=response, **fact._asdict())
        for response, answer in parsed.items()
        for fact in answer.citations
        if fact.is_complete and _fits(fact.number, fact.qid, fact.relation)
    }
    Citation.objects.bulk_create(
        [fact for key, fact in facts.items() if not known.get(key)],
        batch_size=2000,
        update_conflicts=True,
        unique_fields=["response", "number"],
        update_fields=["sentence", "qid", "relation", "value"],
    )
    return len(known.keys() | facts.keys())


def _shown_vocabulary(graph: Sequence[Sequence[str]] | None) -> Vocabulary | None:
    """Return the vocabulary of the graph that the model was shown; None when there is none."""
    if not graph:
        return None
    return Vocabulary(
        frozenset(relation for _, relation, _ in graph), frozenset(qid for qid, _, _ in graph)
    )


def _vocabularies(datasets: Collection[int]) -> dict[int, Vocabulary]:
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
    """Return whether the database can hold a citation: no graph has longer names either."""
    return number <= MOST_CITATIONS and len(qid) <= 100 and len(relation) <= 300


# --- knowledge graphs -----------------------------------------------------------------------


def store_entities(dataset: Dataset, records: Sequence[EntityRecord]) -> int:
    """Store entities with aliases and triples; return how many are new."""
    known = set(
        dataset.entities.filter(qid__in=[r.qid for r in records]).values_list("qid", flat=True)
    )
    new = [record for record in records if record.qid not in known]
    entities = Entity.objects.bulk_create(
        Entity(
            dataset=dataset,
            qid=record.qid,
            label=record.label,
            type=record.type,
            text=record.text,
            digest=record_digest(record),
        )
        for record in new
    )
    Alias.objects.bulk_create(
        (
            Alias(entity=entity, name=name)
            for entity, record in zip(entities, new, strict=True)
            for name in dict.fromkeys(record.aliases)
        ),
        batch_size=2000,
    )
    Triple.objects.bulk_create(
        (
            Triple(
                subject=entity,
                position=position,
                relation=triple.relation,
                value=triple.value,
                value_qid=triple.value_qid,
            )
            for entity, record in zip(entities, new, strict=True)
            for position, triple in enumerate(record.triples)
        ),
        batch_size=2000,
    )
    return len(new)


def store_kg_questions(dataset: Dataset, records: Sequence[KGQuestionRecord]) -> int:
    """Store questions about the graph, each as an example with one user turn."""
    new = _missing(Example, dataset, records)
    examples = Example.objects.bulk_create(
        Example(dataset=dataset, key=record.key, dialog=record.key, digest=record_digest(record))
        for record in new
    )
    Turn.objects.bulk_create(
        Turn(example=example, index=0, parent_index=-1, speaker="user", text=record.question)
        for example, record in zip(examples, new, strict=True)
    )
    questions = KGQuestion.objects.bulk_create(
        KGQuestion(
            example=example,
            is_minimum_known=record.minimum is not None,
            is_retrieved_known=record.retrieved is not None,
        )
        for example, record in zip(examples, new, strict=True)
    )
    QuestionEntity.objects.bulk_create(
        (
            QuestionEntity(question=question, qid=qid, position=position, is_retrieved=retrieved)
            for question, record in zip(questions, new, strict=True)
            for retrieved, qids in ((False, record.entities), (True, record.retrieved or ()))
            for position, qid in enumerate(qids)
        ),
        batch_size=2000,
    )
    MinimumTriple.objects.bulk_create(
        (
            MinimumTriple(
                question=question,
                position=position,
                qid=triple.qid,
                relation=triple.relation,
                value=triple.value,
                round=triple.round,
            )
            for question, record in zip(questions, new, strict=True)
            for position, triple in enumerate(record.minimum or ())
        ),
        batch_size=2000,
    )
    return len(new)
