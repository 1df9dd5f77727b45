"""Reports: what pages, commands and the API show, each from one function here."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from annotation.models import Rater, Study, Vote
from annotation.schemes import Question, load_scheme
from evaluation.metrics import agreement, human
from evaluation.metrics.intervals import METHOD, Figure, Floats, Measure, bootstrap_intervals
from evaluation.vote_counts import (
    ArmCounts,
    Ints,
    arm_counts,
    n_gold_items,
    n_raters,
    n_responses,
)

N_RESAMPLES = 1000

Row = dict[str, Any]


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
    """What a reader may choose about a report on raters; all of it stands in the signature."""

    by_setup: bool = False
    with_implied: bool = False  # agreement over implied answers too
    with_excluded: bool = False  # votes of excluded raters too

    def __str__(self) -> str:
        implied = "given and implied votes" if self.with_implied else "given votes"
        excluded = "counted" if self.with_excluded else "left out"
        return f"agreement over {implied}, excluded raters {excluded}"


def raters_report(
    study: Study,
    choices: Choices = Choices(),  # noqa: B008 - a tuple
    counts: Sequence[ArmCounts] | None = None,
) -> Report:
    """Return what raters said and how far they agree: a row per arm × question (× setup).

    `counts` are those of `study_counts`, when they were read already.

    The mean is that of majority votes (yes/no) or of medians (ordinal) over all votes, implied
    ones too, so that it has no hole; agreement uses given votes unless `choices` say otherwise.
    """
    scheme = load_scheme(study.scheme)
    if counts is None:
        counts = study_counts(study, choices)
    setups: dict[int | None, str | None] = {None: None}
    if choices.by_setup:  # sorted here: databases differ in the order of names
        setups = dict(sorted(study.setups.values_list("pk", "name"), key=itemgetter(1)))
    rows = [
        {"question": question.key, "arm": of_arm.arm.kind, "setup": setup}
        | _question_row(study, of_arm, question, _items_of(of_arm, setup_id), choices)
        for of_arm in counts
        for question in scheme.questions
        for setup_id, setup in setups.items()
    ]
    signature = " | ".join(
        [
            "raters",
            str(choices),
            f"{METHOD}, {N_RESAMPLES} resamples, seed {study.seed}",
            "data " + "+".join(of_arm.data_hash for of_arm in counts),
            f"attest {settings.VERSION}",
        ]
    )
    return Report(study.name, "raters", rows, _left_out(study, counts, rows, choices), signature)


def study_counts(study: Study, choices: Choices) -> list[ArmCounts]:
    """Return the counted votes of each arm: what all reports on raters are made from."""
    scheme = load_scheme(study.scheme)
    return [
        arm_counts(arm, scheme, with_excluded=choices.with_excluded)
        for arm in study.arms.select_related("study")
    ]


def _items_of(of_arm: ArmCounts, setup_id: int | None) -> NDArray[np.bool_]:
    """Return which items belong to a setup: (n_items,); all of them for None."""
    if setup_id is None:
        return np.ones(len(of_arm.items.setups), bool)
    is_here: NDArray[np.bool_] = of_arm.items.setups == setup_id
    return is_here


def _question_row(
    study: Study, of_arm: ArmCounts, question: Question, here: NDArray[np.bool_], choices: Choices
) -> Row:
    """Return the figures of one question over the items of `here`."""
    votes = of_arm.votes[question.key]
    here = here & (votes.sum(axis=1) > 0)
    votes, given = votes[here], of_arm.given[question.key][here]
    compared = votes if choices.with_implied else given
    compared = compared * of_arm.items.is_always_full[here, np.newaxis]
    majority = human.majority_category(votes, n_raters(study, votes))
    item_values = _item_values(question, votes, n_raters(study, votes))
    level: agreement.Level = "ordinal" if question.scale.kind == "ordinal" else "nominal"

    figures: dict[str, tuple[Floats, Measure]] = {}
    if item_values is not None:
        figures["mean"] = (human.mean_statistics(item_values), human.mean_from)
        if question.after:
            passed = _passed_gates(study, of_arm, question, here)
            after_gates = np.where(passed, item_values, math.nan)
            figures["mean_after_gates"] = (human.mean_statistics(after_gates), human.mean_from)
    figures["percent_agreement"] = (
        agreement.percent_agreement_statistics(compared),
        agreement.percent_agreement_from,
    )
    figures["fleiss_kappa"] = (
        agreement.fleiss_kappa_statistics(compared),
        agreement.fleiss_kappa_from,
    )
    figures["alpha"] = (
        agreement.krippendorff_alpha_statistics(compared),
        partial(agreement.krippendorff_alpha_from, level=level),
    )
    fleiss_items = agreement.items_with_most_frequent_votes(compared)
    shares = human.prevalence(compared)
    return (
        {
            "scale": question.scale.kind,
            "n": len(votes),
            "n_dialogs": len(np.unique(of_arm.items.dialogs[here])),
            "n_votes": int(votes.sum()),
            "n_implied": int(votes.sum() - given.sum()),
            "undecided": int(np.count_nonzero(majority == human.UNDECIDED)),
        }
        | {
            f"majority_{label}": int(np.count_nonzero(majority == column))
            for column, label in enumerate(question.scale.labels)
        }
        | dict(_with_intervals(study, figures, of_arm, here))
        | {
            "alpha_level": level,
            "alpha_items": int(np.count_nonzero(compared.sum(axis=1) >= 2)),
            "fleiss_items": int(fleiss_items.sum()),
            "fleiss_votes_per_item": int(compared[fleiss_items].sum(axis=1).max(initial=0)),
            "no_variation": agreement.has_no_variation(compared),
            "fleiss_no_variation": agreement.has_no_variation(compared[fleiss_items]),
        }
        | {
            f"share_{label}": _number(share)
            for label, share in zip(question.scale.labels, shares, strict=True)
        }
    )


def _item_values(question: Question, votes: Ints, raters: Ints) -> Floats | None:
    """Return what the mean is over: majority labels, or medians; None for nominal questions."""
    if question.scale.kind == "yes_no":
        return human.majority_label(votes, raters)
    if question.scale.kind == "ordinal":
        return human.consensus(votes, question.scale.values)
    return None


def _passed_gates(
    study: Study, of_arm: ArmCounts, question: Question, here: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which items have a majority yes on every gate of the question: (n_items,)."""
    passed = np.ones(int(here.sum()), bool)
    for gate in question.after:
        votes = of_arm.votes[gate][here]
        passed &= human.majority_label(votes, n_raters(study, votes)) == 1
    return passed


