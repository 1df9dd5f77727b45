"""What every report shares: its shape, the choices of its reader, and figures with intervals."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Count, Q

from annotation.models import Arm, Rater, Study, Vote
from annotation.schemes import Question, load_scheme
from evaluation.metrics import human
from evaluation.metrics.intervals import (
    METHOD,
    Figure,
    Floats,
    Measure,
    bootstrap_intervals,
    share_from,
)
from evaluation.vote_counts import (
    ArmCounts,
    Ints,
    arm_counts,
    n_gold_items,
    of_setup,
    unrated_responses,
)

N_RESAMPLES = 1000
BATCH_BYTES = 64 * 2**20  # of statistics that wait for their intervals

Row = dict[str, Any]
LeftOut = dict[str, int]


class Report(NamedTuple):
    """One report: flat rows, what was left out, and every choice that changes the numbers.

    A figure `x` has its 95 % interval in `x_low` and `x_high`; undefined is None.
    """

    study: str
    report: str
    rows: list[Row]
    left_out: dict[str, int]
    signature: str


class Choices(NamedTuple):
    """What a reader may choose about the reports of a study; all of it stands in the signature."""

    by_setup: bool = False  # the report on raters: a row for each setup
    with_implied: bool = False  # agreement over implied answers too
    with_excluded: bool = False  # votes of excluded raters too
    setup: str = ""  # the name of the only setup that counts; empty: all of them
    truth: str = Arm.Kind.SEPARATE  # the arm whose majorities metrics are held against

    def __str__(self) -> str:
        implied = "given and implied votes" if self.with_implied else "given votes"
        excluded = "counted" if self.with_excluded else "left out"
        said = f"agreement over {implied}, excluded raters {excluded}"
        if self.setup:
            said += f", setup {self.setup} only"
        if self.truth != Arm.Kind.SEPARATE:
            said += f", truth of the {self.truth} arm"
        return said


def study_counts(study: Study, choices: Choices) -> list[ArmCounts]:
    """Return the counted votes of each arm: what all reports on a study are made from."""
    scheme = load_scheme(study.scheme)
    counts = [
        arm_counts(arm, scheme, with_excluded=choices.with_excluded)
        for arm in study.arms.select_related("study")
    ]
    if not choices.setup:
        return counts
    chosen = study.setups.filter(name=choices.setup).values_list("pk", flat=True)
    return [of_setup(of_arm, set(chosen)) for of_arm in counts]


def signature(study: Study, report: str, choices: Choices, counts: Sequence[ArmCounts]) -> str:
    """Return every choice that changes a report's numbers, with a hash of the data."""
    return " | ".join(
        [
            report,
            str(choices),
            f"{METHOD}, {N_RESAMPLES} resamples, seed {study.seed}",
            "data " + "+".join(of_arm.data_hash for of_arm in counts),
            f"attest {settings.VERSION}",
        ]
    )


def number(figure: Any) -> float | None:
    """Return a figure as JSON knows it: None, never NaN, when it is undefined."""
    return None if math.isnan(figure) else float(figure)


class Planned(NamedTuple):
    """A row without its figures yet: what stands before and after them, and their statistics."""

    before: Row
    figures: Mapping[str, tuple[Floats, Measure]]  # name → one row of statistics per item
    dialogs: Ints  # of the items
    after: Row = {}


def with_intervals(study: Study, planned: Iterable[Planned], n_dialogs: int) -> Iterator[Row]:
    """Yield the rows with each figure and the two ends of its interval, by name.

    Rows share the resampled dialogs, many at a time: drawing them is most of the work.
    """
    batch: list[Planned] = []
    n_bytes = 0
    for row in planned:
        batch.append(row)
        n_bytes += sum(statistics.nbytes for statistics, _ in row.figures.values())
        if n_bytes > BATCH_BYTES:
            yield from _batch_with_intervals(study, batch, n_dialogs)
            batch, n_bytes = [], 0
    yield from _batch_with_intervals(study, batch, n_dialogs)


def _batch_with_intervals(study: Study, batch: Sequence[Planned], n_dialogs: int) -> Iterator[Row]:
    intervals = iter(
        bootstrap_intervals(
            [
                Figure(statistics, row.dialogs, measure)
                for row in batch
                for statistics, measure in row.figures.values()
            ],
            n_dialogs,
            seed=study.seed,
            n_resamples=N_RESAMPLES,
        )
    )
    for row in batch:
        figures: Row = {}
        for name, (statistics, measure) in row.figures.items():
            interval = next(intervals)
            figures[name] = number(measure(statistics.sum(axis=0)))
            figures[f"{name}_low"] = number(interval.low)
            figures[f"{name}_high"] = number(interval.high)
        yield row.before | figures | row.after


def item_values(question: Question, votes: Ints, raters: Ints) -> Floats | None:
    """Return what the mean is over: majority labels, or medians; None for nominal questions."""
    if question.scale.kind == "yes_no":
        return human.majority_label(votes, raters)
    if question.scale.kind == "ordinal":
        return human.consensus(votes, question.scale.values)
    return None


def mean_measure(question: Question) -> Measure:
    """Return how the mean of a question is made of `human.mean_statistics` of its item values."""
    return share_from if question.scale.kind == "yes_no" else human.mean_from


def votes_left_out(study: Study, counts: Sequence[ArmCounts], choices: Choices) -> dict[str, int]:
    """Return how many votes, items and raters every report of a study is without, by reason."""
    excluded = list(
        Rater.objects.filter(study=study, is_excluded=True).values_list("pk", flat=True)
    )
    votes = Vote.objects.filter(arm__in=[of_arm.arm.pk for of_arm in counts]).aggregate(
        n_surplus=Count("pk", filter=Q(is_surplus=True)),
        n_excluded=Count("pk", filter=Q(rater__in=excluded, is_surplus=False)),
    )
    rated: set[int] = set().union(*(of_arm.items.responses.tolist() for of_arm in counts))
    flagged: set[int] = set().union(*(of_arm.flagged for of_arm in counts))
    unrated = unrated_responses(study, rated | flagged, choices.setup)
    return {
        "flagged_responses": len(flagged),
        "gold_items": n_gold_items(study),
        "surplus_votes": votes["n_surplus"],
        "excluded_raters": 0 if choices.with_excluded else len(excluded),
        "excluded_votes": 0 if choices.with_excluded else votes["n_excluded"],
        "unrated_responses": unrated.n,
        "assumed": unrated.n_assumed,
    }
