"""A report with the rows of the runs behind one of its rows: made once, and the same as apart."""

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
def test_both_at_once_are_as_each_alone(own_cache_and_folder, tmp_path, module, report, rows):
    dataset = import_answers(tmp_path, rows())
    alone = report(dataset)
    row = alone.rows[1]

    found, runs = module.with_run_rows(dataset, row["group"])

    assert found == alone
    assert runs == module.run_rows(dataset, row)
    assert len(runs) == row["n_runs"]
    assert module.with_run_rows(dataset, "none such") == (alone, [])
