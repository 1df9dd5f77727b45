"""A report as JSON, CSV, LaTeX or a table for a terminal: the same rows each time."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from evaluation.reports import registry
from evaluation.reports.columns import Column, Format
from evaluation.reports.registry import all_reports
from evaluation.reports.rows import Record, Report, columns_of
from generation.amounts import UNDEFINED
from generation.importers.spreadsheet import safe_cell

NAME_WIDTH = 12  # signs of a terminal that a name has at least
# Format → content type and file suffix.
FORMATS = {
    "json": ("application/json", "json"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "latex": ("text/plain; charset=utf-8", "tex"),
}


def write_report(report: Report[Any], format_key: str) -> str:
    """Return a report as text.

    Raises:
        KeyError: not one of `FORMATS` or 'table'.
    """
    return {"json": _json, "csv": _csv, "latex": _latex, "table": _table}[format_key](report)


def _json(report: Report[Any]) -> str:
    return json.dumps(report.as_json(), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _csv(report: Report[Any]) -> str:
    """One row per report row; what was left out and the signature are the last columns."""
    left_out = "; ".join(f"{name}: {n}" for name, n in report.left_out.items())
    tail = {"left_out": left_out, "signature": report.signature}
    records = report.records
    columns = list(dict.fromkeys(key for row in records for key in row))
    text = io.StringIO()
    rows = csv.DictWriter(text, ["study", *columns, *tail], restval="")
    rows.writeheader()
    for row in records:
        cells = {"study": report.study} | row | tail
        rows.writerow({key: safe_cell(value) for key, value in cells.items()})
    return text.getvalue()


def _latex(report: Report[Any]) -> str:
    """A booktabs table of the short columns, each figure with its interval."""
    columns, rows = _texts(report)
    lines = [
        f"% {_in_one_line(report.signature)}",
        "% left out: " + ", ".join(f"{name} {n}" for name, n in report.left_out.items()),
        r"\begin{tabular}{" + "l" * len(columns) + "}",
        r"\toprule",
        " & ".join(_escaped(column.heading) for column in columns) + r" \\",
        r"\midrule",
        *(" & ".join(map(_escaped, row)) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _table(report: Report[Any]) -> str:
    # Without markup: a name such as 'pilot [/x]' is no instruction.
    console = Console(file=io.StringIO(), width=200, markup=False, emoji=False)
    columns, rows = _texts(report)
    table = Table(title=f"{report.study}: {report.report}")
    for column in columns:
        heading = f"{column.group}\n{column.title}" if column.group else column.title
        table.add_column(
            f"{heading}{column.format.unit}",
            min_width=NAME_WIDTH if column.format is Format.TEXT else None,
        )
    for row in rows:
        table.add_row(*row)
    console.print(table)
    left_out = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in report.left_out.items())
    console.print(f"Left out: {left_out}", soft_wrap=True, highlight=False)
    console.print(report.signature, soft_wrap=True, highlight=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _texts(report: Report[Any]) -> tuple[list[Column], list[list[str]]]:
    """Return the columns that say anything in this report, and what each row says in them."""
    kind = all_reports()[report.report]
    if not kind.rows:
        return _texts_of_records(report, kind.columns)
    columns = {name: column for each in kind.rows for name, column in columns_of(each).items()}
    used = {
        name: column
        for name, column in columns.items()
        if any(row.text(name, column) != UNDEFINED for row in report.rows)
    }
    texts = [[row.text(*each) for each in used.items()] for row in report.rows]
    return list(used.values()), texts


def _texts_of_records(
    report: Report[Any], columns: Sequence[registry.Column]
) -> tuple[list[Column], list[list[str]]]:
    used = [
        column
        for column in columns
        if any(row.get(column.name) not in (None, "") for row in report.records)
    ]
    texts = [[_cell(row, column) for column in used] for row in report.records]
    return [Column(column.title, Format.COUNT) for column in used], texts


def _cell(row: Record, column: registry.Column) -> str:
    name, format = column
    value = row.get(name)
    if name == "alpha_level" and row.get("no_variation"):
        return f"{value}, no variation"
    if value in (None, ""):
        return UNDEFINED
    if not isinstance(value, float):
        return str(value)
    if format is registry.Format.AS_GIVEN:
        return f"{value:g}"
    if format is registry.Format.P_VALUE:
        return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
    n_undefined = row.get(f"{name}_n_undefined")
    over = f", of {row['n_runs'] - n_undefined}" if n_undefined else ""  # fewer than its runs
    deviation = row.get(f"{name}_deviation")
    if deviation is not None:  # over runs, as the paper prints it; the interval is in JSON and CSV
        return f"{value:.3f} ({deviation:.3f}){over}"
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    interval = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
    return f"{value:.3f}{interval}{over}"


def _escaped(text: str) -> str:
    """Return text that LaTeX prints as it is, in one line, whatever the encoding of its font."""
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        UNDEFINED: "---",
        "−": "$-$",
        "–": "--",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
    } | {character: f"\\{character}" for character in "&%$#_{}"}
    return "".join(special.get(character, character) for character in _in_one_line(text))


def _in_one_line(text: str) -> str:
    return " ".join(text.splitlines())
