"""SSA in the report on scenarios: the mean of the means of `sensible` and `specific`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

from annotation.models import Study
from annotation.schemes import Question, load_scheme
from evaluation.measures.ssa import SSA, ssa_figure, ssa_questions
from evaluation.reports.base import RowOfQuestion
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, with_estimates
from evaluation.statistics import rater_answers
from evaluation.statistics.intervals import Floats
from evaluation.statistics.rater_answers import Bools
from evaluation.statistics.tied_labels import with_halves
from evaluation.votes.counts import ArmCounts, Ints, n_raters
from evaluation.votes.dialog_weights import weights_of
from evaluation.votes.people import rater_scores_of
from generation.models import Setup

ALL_SETUPS = "all setups"


@dataclass(frozen=True, kw_only=True)
class SsaRow(RowOfQuestion):
    """SSA for one setup in one arm, or for all setups in one arm; see `ssa_rows`."""

    question: Annotated[str, Column("Question")] = SSA
    scale: str = "yes_no"
    scenario: Annotated[str | None, Column("Scenario")]  # its letter in the paper
    setup: Annotated[str | None, Column("Setup")]  # None: all setups; so are the next two
    model: str | None
    temperature: float | None
    arm: Annotated[str, Column("Arm")]
    n: Annotated[int, Column("n", Format.COUNT)]
    n_assumed: int
    n_dialogs: int
    # Items with a label missing on one question or both; an item that waits on one is not tied.
    waiting: Annotated[int, Column("Waiting", Format.COUNT)]
    tied: Annotated[int, Column("Tied", Format.COUNT)]
    # Items that are decided on both questions, and assumed ones.
    n_mean: Annotated[int, Column("n of mean", Format.COUNT)]
    mean: Annotated[Estimate, Column("Mean", Format.MEAN)]
    mean_ties_half: Annotated[float | None, Column("Mean, ties half", Format.MEAN)] = None
    n_by_votes: int  # items with a rater score on both, and assumed ones
    by_votes: Annotated[Estimate, Column("Mean by votes", Format.PERCENT)]

    @property
    def n_drawn_from(self) -> int:
        """The number of dialogs, or of items if these are fewer, that the mean is drawn from."""
        return min(self.n_mean, self.n_dialogs + self.n_assumed)

    def text(self, name: str, column: Column) -> str:
        """Return the text of a column."""
        return ALL_SETUPS if name == "setup" and self.setup is None else super().text(name, column)


class _Answers(NamedTuple):
    """The answers to both questions in one arm: those of its rated items, then the assumed ones."""

    setups: Ints  # ids
    dialogs: Ints
    is_assumed: Bools
    labels: tuple[Floats, Floats]  # majorities on both questions; NaN: none
    with_halves: tuple[Floats, Floats]  # the same, with ½ where votes are tied
    rater_scores: tuple[Floats, Floats]  # NaN: none
    is_waiting: Bools  # on one question or both
    is_tied: Bools
    weights: Floats  # those of the dialogs


def ssa_rows(
    study: Study,
    counts: Sequence[ArmCounts],
    setups: Sequence[Setup],
    letters: Mapping[tuple[str, str], str],
) -> list[SsaRow]:
    """Return SSA by scenario, then over all setups by arm: the rows that have a figure.

    `mean` is by majority votes: each question has its mean over the items that it is decided on.
    `by_votes` is the same with rater scores, which need no majority. An assumed answer counts as a
    no to both questions, because the first is the gate of the second.

    Args:
        study: the study.
        counts: the counts of each arm.
        setups: the setups that have rows.
        letters: the letter of each (setup, arm); empty for none.
    """
    questions = ssa_questions(load_scheme(study.scheme))
    if questions is None:
        return []
    rows: dict[tuple[str | None, str], SsaRow] = {}
    for of_arm in counts:
        answers = _answers(study, of_arm, questions)
        planned = [_planned(answers, of_arm.arm.kind, setup, letters) for setup in (*setups, None)]
        for row in with_estimates(planned, of_arm.all_dialogs.n, seed=study.seed):
            rows[row.setup, row.arm] = row
    names = [*(setup.name for setup in setups), None]
    in_order = [rows[name, of_arm.arm.kind] for name in names for of_arm in counts]
    return [row for row in in_order if row.mean.value is not None or row.by_votes.value is not None]


def _answers(study: Study, of_arm: ArmCounts, questions: Sequence[Question]) -> _Answers:
    votes = [of_arm.votes[question.key] for question in questions]
    is_rated = np.any([of_question.any(axis=1) for of_question in votes], axis=0)
    is_assumed = of_arm.assumed.to(questions[0])
    dialogs = of_arm.all_dialogs
    of_answers = np.concatenate([dialogs.of_items[is_rated], dialogs.of_assumed[is_assumed]])
    no = np.zeros(int(is_assumed.sum()))

    def both(values: Iterable[Floats]) -> tuple[Floats, Floats]:
        sensible, specific = (np.concatenate([each[is_rated], no]) for each in values)
        return sensible, specific

    raters = [n_raters(study, each) for each in votes]
    labels = list(map(rater_answers.majority_label, votes, raters))
    missing = list(map(rater_answers.without_majority, votes, raters))
    is_waiting, is_tied = (np.any(each, axis=0)[is_rated] for each in zip(*missing, strict=True))
    nothing = np.zeros(len(no), bool)
    return _Answers(
        np.concatenate([of_arm.items.setups[is_rated], of_arm.assumed.setups[is_assumed]]),
        of_answers,
        np.arange(is_rated.sum() + len(no)) >= is_rated.sum(),
        both(labels),
        both(map(with_halves, labels, (each.is_tied for each in missing))),
        both(rater_scores_of(study, question, of_arm) for question in questions),
        np.concatenate([is_waiting, nothing]),
        np.concatenate([is_tied & ~is_waiting, nothing]),
        weights_of(study, dialogs.names)[of_answers],
    )


def _planned(
    answers: _Answers, arm: str, setup: Setup | None, letters: Mapping[tuple[str, str], str]
) -> Planned[SsaRow]:
    here = np.ones(len(answers.setups), bool) if setup is None else answers.setups == setup.pk
    is_item = here & ~answers.is_assumed
    is_decided = ~np.isnan(answers.labels).any(axis=0)
    has_scores = ~np.isnan(answers.rater_scores).any(axis=0)
    make = partial(
        SsaRow,
        scenario=letters.get((setup.name, arm)) if setup else None,
        setup=setup.name if setup else None,
        model=setup.model if setup else None,
        temperature=setup.temperature if setup else None,
        arm=arm,
        n=int(is_item.sum()),
        n_assumed=int((here & answers.is_assumed).sum()),
        n_dialogs=len(np.unique(answers.dialogs[is_item])),
        waiting=int((here & answers.is_waiting).sum()),
        tied=int((here & answers.is_tied).sum()),
        n_mean=int((here & is_decided).sum()),
        n_by_votes=int((here & has_scores).sum()),
    )
    figures = {
        name: ssa_figure(
            sensible[here], specific[here], answers.dialogs[here], answers.weights[here]
        )
        for name, (sensible, specific) in (
            ("mean", answers.labels),
            ("by_votes", answers.rater_scores),
            ("with_halves", answers.with_halves),
        )
    }
    halves = figures.pop("with_halves").statistics
    return Planned(make, figures, {"mean": halves} if (here & answers.is_tied).any() else {})
