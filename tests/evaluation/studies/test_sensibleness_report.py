"""Table 1 by hand: errors against rater scores, slice by slice, and the mean of the others."""

import json
from dataclasses import replace

import pytest
from django.core.management import call_command

from annotation.ordering import share_is_drawn
from evaluation.metrics.auto_ssa import SsaPrompt
from evaluation.models import MetricRun
from evaluation.reports.base import Choices
from evaluation.studies.pages.auto_table import auto_table
from evaluation.studies.reports.agreement import agreement_report
from evaluation.studies.reports.sensibleness import MEAN_OF_OTHERS, sensibleness_report
from evaluation.studies.reports.study import study_figures
from tests.evaluation.makers_of_scores import make_run, make_score, make_scores
from tests.makers import rated, scheme_of, statements

pytestmark = pytest.mark.once

SSA = scheme_of({"sensible": "yes_no", "specific": "yes_no"}, specific={"after": ["sensible"]})


def letters(text):
    return {"sensible": [{"y": "yes", "n": "no"}[letter] for letter in text]}


@pytest.fixture
def study(tmp_path):
    """Cool: rater scores 2/5, 5/5, 1/5, 4/5; warm: 3/5 and 0/5; a third setup, 1/2."""
    votes = {"c1": "yynnn", "c2": "yyyyy", "c3": "ynnnn", "c4": "yyyyn", "w1": "yyynn"}
    votes |= {"w2": "nnnnn", "t1": "yn"}
    names = {"c": "cool", "w": "warm", "t": "third"}
    return rated(
        tmp_path / "pilot",
        {key: letters(text) for key, text in votes.items()},
        scheme=SSA,
        setups={key: names[key[0]] for key in votes},
    )


def run_of(study, built_on="", metric="sensible", dataset="", **more):
    return make_run(
        study.dataset,
        metric=metric,
        signature=f"{metric}|m",
        parameters=SsaPrompt("own", "I. ###", built_on, dataset or study.dataset.slug).parameters,
        is_yes_at_threshold=True,
        **more,
    )


def by_slice(study, **choices):
    return {row["slice"]: row for row in sensibleness_report(study, Choices(**choices)).records}


def test_errors_are_shares_of_the_whole_slice(study):
    """Cool: humans n y n y (2/5, 5/5, 1/5, 4/5); the metric .5 .4 .2 1.0 says y n n y.

    Missed: c2, 1 of 4; false alarm: c1, 1 of 4; together 2 of 4. Squared errors (.1² + .6² + 0 +
    .2²) / 4 = .41 / 4. Warm: y n against .9 and .1: none; (.3² + .1²) / 2 = .05. Third: half of
    the raters is a yes, .7 is one too: .2² = .04.
    """
    run = run_of(study)
    make_scores(run, {"c1": 0.5, "c2": 0.4, "c3": 0.2, "c4": 1.0, "w1": 0.9, "w2": 0.1, "t1": 0.7})

    rows = by_slice(study)

    assert list(rows) == ["cool", "third", "warm", MEAN_OF_OTHERS]
    found = {
        name: [rows[name][measure] for measure in ("n", "n_human_yes", "mse", "missed")]
        + [rows[name]["false_alarm"], rows[name]["error_rate"]]
        for name in ("cool", "warm", "third")
    }
    assert found["cool"] == [4, 2, pytest.approx(0.41 / 4), 0.25, 0.25, 0.5]
    assert found["warm"] == [2, 1, pytest.approx(0.05), 0, 0, 0]
    assert found["third"] == [1, 1, pytest.approx(0.04), 0, 0, 0]
    assert rows["cool"]["error_rate_low"] < 0.5 < rows["cool"]["error_rate_high"]


def test_the_mean_is_over_the_slices_that_the_prompt_was_not_built_on(study):
    """Each slice counts the same: cool (.41 / 4, error .5) and third (.04, 0), not warm."""
    run = run_of(study, built_on="warm")
    make_scores(run, {"c1": 0.5, "c2": 0.4, "c3": 0.2, "c4": 1.0, "w1": 0.0, "w2": 1.0, "t1": 0.7})

    rows = by_slice(study)

    assert [name for name, row in rows.items() if row["built_on"]] == ["warm"]
    mean = rows[MEAN_OF_OTHERS]
    assert (mean["n"], mean["n_slices"]) == (5, 2)
    assert mean["mse"] == pytest.approx((0.41 / 4 + 0.04) / 2)
    assert mean["error_rate"] == pytest.approx(0.25)
    assert mean["missed"] == mean["false_alarm"] == pytest.approx(0.125)
    assert mean["mse_low"] is None  # third has one dialog: its share has no interval


def test_a_setup_of_another_dataset_that_is_called_the_same_is_another_slice(study):
    run = run_of(study, built_on="warm", dataset="elsewhere")
    make_scores(run, {"c1": 0.5, "c2": 0.4, "c3": 0.2, "c4": 1.0, "w1": 0.0, "w2": 1.0, "t1": 0.7})
    elsewhere = sensibleness_report(study)
    MetricRun.objects.update(parameters=SsaPrompt("own", "I. ###", "warm", "pilot").parameters)
    here = sensibleness_report(study)

    assert not any(row.built_on for row in elsewhere.rows)
    # cool .5, third 0, warm 1 (both labels differ); without warm (.5 + 0) / 2
    assert [r.rows[-1].n_slices for r in (elsewhere, here)] == [3, 2]
    assert [r.rows[-1].error_rate.value for r in (elsewhere, here)] == pytest.approx([0.5, 0.25])
    assert elsewhere.signature != here.signature


