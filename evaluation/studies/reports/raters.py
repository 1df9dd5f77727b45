"""The report on raters: what they said, and how far they agree."""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.models import Study
from annotation.schemes import YES_NO, Question, load_scheme
from annotation.voting import NO
from evaluation.reports.base import (
    USUAL,
    Choices,
    LeftOut,
    Planned,
    Report,
    Row,
    item_values,
    mean_measure,
    number,
    signature,
    study_counts,
    votes_left_out,
    with_assumed,
    with_intervals,
)
from evaluation.reports.registry import ReportKind, columns
from evaluation.statistics import agreement, rater_answers
from evaluation.statistics.intervals import Floats, Measure
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.votes.counts import ArmCounts, Ints, n_outside_full_share, n_raters


def raters_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
) -> Report[Any]:
    """Return what raters said and how far they agree: a row per arm × question (× setup).

    `counts` are those of `study_counts`, and `left_out` is of `votes_left_out`, when they were read
    already.

    The mean is that of majority votes (yes/no) or of medians (ordinal) over all votes, implied
    ones too, so that it has no hole; agreement uses given votes unless `choices` say otherwise:
    which of them gates closed, and whether implied ones count. An assumed answer (`n_assumed`) is a
    no in the mean, and in no other figure.
    """
    scheme = load_scheme(study.scheme)
    if counts is None:
        counts = study_counts(study, choices)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    setups: dict[int | None, str | None] = {None: None}
    if choices.by_setup:  # sorted here: databases differ in the order of names
        setups = dict(sorted(_setups(study, choices), key=itemgetter(1)))
    rows: list[Row] = []
    for of_arm in counts:
        planned = (
            _planned(study, of_arm, question, setup_id, choices, setup)
            for question in scheme.questions
            for setup_id, setup in setups.items()
        )
        rows += with_intervals(study, planned, of_arm.all_dialogs.n)
    left_out = _left_out(study, counts, rows, choices) | left_out
    return Report(study.name, "raters", rows, left_out, signature(study, "raters", choices, counts))


def _setups(study: Study, choices: Choices) -> Iterable[tuple[int, str]]:
    """Return the setups that a report by setup has rows for, as id and name."""
    setups = study.setups.all()
    if choices.setup:
        setups = setups.filter(name=choices.setup)
    return setups.values_list("pk", "name")


def _of_setup(setups: Ints, setup_id: int | None) -> NDArray[np.bool_]:
    """Return which of some items' setups are the one: (n_items,); all of them for None."""
    if setup_id is None:
        return np.ones(len(setups), bool)
    is_here: NDArray[np.bool_] = setups == setup_id
    return is_here


