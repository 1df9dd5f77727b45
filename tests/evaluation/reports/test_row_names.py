"""No two rows of a table have the same name, in any format; LaTeX of any row compiles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import pytest

from evaluation.reports.columns import Column, Format
from evaluation.reports.formats import texts_of, write_report
from evaluation.reports.registry import all_reports
from evaluation.reports.report import Report, ReportRow
from evaluation.reports.row_names import naming_columns


@dataclass(frozen=True, kw_only=True)
class RunRow(ReportRow):
    title: Annotated[str, Column("Metric")]
    question: Annotated[str, Column("Question")]
    n: Annotated[int, Column("n", Format.COUNT)] = 3
    why: Annotated[str | None, Column("Why")] = None
    signature: str = ""
    key: str = ""
    figures: Mapping[str, float] | None = None


def report_of(*rows):
    return Report("pilot", "runs", rows, {"failed": 0}, "runs")


@pytest.mark.parametrize(
    ("rows", "titles"),
    [
        # Only equal names change. n and why do not name a row.
        (
            [("Auto-AIS", "q"), ("Auto-AIS", "r"), ("Auto-SSA", "q")],
            ["Auto-AIS"] * 2 + ["Auto-SSA"],
        ),
        # The signature has what differs: its own parts.
        (
            [("A", "q", "v3|golden|t:0.5"), ("A", "q", "v3|shown|t:0.5"), ("A", "r", "v3")],
            ["A (golden)", "A (shown)", "A"],
        ),
        # Where the first field leaves two alike, the next is added; then there are numbers.
        (
            [("A", "q", "x", "k1"), ("A", "q", "x", "k2"), ("A", "q", "y", "k2")],
            ["A (x, k1)", "A (x, k2)", "A (y, k2)"],
        ),
        ([("A", "q")] * 3, ["A (1)", "A (2)", "A (3)"]),
    ],
)
def test_rows_of_one_name_are_told_apart_by_what_differs(rows, titles):
    fields = ("title", "question", "signature", "key")
    report = report_of(
        *(
            RunRow(**dict(zip(fields, row, strict=False)), n=n, why=f"because {n}")
            for n, row in enumerate(rows)
        )
    )

    _, texts = texts_of(report)

    assert [row[0] for row in texts] == titles
    assert len({(row[0], row[1]) for row in texts}) == len(rows)
    for format_key in ("latex", "markdown"):
        assert all(title in write_report(report, format_key) for title in titles)


@pytest.mark.parametrize("key", all_reports())
def test_the_rows_of_every_report_have_a_name(key):
    assert all(naming_columns(row_type) for row_type in all_reports()[key].rows)


@pytest.mark.parametrize("title", ["[hum] fluent", "*grade"])
def test_as_latex_a_row_may_begin_as_an_argument_of_the_line_before_it(title):
    """After a line's end LaTeX reads a * and a [ … ] as its arguments."""
    lines = write_report(report_of(RunRow(title=title, question="τ, λ")), "latex").splitlines()

    [row] = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert row.startswith("{}" + title)
    assert r"& $\tau$, $\lambda$ &" in row


def test_as_latex_a_report_without_rows_is_only_comments():
    """A tabular without columns does not compile."""
    lines = write_report(report_of(), "latex").splitlines()

    assert lines == ["% runs", "% left out: failed 0"]
