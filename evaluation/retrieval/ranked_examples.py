"""Examples with golden evidence, each with the ranking of the passages that BM25 finds for it."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest
from typing import Annotated, NamedTuple

from evaluation.reports.report import LeftOut
from generation.choices.declaration import Choice
from generation.draws import random_key
from generation.grids.grid_file import QUERIES, Query
from generation.models import Dataset, Example, ExamplePassage, Turn
from generation.retrieval.bm25 import USUAL, Bm25
from generation.retrieval.dataset_index import MANY_PASSAGES, index_of

MOST_K = 10
SEED = 0  # of the sample
MOST_EXAMPLES = 500
FEW_EXAMPLES = 100  # of many passages: each query takes milliseconds more there


class RetrievalChoices(NamedTuple):
    """What a reader may choose about the ranking."""

    bm25: Bm25 = USUAL
    query: Annotated[Query, Choice("Searched by", QUERIES)] = "question"


class RankedExample(NamedTuple):
    """One example of the sample, with what is found for it."""

    example: int  # id
    dialog: str
    query: str
    golden: frozenset[int]  # passage ids
    is_guessed: bool  # nobody has said which passage is golden; a rule has
    ranking: Sequence[int]  # passage ids, the best first


class Ranked(NamedTuple):
    """The sample, and every choice that it was made by."""

    examples: Sequence[RankedExample]
    left_out: LeftOut
    said: Sequence[str]  # parts of the signature


def ranked_examples(
    dataset: Dataset,
    choices: RetrievalChoices,
    most_k: int = MOST_K,
    examples: Collection[int] | None = None,
) -> Ranked:
    """Return examples with golden evidence and the first `most_k` passages found for each.

    At most 500 examples, drawn by a seed; 100 where the collection has more than 20,000 passages.

    Args:
        examples: the ids of those that count; None for all of the dataset.
    """
    index = index_of(dataset.pk, choices.bm25)
    golden = _golden_of(dataset)
    if examples is None:
        n_all, counted = dataset.examples.of_benchmark().count(), []
    else:
        golden = {pk: passages for pk, passages in golden.items() if pk in examples}
        n_all, counted = (
            len(examples),
            [f"of {len(examples)} chosen, {_hash_of(dataset, examples)}"],
        )
    most = FEW_EXAMPLES if len(index) > MANY_PASSAGES else MOST_EXAMPLES
    drawn, queries = _drawn(dataset, golden, choices.query, most)
    found = [
        RankedExample(
            example=example.pk,
            dialog=example.dialog,
            query=query,
            golden=golden[example.pk],
            is_guessed=example.meta.get("golden") == "guessed",
            ranking=[hit.passage for hit in index.ranked(query, most_k)],
        )
        for example, query in zip(drawn, queries, strict=True)
    ]
    left_out: LeftOut = {
        "examples_without_golden_evidence": n_all - len(golden),
        "examples_outside_the_sample": len(golden) - len(found),
    }
    of_sample = f"at most {most} examples, seed {SEED}"
    return Ranked(found, left_out, [f"query {choices.query}", index.signature, of_sample, *counted])


def _hash_of(dataset: Dataset, examples: Collection[int]) -> str:
    """Return a hash of the keys of some examples."""
    keys = dataset.examples.values_list("key", "pk").iterator(chunk_size=20_000)
    text = "\n".join(sorted(key for key, pk in keys if pk in examples))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _golden_of(dataset: Dataset) -> Mapping[int, frozenset[int]]:
    """Return the golden passages of each example that has any."""
    found: dict[int, set[int]] = defaultdict(set)
    rows = ExamplePassage.objects.filter(example__dataset=dataset, is_golden=True).order_by()
    for example, passage in rows.values_list("example", "passage").iterator():
        found[example].add(passage)
    return {example: frozenset(passages) for example, passages in found.items()}


def _drawn(
    dataset: Dataset, golden: Collection[int], query: Query, most: int
) -> tuple[list[Example], list[str]]:
    """Draw examples; return them in the order of their keys, and what is searched for each."""
    keys = dataset.examples.of_benchmark().values_list("key", "pk").iterator()
    with_golden = ((key, pk) for key, pk in keys if pk in golden)
    drawn = sorted(nsmallest(most, with_golden, key=lambda row: (random_key(SEED, row[0]), row)))
    ids = [pk for _, pk in drawn]
    examples = Example.objects.in_bulk(ids)
    turns: dict[int, list[str]] = defaultdict(list)
    rows = Turn.objects.filter(example__in=ids).order_by("example", "index")
    for example, text in rows.values_list("example", "text"):
        turns[example].append(text)
    queries = [" ".join(turns[pk][-1:] if query == "question" else turns[pk]) for pk in ids]
    return [examples[pk] for pk in ids], queries
