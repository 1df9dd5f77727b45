"""The report on drift: the labels that flip between two judgements of the same responses.

The two may be runs by two versions of a model, prompt or recipe, or raters with two guidelines.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from django.urls import reverse

from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import USUAL_SEED, data_hash, estimate, estimates_of, signature_of
from evaluation.reports.local_ids import ResponseId
from evaluation.reports.registry import CannotReport, ReportGroup, ReportKind
from evaluation.reports.report import Report, ReportRow, number
from evaluation.statistics.intervals import SHARE_METHOD, Floats, Interval, Statistic, share_from
from evaluation.statistics.paired_difference import paired_difference
from evaluation.statistics.rater_answers import mean, mean_statistics
from evaluation.tradeoffs.axes import CHUNK, Axis, Values, axes_of, find, values_of
from evaluation.tradeoffs.axis_menus import names_among
from evaluation.tradeoffs.reports import methods
from evaluation.votes.counts import Ints
from generation.choices.declaration import Choice, ChoiceError
from generation.models import Dataset, Response

MOST_SHOWN = 100  # responses whose label flips that have a row
TO_YES, TO_NO = "to yes", "to no"


class DriftChoices(NamedTuple):
    """The two judgements that a reader compares."""

    before: Annotated[
        str,
        Choice(
            "Before",
            help="A run or a question to raters, as axes of the trade-off are named, or as the "
            "page's address has it; empty: the run before the newest one of its metric.",
        ),
    ] = ""
    after: Annotated[
        str, Choice("After", help="The same for the later judgement; empty: the newest such run.")
    ] = ""


@dataclass(frozen=True, kw_only=True)
class DriftRow(ReportRow):
    """The change from one judgement to the other, over the responses that both have labelled."""

    before: Annotated[str, Column("Before")]
    after: Annotated[str, Column("After")]
    n: Annotated[int, Column("n", Format.COUNT)]
    n_dialogs: int
    share_before: Annotated[float | None, Column("Yes before", Format.PERCENT)]
    share_after: Annotated[float | None, Column("Yes after", Format.PERCENT)]
    change: Annotated[Estimate, Column("After − before", Format.POINTS)]
    p: Annotated[float | None, Column("p", Format.P_VALUE)]
    p_mcnemar: Annotated[float | None, Column("McNemar mid-p", Format.P_VALUE)]
    flipped: Annotated[Estimate, Column("Flipped", Format.PERCENT)]
    n_to_yes: Annotated[int, Column("To yes", Format.COUNT)]
    n_to_no: Annotated[int, Column("To no", Format.COUNT)]


@dataclass(frozen=True, kw_only=True)
class FlipRow(ReportRow):
    """A response whose label flips, with the score that each judgement gives it, in [0, 1]."""

    named_by = ("key",)
    folded: ClassVar[str] = "Responses whose label flips"

    key: Annotated[str, Column("Response")]
    response: ResponseId
    flip: Annotated[str, Column("Flips")]
    score_before: Annotated[float | None, Column("Score before", Format.DECIMAL)]
    score_after: Annotated[float | None, Column("Score after", Format.DECIMAL)]


class _Pairs(NamedTuple):
    """The n responses that one of two judgements has, and what both say: (2, n) labels, scores."""

    responses: Ints  # ids
    keys: list[str]
    dialogs: list[str]
    labels: Floats
    scores: Floats


def drift_report(dataset: Dataset, choices: DriftChoices) -> Report[DriftRow | FlipRow]:
    """Return the row of the change, and a row for each response whose label flips.

    The flips come in the order of the keys, at most `MOST_SHOWN` of them. Responses that only one
    of the two has labelled are left out and counted, because they say nothing about a change.

    Raises:
        CannotReport: nothing was chosen, and no metric has two runs.
        ChoiceError: there is no such judgement, or its labels are not yes and no.
    """
    axes = _chosen(dataset, choices)
    pairs = _pairs(dataset, *map(values_of, axes))
    both = ~np.isnan(pairs.labels).any(axis=0)
    before, after = pairs.labels[:, both]
    names, dialogs = np.unique(np.array(pairs.dialogs)[both], return_inverse=True)
    found = paired_difference(after, before, dialogs, len(names), seed=USUAL_SEED)
    is_flip = after != before
    flipped = Statistic(mean_statistics(is_flip.astype(float)), dialogs, share_from)
    name_before, name_after = names_among(axes)
    summary = DriftRow(
        before=name_before,
        after=name_after,
        n=len(before),
        n_dialogs=len(names),
        share_before=number(mean(before)),
        share_after=number(mean(after)),
        change=estimate(found.difference, Interval(found.low, found.high)),
        p=number(found.p_permutation),
        p_mcnemar=number(found.p_mcnemar),
        flipped=estimates_of([flipped], len(names))[0],
        n_to_yes=int((after > before).sum()),
        n_to_no=int((after < before).sum()),
    )
    flips = list(_flips(pairs))
    left_out = {
        "labelled_by_one": int((~both & ~np.isnan(pairs.labels).all(axis=0)).sum()),
        "flips_not_listed": max(0, len(flips) - MOST_SHOWN),
    }
    data = data_hash(list(zip(pairs.keys, *pairs.labels.tolist(), strict=True)))
    said = signature_of(
        "drift", f"before {axes[0].said}", f"after {axes[1].said}", data=data, method=SHARE_METHOD
    )
    return Report(dataset.name, "drift", [summary, *flips[:MOST_SHOWN]], left_out, said)


def _known(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Return the judgements that may be chosen, by key, for either side."""
    axes = [axis for axis in axes_of(dataset) if _has_labels(axis)]
    menu = dict(zip([axis.key for axis in axes], names_among(axes), strict=True))
    return {
        "before": {"": "the run before the newest"} | menu,
        "after": {"": "the newest run of a metric"} | menu,
    }


