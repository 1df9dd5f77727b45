"""Which passages a response is judged against: the named choice of every study, run and figure."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from django.db import models
from django.db.models import QuerySet

from generation.models import ExamplePassage, Response, ResponsePassage, Turn
from generation.retrieval.bm25 import Bm25
from generation.retrieval.dataset_index import index_of

RETRIEVED_PASSAGES = 3
BY_SHARED_WORDS = Bm25(idf="lucene")  # a passage scores above 0 if and only if it shares a word

Passages = Mapping[int, tuple[int, ...]]  # response id → passage ids, in the order shown


class EvidenceChoice(models.TextChoices):
    """What the model was given, the golden passages, or BM25's best for dialog and response."""

    SHOWN = "shown"
    GOLDEN = "golden"
    RETRIEVED = "retrieved"


def evidence_of(
    responses: QuerySet[Response], choice: str, only: Collection[int] | None = None
) -> Passages:
    """Return the passages of each response under a choice; empty where it has none.

    A response that does not say what was shown counts as shown the golden passages.

    Args:
        responses: of one dataset.
        only: ids; leaves out all others, where retrieving for them would cost time.
    """
    if choice == EvidenceChoice.RETRIEVED:
        return _retrieved(responses, only)
    golden = _in_order(
        ExamplePassage.objects.filter(example__responses__in=responses, is_golden=True).distinct(),
        "example",
    )
    shown = (
        _in_order(ResponsePassage.objects.filter(response__in=responses), "response")
        if choice == EvidenceChoice.SHOWN
        else {}
    )
    return {
        pk: shown.get(pk, ())
        if choice == EvidenceChoice.SHOWN and is_stated
        # The dialog's golden passages, whatever the model was given.
        else golden.get(example, ())
        for pk, example, is_stated in responses.values_list("pk", "example", "is_evidence_stated")
        if only is None or pk in only
    }


def _in_order(rows: QuerySet[Any], of: str) -> Passages:
    """Return the passages of each example or response, in their order."""
    passages: dict[int, tuple[int, ...]] = defaultdict(tuple)
    for owner, passage in rows.order_by(of, "position").values_list(of, "passage").iterator():
        passages[owner] += (passage,)
    return passages


def _retrieved(responses: QuerySet[Response], only: Collection[int] | None) -> Passages:
    """Return the best passages of the dataset for each dialog + response that share a word."""
    dataset = responses.values_list("dataset", flat=True).first()
    if dataset is None:
        return {}
    index = index_of(dataset, BY_SHARED_WORDS)
    dialogs: dict[int, str] = defaultdict(str)
    turns = Turn.objects.filter(example__in=responses.values("example"))
    for example, text in turns.order_by("example", "index").values_list("example", "text"):
        dialogs[example] += f"{text} "
    return {
        pk: tuple(
            hit.passage
            for hit in index.ranked(dialogs[example] + text, RETRIEVED_PASSAGES)
            if hit.score > 0  # shares a word
        )
        for pk, example, text in responses.values_list("pk", "example", "text")
        if only is None or pk in only
    }
