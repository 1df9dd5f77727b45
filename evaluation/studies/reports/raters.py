"""The report on raters: their answers, and their agreement."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from annotation.models import Study
from annotation.schemes import YES_NO, Question, load_scheme
from annotation.voting import NO
from evaluation.reports.base import (
    USUAL,
    Choices,
    RowOfQuestion,
    item_values,
    mean_measure,
    means_left_out,
    n_other_dialogs,
    signature,
    study_counts,
    values_with_halves,
    votes_left_out,
    with_assumed,
)
from evaluation.reports.columns import UNKNOWN, Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, number
from evaluation.statistics import agreement, rater_answers
from evaluation.statistics.intervals import Floats, Measure, Statistic, sum_by_dialog
from evaluation.statistics.jackknife import dialogs_with_rarer_answer
from evaluation.statistics.rater_votes import RaterVotes
from evaluation.statistics.tied_labels import HALF, with_halves
from evaluation.studies.reports import methods
from evaluation.studies.reports.choices import check_choices, usual_choices
from evaluation.studies.reports.rater_coefficients import (
    WITH_INTERVAL,
    CoefficientColumns,
    Coefficients,
    coefficients_of,
)
from evaluation.votes.by_rater import VotesByRater, digest_of, votes_by_rater
from evaluation.votes.counts import (
    ArmCounts,
    Ints,
    missing_behind_gates,
    n_outside_full_share,
    n_raters,
)


@dataclass(frozen=True, kw_only=True)
class RatersRow(RowOfQuestion):
    """The raters' answers to one question in one arm, and their agreement; see `raters_report`."""

    question: Annotated[str, Column("Question")]
    arm: Annotated[str, Column("Arm")]
    setup: Annotated[str | None, Column("Setup")]  # None: all setups
    scale: str
    n: Annotated[int, Column("n", Format.COUNT)]
    n_assumed: int
    n_dialogs: int
    n_votes: int
    n_implied: int
    waiting: Annotated[int, Column("Waiting", Format.COUNT)]
    tied: Annotated[int, Column("Tied", Format.COUNT)]
    majorities: Mapping[str, int]  # majority_<label> → number of items
    mean: Annotated[Estimate, Column("Mean", Format.MEAN)] = UNKNOWN
    mean_ties_half: Annotated[float | None, Column("Mean, ties half", Format.MEAN)] = None
    # Dialogs with another median than the most frequent one; None: the scale is not ordinal.
    n_other_dialogs: int | None = None
    mean_after_gates: Estimate = UNKNOWN
    mean_after_gates_ties_half: float | None = None
    percent_agreement: Annotated[Estimate, Column("Percent agreement", Format.PERCENT)]
    fleiss_kappa: Annotated[Estimate, Column("Fleiss’ kappa", Format.COEFFICIENT)]
    alpha: Annotated[Estimate, Column("Krippendorff’s alpha", Format.COEFFICIENT)]
    alpha_level: Annotated[agreement.Level, Column("Level")]
    alpha_items: int
    fleiss_items: int
    fleiss_votes_per_item: int
    no_variation: bool
    fleiss_no_variation: bool
    # Dialogs that hold the rarer of the answers compared.
    n_rarer_dialogs: Annotated[int, Column("Rarer answer", Format.COUNT)]
    coefficients: CoefficientColumns
    shares: Mapping[str, float | None]  # share_<label> → share of the votes compared

    def text(self, name: str, column: Column) -> str:
        """Return the text of a column. The column of the level says why there is no alpha."""
        said = super().text(name, column)
        return f"{said}, no variation" if name == "alpha_level" and self.no_variation else said


def raters_report(
    study: Study,
    choices: Choices = USUAL,
    counts: Sequence[ArmCounts] | None = None,
    left_out: LeftOut | None = None,
    by_rater: Sequence[VotesByRater] | None = None,
) -> Report[RatersRow]:
    """Return the answers of raters and their agreement: a row per arm × question (× setup).

    The mean is the mean of majority votes (yes/no) or of medians (ordinal). It uses all votes, also
    implied ones, so that no item is missing. Agreement uses only given votes, unless `choices`
    decide otherwise: with `by_gates`, votes behind a closed gate count as implied; with
    `with_implied`, implied votes are used too. An assumed answer (`n_assumed`) counts as a no in
    the mean, and it counts in no other figure.

    Args:
        counts: the result of `study_counts`; None: it has not been read yet.
        left_out: the result of `votes_left_out`; None: it has not been read yet.
        by_rater: the result of `by_rater_of`; None: it has not been read yet.
    """
    scheme = load_scheme(study.scheme)
    if counts is None:
        counts = study_counts(study, choices)
    if by_rater is None:
        by_rater = by_rater_of(study, choices, counts)
    if left_out is None:
        left_out = votes_left_out(study, counts, choices)
    setups: dict[int | None, str | None] = {None: None}
    if choices.by_setup:  # sorted here, because databases differ in the order of names
        setups = dict(sorted(_setups(study, choices), key=itemgetter(1)))
    rows: list[RatersRow] = []
    for of_arm, of_raters in zip(counts, by_rater, strict=True):
        planned = (
            _planned(study, of_arm, of_raters[question.key], question, setup_id, choices, setup)
            for question in scheme.questions
            for setup_id, setup in setups.items()
        )
        rows += with_estimates(planned, of_arm.all_dialogs.n, seed=study.seed)
    left_out = _left_out(study, counts, rows, choices) | left_out
    said = signature(study, "raters", choices, counts)
    said += f" | raters {digest_of(by_rater)}"
    return Report(study.name, "raters", rows, left_out, said)


