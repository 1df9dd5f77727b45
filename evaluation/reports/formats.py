"""A report as JSON, CSV, LaTeX or a table for a terminal: the same rows each time."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from evaluation.reports.columns import Column, Format
from evaluation.reports.report import Report, columns_of
from evaluation.reports.row_names import with_distinct_names
from evaluation.reports.ties import ties_notes
from generation.importers.spreadsheet import safe_cell
from work.amounts import UNDEFINED

WIDTH = 100  # highest width of a table on a terminal, in characters
TEXT_WIDTH = 24  # width from which a text is broken between words
# Format → content type and file suffix.
FORMATS = {
    "csv": ("text/csv; charset=utf-8", "csv"),
    "latex": ("text/plain; charset=utf-8", "tex"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "json": ("application/json", "json"),
}
# A manifest has more than the rows, see `evaluation.reports.manifest`.
MANIFEST = "manifest"
MANIFEST_FILE = ("application/json", "manifest.json")
# Markup is off, so that a name such as 'pilot [/x]' is not taken as an instruction.
PLAIN: Any = {"markup": False, "emoji": False}
_RULER = Console(file=io.StringIO(), width=10 * WIDTH, **PLAIN)  # measures, and prints nothing


def write_report(report: Report[Any], format_key: str) -> str:
    """Return a report as text.

    Raises:
        KeyError: the format is not one of `FORMATS` or 'table'.
    """
    writers = {
        "json": _json,
        "csv": _csv,
        "latex": _latex,
        "markdown": _markdown,
        "table": _table,
    }
    return writers[format_key](report)


def _json(report: Report[Any]) -> str:
    return json.dumps(report.as_json(), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _csv(report: Report[Any]) -> str:
    """Return one line per row. What was left out and the signature are the last columns."""
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
    """Return a booktabs table of the columns, each figure with its interval or deviation.

    Columns of one group are below the group's title, like 'Micro' and 'Macro' in KaLMA's table 3. A
    report that is a paper's table has only the rows, columns and figures that the paper prints; CSV
    and JSON have all. With a caption it is a `table`, else a `tabular`. Without rows there are only
    the comments.
    """
    used, rows, caption = paper_texts_of(report) or (*texts_of(report), "")
    lines = [
        f"% {_in_one_line(report.signature)}",
        "% left out: " + ", ".join(f"{name} {n}" for name, n in report.left_out.items()),
    ]
    if rows:
        table = _tabular(list(used.values()), rows)
        lines += _captioned(caption, table) if caption else table
    return "\n".join(lines) + "\n"


def _tabular(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[str]:
    alignment = "".join("l" if column.format is Format.TEXT else "r" for column in columns)
    return [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *_titles_of_groups(columns),
        _line(column.heading_in_group for column in columns),
        r"\midrule",
        *map(_line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _line(cells: Iterable[str]) -> str:
    """Return a line of a table. LaTeX would take a [ or * at its start for the line before it."""
    line = " & ".join(map(_escaped, cells)) + r" \\"
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


def _captioned(caption: str, tabular: Sequence[str]) -> list[str]:
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(caption)}}}",
        *tabular,
        r"\end{table}",
    ]


def _titles_of_groups(columns: Sequence[Column]) -> list[str]:
    """Return the line above the titles of columns and the rules below it; [] without groups."""
    if not any(column.group for column in columns):
        return []
    cells, rules, place = [], [], 1
    for group, members in groupby(columns, lambda column: column.group):
        n = len(list(members))
        cells.append(rf"\multicolumn{{{n}}}{{c}}{{{_escaped(group)}}}" if group else "& " * (n - 1))
        if group:
            rules.append(rf"\cmidrule(lr){{{place}-{place + n - 1}}}")
        place += n
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _markdown(report: Report[Any]) -> str:
    """Return a table for GitHub and other readers of Markdown, with the signature below it."""
    used, rows = texts_of(report)
    columns = list(used.values())
    alike = [":--" if column.format is Format.TEXT else "--:" for column in columns]
    lines = [[column.heading for column in columns], alike, *rows]
    left_out = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in report.left_out.items())
    return "\n".join(
        [
            *(f"| {' | '.join(map(_in_a_cell, line))} |" for line in lines),
            "",
            *(f"{_in_a_cell(note)}\n" for note in ties_notes(report.rows)),
            f"Left out: {left_out}",
            "",
            f"`{_in_one_line(report.signature)}`",
            "",
        ]
    )


def _in_a_cell(text: str) -> str:
    """Return text that Markdown prints unchanged in one cell."""
    for character in "\\|*_`<[":
        text = text.replace(character, f"\\{character}")
    return _in_one_line(text)


def _table(report: Report[Any]) -> str:
    """Return tables for a terminal: below each other when their columns need more room."""
    console = Console(file=io.StringIO(), width=WIDTH, **PLAIN)
    tables: list[Table] = []
    for part in _of_own_columns(report):
        used, rows = texts_of(part)
        tables += _parts(list(used.values()), rows)
    tables[0].title = f"{report.study}: {report.report}"
    for table in tables:
        console.print(table)
    for note in ties_notes(report.rows):
        console.print(note, soft_wrap=True, highlight=False)
    left_out = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in report.left_out.items())
    console.print(f"Left out: {left_out}", soft_wrap=True, highlight=False)
    console.print(report.signature, soft_wrap=True, highlight=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _of_own_columns(report: Report[Any]) -> list[Report[Any]]:
    """Return the report in parts whose types of rows have no column in common."""
    parts: list[tuple[set[str], list[Any]]] = []
    for row in report.rows:
        columns = set(columns_of(type(row)))
        alike = next((part for part in parts if part[0] & columns), None)
        if alike is None:
            parts.append((columns, [row]))
        else:
            alike[0].update(columns)
            alike[1].append(row)
    return [report._replace(rows=rows) for _, rows in parts] or [report]


def _parts(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[Table]:
    """Return tables that are at most `WIDTH` wide. If there are several, their rows are numbered.

    A table of one column may be wider.
    """
    if _width(whole := _drawn(columns, rows)) <= WIDTH:
        return [whole]
    columns = [Column("Row", Format.COUNT), *columns]
    rows = [[str(number), *row] for number, row in enumerate(rows, start=1)]
    parts: list[list[int]] = [[0]]
    for place in range(1, len(columns)):
        wider = _some([*parts[-1], place], columns, rows)
        if len(parts[-1]) > 1 and _width(wider) > WIDTH:
            parts.append([0])
        parts[-1].append(place)
    return [_some(part, columns, rows) for part in parts]


def _width(table: Table) -> int:
    return Measurement.get(_RULER, _RULER.options, table).maximum


def _some(places: Sequence[int], columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table of the columns in some places."""
    return _drawn([columns[place] for place in places], [[r[p] for p in places] for r in rows])


def _drawn(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table. Its headings and long texts are broken between words."""
    table = Table()
    for place, column in enumerate(columns):
        cells = [row[place] for row in rows]
        heading = f"{column.group}\n{column.title}" if column.group else column.title
        heading += column.format.unit
        longest = max(map(cell_len, cells), default=0)
        if column.format is Format.TEXT:
            words = map(cell_len, " ".join(cells).split())
            longest = max(min(longest, TEXT_WIDTH), *words, 1)
        table.add_column(heading, max_width=max(longest, *map(cell_len, heading.split())))
    for row in rows:
        table.add_row(*row)
    return table


def texts_of(report: Report[Any]) -> tuple[dict[str, Column], list[list[str]]]:
    """Return the columns that are not empty, by name, and the texts of each row.

    Columns of one group are next to each other, at the place of the first of them. No two rows have
    the same name.
    """
    row_types = dict.fromkeys(map(type, report.rows))
    columns = {name: column for each in row_types for name, column in columns_of(each).items()}
    places: dict[str, int] = {}
    for place, (name, column) in enumerate(columns.items()):
        places.setdefault(column.group or name, place)
    used = {
        name: column
        for name, column in sorted(
            columns.items(), key=lambda each: places[each[1].group or each[0]]
        )
        if any(row.text(name, column) != UNDEFINED for row in report.rows)
    }
    texts = [[row.text(*each) for each in used.items()] for row in report.rows]
    return used, with_distinct_names(report.rows, used, texts)


def paper_texts_of(report: Report[Any]) -> tuple[dict[str, Column], list[list[str]], str] | None:
    """Return the columns of a report that is a paper's table, the texts of its rows, its caption.

    The result is None if the report is no paper's table. No two rows have the same name.
    """
    row_types = {type(row) for row in report.rows if row.paper_columns}
    if len(row_types) != 1 or len({type(row) for row in report.rows}) > 1:
        return None
    row_type = row_types.pop()
    declared = columns_of(row_type)
    columns = {name: declared[name] for name in row_type.paper_columns}
    rows, caption = row_type.paper_rows(report.rows)
    texts = [[row.paper_text(*each) for each in columns.items()] for row in rows]
    caption = f"{report.study}. {caption}" if caption else ""
    return columns, with_distinct_names(rows, columns, texts), caption


def _escaped(text: str) -> str:
    """Return text that LaTeX prints unchanged, in one line, with any encoding of its font."""
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
        "λ": r"$\lambda$",
        "τ": r"$\tau$",
    } | {character: f"\\{character}" for character in "&%$#_{}"}
    return "".join(special.get(character, character) for character in _in_one_line(text))


def _in_one_line(text: str) -> str:
    return " ".join(text.splitlines())
