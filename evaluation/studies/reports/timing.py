"""The reports on time and position: time that merging saves, and the effect of the first place."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from django.db.models import Count, Max, QuerySet, Sum

from annotation.models import Arm, Study, Vote
from annotation.schemes import Question, load_scheme
from evaluation.reports.base import USUAL, Choices, signature, study_counts, votes_left_out
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import N_RESAMPLES, Planned, estimate, with_estimates
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow
from evaluation.statistics import rater_answers
from evaluation.statistics.intervals import (
    Floats,
    Measure,
    MixOfShares,
    Statistic,
    percentile_interval,
)
from evaluation.statistics.timing import Medians, medians, saved_share
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.votes.counts import ArmCounts, Ints, counted_votes

SAVED = "saved"  # the arm in the row about both arms together


@dataclass(frozen=True, kw_only=True)
class Judgements(ReportRow):
    """The arm whose judgements are timed, and their numbers."""

    arm: Annotated[str, Column("Arm")]
    n_judgements: Annotated[int, Column("Judgements", Format.COUNT)]
    n_without_seconds: Annotated[int, Column("Without a time", Format.COUNT)]


@dataclass(frozen=True, kw_only=True)
class TimeOfArm(Judgements):
    """Seconds per response in one arm."""

    mean_seconds: Annotated[Estimate, Column("Mean", Format.SECONDS)]
    median_seconds: Annotated[Estimate, Column("Median", Format.SECONDS)] = UNKNOWN


@dataclass(frozen=True, kw_only=True)
class SavedTime(Judgements):
    """The share of the median time that merging saves."""

    arm: Annotated[str, Column("Arm")] = SAVED
    saved_share: Annotated[Estimate, Column("Saved", Format.PERCENT)]


class Times(NamedTuple):
    """Seconds per judgement in one arm. A dialog has the same number in all arms."""

    seconds: Floats
    dialogs: Ints
    n_without: int  # judgements whose time is not known


def time_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
) -> Report[TimeOfArm | SavedTime]:
    """Return the seconds per response in each arm, and the share of them that merging saves.

    `raters_report` explains `counts` and `left_out`. A judgement is one rater's answers about one
    target in one arm. Its time is the longest time among its votes.
    """
    if counts is None:
        counts = study_counts(study, choices)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    names = sorted({name for of_arm in counts for name in of_arm.items.dialog_names})
    times = {of_arm.arm.kind: times_of(of_arm, names, choices) for of_arm in counts}
    means = with_estimates(_planned_means(times), len(names), seed=study.seed)
    arms: list[TimeOfArm] = []
    found: dict[str, Medians] = {}
    for row, (arm, of_arm) in zip(means, times.items(), strict=True):
        found[arm] = medians(
            of_arm.seconds,
            of_arm.dialogs,
            len(names),
            seed=study.seed,
            n_resamples=N_RESAMPLES,
        )
        median = _estimate(found[arm], _n_dialogs(of_arm))
        arms.append(replace(row, median_seconds=median))
    rows: list[TimeOfArm | SavedTime] = [*arms]
    if {Arm.Kind.SEPARATE, Arm.Kind.MERGED} <= times.keys():
        rows.append(_saved(arms, times, found))
    left_out = {"judgements_without_seconds": sum(t.n_without for t in times.values())} | left_out
    return Report(study.name, "time", rows, left_out, signature(study, "time", choices, counts))


def times_of(of_arm: ArmCounts, names: Sequence[str], choices: Choices) -> Times:
    """Return the time of each judgement on the items of an arm.

    Args:
        names: the names of the dialogs, sorted. A dialog's number is its place in this list.
    """
    judgements = _of_counted_items(of_arm, choices).values("target", "rater")
    rows = np.array(
        [
            (target, math.nan if seconds is None else seconds)
            for target, seconds in judgements.annotate(longest=Max("seconds"))
            .order_by()
            .values_list("target", "longest")
            .iterator(chunk_size=20_000)
        ],
        np.float64,
    ).reshape(-1, 2)
    item, is_item = _items_of(of_arm, rows[:, 0].astype(np.int64))
    seconds = rows[is_item, 1]
    is_known = ~np.isnan(seconds)
    place_of = {name: place for place, name in enumerate(names)}
    places = np.array([place_of[name] for name in of_arm.items.dialog_names], np.int64)
    dialogs = places[of_arm.items.dialogs[item]]
    # Databases return the judgements in any order, on which sums of floats depend. Fix the order.
    order = np.lexsort([seconds[is_known], dialogs[is_known]])
    return Times(seconds[is_known][order], dialogs[is_known][order], int((~is_known).sum()))


def _of_counted_items(of_arm: ArmCounts, choices: Choices) -> QuerySet[Vote]:
    votes = counted_votes(of_arm.arm, with_excluded=choices.with_excluded)
    return votes.exclude(target__response__in=of_arm.flagged) if of_arm.flagged else votes


def _items_of(of_arm: ArmCounts, targets: Ints) -> tuple[Ints, Any]:
    """Return the items of the targets that are items, and whether each target is one.

    The shapes are (n_there,) and (n_targets,).
    """
    order = np.argsort(of_arm.items.targets)
    known = of_arm.items.targets[order]
    if not len(known):
        return np.zeros(0, np.int64), np.zeros(len(targets), bool)
    place = np.minimum(np.searchsorted(known, targets), len(known) - 1)
    is_item = known[place] == targets
    return order[place[is_item]], is_item


def _planned_means(times: Mapping[str, Times]) -> Iterator[Planned[TimeOfArm]]:
    for arm, of_arm in times.items():
        make = partial(
            TimeOfArm,
            arm=arm,
            n_judgements=len(of_arm.seconds) + of_arm.n_without,
            n_without_seconds=of_arm.n_without,
        )
        mean = rater_answers.mean_statistics(of_arm.seconds)
        yield Planned(
            make, {"mean_seconds": Statistic(mean, of_arm.dialogs, rater_answers.mean_from)}
        )


def _saved(
    rows: Sequence[TimeOfArm], times: Mapping[str, Times], found: Mapping[str, Medians]
) -> SavedTime:
    """Return the share of the median time that merging saves, compared with the separate arm."""
    compared = (Arm.Kind.SEPARATE, Arm.Kind.MERGED)
    rows = [row for row in rows if row.arm in compared]
    both = np.concatenate([times[arm].dialogs for arm in compared])
    return SavedTime(
        n_judgements=sum(row.n_judgements for row in rows),
        n_without_seconds=sum(row.n_without_seconds for row in rows),
        saved_share=_estimate(
            saved_share(found[Arm.Kind.MERGED], found[Arm.Kind.SEPARATE]), len(np.unique(both))
        ),
    )


def _n_dialogs(times: Times) -> int:
    return len(np.unique(times.dialogs))


def _estimate(medians: Medians, n_dialogs: int) -> Estimate:
    return estimate(medians.found, percentile_interval(medians.resampled, n_dialogs))


# --- position -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MeanAtPosition(ReportRow):
    """The mean vote on a question at one place of the merged form."""

    named_by = ("question", "position")

    question: Annotated[str, Column("Question")]
    order: Annotated[str, Column("Order")]  # random, fixed or unknown
    position: Annotated[int, Column("Position", Format.COUNT)]  # the first place is 1
    n_votes: Annotated[int, Column("Votes", Format.COUNT)]
    mean_vote: Annotated[float, Column("Mean vote", Format.DECIMAL)]


@dataclass(frozen=True, kw_only=True)
class PositionEffect(ReportRow):
    """The effect of the first place on the votes on a question: first − later."""

    named_by = ("question", "position")

    question: Annotated[str, Column("Question")]
    order: Annotated[str, Column("Order")]
    position: Annotated[None, Column("Position", Format.COUNT)] = None
    n_votes: Annotated[int, Column("Votes", Format.COUNT)]
    effect: Annotated[Estimate, Column("First − later", Format.SIGNED)]


PositionRow = MeanAtPosition | PositionEffect


def position_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
) -> Report[PositionRow]:
    """Return mean votes by position in the merged arm: rows per question × position.

    `raters_report` explains `counts` and `left_out`. The row without a position has the `effect`:
    mean vote at the first place − mean vote at all later ones. When the order is fixed by setup,
    the effect also contains the difference between setups; every row names the order.
    """
    if counts is None:
        counts = study_counts(study, choices)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    rows: list[PositionRow] = []
    n_without = 0
    for of_arm in counts:
        if of_arm.arm.kind == Arm.Kind.MERGED:
            by_place = _by_place(of_arm, choices)
            n_without = int(by_place.n_votes[by_place.positions == 0].sum())
            planned = (
                row
                for question in load_scheme(study.scheme).questions
                if question.scale.kind != "nominal"
                for row in _positions_of(study, question, by_place)
            )
            rows = list(with_estimates(planned, of_arm.items.n_dialogs, seed=study.seed))
    left_out = {"votes_without_position": n_without} | left_out
    said = signature(study, "position", choices, counts)
    return Report(study.name, "position", rows, left_out, said)


class _ByPlace(NamedTuple):
    """Votes of the merged arm, added up by dialog, question and position (0: not known)."""

    dialogs: Ints
    questions: Any  # keys of questions
    positions: Ints
    n_votes: Ints
    sums: Ints  # sums of the answers


def _by_place(of_arm: ArmCounts, choices: Choices) -> _ByPlace:
    dialog = "target__response__example__dialog"
    votes = _of_counted_items(of_arm, choices)
    if choices.setup:
        votes = votes.filter(target__response__setup__name=choices.setup)
    rows = (
        votes.order_by()
        .values(dialog, "question", "position")
        .annotate(n=Count("pk"), total=Sum("answer"))
        .values_list(dialog, "question", "position", "n", "total")
    )
    number_of = {name: place for place, name in enumerate(of_arm.items.dialog_names)}
    # A rater may have voted on another dialog since the counts were read.
    known = [row for row in rows if row[0] in number_of]
    columns = np.array(known, dtype=object).reshape(-1, 5)
    return _ByPlace(
        dialogs=np.array([number_of[name] for name in columns[:, 0]], np.int64),
        questions=columns[:, 1],
        positions=np.array([position or 0 for position in columns[:, 2]], np.int64),
        n_votes=columns[:, 3].astype(np.int64),
        sums=columns[:, 4].astype(np.int64),
    )


def _positions_of(
    study: Study, question: Question, by_place: _ByPlace
) -> Iterator[Planned[PositionRow]]:
    here = (by_place.questions == question.key) & (by_place.positions > 0)
    positions, n_votes, sums = (
        column[here] for column in (by_place.positions, by_place.n_votes, by_place.sums)
    )
    order = _order(study)
    for position in np.unique(positions).tolist():
        at = positions == position
        n = int(n_votes[at].sum())
        make = partial(
            MeanAtPosition,
            question=question.key,
            order=order,
            position=position,
            n_votes=n,
            mean_vote=int(sums[at].sum()) / n,
        )
        yield Planned(make, {})
    if len(np.unique(positions)) < 2:
        return
    is_first = positions == 1
    statistics = np.column_stack(
        [sums * is_first, n_votes * is_first, sums * ~is_first, n_votes * ~is_first]
    ).astype(np.float64)
    effect = partial(PositionEffect, question=question.key, order=order, n_votes=int(n_votes.sum()))
    is_share = question.scale.kind == "yes_no"
    measure: Measure = (
        MixOfShares((1.0, -1.0)) if is_share else rater_answers.difference_of_means_from
    )
    figure = Statistic(statistics, by_place.dialogs[here], measure)
    yield Planned(effect, {"effect": figure})


def _order(study: Study) -> str:
    """Return the order of the responses of a merged unit: random, fixed or unknown."""
    if not study.is_imported:
        return str(study.response_order)
    said = study.settings.get("response_order")
    return said if said in Study.ResponseOrder.values else "unknown"


TIME = ReportKind(
    key="time",
    title="Time",
    lede="Compares how long a judgement takes in each arm.",
    group=ReportGroup.PLANNING,
    about=Study,
    methods=methods.TIME,
    choices=Choices,
    make=time_report,
    usual=usual_choices,
    check=check_choices,
    rows=(TimeOfArm, SavedTime),
)


POSITION = ReportKind(
    key="position",
    title="Position",
    lede="Tests whether answers depend on the position at which a response is shown.",
    group=ReportGroup.ARMS,
    about=Study,
    methods=methods.POSITION,
    choices=Choices,
    make=position_report,
    usual=usual_choices,
    check=check_choices,
    rows=(MeanAtPosition, PositionEffect),
)
