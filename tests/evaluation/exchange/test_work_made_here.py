"""The files of runs, grids and calls in an export are checked row by row before they are stored."""

import json
from contextlib import closing

import pytest

from evaluation.exchange.export_content import ExportContent
from evaluation.exchange.work_made_here import announce_runs, store_calls, store_grids
from evaluation.models import MetricRun
from generation.importers.errors import DatasetError
from generation.models import Call, Grid
from generation.services.datasets import create_dataset

pytestmark = pytest.mark.once

RUN = {"metric": "rouge", "signature": "s", "is_imported": True}
GRID = {"name": "g", "setups": []}


@pytest.mark.parametrize(
    ("store", "name", "row", "says"),
    [
        (announce_runs, "runs.jsonl", {"is_imported": True}, "metric: found nothing; expected"),
        (announce_runs, "runs.jsonl", RUN | {"metric": ["a"]}, 'metric: found ["a"]; expected'),
        (announce_runs, "runs.jsonl", RUN | {"signature": "x" * 501}, "found 501 characters"),
        (announce_runs, "runs.jsonl", RUN | {"state": "gone"}, 'state: found "gone"; expected'),
        (announce_runs, "runs.jsonl", RUN | {"parameters": 7}, "parameters: found 7; expected an"),
        (announce_runs, "runs.jsonl", RUN | {"is_imported": False}, "threshold: found nothing"),
        (store_grids, "grids.jsonl", GRID | {"setups": 7}, "setups: found 7; expected a list"),
        (store_grids, "grids.jsonl", GRID | {"name": ""}, 'name: found ""; expected text'),
    ],
)
def test_a_row_that_no_export_writes_is_refused(tmp_path, store, name, row, says):
    dataset = create_dataset("pilot")
    (tmp_path / "examples.jsonl").write_text("")
    (tmp_path / name).write_text(json.dumps(row))

    with (
        closing(ExportContent(tmp_path)) as export,
        pytest.raises(DatasetError, match=f"^{name}, line 1, ") as error,
    ):
        store(dataset, export)

    assert says in str(error.value)
    assert not MetricRun.objects.exists()
    assert not Grid.objects.exists()


def test_a_call_names_a_grid_an_example_and_a_response_of_the_export(tmp_path):
    dataset = create_dataset("pilot")
    dataset.setups.create(name="a", model="m")
    (tmp_path / "examples.jsonl").write_text("")
    header = "grid,setup,example,response,problem\n"
    said = []
    for row in ("g,a,e1,r1,", "g,a,e1,r1,late", "g,a,e1,,"):
        (tmp_path / "calls.csv").write_text(f"{header}{row}\n")
        with closing(ExportContent(tmp_path)) as export, pytest.raises(DatasetError) as error:
            store_calls(dataset, export)
        said.append(str(error.value))

    assert said[0] == 'calls.csv, line 2, grid: found "g"; expected a grid of the export'
    assert all("expected a response or a problem, and not both" in each for each in said[1:])
    assert not Call.objects.exists()
