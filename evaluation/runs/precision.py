"""The number of labels that a lower precision flips, measured on responses scored by two runs."""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from evaluation.models import AutoScore, MetricRun
from evaluation.runs.item_scores import cut_of
from evaluation.runs.plan import BY_FLOOR, MADE_FOR, STUDIES_OF_CHOICE
from evaluation.statistics.intervals import share_interval

# Parameters of a run that change no score. Runs that differ only in these are comparable.
NO_SCORES = (
    "precision",
    "n_sampled",
    "seed",
    "sampled_by",
    STUDIES_OF_CHOICE,
    MADE_FOR,
    BY_FLOOR,
    "key_variable",
    "key_over_http",
    "n_responses",
    "n_without_citation",
)


class Flips(NamedTuple):
    """A run in bf16 compared with the same run in fp32, over responses that both have scored."""

    fp32: MetricRun
    bf16: MetricRun
    n: int  # responses
    n_flipped: int  # responses whose labels at the threshold of the fp32 run differ
    share: float  # n_flipped / n
    low: float  # Wilson interval over dialogs; NaN with fewer than two
    high: float
    mean_change: float  # mean absolute change of a score
    largest_change: float  # largest absolute change of a score


class _Both(NamedTuple):
    """A response's dialog and its two scores."""

    dialog: str
    fp32: float
    bf16: float


def flips_of(run: MetricRun) -> Flips | None:
    """Return what bf16 changes about a run. The run may be in either precision.

    Return None when no run in the other precision, of the same model and choices, has scored any
    of the same responses. Of several runs, take one with the same threshold if there is one, and
    the newest of these.
    """
    for other in counterparts(run):
        fp32, bf16 = (run, other) if _precision(run) == "fp32" else (other, run)
        if both := _scored_by(fp32, bf16):
            return _compared(fp32, bf16, both)
    return None


def counterparts(run: MetricRun) -> list[MetricRun]:
    """Return the runs that differ from a run only in the precision and in what changes no score."""
    if run.is_imported or _precision(run) not in ("fp32", "bf16"):
        return []
    same = MetricRun.objects.filter(
        dataset=run.dataset_id,
        metric=run.metric,
        backend=run.backend,
        model_name=run.model_name,
        revision=run.revision,
        is_imported=False,
    ).exclude(pk=run.pk)
    found = [
        other
        for other in same.order_by("-pk")
        if {_precision(run), _precision(other)} == {"fp32", "bf16"}
        and _choices(run) == _choices(other)
    ]
    return sorted(found, key=lambda other: other.threshold != run.threshold)


def _precision(run: MetricRun) -> str:
    return str(run.parameters.get("precision", "fp32"))


def _choices(run: MetricRun) -> dict[str, Any]:
    return {key: value for key, value in run.parameters.items() if key not in NO_SCORES}


def _scored_by(fp32: MetricRun, bf16: MetricRun) -> list[_Both]:
    """Return the targets that both runs have scored by asking the model."""
    given = AutoScore.objects.filter(score__isnull=False, is_assumed=False)
    there = {
        target: score
        for target, score in given.filter(run=bf16).values_list("target", "score")
        if score is not None
    }
    rows = given.filter(run=fp32, target__in=given.filter(run=bf16).values("target"))
    columns = rows.values_list("target", "score", "target__response__example__dialog")
    return [
        _Both(dialog, score, there[target])
        for target, score, dialog in columns
        if score is not None and target in there
    ]


def _compared(fp32: MetricRun, bf16: MetricRun, both: list[_Both]) -> Flips:
    cut = cut_of(fp32)
    flipped = [(each.fp32 > cut) != (each.bf16 > cut) for each in both]
    changes = [abs(each.fp32 - each.bf16) for each in both]
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for each, is_flipped in zip(both, flipped, strict=True):
        sums[each.dialog][0] += is_flipped
        sums[each.dialog][1] += 1
    interval = share_interval(np.array(list(sums.values()), dtype=float), most_items=len(both))
    return Flips(
        fp32=fp32,
        bf16=bf16,
        n=len(both),
        n_flipped=sum(flipped),
        share=sum(flipped) / len(both),
        low=interval.low,
        high=interval.high,
        mean_change=sum(changes) / len(both),
        largest_change=max(changes),
    )
