"""Axes that hide nothing, and intervals that say from how few they are drawn."""

import altair as alt
import pytest

from evaluation.reports.columns import UNKNOWN, Estimate
from evaluation.reports.figures.builders import (
    ANY_NUMBER,
    NO_ENDS,
    SHARES,
    FigureAxis,
    as_vega_lite,
    domain_over,
    inline,
    measured,
    points,
)
from tests.charts import valid


@pytest.mark.parametrize(
    ("figures", "least", "limits", "ends"),
    [
        # A fifth of the length of 15 is 3, so steps of 2. 60 and 75 are not at an end.
        ([60, 75], NO_ENDS, ANY_NUMBER, (58, 76)),
        # From 50 to 100 as long as all figures are above; steps of 10.
        ([62, 100, None], (50, 100), SHARES, (50, 100)),
        ([50, 80], (50, 100), SHARES, (40, 100)),  # no end is on the edge
        ([51, 80], (50, 100), SHARES, (40, 100)),  # the edge is two points away
        ([0, 30], NO_ENDS, SHARES, (0, 35)),  # nothing is below 0 %
        # An estimate of raters and a metric may be above 100 %: it is drawn.
        ([90, 103], NO_ENDS, SHARES, (88, 103)),
        ([-0.02, 0.01], (0, 0), ANY_NUMBER, (-0.025, 0.015)),
        ([7, 7], NO_ENDS, ANY_NUMBER, (6, 8)),
        ([0.0], (0, 0), ANY_NUMBER, (-1, 1)),
        ([None], NO_ENDS, ANY_NUMBER, (0, 1)),
        ([None], (50, 100), SHARES, (50, 100)),
    ],
)
def test_an_axis_has_room_for_all_figures_and_begins_before_the_lowest(
    figures, least, limits, ends
):
    assert domain_over(figures, least, limits) == pytest.approx(ends)


def test_an_interval_from_fewer_than_five_is_dashed_and_the_axis_says_so():
    estimate = Estimate(0.5, 0.1, 0.9)
    rows = [measured(estimate, n=n, name=str(n)) for n in (2, 4, 5, None)]
    axis = FigureAxis("x", "Share, %", SHARES)

    marked = axis.over(rows)
    few = points(alt.Chart(inline(rows)).encode(y="name:N"), marked)
    enough = points(alt.Chart(inline(rows[2:])).encode(y="name:N"), axis.over(rows[2:]))

    assert [row.get("few") for row in rows] == [2, 4, None, None]
    assert marked.title == "Share, % (dashed: from fewer than 5)"
    assert axis.over(rows[2:]).title == "Share, %"
    whisker, _ = valid(as_vega_lite(alt.layer(*few)))["layer"]
    assert whisker["encoding"]["strokeDash"]["condition"]["test"] == "isValid(datum.few)"
    whisker, _ = valid(as_vega_lite(alt.layer(*enough)))["layer"]
    assert "strokeDash" not in whisker["encoding"]
    assert "few" not in measured(Estimate(0.5), n=1)  # nothing is drawn that could be marked


@pytest.mark.parametrize(
    ("estimate", "excludes"),
    [
        (Estimate(1.0, 0.2, 1.0), True),
        (Estimate(-1.0, -1.0, -0.2), True),
        (Estimate(1.0, -0.3, 1.0), False),
        (Estimate(0.5, 0.0, 1.0), False),
        (Estimate(1.0), False),
        (UNKNOWN, False),
    ],
)
def test_an_interval_excludes_0_only_if_there_is_one(estimate, excludes):
    assert estimate.excludes_zero is excludes
