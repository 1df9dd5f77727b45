"""Knowledge graphs, and questions about them."""

from collections.abc import Sequence

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
from generation.records import EntityRecord, KGQuestionRecord
from generation.services.many_rows import insert_rows
from generation.services.record_keys import missing, record_digest


def store_entities(
    dataset: Dataset, records: Sequence[EntityRecord], *, is_new: bool = False
) -> int:
    """Store entities with aliases and triples; return how many are new.

    Args:
        is_new: whether none of them is stored, so that they are not looked up. PostgreSQL has no
            statistics yet of a graph that is being stored, and may read all of it for a look-up.
    """
    known: set[str] = set()
    if not is_new:
        qids = [record.qid for record in records]
        known.update(dataset.entities.filter(qid__in=qids).values_list("qid", flat=True))
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
    stored = list(zip(entities, new, strict=True))
    insert_rows(
        Alias,
        ("entity_id", "name"),
        ((entity.pk, name) for entity, record in stored for name in dict.fromkeys(record.aliases)),
    )
    insert_rows(
        Triple,
        ("subject_id", "position", "relation", "value", "value_qid"),
        (
            (entity.pk, position, *triple)
            for entity, record in stored
            for position, triple in enumerate(record.triples)
        ),
    )
    return len(new)


def store_kg_questions(dataset: Dataset, records: Sequence[KGQuestionRecord]) -> int:
    """Store questions, each as an example with one user turn; return how many are new."""
    new = missing(Example, dataset, records)
    examples = Example.objects.bulk_create(
        Example(
            dataset=dataset,
            key=record.key,
            dialog=record.key,
            is_ad_hoc=record.is_ad_hoc,
            digest=record_digest(record),
        )
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
            is_minimum_made_up=record.is_minimum_made_up,
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
