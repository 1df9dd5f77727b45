"""Rankings that were made elsewhere, stored passage by passage as in their files."""

from collections.abc import Iterator, Sequence

from django.db.models import Q

from generation.models import Dataset, RankedPassage, Ranking
from generation.records import RankedPassageRecord
from generation.services.record_keys import ids_by_key

COLUMNS = {  # columns of a file → fields
    "ranking": "ranking__name",
    "example": "example__key",
    "passage": "passage__key",
    "rank": "rank",
}


def stored_ranks(
    dataset: Dataset, records: Sequence[RankedPassageRecord]
) -> Iterator[tuple[str, str, str, int]]:
    """Yield the `COLUMNS` of the stored rows with the passages or the ranks of one batch."""
    if not records:
        return
    rankings, examples, passages, ranks = map(set, zip(*(row[1:] for row in records), strict=True))
    there = RankedPassage.objects.filter(
        Q(passage__key__in=passages) | Q(rank__in=ranks),
        ranking__dataset=dataset,
        ranking__name__in=rankings,
        example__key__in=examples,
    )
    yield from there.values_list(*COLUMNS.values()).iterator()


def store_rankings(dataset: Dataset, records: Sequence[RankedPassageRecord]) -> int:
    """Store ranked passages, with rankings that are new; return how many passages are new."""
    known = {row[:3] for row in stored_ranks(dataset, records)}
    new = [record for record in records if record[1:4] not in known]
    names = sorted({record.ranking for record in new})  # one order prevents deadlocks
    Ranking.objects.bulk_create(
        (Ranking(dataset=dataset, name=name) for name in names), ignore_conflicts=True
    )
    rankings = dict(dataset.rankings.filter(name__in=names).values_list("name", "pk"))
    examples = ids_by_key(dataset.examples.all(), (record.example for record in new))
    passages = ids_by_key(dataset.passages.all(), (record.passage for record in new))
    RankedPassage.objects.bulk_create(
        RankedPassage(
            ranking_id=rankings[record.ranking],
            example_id=examples[record.example],
            passage_id=passages[record.passage],
            rank=record.rank,
        )
        for record in new
    )
    return len(new)
