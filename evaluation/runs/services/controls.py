"""The draw of a run's controls, and the chunks in which workers score them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import islice
from typing import NamedTuple

from annotation.models import Target
from evaluation.models import AutoScore, ControlScore, MetricRun, RunChunk
from evaluation.runs.choices import MOST_CONTROLS
from evaluation.runs.controls import SEED, drawn_targets, failed_controls, incomplete_targets
from evaluation.runs.services.chunks import RUN_CHUNKS
from evaluation.runs.services.targets import SAVED_TOGETHER
from generation.seeded_random import random_key

MOST_STANDING_IN = 10  # targets of other dialogs that may stand in for a drawn one
TARGETS_OF_A_CHUNK = 50


class _Candidate(NamedTuple):
    """A target that may be drawn."""

    order: int  # the drawn number that decides
    key: str
    target: int
    dialog: str


def add_controls(run: MetricRun, targets: Collection[int], n: int) -> int:
    """Queue the controls of `n` targets of a run, which is locked. Return of how many.

    Targets that lack a kind, because their scoring ended early, are queued again.

    The draw depends on the keys of the responses alone. An empty response is not drawn, because
    every metric says of it by rule what it says. Targets that were drawn before stay, and count.

    Args:
        run: the run.
        targets: the ids of the targets of which controls may be made.
        n: the number of targets of which controls are wanted in all.
    """
    there, incomplete = drawn_targets(run), incomplete_targets(run)
    if not n or (n <= len(there) and not incomplete):
        return 0
    pool = nsmallest(MOST_CONTROLS, _candidates(targets))
    new = [each for each in pool[:n] if each.target not in there][: max(n - len(there), 0)]
    new += [each for each in pool if each.target in incomplete]
    _queue(run, new, pool)
    return len(new)


def copy_controls(run: MetricRun, to: MetricRun) -> None:
    """Store the controls of a run also for another one with the same scores."""
    rows = list(ControlScore.objects.filter(run=run))
    for row in rows:
        row.pk, row.run = None, to
    ControlScore.objects.bulk_create(rows, ignore_conflicts=True)


def retry_controls(run: MetricRun) -> int:
    """Queue the controls of a run, which is locked, that failed when they were scored.

    Return the number of their targets.
    """
    failed = failed_controls(run)
    targets = set(failed.values_list("target", flat=True))
    scored = AutoScore.objects.filter(run=run).order_by().values_list("target", flat=True)
    pool = nsmallest(MOST_CONTROLS, _candidates(list(scored)))
    failed.filter(target__in=targets).delete()
    _queue(run, [each for each in pool if each.target in targets], pool)
    return len(targets)


def _queue(run: MetricRun, new: Iterable[_Candidate], pool: Sequence[_Candidate]) -> None:
    drawn = [[each.target, *_standing_in(each, pool)] for each in new]
    starts = range(0, len(drawn), TARGETS_OF_A_CHUNK)
    RunChunk.objects.bulk_create(
        RunChunk(
            run=run,
            number=number,
            targets=drawn[start : start + TARGETS_OF_A_CHUNK],
            is_of_controls=True,
        )
        for number, start in enumerate(starts, start=RUN_CHUNKS.next_number(run))
    )


def _candidates(targets: Collection[int]) -> Iterator[_Candidate]:
    ids = list(targets)
    for start in range(0, len(ids), SAVED_TOGETHER):
        some = Target.objects.filter(pk__in=ids[start : start + SAVED_TOGETHER])
        rows = some.exclude(response__text="").values_list(
            "pk", "response__key", "citation__number", "response__example__dialog"
        )
        for pk, key, number, dialog in rows:
            order = random_key(SEED, "drawn for controls", key, number or 0)
            yield _Candidate(order, key, pk, dialog)


def _standing_in(own: _Candidate, pool: Sequence[_Candidate]) -> list[int]:
    """Return the next targets of other dialogs in a pool; after the last one, the first follows.

    The pool is the same however many targets are drawn, so that a larger draw keeps the controls.
    """
    place = pool.index(own)
    following = (*pool[place + 1 :], *pool[:place])
    others = (each.target for each in following if each.dialog != own.dialog)
    return list(islice(others, MOST_STANDING_IN))
