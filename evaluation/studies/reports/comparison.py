"""The report that compares two: setups, models or metrics, two at a time, on the same examples."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any

import numpy as np

from annotation.models import Study
from evaluation.reports.base import RowOfQuestion
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import estimate
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import Report, number
from evaluation.statistics.intervals import Floats, Indexes, Interval
from evaluation.statistics.paired_difference import paired_difference
from evaluation.statistics.prediction_powered import RatedPart, prediction_powered_difference
from evaluation.statistics.rater_answers import mean
from evaluation.statistics.uncertainty import benjamini_hochberg, holm
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import usual_labels
from evaluation.studies.reports.comparison_sides import (
    ORDINAL,
    ComparedSide,
    ComparisonChoices,
    Group,
    groups_of,
)
from evaluation.studies.reports.prediction_powered import WHY
from evaluation.studies.reports.response_values import (
    check_values,
    known_values,
    values_left_out,
    values_of_study,
)

NAME = "comparison"
NO_PAIRS = "No example has a value for both."


@dataclass(frozen=True, kw_only=True)
class ComparisonRow(RowOfQuestion):
    """The difference A − B of two sides on the same examples, with its interval and tests."""

    question: Annotated[str | None, Column("Question")]  # None: raters have no part
    metric: Annotated[str | None, Column("Metric")]  # title of a run; None: it has no part
    scale: str
    a: Annotated[str, Column("A")]
    b: Annotated[str, Column("B")]
    n: Annotated[int, Column("n", Format.COUNT)]  # examples with a value for both
    n_dialogs: int
    # Responses of either side without an answer that counts; 0 if raters have no part.
    n_left_out_waiting: Annotated[int, Column("Waiting", Format.COUNT)] = 0
    n_left_out_tied: Annotated[int, Column("Tied", Format.COUNT)] = 0
    mean_a: Annotated[float | None, Column("Mean of A", Format.MEAN)]
    mean_b: Annotated[float | None, Column("Mean of B", Format.MEAN)]
    difference: Annotated[Estimate, Column("A − B", Format.POINTS)] = UNKNOWN
    difference_ties_half: Annotated[float | None, Column("A − B, ties half", Format.POINTS)] = None
    p: Annotated[float | None, Column("p", Format.P_VALUE)] = None
    p_holm: Annotated[float | None, Column("p, Holm", Format.P_VALUE)] = None
    p_bh: Annotated[float | None, Column("p, Benjamini–Hochberg", Format.P_VALUE)] = None
    p_mcnemar: Annotated[float | None, Column("McNemar mid-p", Format.P_VALUE)] = None
    lam: Annotated[float | None, Column("λ", Format.DECIMAL)] = None
    why: Annotated[str | None, Column("Why")] = None

    def text(self, name: str, column: Column) -> str:
        """Return the text of a column; a difference on an ordinal scale is not in percent."""
        if name.startswith("difference") and self.scale == ORDINAL:
            column = column._replace(format=Format.SIGNED)
        return super().text(name, column)


def comparison_report(study: Study, choices: ComparisonChoices) -> Report[ComparisonRow]:
    """Return a row for each two sides, on each question and, if scores count, each run.

    p is that of the permutation test, which exchanges the sides of whole dialogs. Where raters and
    a metric judge together, it is that of Student's t test. Holm and Benjamini-Hochberg correct it
    for all rows of the report. McNemar's mid-p is there if each dialog has one pair of labels.

    Raises:
        CannotReport: raters judge citations, or the study has no arm.
    """
    values = values_of_study(study, choices, with_scores=choices.needs_scores)
    everything = values.everything
    rows = [
        _row(study, group, a, b, everything.dialogs_of_examples, everything.n_dialogs)
        for group in groups_of(values, choices)
        for a, b in combinations(group.sides, 2)
    ]
    left_out = values_left_out(values) if choices.needs_answers else {}
    left_out["without_pairs"] = sum(row.n == 0 for row in rows)
    said = f" | {choices.compare} by {choices.by}"
    return values.report(NAME, list(_corrected(rows)), left_out, said)


def _row(
    study: Study, group: Group, a: ComparedSide, b: ComparedSide, dialogs: Indexes, n_dialogs: int
) -> ComparisonRow:
    both = ~np.isnan(a.values) & ~np.isnan(b.values)
    row = ComparisonRow(
        question=group.question,
        metric=group.metric,
        scale=group.scale,
        a=a.name,
        b=b.name,
        n=int(both.sum()),
        n_dialogs=len(np.unique(dialogs[both])),
        n_left_out_waiting=int((a.is_waiting | b.is_waiting).sum()),
        n_left_out_tied=int((a.is_tied | b.is_tied).sum()),
        mean_a=number(mean(a.values[both])),
        mean_b=number(mean(b.values[both])),
        why=None if both.any() else NO_PAIRS,
    )
    if a.scores is not None and b.scores is not None:
        return replace(row, **_by_both(group, a, b, dialogs))
    found = paired_difference(a.values, b.values, dialogs, n_dialogs, seed=study.seed)
    has_ties = row.n_left_out_tied > 0
    return replace(
        row,
        difference=estimate(found.difference, Interval(found.low, found.high)),
        difference_ties_half=number(mean(a.with_halves - b.with_halves)) if has_ties else None,
        p=number(found.p_permutation),
        p_mcnemar=number(found.p_mcnemar),
    )


def _by_both(group: Group, a: ComparedSide, b: ComparedSide, dialogs: Indexes) -> dict[str, Any]:
    """Return the fields of a row where raters and a metric judge together."""
    sides = (a, b)
    found = prediction_powered_difference(*(_part(each, dialogs, group) for each in sides))
    ties_half = None
    if (a.is_tied | b.is_tied).any():
        halves = [each._replace(values=each.with_halves) for each in sides]
        with_ties = prediction_powered_difference(*(_part(each, dialogs, group) for each in halves))
        ties_half = number(with_ties.human if found.reason else with_ties.estimate)
    if found.reason:
        alone = estimate(found.human, Interval(found.human_low, found.human_high))
        why = f"Raters alone: {WHY[found.reason]}"
        return {"difference": alone, "difference_ties_half": ties_half, "why": why}
    return {
        "difference": estimate(found.estimate, Interval(found.low, found.high)),
        "difference_ties_half": ties_half,
        "p": number(found.p),
        "lam": number(found.lam),
    }


def _part(side: ComparedSide, dialogs: Indexes, group: Group) -> RatedPart:
    scores: Floats = side.values if side.scores is None else side.scores
    return RatedPart(side.values, scores, dialogs, group.is_rated)


def _corrected(rows: Sequence[ComparisonRow]) -> Iterator[ComparisonRow]:
    """Yield the rows with p-values that are corrected for how many there are."""
    p_values = [math.nan if row.p is None else row.p for row in rows]
    pairs = zip(rows, holm(p_values), benjamini_hochberg(p_values), strict=True)
    for row, by_holm, by_bh in pairs:
        yield replace(row, p_holm=number(by_holm), p_bh=number(by_bh))


def _usual(study: Study) -> ComparisonChoices:
    return ComparisonChoices(counted=usual_labels(study))


COMPARISON = ReportKind(
    key=NAME,
    title="Compare two",
    lede="Compares setups, models or metrics on the same examples, two at a time.",
    group=ReportGroup.RATERS,
    about=Study,
    choices=ComparisonChoices,
    make=comparison_report,
    usual=_usual,
    known=known_values,
    check=check_values,
    rows=(ComparisonRow,),
    methods=methods.COMPARISON,
)
