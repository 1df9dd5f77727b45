"""Datasets, with their examples and passages.

The `store_…` functions, here and in the modules beside this one, take one batch of records that
were checked already. They skip what the dataset has, and return how many rows are new. Each takes a
fixed number of statements.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db import transaction
from django.utils.text import slugify

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from accounts.services import set_archived
from generation.limits import MAIN_METRICS
from generation.models import Dataset, Example, ExamplePassage, Passage, Turn
from generation.records import CollectionPassageRecord, ExampleRecord, PassageRecord
from generation.services.many_rows import insert_rows
from generation.services.record_keys import ids_by_key, missing, record_digest


def create_dataset(name: str, created_by: User | None = None) -> Dataset:
    """Create an empty dataset with a slug of its own."""
    return Dataset.objects.create(name=name, slug=free_slug(Dataset, name), created_by=created_by)


def fill_in_facts(dataset: Dataset, facts: Mapping[str, str]) -> None:
    """Store facts about a dataset, by names of `LONGEST_FACTS`; facts that it has already stay.

    The main metric of one side is never stored for the other side as well.
    """
    mains = {getattr(dataset, main) for main in MAIN_METRICS}
    new = {
        fact: said
        for fact, said in facts.items()
        if said and not getattr(dataset, fact) and not (fact in MAIN_METRICS and said in mains)
    }
    if new:
        _write_facts(dataset, new)


@transaction.atomic
def describe_dataset(dataset: Dataset, facts: Mapping[str, str], actor: User) -> None:
    """Change the facts about a dataset, and record in the audit trail who did it and which."""
    _write_facts(dataset, facts)
    record_in_audit_trail(actor, "dataset.described", dataset.name)


@transaction.atomic
def archive_dataset(dataset: Dataset, is_archived: bool, actor: User) -> None:
    """Put a dataset into the archive, or take it out."""
    if done := set_archived(dataset, is_archived):
        record_in_audit_trail(actor, f"dataset.{done}", dataset.name)


def _write_facts(dataset: Dataset, facts: Mapping[str, str]) -> None:
    for fact, said in facts.items():
        setattr(dataset, fact, said)
    dataset.save(update_fields=[*facts])


# Pages have these words in their addresses at the place of a dataset's or a study's slug.
RESERVED_SLUGS = {"import", "mine", "new", "pull"}


def free_slug(model: type, name: str) -> str:
    """Return a slug for `name` that no row of `model` (with `slug`) has yet."""
    base = slugify(name)[:100] or "unnamed"
    taken = set(
        model.objects.filter(slug__startswith=base).values_list("slug", flat=True)  # type: ignore[attr-defined]
    )
    taken |= RESERVED_SLUGS
    return first_free(base, taken, "-")


def first_free(name: str, taken: Collection[str], between: str) -> str:
    """Return the name, or if it is taken the name with the first free number from 2 after it.

    Args:
        between: the text between name and number.
    """
    numbered = (f"{name}{between}{n}" for n in range(2, len(taken) + 3))
    return next(free for free in [name, *numbered] if free not in taken)


def store_examples(dataset: Dataset, records: Sequence[ExampleRecord]) -> int:
    """Store examples with their turns and evidence; return how many are new."""
    new = missing(Example, dataset, records)
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
    insert_rows(
        Turn,
        ("example_id", "index", "parent_index", "speaker", "text"),
        (
            (example.pk, index, turn.parent, turn.speaker, turn.text)
            for example, record in zip(examples, new, strict=True)
            for index, turn in enumerate(record.turns)
        ),
    )
    passages = _store_passages(dataset, [p for record in new for p in record.evidence])
    insert_rows(
        ExamplePassage,
        ("example_id", "passage_id", "position", "is_golden"),
        (
            (example.pk, passages[passage.key], position, passage.is_golden)
            for example, record in zip(examples, new, strict=True)
            for position, passage in enumerate(record.evidence)
        ),
    )
    return len(new)


def store_passages(dataset: Dataset, records: Sequence[CollectionPassageRecord]) -> int:
    """Store passages of the collection, with or without examples; return how many are new."""
    _, new = _known_and_new_passages(dataset, {record.key: record for record in records})
    return len(new)


def _store_passages(dataset: Dataset, records: Iterable[PassageRecord]) -> dict[str, int]:
    """Store the passages that are new; return the id of each by its key."""
    known, new = _known_and_new_passages(dataset, {record.key: record for record in records})
    return known | new


def _known_and_new_passages(
    dataset: Dataset, by_key: Mapping[str, PassageRecord | CollectionPassageRecord]
) -> tuple[dict[str, int], dict[str, int]]:
    """Store the passages that are new; return the ids, by key, of those before and of these."""
    known = ids_by_key(dataset.passages.all(), by_key)
    new = [
        Passage(
            dataset=dataset,
            key=record.key,
            title=record.title,
            url=record.url,
            text=record.text,
        )
        for key, record in by_key.items()
        if key not in known
    ]
    Passage.objects.bulk_create(new, batch_size=2000)
    return known, {passage.key: passage.pk for passage in new}