def by_rater_of(study: Study, choices: Choices, counts: Sequence[ArmCounts]) -> list[VotesByRater]:
    """Return the votes that agreement uses by rater, for each arm of the counts."""
    return [
        votes_by_rater(
            of_arm,
            load_scheme(study.scheme),
            with_excluded=choices.with_excluded,
            with_implied=choices.with_implied,
            by_gates=choices.by_gates,
        )
        for of_arm in counts
    ]


def _setups(study: Study, choices: Choices) -> Iterable[tuple[int, str]]:
    """Return the id and name of each setup that has rows in a report by setup."""
    setups = study.setups.all()
    if choices.setup:
        setups = setups.filter(name=choices.setup)
    return setups.values_list("pk", "name")


def _of_setup(setups: Ints, setup_id: int | None) -> NDArray[np.bool_]:
    """Return whether each item is of one setup, or True for all when it is None: (n_items,)."""
    if setup_id is None:
        return np.ones(len(setups), bool)
    is_here: NDArray[np.bool_] = setups == setup_id
    return is_here


def _planned(
    study: Study,
    of_arm: ArmCounts,
    of_raters: RaterVotes,
    question: Question,
    setup_id: int | None,
    choices: Choices,
    setup: str | None,
) -> Planned[RatersRow]:
    """Return the row of one question over the items of a setup, or over all items."""
    votes = of_arm.votes[question.key]
    here = _of_setup(of_arm.items.setups, setup_id) & (votes.sum(axis=1) > 0)
    assumed = _of_setup(of_arm.assumed.setups, setup_id) & of_arm.assumed.to(question)
    n_assumed = int(assumed.sum())
    votes, given = votes[here], of_arm.given[question.key][here]
    behind = of_arm.behind[question.key][here] if choices.by_gates else np.zeros_like(given)
    compared = _compared(question, votes, given, behind, choices)
    compared = compared * of_arm.items.is_always_full[here, np.newaxis]
    raters = n_raters(study, votes)
    majority = rater_answers.majority_category(votes, raters)
    missing = rater_answers.without_majority(votes, raters)
    values = item_values(question, votes, raters)
    halves = values_with_halves(question, values, missing.is_tied)
    level: agreement.Level = "ordinal" if question.scale.kind == "ordinal" else "nominal"

    dialogs = of_arm.all_dialogs
    here_and_assumed = np.concatenate([dialogs.of_items[here], dialogs.of_assumed[assumed]])

    def figure(statistics: Floats, measure: Measure) -> Statistic:
        """Return a figure of the items. Assumed answers do not count in it."""
        nothing = np.zeros((n_assumed, statistics.shape[1]))
        return Statistic(np.vstack([statistics, nothing]), here_and_assumed, measure)

    figures: dict[str, Statistic] = {}
    ties_half: dict[str, Floats] = {}
    of_mean = with_assumed(values, n_assumed)
    if of_mean is not None:
        mean = rater_answers.mean_statistics(of_mean)
        figures["mean"] = Statistic(mean, here_and_assumed, mean_measure(question))
    if (with_ties := with_assumed(halves, n_assumed)) is not None:
        ties_half["mean"] = rater_answers.mean_statistics(with_ties)
    if values is not None and question.after:
        passed = _passed_gates(study, of_arm, question, here)
        after_gates = _mean_of_passed(values, passed == 1)
        figures["mean_after_gates"] = figure(after_gates, mean_measure(question))
        if halves is not None or (passed == HALF).any():
            both = values if halves is None else halves
            ties_half["mean_after_gates"] = _mean_of_passed(both, passed)
    figures["percent_agreement"] = figure(
        agreement.percent_agreement_statistics(compared), agreement.percent_agreement_from
    )
    figures["fleiss_kappa"] = figure(
        agreement.fleiss_kappa_statistics(compared), agreement.FLEISS_KAPPA
    )
    figures["alpha"] = figure(
        agreement.krippendorff_alpha_statistics(compared), agreement.ALPHA[level]
    )
    coefficients = coefficients_of(compared, of_raters, here, level)
    figures |= {name: figure(*each) for name, each in coefficients.figures.items()}
    fleiss_items = agreement.items_with_most_frequent_votes(compared)
    labels, shares = question.scale.labels, rater_answers.prevalence(compared)
    make = partial(
        _row,
        coefficients,
        question=question.key,
        arm=of_arm.arm.kind,
        setup=setup,
        scale=question.scale.kind,
        n=len(votes),
        n_assumed=n_assumed,
        n_dialogs=len(np.unique(of_arm.items.dialogs[here])),
        n_votes=int(votes.sum()),
        n_implied=int(votes.sum() - given.sum() + behind.sum()),
        waiting=int(missing.is_waiting.sum()),
        tied=int(missing.is_tied.sum()),
        majorities={
            f"majority_{label}": int(np.count_nonzero(majority == column))
            for column, label in enumerate(labels)
        },
        alpha_level=level,
        alpha_items=int(np.count_nonzero(compared.sum(axis=1) >= 2)),
        fleiss_items=int(fleiss_items.sum()),
        fleiss_votes_per_item=int(compared[fleiss_items].sum(axis=1).max(initial=0)),
        no_variation=agreement.has_no_variation(compared),
        fleiss_no_variation=agreement.has_no_variation(compared[fleiss_items]),
        n_other_dialogs=n_other_dialogs(question, of_mean, here_and_assumed),
        n_rarer_dialogs=_n_rarer_dialogs(compared, of_arm.items.dialogs[here]),
        shares={
            f"share_{label}": number(share) for label, share in zip(labels, shares, strict=True)
        },
    )
    return Planned(make, figures, ties_half)