def _planned(
    study: Study,
    of_arm: ArmCounts,
    question: Question,
    setup_id: int | None,
    choices: Choices,
    setup: str | None,
) -> Planned:
    """Return the row of one question over the items of a setup, or all of them."""
    votes = of_arm.votes[question.key]
    here = _of_setup(of_arm.items.setups, setup_id) & (votes.sum(axis=1) > 0)
    assumed = _of_setup(of_arm.assumed.setups, setup_id) & of_arm.assumed.to(question)
    n_assumed = int(assumed.sum())
    votes, given = votes[here], of_arm.given[question.key][here]
    behind = of_arm.behind[question.key][here] if choices.by_gates else np.zeros_like(given)
    compared = _compared(question, votes, given, behind, choices)
    compared = compared * of_arm.items.is_always_full[here, np.newaxis]
    majority = rater_answers.majority_category(votes, n_raters(study, votes))
    values = item_values(question, votes, n_raters(study, votes))
    level: agreement.Level = "ordinal" if question.scale.kind == "ordinal" else "nominal"

    figures: dict[str, tuple[Floats, Measure]] = {}
    if values is not None and question.after:
        passed = _passed_gates(study, of_arm, question, here)
        after_gates = np.where(passed, values, math.nan)
        figures["mean_after_gates"] = (
            rater_answers.mean_statistics(after_gates),
            mean_measure(question),
        )
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
    figures = {
        name: (np.vstack([statistics, np.zeros((n_assumed, statistics.shape[1]))]), measure)
        for name, (statistics, measure) in figures.items()
    }
    of_mean = with_assumed(values, n_assumed)
    if of_mean is not None:
        mean = rater_answers.mean_statistics(of_mean), mean_measure(question)
        figures = {"mean": mean} | figures
    fleiss_items = agreement.items_with_most_frequent_votes(compared)
    shares = rater_answers.prevalence(compared)
    before = {
        "question": question.key,
        "arm": of_arm.arm.kind,
        "setup": setup,
        "scale": question.scale.kind,
        "n": len(votes),
        "n_assumed": n_assumed,
        "n_dialogs": len(np.unique(of_arm.items.dialogs[here])),
        "n_votes": int(votes.sum()),
        "n_implied": int(votes.sum() - given.sum() + behind.sum()),
        "undecided": int(np.count_nonzero(majority == rater_answers.UNDECIDED)),
    } | {
        f"majority_{label}": int(np.count_nonzero(majority == column))
        for column, label in enumerate(question.scale.labels)
    }
    after = {
        "alpha_level": level,
        "alpha_items": int(np.count_nonzero(compared.sum(axis=1) >= 2)),
        "fleiss_items": int(fleiss_items.sum()),
        "fleiss_votes_per_item": int(compared[fleiss_items].sum(axis=1).max(initial=0)),
        "no_variation": agreement.has_no_variation(compared),
        "fleiss_no_variation": agreement.has_no_variation(compared[fleiss_items]),
    } | {
        f"share_{label}": number(share)
        for label, share in zip(question.scale.labels, shares, strict=True)
    }
    dialogs = of_arm.all_dialogs
    here_and_assumed = np.concatenate([dialogs.of_items[here], dialogs.of_assumed[assumed]])
    return Planned(before, figures, here_and_assumed, after)


def _compared(question: Question, votes: Ints, given: Ints, behind: Ints, choices: Choices) -> Ints:
    """Return the votes that agreement is over: (n_items, n_categories).

    `behind` are those of `given` that count as implied, as a closed gate says: noes to a question
    with yes and no, nothing to another one.
    """
    if not choices.with_implied:
        return given - behind
    compared = votes - behind
    if question.scale == YES_NO:
        compared[:, NO] += behind.sum(axis=1)
    return compared


def _passed_gates(
    study: Study, of_arm: ArmCounts, question: Question, here: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which items have a majority yes on every gate of the question: (n_items,)."""
    passed = np.ones(int(here.sum()), bool)
    for gate in question.after:
        votes = of_arm.votes[gate][here]
        passed &= rater_answers.majority_label(votes, n_raters(study, votes)) == 1
    return passed


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


def _left_out(
    study: Study, counts: Sequence[ArmCounts], rows: Sequence[Row], choices: Choices
) -> dict[str, int]:
    """Return what this report is without, apart from what all reports are."""
    return {
        # Only yes/no questions have a mean of majorities, which these are missing from.
        "undecided": sum(row["undecided"] for row in rows if row["scale"] == "yes_no"),
        "implied_votes": 0 if choices.with_implied else sum(row["n_implied"] for row in rows),
        "missing_behind_gates": sum(_missing_behind_gates(of_arm, study) for of_arm in counts),
        # Where a study stops when decided: rated items that agreement is not taken from.
        "items_outside_full_share": sum(n_outside_full_share(of_arm) for of_arm in counts),
    }


RATERS = ReportKind(
    key="raters",
    title="Raters",
    lede="What raters said, question by question: means and agreement.",
    about=Study,
    choices=Choices,
    make=raters_report,
    usual=usual_choices,
    check=check_choices,
    columns=columns(
        "question",
        "arm",
        "setup",
        "n",
        "undecided",
        "mean",
        "percent_agreement",
        "fleiss_kappa",
        "alpha",
        "alpha_level",
    ),
)
