"""Words beside intervals: which counts of dialogs bring them."""

import math

import numpy as np

from evaluation.reports.rarer_answer import (
    MEANS_NARROW_BELOW,
    means_note,
    ordinal_alpha_note,
    prevalence_note,
)
from evaluation.statistics.rank_measures import dialogs_with_another_value


def test_intervals_of_means_are_too_narrow_where_few_dialogs_have_another_value():
    # Most answers have a 5. Others are in the dialogs 0 and 2; that of dialog 1 has failed.
    scores = np.array([5.0, 4.0, math.nan, 5.0, 1.0, 5.0])
    n = dialogs_with_another_value(scores, np.array([0, 0, 1, 1, 2, 3]))

    assert n == 2
    assert "as few as 2)" in means_note([MEANS_NARROW_BELOW, n, None])
    assert means_note([MEANS_NARROW_BELOW, None]) == means_note([]) == ""


def test_intervals_of_a_low_ordinal_alpha_are_too_narrow_with_few_dialogs():
    assert "below 0.2" in ordinal_alpha_note([(0.6, 50), (0.12, 50)])
    assert ordinal_alpha_note([(0.6, 50), (0.12, 400)]) == ordinal_alpha_note([]) == ""


def test_a_low_alpha_is_explained_where_nearly_all_answers_are_the_same():
    of_two_arms = [("attributable", 0.909), ("clear", 0.95), ("attributable", 0.846)]

    found = prevalence_note(of_two_arms)

    assert found.startswith("For attributable, clear, alpha is low although raters mostly agree ")
    assert "(Gwet’s AC1 .85 to .95)" in found
    assert "(Gwet’s AC1 .91)" in prevalence_note(of_two_arms[:1])
    assert prevalence_note([]) == ""
