"""Made-up minimum knowledge sets, to try experiments on data for which none is published.

A dataset with made-up sets is separate, so that nothing in it can be taken for a publisher's data.
Its name shows this, and so does each question, in its exports as well.
"""

import hashlib
from collections.abc import Iterator

from django.db import IntegrityError, transaction

from accounts.models import AuditEntry, User
from accounts.services import record as record_in_audit_trail
from generation.batches import lots
from generation.importers.json_text import unstorable_character
from generation.limits import LONGEST_NAME
from generation.models import Alias, Dataset, Entity, KGQuestion
from generation.models import Triple as TripleRow
from generation.records import (
    EntityRecord,
    EntityTriple,
    KGQuestionRecord,
    MinimumTripleRecord,
    Where,
)
from generation.retrieval.subgraphs import subgraphs
from generation.seeded_random import random_key
from generation.services.datasets import create_dataset
from generation.services.graphs import store_entities, store_kg_questions
from generation.text.compared_triples import compared
from generation.text.constructed_questions import may_be_injected
from generation.text.flat_graph import Triple

USUAL_TRIPLES, MOST_TRIPLES = 5, 100  # triples of one question
USUAL_SEED = 13
SAYS_SO = ("made-up", "made up")  # the name must have one of these
TOGETHER = 500  # entities or questions
_SUFFIX = ", made-up minimum sets"
_MADE = "dataset.minimum_made_up"  # action in the audit trail
_NOWHERE = Where("", 0)


class MadeUpError(ValueError):
    """A dataset with made-up sets that cannot be made: what was found, what was expected."""


def usual_name(dataset: Dataset) -> str:
    """Return the name of a dataset with made-up sets if no name is given.

    A long name is cut short. A digest takes the place of the rest, so that the name differs from
    all others.
    """
    room = LONGEST_NAME - len(_SUFFIX)
    if len(dataset.name) <= room:
        return f"{dataset.name}{_SUFFIX}"
    rest = hashlib.sha256(dataset.slug.encode()).hexdigest()[:8]
    return f"{dataset.name[: room - len(rest) - 2]}… {rest}{_SUFFIX}"


def usual_copy(dataset: Dataset) -> Dataset | None:
    """Return the dataset with the usual name, if it was made of this one."""
    there = Dataset.objects.filter(name=usual_name(dataset)).first()
    if there is None:
        return None
    made = AuditEntry.objects.filter(action=_MADE, subject=there.name)
    is_of_this = made.filter(details__source_id=dataset.pk, details__made_id=there.pk).exists()
    return there if is_of_this else None


def make_up_minimum(
    dataset: Dataset,
    name: str = "",
    n: int = USUAL_TRIPLES,
    seed: int = USUAL_SEED,
    user: User | None = None,
) -> Dataset:
    """Return a new dataset: the graph, and each question that has sub-graphs with a made-up set.

    A set is drawn from the question's sub-graphs: the gold ones or, if these are not known, the
    retrieved ones, which then become its gold entities. Triples that only say which entity is
    meant, or that hold for everyone, are never drawn. Questions for which nothing can be drawn are
    left out.

    Args:
        name: the name of the new dataset; "": the usual one.
        n: triples of a set, 1 to `MOST_TRIPLES`; fewer if the sub-graphs have no more.

    Raises:
        MadeUpError: the name is taken or does not say that something is made up, `n` is out of its
            range, or no question has a sub-graph; nothing is stored.
    """
    name = name.strip() or usual_name(dataset)
    _check(name, n)
    try:
        with transaction.atomic():
            made = create_dataset(name, user)
            n_questions = sum(
                store_kg_questions(made, records) for records in _questions(dataset, n, seed)
            )
            if not n_questions:
                found = f"no question about entities of the graph of {dataset.name}"
                raise MadeUpError(f"found {found}; expected one or more")
            for entities in _entities(dataset):
                store_entities(made, entities, is_new=True)
            which = {"source_id": dataset.pk, "made_id": made.pk}
            said = {"source": dataset.name, "n_triples": n, "seed": seed}
            record_in_audit_trail(user, _MADE, name, **said, **which)
    except IntegrityError as error:
        raise MadeUpError(f"found a dataset {name!r}; expected a new name") from error
    return made


