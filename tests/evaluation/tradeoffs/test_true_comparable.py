"""Comparable setups over the grid of known truth: true moves along a band are reported."""

from evaluation.tradeoffs.reports.comparable_setups import comparable_report, moves_by_reason
from tests.tradeoff_material import synthetic_material


def test_instructions_move_along_the_band_that_they_were_put_on():
    rows = comparable_report(synthetic_material(1000)).rows
    counts = {each.reason: each for each in moves_by_reason(rows)}

    # Three pairs at each of six models and temperatures: golden, retrieved 2 and 3.
    assert counts["instructions"].n_pairs == 18
    assert counts["instructions"].n_across == 0
    assert counts["instructions"].n_along > 12
