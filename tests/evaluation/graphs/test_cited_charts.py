"""Charts of reports on cited answers: their legend, and what room they take."""

import re
from dataclasses import fields
from typing import Any

import pytest

from evaluation.graphs.figures.citations import WIDTH, report_chart
from evaluation.graphs.reports.citations import AnswerCounts, CitationsRow
from evaluation.graphs.reports.quality import QualityRow, judge_columns
from evaluation.measures.citation import CitationFigures
from evaluation.models import MetricRun
from evaluation.reports.columns import UNKNOWN, Estimate
from evaluation.reports.figures.builders import chart_file
from evaluation.reports.setups import setup_columns
from generation.models import Setup
from tests.charts import valid


def of(setup):
    return setup_columns(Setup(name=setup, model="small", prompt="graph-gold"))


def citation_row(setup, **figures):
    found = {"correctness": 0.9, "precision": 0.5, "recall": 0.4, "f1": 0.44} | figures
    shares: dict[str, Any] = dict.fromkeys(CitationFigures._fields, UNKNOWN)
    shares |= {name: Estimate(value) for name, value in found.items()}
    return CitationsRow(of=of(setup), counts=NO_COUNTS, n_aligned_pairs=0, **shares)


def quality_row(metric):
    return QualityRow(
        metric=metric,
        of=of("small"),
        by=judge_columns(MetricRun(metric=metric)),
        is_own_judge=False,
        n=1,
        n_failed=0,
        deviation=None,
        n_not_asked=0,
        n_other_dialogs=0,
        mean=Estimate(4.0),
    )


NO_COUNTS = AnswerCounts(**{field.name: 0 for field in fields(AnswerCounts)})
ROWS = [citation_row("small graph-gold"), citation_row("small graph-retrieved", recall=None)]


@pytest.mark.parametrize(
    ("report", "rows", "names"),
    [
        ("citations", ROWS, ["Correctness", "Precision", "Recall", "F1"]),
        ("quality", list(map(quality_row, ("coherence", "fluency"))), ["Coherence", "Fluency"]),
    ],
)
def test_a_file_names_each_figure_once_in_its_legend(report, rows, names):
    svg = chart_file(valid(report_chart(report, rows)), "svg").decode()

    words = re.findall(r">([^<>]+)</text>", svg)
    assert [word for word in words if word in names] == names


def test_on_a_page_a_chart_is_as_wide_as_its_room_and_in_a_file_it_is_wide():
    on_page = valid(report_chart("citations", ROWS, on_page=True))
    in_file = valid(report_chart("citations", ROWS))

    assert (on_page["width"], in_file["width"]) == ("container", WIDTH)
    assert on_page["autosize"] == {"type": "fit-x", "contains": "padding"}
