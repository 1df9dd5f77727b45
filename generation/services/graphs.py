"""Knowledge graphs, and questions about them."""

from collections.abc import Sequence

from generation.importers.records import EntityRecord, KGQuestionRecord
from generation.models import (
    Alias,
    Dataset,
    Entity,
    Example,
    KGQuestion,
    MinimumTriple,
    QuestionEntity,
    Triple,
    Turn,
)
from generation.services.rows import missing, record_digest


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
    new = missing(Example, dataset, records)
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