def _row(coefficients: Coefficients, alpha: Estimate, **fields: Any) -> RatersRow:
    """Return a row, whose estimates of coefficients stand among its own columns."""
    estimates = {name: fields.pop(name) for name in WITH_INTERVAL if name in fields}
    return RatersRow(alpha=alpha, coefficients=coefficients.columns(estimates, alpha), **fields)


def _n_rarer_dialogs(compared: Ints, dialogs: Ints) -> int:
    """Return how many dialogs hold the rarer answer among the votes of items with two or more."""
    paired = compared * (compared.sum(axis=1) >= 2)[:, np.newaxis]
    n_dialogs = int(dialogs.max(initial=-1)) + 1
    by_dialog = sum_by_dialog(paired.astype(np.float64), dialogs, n_dialogs)
    return dialogs_with_rarer_answer(by_dialog)


def _compared(question: Question, votes: Ints, given: Ints, behind: Ints, choices: Choices) -> Ints:
    """Return the votes that agreement uses: (n_items, n_categories).

    `behind` are the votes of `given` that count as implied, because their rater closed a gate
    before them. Such a vote is a no to a yes/no question. It is no vote on any other question.
    """
    if not choices.with_implied:
        return given - behind
    compared = votes - behind
    if question.scale == YES_NO:
        compared[:, NO] += behind.sum(axis=1)
    return compared


def _passed_gates(
    study: Study, of_arm: ArmCounts, question: Question, here: NDArray[np.bool_]
) -> Floats:
    """Return whether each item has a majority yes on every gate of the question: (n_items,).

    It is 1 or 0. A tied gate halves it.
    """
    passed = np.ones(int(here.sum()))
    for gate in question.after:
        votes = of_arm.votes[gate][here]
        raters = n_raters(study, votes)
        labels = rater_answers.majority_label(votes, raters)
        is_tied = rater_answers.without_majority(votes, raters).is_tied
        passed *= np.nan_to_num(with_halves(labels, is_tied))
    return passed


def _mean_of_passed(values: Floats, weights: Floats | NDArray[np.bool_]) -> Floats:
    """Return the statistics of the mean of items, each weighted by how far it passed the gates."""
    return rater_answers.mean_statistics(values) * weights[:, np.newaxis]


def _left_out(
    study: Study, counts: Sequence[ArmCounts], rows: Sequence[RatersRow], choices: Choices
) -> LeftOut:
    """Return the numbers of what only this report leaves out."""
    scheme = load_scheme(study.scheme)
    return {
        **means_left_out(rows),
        "implied_votes": 0 if choices.with_implied else sum(row.n_implied for row in rows),
        "missing_behind_gates": sum(missing_behind_gates(of_arm, scheme) for of_arm in counts),
        # Only in a study that stops when a vote is decided: rated items that agreement leaves out.
        "items_outside_full_share": sum(n_outside_full_share(of_arm) for of_arm in counts),
    }


RATERS = ReportKind(
    key="raters",
    title="Raters",
    lede="Gives the mean of each question and the agreement of its raters.",
    group=ReportGroup.RATERS,
    about=Study,
    methods=methods.RATERS,
    choices=Choices,
    make=raters_report,
    usual=usual_choices,
    check=check_choices,
    rows=(RatersRow,),
)