def _check(name: str, n: int) -> None:
    if trouble := unstorable_character(name):
        raise MadeUpError(f"found {trouble} in the name; expected a name without this character")
    if len(name) > LONGEST_NAME:
        raise MadeUpError(
            f"found a name of {len(name)} characters; expected at most {LONGEST_NAME}"
        )
    if not any(words in name.casefold() for words in SAYS_SO):
        raise MadeUpError(f"found the name {name!r}; expected a name that contains “{SAYS_SO[0]}”")
    if not 1 <= n <= MOST_TRIPLES:
        raise MadeUpError(f"found {n} triples; expected from 1 to {MOST_TRIPLES}")


def _questions(dataset: Dataset, n: int, seed: int) -> Iterator[list[KGQuestionRecord]]:
    """Yield the questions for which anything can be drawn, in batches."""
    rows = KGQuestion.objects.of_benchmark().filter(example__dataset=dataset).order_by("example")
    ids = list(rows.values_list("pk", flat=True))
    for some in lots(ids, TOGETHER):
        asked = rows.filter(pk__in=some).select_related("example")
        records = [_record(each) for each in asked.prefetch_related("entities", "example__turns")]
        found = subgraphs(dataset.pk, {qid for record in records for qid in record.entities})
        made = [
            record._replace(
                minimum=_drawn(
                    [triple for qid in record.entities for triple in found.get(qid, ())],
                    n,
                    seed,
                    record.key,
                ),
                is_minimum_made_up=True,
            )
            for record in records
        ]
        yield [record for record in made if record.minimum]


def _record(question: KGQuestion) -> KGQuestionRecord:
    """Return a question with the entities that are gold, or count as gold here."""
    named = list(question.entities.all())
    gold = tuple(each.qid for each in named if not each.is_retrieved)
    retrieved = tuple(each.qid for each in named if each.is_retrieved)
    return KGQuestionRecord(
        _NOWHERE,
        question.example.key,
        question.example.turns.all()[0].text,
        gold or retrieved,
        retrieved if question.is_retrieved_known else None,
        None,
    )


def _drawn(graph: list[Triple], n: int, seed: int, key: str) -> tuple[MinimumTripleRecord, ...]:
    """Return different triples of a question's sub-graphs, at most `n`."""
    different: dict[Triple, Triple] = {}
    for triple in graph:
        if may_be_injected(triple):
            different.setdefault(compared(triple), triple)
    in_order = sorted(different, key=lambda form: (random_key(seed, "made up", key, *form), form))
    return tuple(MinimumTripleRecord(*different[form], round=None) for form in in_order[:n])


def _entities(dataset: Dataset) -> Iterator[list[EntityRecord]]:
    """Yield the entities of a graph with all their aliases and triples, in batches."""
    ids = list(Entity.objects.filter(dataset=dataset).order_by("pk").values_list("pk", flat=True))
    for some in lots(ids, TOGETHER):
        aliases: dict[int, list[str]] = {pk: [] for pk in some}
        stated: dict[int, list[EntityTriple]] = {pk: [] for pk in some}
        for pk, alias in (
            Alias.objects.filter(entity__in=some).order_by("pk").values_list("entity", "name")
        ):
            aliases[pk].append(alias)
        triples = TripleRow.objects.filter(subject__in=some).order_by("subject", "position")
        columns = "subject", "relation", "value", "value_qid"
        for pk, relation, value, value_qid in triples.values_list(*columns):
            stated[pk].append(EntityTriple(relation, value, value_qid))
        rows = Entity.objects.filter(pk__in=some).order_by("pk")
        yield [
            EntityRecord(_NOWHERE, qid, label, type_, tuple(aliases[pk]), text, tuple(stated[pk]))
            for pk, qid, label, type_, text in rows.values_list(
                "pk", "qid", "label", "type", "text"
            )
        ]
