"""A backend that answers as it is told, and access to the rows that tests of runs check."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from django.utils import timezone

from evaluation.backends.base import Entailment
from evaluation.measures.entailment import Pair
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.services.chunks import RUN_CHUNKS
from generation.models import Dataset
from tests.makers import example_row, import_rows

CLOSED = "The mill closed in 1971. It burned down in 1980."
ASKED = "When did the mill close?"


class Told:
    """A backend that answers as it is told, and keeps the pairs that it was asked about."""

    signature = "told"
    files: dict[str, str] = {}
    device = "cpu"

    def __init__(self, answer: Callable[[Pair], Entailment], revision: str = "") -> None:
        self.answer = answer
        self.revision = revision
        self.asked: list[Pair] = []

    def entailment(self, pairs: Sequence[Pair]) -> list[Entailment]:
        self.asked += pairs
        return [self.answer(pair) for pair in pairs]


def material_of(folder, *, responses, examples=None, name="own") -> Dataset:
    evidence = [{"id": "p1", "text": CLOSED, "golden": True}]
    turns = [{"speaker": "user", "text": ASKED}]
    outcome = import_rows(
        folder / name,
        name,
        examples=examples or [example_row("e1", turns=turns, evidence=evidence)],
        responses=responses,
    )
    assert outcome.dataset
    return outcome.dataset


def rows_of(run: MetricRun) -> dict[str, AutoScore]:
    rows = AutoScore.objects.filter(run=run).select_related("target__response")
    return {row.target.response.key: row for row in rows}


def problems_of(run: MetricRun) -> dict[str, str]:
    return {key: row.problem for key, row in rows_of(run).items() if row.problem}


def claimed(run: MetricRun) -> RunChunk:
    claim = RUN_CHUNKS.claim_next(run)
    assert claim is not None
    return claim


def expire(claim: RunChunk) -> None:
    past = timezone.now() - timedelta(seconds=1)
    RunChunk.objects.filter(pk=claim.pk).update(lease_until=past)
