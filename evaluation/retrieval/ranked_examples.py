"""Examples with golden evidence, each with a ranking of passages: by BM25, or an imported one."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest
from typing import Annotated, NamedTuple

from evaluation.reports.report import LeftOut
from generation.choices.declaration import Choice
from generation.grids.grid_file import QUERIES, Query
from generation.models import Dataset, Example, ExamplePassage, Ranking, Turn
from generation.retrieval.bm25 import USUAL, Bm25
from generation.retrieval.dataset_index import MANY_PASSAGES, can_wait_for_index, index_of
from generation.seeded_random import random_key
from generation.services.record_keys import digest

MOST_K = 10
NO_PASSAGE = 0
SEED = 0  # seed of the sample
MOST_EXAMPLES = 500
FEW_EXAMPLES = 100  # used with many passages, where each query takes milliseconds longer


class RetrievalChoices(NamedTuple):
    """The reader's choices for the ranking. An imported ranking ignores the other choices."""

    bm25: Bm25 = USUAL
    query: Annotated[Query, Choice("Searched by", QUERIES)] = "question"
    ranking: Annotated[
        str,
        Choice(
            "Ranked by",
            help="The name of an imported ranking. The other choices are for BM25.",
            usual="BM25",
        ),
    ] = ""


class RankedExample(NamedTuple):
    """One example of the sample, with the passages found for it."""

    example: int  # id
    dialog: str
    query: str
    golden: frozenset[int]  # passage ids
    is_guessed: bool  # whether a rule guessed which passage is golden; no person has decided it
    # Passage ids, the best first; NO_PASSAGE at a rank that an imported ranking leaves empty.
    ranking: Sequence[int]
    # Whether any passage shares a word with the query; None for an imported ranking.
    shares_words: bool | None = None


class RankedSample(NamedTuple):
    """The sample, and every choice by which it was made."""

    examples: Sequence[RankedExample]
    left_out: LeftOut
    said: Sequence[str]  # parts of the signature


def ranked_examples(
    dataset: Dataset,
    choices: RetrievalChoices,
    most_k: int = MOST_K,
    examples: Collection[int] | None = None,
) -> RankedSample:
    """Return examples with golden evidence and the first `most_k` passages found for each.

    At most 500 examples are drawn by a seed, or 100 if the collection has more than 20,000
    passages. They are the same for every ranking.

    Args:
        dataset: the dataset.
        choices: the choices for the ranking.
        most_k: the number of passages for each example.
        examples: the ids of the only examples that count; None for all of the dataset.

    Raises:
        Ranking.DoesNotExist: the dataset has no ranking of that name.
    """
    golden = _golden_of(dataset)
    if examples is None:
        n_all, counted = dataset.examples.of_benchmark().count(), []
    else:
        golden = {pk: passages for pk, passages in golden.items() if pk in examples}
        n_all, counted = (
            len(examples),
            [f"of {len(examples)} chosen, {_hash_of(dataset, examples)}"],
        )
    index = None if choices.ranking else index_of(dataset.pk, choices.bm25)
    n_passages = dataset.passages.count() if index is None else len(index)
    most = FEW_EXAMPLES if n_passages > MANY_PASSAGES else MOST_EXAMPLES
    drawn, queries = _drawn(dataset, golden, choices.query, most)
    if index is None:
        rankings, said = _imported(dataset.rankings.get(name=choices.ranking), drawn, most_k)
    else:
        rankings = [[hit.passage for hit in index.ranked(query, most_k)] for query in queries]
        said = [f"query {choices.query}", index.signature]
    found = [
        RankedExample(
            example=example.pk,
            dialog=example.dialog,
            query=query,
            golden=golden[example.pk],
            is_guessed=example.meta.get("golden") == "guessed",
            ranking=ranking,
            shares_words=None if index is None else index.knows(query),
        )
        for example, query, ranking in zip(drawn, queries, rankings, strict=True)
    ]
    left_out: LeftOut = {
        "examples_without_golden_evidence": n_all - len(golden),
        "examples_outside_the_sample": len(golden) - len(found),
    }
    of_sample = f"at most {most} examples, seed {SEED}"
    return RankedSample(found, left_out, [*said, of_sample, *counted])


def can_rank(dataset: Dataset, choices: RetrievalChoices) -> bool:
    """Return whether examples can be ranked while the reader waits."""
    return bool(choices.ranking) or can_wait_for_index(dataset.pk)


def known_rankings(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Return the possible values of `ranking` for a dataset, each with its name in words."""
    names = dataset.rankings.values_list("name", flat=True)
    return {"ranking": {"": "BM25, made here", **{name: name for name in names}}}


def _imported(
    ranking: Ranking, examples: Sequence[Example], most_k: int
) -> tuple[list[list[int]], list[str]]:
    """Return the ranked passages of each example (none if it has none), and the signature parts."""
    passages: dict[int, list[int]] = {}
    said = []
    rows = ranking.ranked.filter(example__in=examples, rank__lte=most_k)
    columns = ("example", "passage", "rank", "example__key", "passage__key")
    for example, passage, rank, *keys in rows.values_list(*columns):
        passages.setdefault(example, [NO_PASSAGE] * most_k)[rank - 1] = passage
        said.append([*keys, rank])
    which = f"ranking {ranking.name}, {digest(sorted(said))[:8]}"
    if n_without := len(examples) - len(passages):
        which += f", nothing for {n_without} of {len(examples)}"
    return [passages.get(example.pk, []) for example in examples], [which]


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
    """Draw examples; return them in the order of their keys, and the search query of each."""
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
