"""[NA]: brackets on their own, and what comes back after export and import."""

import json

import pytest

from evaluation.backends.base import Entailment
from evaluation.graphs.reports.incompetence import incompetence_report
from evaluation.measures.entailment import Pair
from evaluation.metrics.base import Assumed, ScoreRequest, ScoringMaterial
from evaluation.metrics.incompetence import IncompetenceMetric
from evaluation.models import MetricRun
from evaluation.votes.export import export_folder
from tests.evaluation.cited import cited, removed_rows, scored
from tests.evaluation.told import Told, rows_of
from tests.makers import forget, import_path

pytestmark = pytest.mark.once


def said(text):
    removed = (("Q1", "date of birth", "1596"),)
    return ScoringMaterial(target=1, text=text, turns=None, passages=[], removed=removed)


def test_a_na_on_its_own_is_about_nothing_and_nobody_is_asked():
    metric = IncompetenceMetric()

    alone = metric.asked(said("[NA]"))
    assert isinstance(alone, Assumed)
    assert alone.details == {
        "na_sentences": [{"text": "", "probability": 0}],
        "removed": [{"text": "date of birth: 1596", "probability": 0}],
    }

    asked = metric.asked(said("[NA]. Her birth is not known [NA]."))
    assert isinstance(asked, ScoreRequest)
    told = Told(lambda pair: Entailment(0.9))
    answers = list(metric.answers(told, [ask for ask in asked.asks if isinstance(ask, Pair)]))
    assert told.asked == [Pair("Her birth is not known.", "date of birth: 1596")]
    found = metric.scored(asked, answers)
    assert found.score == 0.9
    assert [each["probability"] for each in found.details["na_sentences"]] == [0, 0.9]


def test_na_has_the_same_figures_after_export_and_import(tmp_path, db):
    """Each answer is a setup: 'admits' is about both triples, 'hides' has no [NA]."""
    rows = [row | {"setup": row["id"]} for row in removed_rows()]
    run = scored(cited(tmp_path, responses=rows), "incompetence")
    kept = {key: row.details for key, row in rows_of(run).items()}
    before = incompetence_report(run.dataset)
    export_folder(run.dataset, None, tmp_path / "export")
    forget(run.dataset)

    import_path(tmp_path / "export", "cited")

    again = MetricRun.objects.get()
    after = incompetence_report(again.dataset)
    assert again.is_imported
    assert {key: row.details for key, row in rows_of(again).items()} == kept
    figures = ("setup", "precision", "recall", "f1", "n_removed")
    assert [tuple(row[name] for name in figures) for row in after.records] == [
        ("admits", 1, 1, 1, 2),
        ("hides", None, 0, 0, 1),
    ]
    of_run = {"metric_run", "setup_id", "scored_by", "judge"}
    for row, was in zip(after.records, before.records, strict=True):
        assert {name: row[name] for name in row.keys() - of_run} == {
            name: was[name] for name in row.keys() - of_run
        }
    assert (after.left_out, after.signature) == (before.left_out, before.signature)


@pytest.mark.parametrize("details", [None, {"removed": 3}, {"removed": [{"text": "spouse: Ben"}]}])
def test_imported_scores_that_do_not_say_what_was_found_are_counted(tmp_path, db, details):
    score = {"response": "admits", "metric": "incompetence", "score": "0.7"}
    score["signature"] = "old|t:0.5"
    said = score if details is None else score | {"details": json.dumps(details)}
    dataset = cited(tmp_path, responses=removed_rows(), scores=[said])

    report = incompetence_report(dataset)

    assert report.records == []
    assert report.left_out["answers_without_details"] == 1


def test_imported_scores_without_a_threshold_admit_and_hide_nothing(tmp_path, db):
    score = {"response": "admits", "metric": "incompetence", "score": "0.7", "signature": "old"}
    dataset = cited(tmp_path, responses=removed_rows(), scores=[score])

    report = incompetence_report(dataset)

    assert report.records == []
    assert report.left_out["runs_without_threshold"] == 1
