"""The examples whose golden passages are not all among the first k of a ranking."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from django.urls import reverse

from accounts.http import query_string
from evaluation.retrieval.ranked_examples import MOST_K, RankedExample, RetrievalChoices
from generation.choices.declaration import Choice, unusual
from generation.models import Dataset, Example, Passage
from generation.retrieval.recall import n_found, recall_at


class MissedChoices(NamedTuple):
    """The choices of the page: the ranking of passages, and the number of passages used."""

    retrieval: RetrievalChoices = RetrievalChoices()
    k: Annotated[int, Choice("Among the first", low=1, high=MOST_K)] = 1


class GoldenPassage(NamedTuple):
    """A golden passage, with its place in the ranking."""

    passage: Passage
    place: int | None  # counted from 1; None: it is not among the ranked passages


class MissedExample(NamedTuple):
    """An example, its search query, and the places of its golden passages."""

    example: Example
    query: str
    n_found: int  # number of golden passages among the first k
    golden: Sequence[GoldenPassage]  # the best place first


def missed_address(dataset: Dataset, choices: RetrievalChoices, k: int) -> str:
    """Return the address of the list of examples with a golden passage not in the first `k`."""
    said = {"k": k} | unusual(choices)
    return reverse("evaluation:missed-examples", args=[dataset.slug]) + query_string(said)


def missed(ranked: Sequence[RankedExample], k: int) -> list[RankedExample]:
    """Return examples with a golden passage that is not among the first `k`, lowest recall first.

    Examples with equal recall stay in their order.
    """
    recalls = [(recall_at(each.ranking, each.golden, k), each) for each in ranked]
    return [each for recall, each in sorted(recalls, key=lambda pair: pair[0]) if recall < 1]


def with_passages(ranked: Sequence[RankedExample], k: int) -> list[MissedExample]:
    """Return examples with their golden passages, in two queries."""
    examples = Example.objects.in_bulk([each.example for each in ranked])
    passages = Passage.objects.in_bulk({pk for each in ranked for pk in each.golden})
    found = []
    for each in ranked:
        place_of = {pk: place for place, pk in enumerate(each.ranking, 1)}
        golden = [GoldenPassage(passages[pk], place_of.get(pk)) for pk in each.golden]
        golden.sort(key=lambda one: (one.place or len(each.ranking) + 1, one.passage.key))
        n = n_found(each.ranking, each.golden, k)
        found.append(MissedExample(examples[each.example], each.query, n, golden))
    return found