def test_what_may_have_stopped_early_has_no_rater_score_and_is_counted(study):
    """Seven items; those outside the full share are in no slice's n."""
    make_scores(run_of(study), dict.fromkeys(("c1", "c2", "c3", "c4", "w1", "w2", "t1"), 0.5))
    examples = dict(study.dataset.responses.values_list("key", "example__key"))
    full = [key for key, example in examples.items() if share_is_drawn(3, example, "full", 0.5)]
    assert 0 < len(full) < 7
    study.stops_when_decided, study.full_share, study.seed = True, 0.5, 3
    study.save()

    report = sensibleness_report(study)
    agreement = agreement_report(study)

    slices = [row for row in report.records if row["slice"] != MEAN_OF_OTHERS]
    assert sum(row["n"] for row in slices) == len(full)
    assert report.left_out["items_outside_full_share"] == 7 - len(full)
    assert agreement.left_out["items_outside_full_share"] == 7 - len(full)
    [row] = [row for row in agreement.rows if row.question == "sensible"]
    # The one of third has two votes of different answers: it is tied, compared with nothing.
    n_rater_score = len(set(full) - {"t1"})
    assert (row.n, row.n_rater_score) == (6, n_rater_score)
    names = [measure.name for measure in auto_table([row], {}).measures]
    assert f"MSE, rater score (n = {n_rater_score})" in names
    assert f"Spearman, rater score (n = {n_rater_score})" in names
    same = auto_table([replace(row, n_rater_score=6)], {})
    assert not any("(n =" in measure.name for measure in same.measures)


def test_the_page_of_a_study_reads_the_scores_of_a_run_once(study):
    make_scores(run_of(study), {"c1": 0.5, "w1": 0.9})

    asked = statements(lambda: study_figures(study, Choices()))

    read = [sql for sql in asked if '"evaluation_autoscore"."score"' in sql]
    assert len(read) == 1


def test_what_makes_a_yes_stands_in_the_signature(tmp_path):
    graded = rated(
        tmp_path / "graded",
        {"r1": {"sensible": ["3", "4"]}},
        scheme=scheme_of({"sensible": {"ordinal": [1, 4]}}),
    )

    assert "a yes is sensible: median above 2.5" in sensibleness_report(graded).signature


def test_without_another_slice_the_mean_is_undefined(study):
    run = run_of(study, built_on="third")
    make_scores(run, {"t1": 1.0})

    [own, mean] = sensibleness_report(study, Choices(setup="third")).records

    assert (own["n"], own["error_rate"]) == (1, 0)
    assert (mean["n"], mean["mse"], mean["error_rate"]) == (0, None, None)


def test_the_mean_of_one_other_slice_is_that_slice(study):
    run = run_of(study, built_on="third")
    make_scores(run, {"w1": 0.1, "w2": 0.1, "t1": 0.7})
    study.setups.get(name="cool").responses.all().delete()

    rows = by_slice(study)

    warm, mean = rows["warm"], rows[MEAN_OF_OTHERS]
    names = ["n", "mse", "mse_low", "error_rate", "error_rate_low", "error_rate_high"]
    assert [mean[name] for name in names] == [warm[name] for name in names]
    assert mean["error_rate"] == 0.5


def test_what_has_no_score_is_counted_and_in_no_share(study):
    run = run_of(study)
    make_scores(run, {"c1": 0.0, "c3": 0.0})
    make_score(run, "c2", None, problem="no number: 'maybe'")

    report = sensibleness_report(study)
    rows = {row["slice"]: row for row in report.records}

    assert (rows["cool"]["n"], rows["cool"]["error_rate"]) == (2, 0)
    assert (rows["cool"]["failed"], rows["cool"]["unscored"]) == (1, 1)
    assert (rows["warm"]["n"], rows["warm"]["mse"]) == (0, None)
    assert rows[MEAN_OF_OTHERS]["mse"] is None  # one of the slices has none
    assert (report.left_out["failed"], report.left_out["unscored"]) == (1, 4)


def test_only_a_metric_called_like_the_question_is_held_against_it(study):
    other = make_run(study.dataset, signature="elsewhere")
    specific = run_of(study, metric="specific")
    for run in (other, specific, run_of(study)):
        make_scores(run, {"c1": 1.0})

    rows = sensibleness_report(study).records

    assert {(row["metric"], row["question"]) for row in rows} == {
        ("sensible", "sensible"),
        ("specific", "specific"),
    }
    # No rater was asked about it. The three who said no to c1 said no to it too.
    n = {row["slice"]: row["n"] for row in rows if row["metric"] == "specific"}
    assert n == {"cool": 1, "third": 0, "warm": 0, MEAN_OF_OTHERS: 1}


def test_scores_that_are_no_probabilities_have_no_squared_error(study):
    make_scores(run_of(study), {"w1": 4.0, "w2": 0.0})

    warm = by_slice(study)["warm"]

    assert (warm["mse"], warm["error_rate"]) == (None, 0)


def test_a_study_without_such_a_question_has_no_rows(tmp_path):
    other = rated(tmp_path / "ais", {"r1": {"attributable": ["yes"]}})
    make_scores(make_run(other.dataset, metric="sensible"), {"r1": 1.0})

    assert sensibleness_report(other).records == []


def test_the_command_prints_it(study, capsys):
    make_scores(run_of(study, built_on="warm"), {"w1": 0.6, "w2": 0.0})

    call_command("report", "sensibleness", "--study", "pilot", "--format", "json")
    found = json.loads(capsys.readouterr().out)
    call_command("report", "sensibleness", "--study", "pilot")
    table = capsys.readouterr().out
    call_command("report", "sensibleness", "--study", "pilot", "--format", "latex")
    latex = capsys.readouterr().out

    assert [row["slice"] for row in found["rows"] if row["built_on"]] == ["warm"]
    assert "mean of the others" in table
    assert latex.count(r" \\") == 1 + len(found["rows"])
