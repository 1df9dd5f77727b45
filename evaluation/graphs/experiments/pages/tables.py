"""The tables of experiments as pages show them: every number with the way to what is behind it.

A row is a group of seeded runs, or one of its runs. A figure leads to the answers that it is
about, a score to the scores of its metric run; from both it is one step to an answer.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse

from evaluation.graphs.experiments.figures import group_names
from evaluation.graphs.forms.graph_reports import key_of
from evaluation.graphs.reports.quality import QUALITIES
from evaluation.reports.base import Row
from evaluation.reports.numbers import decimal, percent, seconds
from generation.amounts import UNDEFINED, money
from generation.models import Dataset

Kind = Literal["share", "score", "count", "decimal", "seconds", "price"]


class Column(NamedTuple):
    """One column: a figure or count of the report, by name."""

    name: str
    title: str
    kind: Kind = "share"
    run: str = ""  # the column with the metric run that it leads to; "": to the answers
    of_run: Literal["scores", "failures"] = "scores"  # what of that run


class ColumnGroup(NamedTuple):
    title: str
    columns: tuple[Column, ...]


class Cell(NamedTuple):
    """One number: what stands in it, beside it and below it, and where it leads."""

    text: str
    beside: str = ""
    below: str = ""
    url: str = ""


class TableRow(NamedTuple):
    """A group of runs, or one run."""

    key: str  # of the group, or the setup's id of a run
    name: str
    note: str
    url: str  # of the answers
    n_runs: int
    tags: Sequence[str]
    cells: Sequence[Cell]
    runs_url: str = ""  # where its runs are unfolded, or folded again
    runs: Sequence["TableRow"] = ()  # where they are unfolded


_MICRO = (
    Column("correctness", "Correct"),
    Column("precision", "Precision"),
    Column("recall", "Recall"),
    Column("f1", "F1"),
)
_COUNTS = (Column("n_answers", "Answers", "count"), Column("n_citations", "Citations", "count"))
_COSTS = ColumnGroup(
    "Costs",
    (
        Column("n_calls", "Calls", "count"),
        Column("prompt_tokens", "Tokens in", "count"),
        Column("completion_tokens", "Tokens out", "count"),
        Column("seconds", "Seconds", "seconds"),
        Column("price", "Price", "price"),
    ),
)
TABLES: Mapping[str, tuple[ColumnGroup, ...]] = {
    "citations": (
        ColumnGroup("Counts", _COUNTS),
        ColumnGroup("Alignment", (Column("aligned", "Aligned", run="alignment_run"),)),
        ColumnGroup("Micro", _MICRO),
        ColumnGroup(
            "Macro",
            (
                Column("macro_precision", "Precision"),
                Column("macro_recall", "Recall"),
                Column("macro_f1", "F1"),
            ),
        ),
        _COSTS,
    ),
    "quality": (
        ColumnGroup("Counts", (Column("n_answers", "Answers", "count"),)),
        *(
            ColumnGroup(
                metric.capitalize(),
                (
                    Column(metric, "Mean", "score", f"{metric}_run"),
                    Column(f"{metric}_n", "Scored", "count", f"{metric}_run"),
                    Column(f"{metric}_n_failed", "Failed", "count", f"{metric}_run", "failures"),
                ),
            )
            for metric in QUALITIES
        ),
    ),
    "removal": (
        ColumnGroup(
            "Counts",
            (
                Column("n_answers", "Answers", "count"),
                Column("n_common", "Questions", "count"),
                Column("n_triples_removed", "Triples removed", "count"),
            ),
        ),
        ColumnGroup("Citations, micro", _MICRO),
        ColumnGroup(
            "[NA]",
            (
                Column("na_precision", "Precision", run="na_run"),
                Column("na_recall", "Recall", run="na_run"),
                Column("na_f1", "F1", run="na_run"),
                Column("n_asked_sentences", "Sentences", "count", "na_run"),
                Column("n_asked_triples", "Triples", "count", "na_run"),
            ),
        ),
    ),
    "accuracy": (
        ColumnGroup("Counts", (_COUNTS[0], Column("n_common", "Questions", "count"), _COUNTS[1])),
        ColumnGroup("Shown sub-graphs", (Column("gold_share", "Gold"),)),
        ColumnGroup("Citations, micro", _MICRO),
    ),
}
# What tells the rows of one family apart, in words.
STEPS: Mapping[str, Callable[[Row], str]] = {
    "removal": lambda row: f"{row['n_removed']} removed" if row["n_removed"] else "none removed",
    "accuracy": lambda row: f"{row['accuracy']} % gold",
}


def table_rows(
    dataset: Dataset, key: str, rows: Sequence[Row], unfolded: str, runs: Sequence[Row]
) -> list[TableRow]:
    """Return the rows of an experiment's table.

    Args:
        unfolded: the group whose runs are shown; "": none.
        runs: a row of the report for each of them.
    """
    names = [row["label"] for row in rows] if key in STEPS else group_names(rows)
    here = reverse("graphs:experiment", args=[dataset.slug, key])
    made = []
    for name, row in zip(names, rows, strict=True):
        is_open = row["group"] == unfolded
        query = "" if is_open else f"?{urlencode({'runs': row['group']})}"
        made.append(
            _table_row(dataset, key, row)._replace(
                key=row["group"],
                name=name,
                note=_note(key, row, name),
                runs_url=f"{here}{query}#group-{row['group']}",
                runs=[_run_row(dataset, key, run) for run in runs] if is_open else (),
            )
        )
    return made


def _run_row(dataset: Dataset, key: str, run: Row) -> TableRow:
    row = _table_row(dataset, key, run | {"setup_ids": [run["setup_id"]]})
    return row._replace(key=str(run["setup_id"]), name=_called(run), note=run["setup"])


def _called(row: Row) -> str:
    if row.get("seed") is not None:
        return f"Seed {row['seed']}"
    return f"Run {row['run']}" if row.get("run") else "One run"


def _note(key: str, row: Row, name: str) -> str:
    if key in STEPS:
        return STEPS[key](row)
    title = str(row.get("prompt_title") or "")
    return "" if title.lower() in name else title


def _table_row(dataset: Dataset, key: str, row: Row) -> TableRow:
    behind = f"?{urlencode({'setup': key_of(row['setup_ids']), 'experiment': key})}"
    url = f"{reverse('graphs:answers', args=[dataset.slug])}{behind}"
    columns = [column for group in TABLES[key] for column in group.columns]
    cells = [_cell(column, row, url, behind) for column in columns]
    return TableRow("", "", "", url, row["n_runs"], _tags(row), cells)


def _tags(row: Row) -> list[str]:
    """Return what a reader has to know of a row, in a few words each."""
    n_runs, n_without_calls = row["n_runs"], row.get("n_runs_without_calls") or 0
    n_not_aligned = row.get("n_without_alignment") or 0
    answers = "answer" if n_not_aligned == 1 else "answers"
    said = {
        "own judge": row.get("is_own_judge"),
        "made-up sets": row.get("n_made_up_minimum"),
        "runs of different size": row.get("n_answers_least") != row.get("n_answers_most"),
        f"{intcomma(n_not_aligned)} {answers} without alignment": n_not_aligned,
        f"costs of {_runs(n_runs - n_without_calls)}": 0 < n_without_calls < n_runs,
    }
    return [tag for tag, is_so in said.items() if is_so]


def _runs(n: int) -> str:
    return f"{n} run" if n == 1 else f"{n} runs"


def _cell(column: Column, row: Row, url: str, behind: str) -> Cell:
    """Return a number and its way to what `behind` names; nothing is behind what is not there."""
    value = row.get(column.name)
    if value is None or (column.run and row.get(column.run) is None):
        return Cell(UNDEFINED, below=_unknown(column, row))
    if column.run:
        url = _url_of_run(column, row[column.run], behind)
    if column.kind == "count" and not value:
        url = ""
    text = _text(column.kind, value, row)
    if column.kind not in _IN_WORDS:
        return Cell(text, url=url)
    written = _IN_WORDS[column.kind]
    deviation, low, high = (row.get(f"{column.name}_{end}") for end in ("deviation", "low", "high"))
    n_undefined = row.get(f"{column.name}_n_undefined")
    parts = [
        *([f"({written(deviation)})"] if deviation is not None else []),
        *([f"of {_runs(row['n_runs'] - n_undefined)}"] if n_undefined else []),
    ]
    below = "" if low is None or high is None else f"{written(low)}–{written(high)}"
    return Cell(text, " ".join(parts), below, url)


def _unknown(column: Column, row: Row) -> str:
    """Return of how many calls a cost is not known, where it is of others."""
    n = row.get(f"n_calls_without_{column.name}") or 0
    calls = "call" if n == 1 else "calls"
    return f"not of {intcomma(n)} {calls}" if 0 < n < (row.get("n_calls") or 0) else ""


def _url_of_run(column: Column, run: int, behind: str) -> str:
    if column.of_run == "failures":
        return f"{reverse('evaluation:run-failures', args=[run])}{behind}"
    return f"{reverse('evaluation:run', args=[run])}{behind}#scores"


_IN_WORDS: Mapping[str, Callable[[Any], str]] = {"share": percent, "score": decimal}


def _text(kind: Kind, value: Any, row: Row) -> str:
    if kind == "count":
        return str(intcomma(value))
    if kind == "seconds":
        return seconds(value)
    if kind == "price":
        return money(value, row.get("currency", ""))
    return _IN_WORDS[kind](value) if kind in _IN_WORDS else decimal(value)