def _with_intervals(
    study: Study,
    figures: dict[str, tuple[Floats, Measure]],
    of_arm: ArmCounts,
    here: NDArray[np.bool_],
) -> Iterator[tuple[str, float | None]]:
    """Yield each figure and the two ends of its interval, by name."""
    dialogs = of_arm.items.dialogs[here]
    intervals = bootstrap_intervals(
        [Figure(statistics, dialogs, measure) for statistics, measure in figures.values()],
        of_arm.items.n_dialogs,
        seed=study.seed,
        n_resamples=N_RESAMPLES,
    )
    for (name, (statistics, measure)), interval in zip(figures.items(), intervals, strict=True):
        yield name, _number(measure(statistics.sum(axis=0)))
        yield f"{name}_low", _number(interval.low)
        yield f"{name}_high", _number(interval.high)


def _missing_behind_gates(of_arm: ArmCounts, study: Study) -> int:
    """Return how many votes are missing on gated questions: the gate was answered, they not.

    Votes made here have none: what is not asked is an implied no. Imported ones may.
    """
    return sum(
        int(np.maximum(0, of_arm.votes[gate].sum(axis=1) - of_arm.votes[key].sum(axis=1)).sum())
        for key, gate in (
            (question.key, question.after[0])
            for question in load_scheme(study.scheme).questions
            if question.after
        )
    )


def _number(figure: Any) -> float | None:
    """Return a figure as JSON knows it: None, never NaN, when it is undefined."""
    return None if math.isnan(figure) else float(figure)


def _left_out(
    study: Study, counts: Sequence[ArmCounts], rows: list[Row], choices: Choices
) -> dict[str, int]:
    """Return how many votes, items and raters the figures are without, and for what reason."""
    excluded = Rater.objects.filter(study=study, is_excluded=True)
    votes = Vote.objects.filter(arm__study=study)
    rated: set[int] = set().union(*(of_arm.items.responses.tolist() for of_arm in counts))
    flagged: set[int] = set().union(*(of_arm.flagged for of_arm in counts))
    return {
        # Only yes/no questions have a mean of majorities, which these are missing from.
        "undecided": sum(row["undecided"] for row in rows if row["scale"] == "yes_no"),
        "flagged_responses": len(flagged),
        "implied_votes": 0 if choices.with_implied else sum(row["n_implied"] for row in rows),
        "missing_behind_gates": sum(_missing_behind_gates(of_arm, study) for of_arm in counts),
        # Where a study stops when decided: rated items that agreement is not taken from.
        "items_outside_full_share": sum(
            int(np.count_nonzero(~of_arm.items.is_always_full)) for of_arm in counts
        ),
        "gold_items": n_gold_items(study),
        "surplus_votes": votes.filter(is_surplus=True).count(),
        "excluded_raters": 0 if choices.with_excluded else excluded.count(),
        "excluded_votes": 0
        if choices.with_excluded
        else votes.filter(rater__in=excluded, is_surplus=False).count(),
        "unrated_responses": n_responses(study) - len(rated | flagged),
    }
