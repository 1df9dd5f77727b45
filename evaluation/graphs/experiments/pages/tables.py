"""The tables of experiments as pages show them: every number links to what it is made of.

A row is a group of seeded runs, or one of its runs. A figure links to the answers that it is about,
and a score links to the scores of its metric run. From both, one more link leads to an answer.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse

from accounts.http import query_string
from evaluation.graphs.experiments.figures import group_names
from evaluation.graphs.experiments.reports.accuracy import AccuracyRow
from evaluation.graphs.experiments.reports.citation_table import CitationTableRow
from evaluation.graphs.experiments.reports.quality_table import JudgedColumns, QualityTableRow
from evaluation.graphs.experiments.reports.removal import RemovalRow
from evaluation.graphs.experiments.reports.run_rows import OneRun, RowOfRuns
from evaluation.graphs.forms.graph_reports import key_of
from evaluation.graphs.reports.quality import QUALITIES
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.report import columns_of
from evaluation.reports.setups import SetupColumns
from generation.models import Dataset
from work.amounts import UNDEFINED, money

STEPS = ("removal", "accuracy")  # experiments whose rows are the steps of families


class Shown(NamedTuple):
    """One column of the report that the page shows, and what its numbers link to."""

    name: str
    run: str = ""  # the column with the metric run that it links to; "": it links to answers
    of_run: Literal["scores", "failures"] = "scores"  # the part of the run that it links to


class ColumnGroup(NamedTuple):
    title: str
    columns: Sequence[Column]


class ExperimentCell(NamedTuple):
    """One number: the texts in the cell, beside the number and below it, and the link."""

    text: str
    beside: str = ""
    below: str = ""
    url: str = ""


class RunsTableRow(NamedTuple):
    """A group of runs, or one run."""

    key: str  # key of the group, or id of the setup of a run
    name: str
    note: str
    url: str  # address of the answers
    n_runs: int
    tags: Sequence[str]
    cells: Sequence[ExperimentCell]
    runs_url: str = ""  # address that unfolds its runs, or folds them again
    runs: Sequence["RunsTableRow"] = ()  # its runs, if they are unfolded


def _of_answers(*names: str) -> tuple[Shown, ...]:
    return tuple(map(Shown, names))


_MICRO = _of_answers("correctness", "precision", "recall", "f1")
TABLES: Mapping[str, tuple[Shown, ...]] = {
    "citations": (
        *_of_answers("n_answers", "n_citations"),
        Shown("aligned", "alignment_run"),
        *_MICRO,
        *_of_answers("macro_precision", "macro_recall", "macro_f1"),
        *_of_answers("n_calls", "prompt_tokens", "completion_tokens", "seconds", "price"),
    ),
    "quality": (
        Shown("n_answers"),
        *(
            shown
            for metric in QUALITIES
            for shown in (
                Shown(metric, f"{metric}_run"),
                Shown(f"{metric}_n", f"{metric}_run"),
                Shown(f"{metric}_n_failed", f"{metric}_run", "failures"),
            )
        ),
    ),
    "removal": (
        *_of_answers("n_answers", "n_common", "n_triples_removed"),
        *_MICRO,
        *(
            Shown(name, "na_run")
            for name in (
                "na_precision",
                "na_recall",
                "na_f1",
                "n_asked_sentences",
                "n_asked_triples",
            )
        ),
    ),
    "accuracy": (*_of_answers("n_answers", "n_common", "n_citations", "gold_share"), *_MICRO),
}
_JUDGED = {
    f"{metric}_{name}": column._replace(group=metric.capitalize())
    for metric in QUALITIES
    for name, column in columns_of(JudgedColumns).items()
}
COLUMNS: Mapping[str, Mapping[str, Column]] = {
    "citations": columns_of(CitationTableRow),
    "quality": columns_of(QualityTableRow) | _JUDGED,
    "removal": columns_of(RemovalRow),
    "accuracy": columns_of(AccuracyRow),
}


def header(key: str) -> list[ColumnGroup]:
    """Return the header of an experiment's table: its columns in groups."""
    return grouped([COLUMNS[key][shown.name] for shown in TABLES[key]])


def grouped(columns: Sequence[Column]) -> list[ColumnGroup]:
    """Return columns in groups with titles. Columns without a group are under 'Counts'."""
    return [
        ColumnGroup(title or "Counts", list(group))
        for title, group in groupby(columns, attrgetter("group"))
    ]


def _step(row: RowOfRuns) -> str:
    """Return in words what distinguishes a row from the others of its family."""
    if isinstance(row, RemovalRow):
        return f"{row.n_removed} removed" if row.n_removed else "none removed"
    return f"{row.accuracy} % gold" if isinstance(row, AccuracyRow) else ""


