"""SSA, the mean of the means of `sensible` and `specific`: by hand, and whom it is for."""

import numpy as np
import pytest

from annotation.schemes import built_in_schemes, load_scheme
from evaluation.measures.ssa import ssa_figure, ssa_questions
from evaluation.statistics.intervals import bootstrap_intervals, share_interval
from evaluation.statistics.rater_answers import mean_statistics
from tests.makers import scheme_of

GATED = {"after": ["sensible"]}


def value_and_interval(sensible, specific):
    """Return SSA and its interval. Each item is a dialog."""
    dialogs = np.arange(len(sensible))
    figure = ssa_figure(np.array(sensible, float), np.array(specific, float), dialogs)
    [interval] = bootstrap_intervals([figure], len(sensible), seed=1)
    return float(figure.measure(figure.statistics.sum(axis=0))), interval


def test_each_question_has_its_mean_over_its_own_items():
    # sensible: 3 of 4. specific: 1 of 2, and two have no label. (3/4 + 1/2) / 2 = 5/8.
    assert value_and_interval([1, 1, 1, 0], [1, np.nan, np.nan, 0])[0] == 5 / 8
    value, interval = value_and_interval([1, 1], [np.nan, np.nan])
    assert np.isnan([value, *interval]).all()


def test_questions_that_go_together_have_the_interval_of_one_of_them():
    # r = 1, so the distances ½d + ½d to both ends add up to d.
    sensible = np.array([1.0, 1, 1, 0, 1, 0, 1, 1])

    _, interval = value_and_interval(sensible, sensible)

    assert interval == pytest.approx(share_interval(mean_statistics(sensible), len(sensible)))


@pytest.mark.parametrize(
    ("sensible", "specific"), [([1] * 9, [1] * 9), ([1] * 9, [0] * 9), ([0.6] * 9, [0.4] * 9)]
)
def test_the_interval_has_a_width_where_nothing_varies(sensible, specific):
    value, (low, high) = value_and_interval(sensible, specific)

    assert 0 <= low <= value <= high <= 1
    assert high - low > 0.1


@pytest.mark.parametrize(
    ("scheme", "has_ssa"),
    [
        (built_in_schemes()["SSA"], True),
        (built_in_schemes()["AIS"], False),
        (scheme_of({"sensible": "yes_no", "specific": "yes_no"}, specific=GATED), True),
        # specific is asked about responses that make no sense too
        (scheme_of({"sensible": "yes_no", "specific": "yes_no"}), False),
        (scheme_of({"sensible": "yes_no", "specific": {"ordinal": [1, 4]}}, specific=GATED), False),
        # another question has the name
        (
            scheme_of(dict.fromkeys(("sensible", "specific", "SSA"), "yes_no"), specific=GATED),
            False,
        ),
    ],
)
def test_a_scheme_with_both_questions_the_second_behind_the_first_has_ssa(scheme, has_ssa):
    assert (ssa_questions(load_scheme(scheme)) is not None) is has_ssa
