"""Reports that are a paper's table print its columns in LaTeX, in its order."""

import pytest

from evaluation.reports.registry import all_reports
from evaluation.reports.report import columns_of

MICRO = ["Correct", "Precision", "Recall", "F1"]
# As the papers print their heads, in our words: 'Acc' of [A] table 1 is an error rate.
HEADS = {
    "sensibleness": ["Slice", "MSE", "Missed", "False alarm", "Error rate"],  # [A] table 1
    "citation_table": ["Aligned", *MICRO, *MICRO[1:]],  # [K] table 3
    "quality_table": ["Coherence", "Consistency", "Fluency", "Relevance"],  # [K] table 4
    "removal": ["Removed", *MICRO],  # [K] table 5
    "human_alignment": ["Metric, over its run", "People"],  # [K] table 6
}


@pytest.mark.parametrize("key", HEADS)
def test_a_paper_s_table_has_its_columns_behind_whose_they_are(key):
    [row_type] = all_reports()[key].rows
    shown = columns_of(row_type)

    printed = [shown[name] for name in row_type.paper_columns]
    is_told_by_group = key in ("quality_table", "human_alignment")
    heads = [each.group if is_told_by_group and each.group else each.title for each in printed]

    assert heads[-len(HEADS[key]) :] == HEADS[key]
    assert heads[0] in ("Metric", "Model", "Model and temperature")


def test_no_other_report_is_a_paper_s_table():
    printed = [
        key for key, kind in all_reports().items() if any(r.paper_columns for r in kind.rows)
    ]

    assert sorted(printed) == sorted(HEADS)
