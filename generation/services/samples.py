"""Samples of a dataset: examples that pass filters, drawn by a seed, and checked by hand.

A request creates a row; a worker then filters the examples and draws.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models.deletion import ProtectedError
from django.utils import timezone

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from generation.backends.problems import storable
from generation.filters import Cascade, FilterMaterial
from generation.limits import LONGEST_NAME
from generation.models import Dataset, Example, ExamplePassage, Sample, SampledExample, Turn
from generation.records import SampleRecord, TurnRecord
from generation.sample_choices import SampleChoices, choices_of
from generation.seeded_random import random_key
from generation.services.record_keys import ids_by_key
from work.claims import Hold, WorkStopped
from work.pieces import PieceKind, cancel, register, resume

EXAMPLES_TOGETHER = 500  # read at once, so that memory does not grow with the dataset
SAVED_TOGETHER = 1000
State = Sample.State
Verdict = SampledExample.Verdict


class SampleError(Exception):
    """A sample cannot be made, changed or deleted as asked; the message says why."""


class _Row(NamedTuple):
    """One example on its way through the filters."""

    pk: int
    key: str
    dialog: str
    material: FilterMaterial


# --- requests -------------------------------------------------------------------------------


@transaction.atomic
def request_sample(dataset: Dataset, choices: SampleChoices, user: User | None) -> Sample:
    """Return the sample of these choices; if there is none, create it for a worker to fill.

    The same request returns the same sample.

    Raises:
        SampleError: the name cannot be used, or another sample of the dataset has it.
    """
    name = (choices.name or choices.usual_name).strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise SampleError(f"Found a name of {len(name)} characters; expected 1 to {LONGEST_NAME}.")
    there = Sample.objects.filter(dataset=dataset, name=name).first()
    if there is None:
        try:
            with transaction.atomic():
                return _new_sample(dataset, name, choices, user)
        except IntegrityError:  # another process stored it first
            there = Sample.objects.get(dataset=dataset, name=name)
    if there.parameters != choices.parameters:
        raise SampleError(
            f"{dataset.name} has a sample named “{name}” that was drawn with other choices. Choose "
            "another name, or delete that sample."
        )
    return there


def _new_sample(dataset: Dataset, name: str, choices: SampleChoices, user: User | None) -> Sample:
    sample = Sample.objects.create(
        dataset=dataset,
        name=name,
        parameters=choices.parameters,
        n_total=dataset.examples.of_benchmark().count(),
        requested_by=user,
    )
    _record(user, "sample.requested", sample)
    return sample


@transaction.atomic
def cancel_sample(sample: Sample, user: User | None) -> bool:
    """Stop the drawing of a sample; return whether it was going on."""
    is_stopped = cancel(sample)
    if is_stopped:
        _record(user, "sample.cancelled", sample)
    return is_stopped


@transaction.atomic
def retry_sample(sample: Sample, user: User | None) -> bool:
    """Filter once more if that was cancelled or failed; return whether it was."""
    is_queued = resume(sample, n_done=0)
    if is_queued:
        _record(user, "sample.retried", sample)
    return is_queued


@transaction.atomic
def delete_sample(sample: Sample, user: User | None) -> None:
    """Delete a sample with the decisions about its members; the examples stay.

    Raises:
        SampleError: a grid uses it.
    """
    members = sample.members.count()
    try:
        with transaction.atomic():
            Sample.objects.get(pk=sample.pk).delete()
    except ProtectedError as error:
        raise SampleError(f"A grid uses {sample.name}. Delete the grid first.") from error
    _record(user, "sample.deleted", sample, n_examples=members)


def store_samples(dataset: Dataset, records: Sequence[SampleRecord]) -> int:
    """Store samples that were drawn and checked elsewhere; return how many are new."""
    names = [record.name for record in records]
    known = set(dataset.samples.filter(name__in=names).values_list("name", flat=True))
    new = [record for record in records if record.name not in known]
    examples = ids_by_key(
        dataset.examples.all(), (member.example for record in new for member in record.members)
    )
    for record in new:
        sample = Sample.objects.create(
            dataset=dataset,
            name=record.name,
            parameters=record.parameters,
            cascade=record.cascade,
            state=State.DONE,
            n_done=record.n_examples,
            n_total=record.n_examples,
        )
        SampledExample.objects.bulk_create(
            (
                SampledExample(
                    sample=sample,
                    example_id=examples[member.example],
                    position=position,
                    verdict=member.verdict,
                    reason=member.reason,
                    at=member.at,
                )
                for position, member in enumerate(record.members, start=1)
            ),
            batch_size=SAVED_TOGETHER,
        )
    return len(new)


# --- decisions ------------------------------------------------------------------------------


@transaction.atomic
def decide(member: SampledExample, verdict: str, reason: str, user: User | None) -> None:
    """Store a decision about an example of a sample, in place of any earlier one.

    Raises:
        SampleError: the example is dropped without a reason, or there is no such verdict.
    """
    reason = reason.strip() if verdict == Verdict.DROP else ""
    if verdict not in Verdict.values:
        raise SampleError(f"Found the verdict {verdict!r}; expected keep, drop or nothing.")
    if verdict == Verdict.DROP and not reason:
        raise SampleError(
            "The reason is missing. Say why the example is dropped. The reason is kept with the "
            "sample."
        )
    is_open = verdict == Verdict.OPEN
    SampledExample.objects.filter(pk=member.pk).update(
        verdict=verdict,
        reason=reason,
        by=None if is_open else user,
        at=None if is_open else timezone.now(),
    )


# --- the worker's part ----------------------------------------------------------------------


class SampleHold(Hold[Sample]):
    """A claimed sample that one worker holds."""

    def note(self, n_done: int) -> None:
        """Store how many examples were filtered.

        Raises:
            WorkStopped: the sample was cancelled or deleted, or another worker has it.
        """
        self.advance(n_done=n_done)
        self.claim.n_done = n_done
        # There are no turns: a drawing that stops begins again from the first example.
        if not self.goes_on():
            raise WorkStopped

    @transaction.atomic
    def finish(self, members: Sequence[int], cascade: Mapping[str, Any]) -> None:
        """Store the drawn examples, if this worker still has the sample."""
        if self.end(State.DONE, cascade=cascade, error="", finished_at=timezone.now()):
            SampledExample.objects.bulk_create(
                (
                    SampledExample(sample=self.claim, example_id=pk, position=position)
                    for position, pk in enumerate(members, start=1)
                ),
                batch_size=SAVED_TOGETHER,
            )

    def fail(self, error: str) -> None:
        """Store why a sample cannot be drawn."""
        self.end(State.FAILED, error=storable(error), finished_at=timezone.now())


class SampleWork(PieceKind[Sample, SampleHold]):
    """Samples: a worker filters the examples of a dataset, and draws from those that pass."""

    model = Sample
    task_name = "generation.tasks.filter_sample"
    doing = "draws a sample"
    is_quick = True
    related = ("dataset",)

    def hold(self, claim: Sample) -> SampleHold:
        return SampleHold(claim)

    def work(self, hold: SampleHold) -> None:
        """Count, draw and store. If the work is done twice, the result is the same."""
        sample = hold.claim
        choices = choices_of(sample.name, sample.parameters)
        cascade = Cascade(choices.filters)
        drawn = _Draw(choices)
        for batch, n_done in _batches(sample.dataset_id):
            for row in batch:
                if choices.covers(row.dialog) and cascade.passes(row.material):
                    drawn.add(row.pk, row.key)
            hold.note(n_done)
        hold.finish(drawn.in_order(), cascade.counts())


SAMPLES = register(SampleWork())


class _Draw:
    """The examples with the smallest keys under a seed: a larger draw contains a smaller one."""

    def __init__(self, choices: SampleChoices) -> None:
        self._seed, self._size = choices.seed, choices.size
        self._drawn: list[tuple[int, str, int]] = []  # the best so far, and some more

    def add(self, pk: int, key: str) -> None:
        """Add an example; examples that cannot be drawn any more are dropped."""
        entry = (random_key(self._seed, "sample", key), key, pk)
        self._drawn.append(entry)
        if self._size is not None and len(self._drawn) >= 2 * max(self._size, SAVED_TOGETHER):
            self._drawn = heapq.nsmallest(self._size, self._drawn)

    def in_order(self) -> list[int]:
        """Return the ids of the drawn examples, in the order drawn."""
        return [pk for _, _, pk in sorted(self._drawn)[: self._size]]


def _batches(dataset_id: int) -> Iterator[tuple[list[_Row], int]]:
    """Yield the examples of a dataset in batches, each with the number of examples so far.

    Ad-hoc questions are left out. Each batch takes three statements.
    """
    last, n_done = 0, 0
    columns = "pk", "key", "dialog", "golden_answer"
    while True:
        rest = Example.objects.of_benchmark().filter(dataset=dataset_id, pk__gt=last).order_by("pk")
        rows = list(rest.values_list(*columns)[:EXAMPLES_TOGETHER])
        if not rows:
            return
        last, n_done = rows[-1][0], n_done + len(rows)
        turns, golden = _turns([pk for pk, *_ in rows]), _golden_texts([pk for pk, *_ in rows])
        yield (
            [
                _Row(pk, key, dialog, FilterMaterial(turns[pk], answer, golden[pk]))
                for pk, key, dialog, answer in rows
            ],
            n_done,
        )


def _turns(examples: list[int]) -> Mapping[int, list[TurnRecord]]:
    """Return the turns of some examples, by example and in order."""
    turns: dict[int, list[TurnRecord]] = defaultdict(list)
    columns = "example_id", "speaker", "text", "parent_index"
    ordered = Turn.objects.filter(example__in=examples).order_by("example", "index")
    for example, speaker, text, parent in ordered.values_list(*columns):
        turns[example].append(TurnRecord(speaker, text, parent))
    return turns


def _golden_texts(examples: list[int]) -> Mapping[int, list[str]]:
    """Return the texts of the golden passages of some examples, by example and in order."""
    texts: dict[int, list[str]] = defaultdict(list)
    golden = ExamplePassage.objects.filter(example__in=examples, is_golden=True)
    ordered = golden.order_by("example", "position")
    for example, text in ordered.values_list("example_id", "passage__text"):
        texts[example].append(text)
    return texts


def _record(user: User | None, action: str, sample: Sample, **details: object) -> None:
    subject = f"{sample.dataset.name}: {sample.name}"[:200]
    record_in_audit_trail(user, action, subject, sample=sample.pk, **details)
