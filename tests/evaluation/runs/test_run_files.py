"""Scores from files, and into files."""

import csv
import math

import pytest

from evaluation.backends.base import Entailment
from evaluation.exchange.interchange import BadRows
from evaluation.metrics.auto_ssa import AutoSensible
from evaluation.models import MetricRun, RunChunk
from evaluation.studies.templatetags.windows import is_yes
from evaluation.votes.export import export_folder
from generation.models import Dataset
from tests.evaluation.hand_cited import score_answers
from tests.evaluation.metric_runs import mill, requested, work
from tests.evaluation.told import rows_of
from tests.evaluation.told_language_model import BACKEND
from tests.makers import import_path, import_rows, response_row
from tests.makers import problems_of as problems_in

pytestmark = pytest.mark.once

State, ChunkState = MetricRun.State, RunChunk.State


@pytest.mark.parametrize(
    ("signature", "threshold", "is_yes_at_it"),
    [
        ("nli|v3|t:0.25|v:1", 0.25, False),
        ("nli|v3|t>=:0.25|v:1", 0.25, True),
        ("t>=:0.7", 0.7, True),
        ("t:1e-3", 0.001, False),
        ("nli|t:0.7", 0.7, False),
        ("nli|at:0.7", None, False),
        ("nli|t:high", None, False),
        ("nli|t:1-2", None, False),
        ("nli|t>=:1-2", None, False),
        ("nli|t>:0.7", None, False),
        ("", None, False),
    ],
)
def test_an_imported_run_has_the_threshold_of_its_signature(
    tmp_path, signature, threshold, is_yes_at_it
):
    mill(
        tmp_path,
        1,
        scores=[{"response": "r0", "metric": "nli", "score": "0.4", "signature": signature}],
    )

    run = MetricRun.objects.get()
    assert (run.threshold, run.is_yes_at_threshold) == (threshold, is_yes_at_it)


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

    rows = sorted(exported(run.dataset, tmp_path / "export"), key=lambda row: row["response"])

    signature = "auto_ais|nli|v3|localized:2|whole|shown|t:0.5|v:3|told|revision:1f2e"
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


def test_what_a_metric_keeps_with_a_score_comes_back(tmp_path):
    kept = {"mode": "logprob", "replies": ["4", '=vier, "ja"\n'], "weighted": 3.75}
    dataset = mill(tmp_path, 2)
    score_answers(dataset, "fluency", {"r0": 3.75, "r1": 4.0}, {"r0": kept}, signature="judge")
    before = exported(dataset, tmp_path / "export")

    first = import_path(tmp_path / "export", "copy")
    again = import_path(tmp_path / "export", "copy")

    copy = Dataset.objects.get(name="copy")
    run = MetricRun.objects.get(dataset=copy)
    assert {key: row.details for key, row in rows_of(run).items()} == {"r0": kept, "r1": {}}
    assert [row["details"] == "" for row in before] == [False, True]
    assert exported(copy, tmp_path / "export-of-copy") == before
    assert (first.ignored, again.counts["scores"]["new"]) == (["runs.jsonl"], 0)


def test_another_detail_is_a_change_and_never_an_update(tmp_path):
    score = {"response": "r0", "metric": "fluency", "score": "4"}
    mill(tmp_path, 1, scores=[score | {"details": '{"replies": ["4"]}'}])

    with pytest.raises(BadRows) as caught:
        import_rows(tmp_path / "other", "mill", scores=[score | {"details": '{"replies": ["5"]}'}])

    assert "stored with other content" in str(caught.value)


def test_details_are_an_object(tmp_path):
    with pytest.raises(BadRows) as caught:
        mill(
            tmp_path,
            1,
            scores=[{"response": "r0", "metric": "m", "score": "1", "details": "[1]"}],
        )

    assert problems_in(caught.value) == [("scores.csv", 2, "details")]


def test_a_score_of_just_the_threshold_is_a_yes_after_export_and_import_too(tmp_path, told_model):
    told_model(lambda prompt: "0.5")
    run = work(requested(mill(tmp_path, 1), metric=AutoSensible(), backend=BACKEND))
    export_folder(run.dataset, None, tmp_path / "export")

    import_path(tmp_path / "export", "copy")

    copy = MetricRun.objects.get(dataset__name="copy")
    assert "|t>=:0.5|" in copy.signature
    for each in (run, copy):
        score = each.scores.get()
        assert (score.score, is_yes(score)) == (0.5, True)


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
