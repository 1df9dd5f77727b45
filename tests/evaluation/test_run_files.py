"""Scores from files, and into files."""

import csv
import math

import pytest

from evaluation.backends.base import Entailment
from evaluation.export import export_folder
from evaluation.interchange import BadRows
from evaluation.models import MetricRun, RunChunk
from generation.models import Dataset
from tests.evaluation.metric_runs import mill, requested, work
from tests.makers import import_path, response_row
from tests.makers import problems_of as problems_in

pytestmark = pytest.mark.django_db

State, ChunkState = MetricRun.State, RunChunk.State


@pytest.mark.parametrize(
    ("signature", "threshold"),
    [
        ("nli|v3|t:0.25|v:1", 0.25),
        ("t:1e-3", 0.001),
        ("nli|t:0.7", 0.7),
        ("nli|at:0.7", 0.5),
        ("nli|t:high", 0.5),
        ("nli|t:1-2", 0.5),
        ("", 0.5),
    ],
)
def test_an_imported_run_has_the_threshold_of_its_signature(tmp_path, signature, threshold):
    mill(
        tmp_path,
        1,
        scores=[{"response": "r0", "metric": "nli", "score": "0.4", "signature": signature}],
    )

    assert MetricRun.objects.get().threshold == threshold


def exported(dataset: Dataset, folder) -> list[dict[str, str]]:
    export_folder(dataset, None, folder)
    with (folder / "scores.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def scored_in_every_way(folder, told) -> MetricRun:
    """Score r0 with 0.9, leave r1 failed and r2 assumed."""
    told(lambda p: Entailment(0.9 if "1970" in p.hypothesis else math.nan), revision="1f2e")
    text = "It closed in 1970."
    shown = [response_row("r0", text=text), response_row("r1", setup="s1")]
    dataset = mill(folder, responses=[*shown, response_row("r2", setup="s2", evidence_shown=[])])
    return work(requested(dataset, backend="told", model_name="nli"))


def test_an_export_has_scores_and_failures_with_their_full_signature(tmp_path, told):
    run = scored_in_every_way(tmp_path, told)

    rows = exported(run.dataset, tmp_path / "export")

    signature = "auto_ais|nli|v3|localized:2|whole|shown|t:0.5|v:1|told|revision:1f2e"
    every = {"metric": "auto_ais", "citation": "", "signature": signature, "truncated": "0"}
    problem = "the backend gave no probability"
    assert rows == [
        {"response": "r0", "score": "0.9", "assumed": "no", "problem": ""} | every,
        {"response": "r1", "score": "", "assumed": "no", "problem": problem} | every,
        {"response": "r2", "score": "0.0", "assumed": "yes", "problem": ""} | every,
    ]


def test_exported_scores_import_as_they_were_and_again_change_nothing(tmp_path, told):
    run = scored_in_every_way(tmp_path, told)
    before = exported(run.dataset, tmp_path / "export")

    import_path(tmp_path / "export", "copy")
    again = import_path(tmp_path / "export", "copy")

    copy = Dataset.objects.get(name="copy")
    assert exported(copy, tmp_path / "export-of-copy") == before
    assert MetricRun.objects.get(dataset=copy).is_imported
    assert again.counts["scores"]["new"] == 0


def test_an_export_that_came_home_is_exported_once(tmp_path, told):
    run = scored_in_every_way(tmp_path, told)
    before = exported(run.dataset, tmp_path / "export")

    import_path(tmp_path / "export", run.dataset.name)

    assert MetricRun.objects.count() == 2
    assert exported(run.dataset, tmp_path / "export-again") == before


def test_an_assumed_score_that_is_not_0_is_a_bad_row(tmp_path):
    scores = [{"response": "r0", "metric": "nli", "score": "0.4", "assumed": "yes"}]

    with pytest.raises(BadRows) as caught:
        mill(tmp_path, 1, scores=scores)

    assert problems_in(caught.value) == [("scores.csv", 2, "assumed")]