def table_rows(
    dataset: Dataset,
    key: str,
    rows: Sequence[RowOfRuns],
    unfolded: str,
    runs: Sequence[RowOfRuns],
) -> list[RunsTableRow]:
    """Return the rows of an experiment's table.

    Args:
        unfolded: the key of the group whose runs are shown; "" for none.
        runs: the row of each of these runs.
    """
    names = [row.group.label for row in rows] if key in STEPS else group_names(rows)
    here = reverse("graphs:experiment", args=[dataset.slug, key])
    made = []
    for name, row in zip(names, rows, strict=True):
        group = row.group.group
        is_open = group == unfolded
        query = "" if is_open else query_string({"runs": group})
        made.append(
            _table_row(dataset, key, row)._replace(
                key=group,
                name=name,
                note=_note(row, name),
                runs_url=f"{here}{query}#group-{group}",
                runs=[_run_row(dataset, key, run) for run in runs] if is_open else (),
            )
        )
    return made


def _run_row(dataset: Dataset, key: str, run: RowOfRuns) -> RunsTableRow:
    row = _table_row(dataset, key, run)
    if not isinstance(run.runs, OneRun):
        return row
    of = run.runs.of
    return row._replace(key=str(of.setup_id), name=_called(of), note=of.setup)


def _called(of: SetupColumns) -> str:
    if of.seed is not None:
        return f"Seed {of.seed}"
    return f"Run {of.run}" if of.run else "One run"


def _note(row: RowOfRuns, name: str) -> str:
    if step := _step(row):
        return step
    title = row.group.prompt_title
    return "" if title.lower() in name else title


def _table_row(dataset: Dataset, key: str, row: RowOfRuns) -> RunsTableRow:
    behind = query_string({"setup": key_of(row.setup_ids), "experiment": key})
    url = f"{reverse('graphs:answers', args=[dataset.slug])}{behind}"
    cells = [_cell(COLUMNS[key][shown.name], shown, row, url, behind) for shown in TABLES[key]]
    return RunsTableRow("", "", "", url, row.runs.n_runs, _tags(row), cells)


def _tags(row: RowOfRuns) -> list[str]:
    """Return what a reader must know about a row, in a few words each."""
    n_runs, n_without_calls = row.runs.n_runs, row.value("n_runs_without_calls") or 0
    n_not_aligned = row.value("n_without_alignment") or 0
    answers = "answer" if n_not_aligned == 1 else "answers"
    said = {
        "own judge": row.value("is_own_judge"),
        "made-up sets": row.value("n_made_up_minimum"),
        "runs of different size": row.value("n_answers_least") != row.value("n_answers_most"),
        f"{intcomma(n_not_aligned)} {answers} without alignment": n_not_aligned,
        f"costs of {_runs(n_runs - n_without_calls)}": 0 < n_without_calls < n_runs,
    }
    return [tag for tag, is_so in said.items() if is_so]


def _runs(n: int) -> str:
    return f"{n} run" if n == 1 else f"{n} runs"


def _cell(column: Column, shown: Shown, row: RowOfRuns, url: str, behind: str) -> ExperimentCell:
    """Return a number with a link to what the query string `behind` selects.

    An undefined number and a count of 0 have no link.
    """
    value, run = row.value(shown.name), row.value(shown.run) if shown.run else None
    estimate = value if isinstance(value, Estimate) else Estimate(value)
    if estimate.value is None or (shown.run and run is None):
        return ExperimentCell(UNDEFINED, below=_unknown(shown.name, row))
    if run is not None:
        url = _url_of_run(shown, run, behind)
    if not isinstance(value, Estimate):
        is_none = column.format is Format.COUNT and not value
        return ExperimentCell(_text(column, shown.name, row), url="" if is_none else url)
    deviation, n_undefined = row.deviation(shown.name), row.n_undefined(shown.name)
    parts = [
        *([f"({column.format.write(deviation)})"] if deviation is not None else []),
        *([f"of {_runs(row.runs.n_runs - n_undefined)}"] if n_undefined else []),
    ]
    text, below = column.format.write(value.value), column.format.interval(value)
    return ExperimentCell(text, " ".join(parts), below, url)


def _unknown(name: str, row: RowOfRuns) -> str:
    """Return for how many calls a cost is unknown, or "" if it is unknown for all or for none."""
    n = row.value(f"n_calls_without_{name}") or 0
    calls = "call" if n == 1 else "calls"
    return f"not of {intcomma(n)} {calls}" if 0 < n < (row.value("n_calls") or 0) else ""


def _url_of_run(shown: Shown, run: int, behind: str) -> str:
    if shown.of_run == "failures":
        return f"{reverse('evaluation:run-failures', args=[run])}{behind}"
    return f"{reverse('evaluation:run', args=[run])}{behind}#scores"


def _text(column: Column, name: str, row: RowOfRuns) -> str:
    value = row.value(name)
    return money(value, row.value("currency")) if name == "price" else column.format.write(value)
