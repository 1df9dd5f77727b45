"""Charts of reports on cited answers: their legend, and what room they take."""

import re

import pytest

from evaluation.graphs.figures.citations import WIDTH, report_chart
from evaluation.reports.figures.builders import drawn
from tests.charts import valid


def citation_row(setup, **figures):
    found = {"correctness": 0.9, "precision": 0.5, "recall": 0.4, "f1": 0.44} | figures
    row = {"setup": setup}
    for name, value in found.items():
        row |= {name: value, f"{name}_low": None, f"{name}_high": None}
    return row


ROWS = [citation_row("small graph-gold"), citation_row("small graph-retrieved", recall=None)]


@pytest.mark.parametrize(
    ("report", "rows", "names"),
    [
        ("citations", ROWS, ["Correctness", "Precision", "Recall", "F1"]),
        (
            "quality",
            [
                {"setup": "small", "metric": metric, "mean": 4.0, "mean_low": None}
                | {"mean_high": None}
                for metric in ("coherence", "fluency")
            ],
            ["Coherence", "Fluency"],
        ),
    ],
)
def test_a_file_names_each_figure_once_in_its_legend(report, rows, names):
    svg = drawn(valid(report_chart(report, rows)), "svg").decode()

    words = re.findall(r">([^<>]+)</text>", svg)
    assert [word for word in words if word in names] == names


def test_on_a_page_a_chart_is_as_wide_as_its_room_and_in_a_file_it_is_wide():
    on_page = valid(report_chart("citations", ROWS, on_page=True))
    in_file = valid(report_chart("citations", ROWS))

    assert (on_page["width"], in_file["width"]) == ("container", WIDTH)
    assert on_page["autosize"] == {"type": "fit-x", "contains": "padding"}