def _has_labels(axis: Axis) -> bool:
    """Return whether what an axis says is yes or no."""
    return not axis.mean_of and (axis.run is None or axis.run.threshold is not None)


def _chosen(dataset: Dataset, choices: DriftChoices) -> tuple[Axis, Axis]:
    axes = axes_of(dataset)
    usual = _usual_axes(axes)
    found = []
    for (name, text), usually in zip(choices._asdict().items(), usual, strict=True):
        try:
            axis = find(axes, text) if text else usually
        except LookupError as error:
            raise ChoiceError(name, str(error)) from error
        if axis is None:
            raise CannotReport(
                f"No metric has two runs over {dataset.name}. Choose what comes before and after."
            )
        if not _has_labels(axis):
            raise ChoiceError(name, f"Found {axis.title}; expected labels that are yes or no.")
        found.append(axis)
    before, after = found
    if before.key == after.key:
        raise ChoiceError("after", f"Found {after.title} on both sides; expected another one.")
    return before, after


def _usual_axes(axes: list[Axis]) -> tuple[Axis | None, Axis | None]:
    """Return the two newest runs of the metric that has run last, of those with two runs."""
    runs = sorted(
        (axis for axis in axes if axis.run and _has_labels(axis)),
        key=lambda axis: axis.run.pk if axis.run else 0,
    )
    for newest in reversed(runs):
        before = [a for a in runs if a.parts[0] == newest.parts[0] and a is not newest]
        if before:
            return before[-1], newest
    return None, None


def _pairs(dataset: Dataset, before: Values, after: Values) -> _Pairs:
    """Return what two judgements say, in the order of the keys of the responses."""
    ids = {*before.ids.tolist(), *after.ids.tolist()}
    rows = Response.objects.filter(dataset=dataset).order_by()
    read = rows.values_list("key", "pk", "example__dialog").iterator(chunk_size=CHUNK)
    found = sorted(row for row in read if row[1] in ids)
    responses = np.array([pk for _, pk, _ in found], np.int64)
    places = [each.places(responses) for each in (before, after)]

    def put(given: Sequence[Floats]) -> Floats:
        values = [np.append(each, math.nan) for each in given]  # `NOT_ASKED` is the last place
        return np.array([each[place] for each, place in zip(values, places, strict=True)])

    return _Pairs(
        responses,
        [key for key, _, _ in found],
        [dialog for _, _, dialog in found],
        put([before.labels, after.labels]),
        put([before.scores, after.scores]),
    )


def _flips(pairs: _Pairs) -> Iterator[FlipRow]:
    """Yield the responses whose label flips."""
    before, after = pairs.labels
    for place in np.flatnonzero(before + after == 1):
        yield FlipRow(
            key=pairs.keys[place],
            response=int(pairs.responses[place]),
            flip=TO_YES if after[place] else TO_NO,
            score_before=number(pairs.scores[0, place]),
            score_after=number(pairs.scores[1, place]),
        )


def _to_response(dataset: Dataset, choices: DriftChoices, row: DriftRow | FlipRow) -> str:
    if isinstance(row, DriftRow):
        return ""
    return reverse("evaluation:response", args=[dataset.slug, row.response])


def _portable(dataset: Dataset, choices: DriftChoices) -> DriftChoices:
    return DriftChoices(*(axis.said for axis in _chosen(dataset, choices)))


DRIFT = ReportKind(
    key="drift",
    title="Drift",
    lede="Shows which labels flip between two versions of a metric, or of a guideline.",
    group=ReportGroup.METRICS,
    about=Dataset,
    methods=methods.DRIFT,
    choices=DriftChoices,
    make=drift_report,
    known=_known,
    portable=_portable,
    rows=(DriftRow, FlipRow),
    leads={"flip": _to_response},
)
