"""A report as JSON, CSV, LaTeX or a table for a terminal: the same rows each time."""

import csv
import io
import json

from rich.console import Console
from rich.table import Table

from evaluation.reports.base import Report, Row
from evaluation.reports.registry import Column, Format, all_reports
from generation.amounts import UNDEFINED
from generation.importers.spreadsheet import safe_cell

# Format → content type and file suffix.
FORMATS = {
    "json": ("application/json", "json"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "latex": ("text/plain; charset=utf-8", "tex"),
}


def write_report(report: Report, format_key: str) -> str:
    """Return a report as text.

    Raises:
        KeyError: not one of `FORMATS` or 'table'.
    """
    return {"json": _json, "csv": _csv, "latex": _latex, "table": _table}[format_key](report)


def _json(report: Report) -> str:
    return json.dumps(report._asdict(), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _csv(report: Report) -> str:
    """One row per report row; what was left out and the signature are the last columns."""
    left_out = "; ".join(f"{name}: {n}" for name, n in report.left_out.items())
    tail = {"left_out": left_out, "signature": report.signature}
    columns = list(dict.fromkeys(key for row in report.rows for key in row))
    text = io.StringIO()
    rows = csv.DictWriter(text, ["study", *columns, *tail], restval="")
    rows.writeheader()
    for row in report.rows:
        cells = {"study": report.study} | row | tail
        rows.writerow({key: safe_cell(value) for key, value in cells.items()})
    return text.getvalue()


def _latex(report: Report) -> str:
    """A booktabs table of the short columns, each figure with its interval."""
    columns = _used(report)
    lines = [
        f"% {_in_one_line(report.signature)}",
        "% left out: " + ", ".join(f"{name} {n}" for name, n in report.left_out.items()),
        r"\begin{tabular}{" + "l" * len(columns) + "}",
        r"\toprule",
        " & ".join(_escaped(column.title) for column in columns) + r" \\",
        r"\midrule",
        *(
            " & ".join(_escaped(_cell(row, column)) for column in columns) + r" \\"
            for row in report.rows
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _table(report: Report) -> str:
    # Without markup: a name such as 'pilot [/x]' is no instruction.
    console = Console(file=io.StringIO(), width=200, markup=False, emoji=False)
    columns = _used(report)
    titles = (column.title for column in columns)
    table = Table(*titles, title=f"{report.study}: {report.report}")
    for row in report.rows:
        table.add_row(*(_cell(row, column) for column in columns))
    console.print(table)
    left_out = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in report.left_out.items())
    console.print(f"Left out: {left_out}", soft_wrap=True, highlight=False)
    console.print(report.signature, soft_wrap=True, highlight=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _used(report: Report) -> list[Column]:
    """Return the columns that say anything in this report."""
    return [
        column
        for column in all_reports()[report.report].columns
        if any(row.get(column.name) not in (None, "") for row in report.rows)
    ]


def _cell(row: Row, column: Column) -> str:
    name, format = column
    value = row.get(name)
    if name == "alpha_level" and row.get("no_variation"):
        return f"{value}, no variation"
    if value in (None, ""):
        return UNDEFINED
    if not isinstance(value, float):
        return str(value)
    if format is Format.AS_GIVEN:
        return f"{value:g}"
    if format is Format.P_VALUE:
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
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
    } | {character: f"\\{character}" for character in "&%$#_{}"}
    return "".join(special.get(character, character) for character in _in_one_line(text))


def _in_one_line(text: str) -> str:
    return " ".join(text.splitlines())
