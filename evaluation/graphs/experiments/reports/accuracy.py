"""Figure 5: citations while gold sub-graphs make way for other questions' (KaLMA, 5.3)."""

from collections.abc import Mapping

from evaluation.graphs.experiments.reports.ablations import SAID, Ablation, ablation
from evaluation.graphs.experiments.reports.run_rows import (
    MADE_WITH,
    answers_of,
    per_run,
    with_means,
)
from evaluation.graphs.reports.answer_figures import data_hash, need_graph, share_figure, signature
from evaluation.graphs.reports.cited_answers import CitedAnswers
from evaluation.reports.base import Report, Row
from evaluation.reports.registry import NoChoices, ReportKind, columns
from evaluation.statistics.intervals import Figure
from generation.models import Dataset
from generation.text.prompt_types import PromptType

REPORT = "accuracy"


def accuracy_report(dataset: Dataset) -> Report:
    """Return a row for each group of seeded runs with a retrieval `accuracy` from 100 to 20.

    That is what the prompts' names say, in per cent; `gold_share` is measured: of the sub-graphs
    that the answers were shown (`n_subgraphs`), those of gold entities. Figures as `rows` has
    them, those on citations micro. A family's rows are over the `n_common` examples that all of
    them have (see `ablations`); `n_other_answers` are left out for that.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    made = ablation(dataset, _at, first=100)
    return _report(dataset, made, _figures(made))


def _report(
    dataset: Dataset, made: Ablation, figures: Mapping[int, Mapping[str, Figure]]
) -> Report:
    rows: list[Row] = [
        {"accuracy": step.at} | made.row(step) | _subgraphs(made, step.runs.ids)
        for step in made.steps
    ]
    of_rows = [[figures[pk] for pk in step.runs.ids] for step in made.steps]
    return Report(
        dataset.name,
        REPORT,
        with_means(rows, of_rows, made.answers.n_dialogs),
        made.left_out,
        signature(REPORT, *SAID, MADE_WITH, data=_hash(made)),
    )


def run_rows(dataset: Dataset, row: Row) -> list[Row]:
    """Return a row for each run behind a row, with the figures its means are over.

    Raises:
        LookupError: the row is of another day: its setups are no step any more.
    """
    made = ablation(dataset, _at, first=100)
    return _run_rows(made, _figures(made), row)


def with_run_rows(dataset: Dataset, group: str) -> tuple[Report, list[Row]]:
    """Return the report, and `run_rows` of a group of it: none where there is no such group.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    made = ablation(dataset, _at, first=100)
    figures = _figures(made)
    report = _report(dataset, made, figures)
    named = [row for row in report.rows if row["group"] == group]
    return report, _run_rows(made, figures, named[0]) if named else []


def _run_rows(made: Ablation, figures: Mapping[int, Mapping[str, Figure]], row: Row) -> list[Row]:
    step = made.step_of(row)
    rows = per_run(step.runs.setups, [figures[pk] for pk in step.runs.ids], made.answers.n_dialogs)
    return [
        {"accuracy": step.at}
        | each
        | made.counts(step, [each["setup_id"]])
        | _subgraphs(made, [each["setup_id"]])
        for each in rows
    ]


def compared_answers(dataset: Dataset) -> CitedAnswers:
    """Return the answers that the figures are over, those of all rows."""
    return ablation(dataset, _at, first=100).answers


def _at(kind: PromptType) -> int | None:
    return kind.accuracy if not kind.n_removed else None


def _figures(made: Ablation) -> Mapping[int, Mapping[str, Figure]]:
    """Return the figures of each setup, the measured share of gold sub-graphs among them."""
    figures = made.figures()
    for pk in made.setups:
        here = answers_of(made.answers, [pk])
        n_gold, n = here.subgraphs.T
        figures[pk]["gold_share"] = share_figure(n_gold, n, here.dialogs)
    return figures


def _subgraphs(made: Ablation, setups: list[int]) -> Row:
    n_gold, n = answers_of(made.answers, setups).subgraphs.sum(axis=0).tolist()
    return {"n_subgraphs": n, "n_gold_subgraphs": n_gold}


def _hash(made: Ablation) -> str:
    return data_hash([made.answers.data_hash, *map(tuple, made.answers.subgraphs.tolist())])


ACCURACY = ReportKind(
    key="accuracy",
    title="Accuracy of retrieval",
    lede="How citations depend on how much of what is retrieved is right.",
    about=Dataset,
    choices=NoChoices,
    make=lambda dataset, _: accuracy_report(dataset),
    columns=columns(
        "label",
        "accuracy",
        "gold_share",
        "n_runs",
        "n_answers",
        "n_common",
        "correctness",
        "precision",
        "recall",
        "f1",
    ),
)
