"""A report with the runs behind one of its rows: made once, and equal to both made separately."""

import pytest

from evaluation.graphs.experiments.reports import accuracy, removal
from tests.evaluation.hand_ablated import accuracy_rows, import_answers, removal_rows

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("module", "report", "rows"),
    [
        (removal, removal.removal_report, removal_rows),
        (accuracy, accuracy.accuracy_report, accuracy_rows),
    ],
    ids=["removal", "accuracy"],
)
def test_the_report_is_the_same_with_the_runs_of_a_row(
    own_cache_and_folder, tmp_path, module, report, rows
):
    dataset = import_answers(tmp_path, rows())
    alone = report(dataset)
    row = alone.rows[1]

    found, runs = module.with_run_rows(dataset, row.group.group)

    assert found == alone
    assert [run.setup_ids for run in runs] == [[pk] for pk in row.setup_ids]
    assert module.with_run_rows(dataset, "none such") == (alone, [])
