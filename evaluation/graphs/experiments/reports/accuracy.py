"""Figure 5: citations while other questions' sub-graphs replace gold ones (KaLMA, 5.3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from evaluation.graphs.experiments.reports.ablations import (
    SAID,
    Ablation,
    AblationStep,
    MicroCorrect,
    MicroF1,
    MicroPrecision,
    MicroRecall,
    RowOfStep,
    StepCounts,
    ablation,
)
from evaluation.graphs.experiments.reports.run_rows import (
    MADE_WITH,
    OneRun,
    answers_of,
    per_run,
    with_means,
)
from evaluation.graphs.reports import methods
from evaluation.graphs.reports.answer_figures import need_graph, share_figure
from evaluation.graphs.reports.cited_answers import CitedAnswers
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import data_hash, signature_of
from evaluation.reports.registry import NoChoices, ReportGroup, ReportKind
from evaluation.reports.report import Report
from evaluation.reports.setups import setup_columns
from evaluation.runs.seeded_setups import GroupColumns
from evaluation.statistics.intervals import Statistic
from generation.models import Dataset
from generation.text.prompt_types import PromptType

REPORT = "accuracy"


@dataclass(frozen=True, kw_only=True)
class AccuracyRow(RowOfStep):
    """The citations of answers whose prompts show a given share of gold sub-graphs."""

    named_by = ("label", "accuracy")

    accuracy: Annotated[int, Column("Accuracy, %", Format.COUNT)]  # the number in the prompt's name
    runs: GroupColumns | OneRun
    step: StepCounts
    n_subgraphs: int
    n_gold_subgraphs: int
    correctness: MicroCorrect
    precision: MicroPrecision
    recall: MicroRecall
    gold_share: Annotated[Estimate, Column("Gold", Format.PERCENT, "Shown sub-graphs")]
    f1: MicroF1
    over_runs: Mapping[str, float | int | None]

    @property
    def at(self) -> int:
        return self.accuracy

    @property
    def drawn_at(self) -> float | None:
        """The share of shown sub-graphs that are gold, in per cent, as it was measured."""
        return None if self.gold_share.value is None else 100 * self.gold_share.value


def accuracy_report(dataset: Dataset) -> Report[AccuracyRow]:
    """Return a row for each group of seeded runs with a retrieval `accuracy` from 100 to 20.

    The accuracy is that of the prompts' names, in per cent. `gold_share` is measured: it is the
    share of gold entities' sub-graphs among those that the answers were shown (`n_subgraphs`).
    Figures are as in `RowOfRuns`, and those on citations are micro. A family's rows are over the
    `n_common` examples that all of them have (see `ablations`), and `n_other_answers` to other
    examples are left out.

    Raises:
        CannotReport: there is no graph.
    """
    return with_run_rows(dataset, "")[0]


def with_run_rows(dataset: Dataset, group: str) -> tuple[Report[AccuracyRow], list[AccuracyRow]]:
    """Return the report, and a row for each run of a group. There are none for an unknown group.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    made = ablation(dataset, _at, first=100)
    figures = _figures(made)
    n_dialogs = made.answers.n_dialogs
    planned = [
        (
            _row(made, step, step.runs.columns, step.runs.ids),
            [figures[pk] for pk in step.runs.ids],
        )
        for step in made.steps
    ]
    report = Report(
        dataset.name,
        REPORT,
        with_means(planned, n_dialogs),
        made.left_out,
        signature_of(REPORT, *SAID, MADE_WITH, data=_hash(made)),
    )
    step = made.step_of(group)
    setups = step.runs.setups if step else ()
    alone = [
        (_row(made, step, OneRun(of=setup_columns(setup)), [setup.pk]), figures[setup.pk])
        for setup in setups
        if step
    ]
    return report, per_run(alone, n_dialogs)


def _row(
    made: Ablation, step: AblationStep, runs: GroupColumns | OneRun, setups: list[int]
) -> Callable[..., AccuracyRow]:
    """Return a function that makes a row about some runs of a step from its figures."""
    n_gold, n = answers_of(made.answers, setups).subgraphs.sum(axis=0).tolist()
    return partial(
        AccuracyRow,
        accuracy=step.at,
        runs=runs,
        step=made.counts(step, setups),
        n_subgraphs=n,
        n_gold_subgraphs=n_gold,
    )


def compared_answers(dataset: Dataset) -> CitedAnswers:
    """Return the answers of all rows that the figures are over."""
    return ablation(dataset, _at, first=100).answers


def _at(kind: PromptType) -> int | None:
    return kind.accuracy if not kind.n_removed else None


def _figures(made: Ablation) -> Mapping[int, Mapping[str, Statistic]]:
    """Return the figures of each setup, including the measured share of gold sub-graphs."""
    figures = made.figures()
    for pk in made.setups:
        here = answers_of(made.answers, [pk])
        n_gold, n = here.subgraphs.T
        figures[pk]["gold_share"] = share_figure(n_gold, n, here.dialogs)
    return figures


def _hash(made: Ablation) -> str:
    return data_hash([made.answers.data_hash, *map(tuple, made.answers.subgraphs.tolist())])


ACCURACY = ReportKind(
    key="accuracy",
    title="Accuracy of retrieval",
    lede="Shows how citations depend on the share of retrieved sub-graphs that are right.",
    group=ReportGroup.GRAPH,
    about=Dataset,
    methods=methods.ACCURACY,
    choices=NoChoices,
    make=lambda dataset, _: accuracy_report(dataset),
    rows=(AccuracyRow,),
)
