"""The frame of a figure of trade-offs: window, ticks and curves of equal F1, by hand."""

import numpy as np
import pytest

from evaluation.tradeoffs.figures.tradeoff.frame import (
    DESK,
    FigureWindow,
    curves,
    levels,
    points,
    ticks,
    window_of,
)

WHOLE = FigureWindow(0.0, 1.0, 0.0, 1.0)


def test_a_share_stands_between_the_edges_as_it_lies_between_the_ends():
    # The plot is 790 - 54 - 34 = 702 wide and 668 - 26 - 52 = 590 high.
    window = FigureWindow(0.0, 1.0, 0.3, 1.0)

    assert window.x(0.5) == pytest.approx(54 + 351)
    assert window.y(1.0) == pytest.approx(26)
    assert window.y(0.3) == pytest.approx(616)
    assert window.y(0.65) == pytest.approx(616 - 295)


@pytest.mark.parametrize(
    ("lowest", "expected"),
    [(0.34, 0.3), (0.32, 0.2), (0.0, 0.0), (0.98, 0.8), (float("nan"), 0.0)],
)
def test_y_begins_at_a_round_value_below_the_lowest_mark(lowest, expected):
    assert window_of(lowest)[:4] == pytest.approx((0.0, 1.0, expected, 1.0))


def test_chosen_ends_hold_unless_they_leave_nothing_between_them():
    assert window_of(0.5, 0.6, 0.9, 0.7, 0.95)[:4] == (0.6, 0.9, 0.7, 0.95)
    assert window_of(0.5, 0.9, 0.9)[:4] == (0.0, 1.0, 0.4, 1.0)
    assert window_of(0.9, y_to=0.5)[:4] == (0.0, 1.0, 0.0, 0.5)  # the usual start is above


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0.0, 1.0, [n / 10 for n in range(11)]),
        (0.7, 0.95, [0.7, 0.75, 0.8, 0.85, 0.9, 0.95]),  # a step of 0.02 would give 12
        (0.63, 0.71, [0.63, 0.64, 0.65, 0.66, 0.67, 0.68, 0.69, 0.7, 0.71]),
    ],
)
def test_ticks_are_multiples_of_a_round_step(start, end, expected):
    assert ticks(start, end) == pytest.approx(expected)


def test_wide_labels_of_the_y_axis_have_room_between_its_title_and_the_plot():
    # 0.850 is about 5 × 0.56 × 12 = 33.6 px wide. 20 px are the title's, and 9 lie before the plot.
    assert DESK.beside(["0.850", "0.9"]).plot == (63, 26, 756, 616)
    assert DESK.beside(["0.8", "0.9"]) == DESK


def test_a_curve_of_equal_f1_runs_from_edge_to_edge():
    # F1 0.5: S = 1 at A = 0.5 / (2 - 0.5) = 1/3, and A = 1 at S = 1/3.
    found = points(0.5, WHOLE)

    np.testing.assert_allclose(found[[0, -1]], [[1 / 3, 1], [1, 1 / 3]], atol=1e-9)
    a, s = found.T
    np.testing.assert_allclose(2 * a * s / (a + s), 0.5, atol=1e-9)
    assert (np.diff(a) > 0).all()
    assert (np.diff(s) < 0).all()


def test_a_curve_is_cut_at_a_window():
    # F1 0.8 between S = 0.7 and S = 0.9: A = 0.8 · 0.9 / (1.8 - 0.8) = 0.72, but x begins at 0.75;
    # A = 0.8 · 0.7 / (1.4 - 0.8) = 14/15. At A = 0.75: S = 0.6 / 0.7.
    found = points(0.8, FigureWindow(0.75, 1.0, 0.7, 0.9))

    np.testing.assert_allclose(found[[0, -1]], [[0.75, 6 / 7], [14 / 15, 0.7]], atol=1e-9)


def test_a_curve_beside_a_window_has_no_points():
    assert not len(points(0.9, FigureWindow(0.0, 0.5, 0.0, 0.5)))  # the corner has F1 0.5
    assert not len(points(0.3, FigureWindow(0.5, 1.0, 0.5, 1.0)))


def test_levels_are_tenths_and_finer_when_zoomed_in():
    assert levels(WHOLE) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    # From F1 0.8 at one corner to F1 0.9 at the other: of 0.05 there is only 0.85 inside.
    assert levels(FigureWindow(0.8, 0.9, 0.8, 0.9)) == [0.82, 0.84, 0.86, 0.88]
    # From F1 0.995 at one corner to F1 1 at the other.
    narrow = FigureWindow(0.995, 1.0, 0.995, 1.0)
    assert levels(narrow) == [0.996, 0.997, 0.998, 0.999]
    labels = [curve.label.text for curve in curves(narrow, []) if curve.label]
    assert labels == [".996", ".997", ".998", ".999"]
