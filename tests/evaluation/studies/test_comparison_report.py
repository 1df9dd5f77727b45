"""The report on A against B: against numpy, scipy and statsmodels, and by each judge."""

from dataclasses import replace
from itertools import combinations
from statistics import mean

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from evaluation.reports.base import CountedLabels
from evaluation.reports.columns import Estimate
from evaluation.statistics.paired_difference import paired_difference
from evaluation.statistics.prediction_powered import RatedPart, prediction_powered_difference
from evaluation.studies.figures.comparison import comparison_chart, system_correlation_chart
from evaluation.studies.reports.comparison import COMPARISON, ComparisonRow, comparison_report
from evaluation.studies.reports.comparison_sides import ComparisonChoices
from evaluation.studies.reports.prediction_powered import PredictionPoweredChoices
from evaluation.studies.reports.system_correlation import system_correlation_report
from generation.choices.declaration import ChoiceError
from tests.charts import valid
from tests.evaluation.studies.few_labels import (
    DIALOGS,
    DRAWN,
    N_DIALOGS,
    SEED,
    SETUPS,
    few_labels,
    few_labels_rows,
)
from tests.makers import example_row, import_rows, rated, response_row, scheme_of, vote_row

pytestmark = pytest.mark.once
PAIRS = [("first", "second"), ("first", "third"), ("second", "third")]


def compared(study, **choices):
    report = comparison_report(study, ComparisonChoices(**choices))
    return {(row["a"], row["b"]): row for row in report.records}


def labels_and_scores():
    """Return for each setup the label (NaN: not rated) and the score of each dialog."""
    rows = few_labels_rows()
    said = {each["response"]: float(each["answer"] == "yes") for each in rows["votes"]}
    score = {each["response"]: float(each["score"]) for each in rows["scores"]}
    keys = {setup: [f"{dialog}-{setup}" for dialog in DIALOGS] for setup in SETUPS}
    return {
        setup: (
            np.array([said.get(key, np.nan) for key in of_setup]),
            np.array([score[key] for key in of_setup]),
        )
        for setup, of_setup in keys.items()
    }


def test_setups_are_compared_by_the_answers_of_raters(tmp_path):
    found = compared(few_labels(tmp_path))

    assert list(found) == PAIRS
    given = labels_and_scores()
    for a, b in PAIRS:
        first, second = given[a][0], given[b][0]
        expected = paired_difference(first, second, np.arange(N_DIALOGS), N_DIALOGS, seed=SEED)
        row = found[a, b]
        assert row["n"] == row["n_dialogs"] == len(DRAWN)
        assert row["difference"] == pytest.approx(np.nanmean(first - second))
        assert (row["mean_a"], row["mean_b"]) == pytest.approx(
            (np.nanmean(first), np.nanmean(second))
        )
        assert (row["difference_low"], row["difference_high"]) == (expected.low, expected.high)
        assert (row["p"], row["p_mcnemar"]) == (expected.p_permutation, expected.p_mcnemar)


def test_ties_and_waiting_answers_are_counted_and_a_tie_counts_half_beside_the_difference(tmp_path):
    # N is 2. On e2, A is tied; on e3, it waits for a vote.
    answers = {"A": ("yy", "yn", "y", "yy"), "B": ("nn", "yy", "yy", "yy")}
    words = {"y": "yes", "n": "no"}
    study = import_rows(
        tmp_path,
        examples=[example_row(f"e{n}") for n in range(1, 5)],
        responses=[
            response_row(f"{setup}{n}", f"e{n}", setup={"model": setup})
            for setup in answers
            for n in range(1, 5)
        ],
        votes=[
            vote_row(f"{setup}{n}", f"w{m}", words[letter], "q")
            for setup, of_setup in answers.items()
            for n, said in enumerate(of_setup, start=1)
            for m, letter in enumerate(said)
        ],
        scores=[
            {"response": f"{setup}{n}", "metric": "nli", "score": "0.9"}
            for setup in answers
            for n in range(1, 5)
        ],
        scheme=scheme_of({"q": "yes_no"}),
        study={"raters_per_unit": 2},
    ).study
    assert study is not None

    row = compared(study)["A", "B"]

    # Both have a label on e1 (yes, no) and e4 (yes, yes): A − B is 1 and 0. With e2: 1, ½ − 1, 0.
    assert (row["n"], row["difference"]) == (2, pytest.approx(1 / 2))
    assert (row["n_left_out_waiting"], row["n_left_out_tied"]) == (1, 1)
    assert row["difference_ties_half"] == pytest.approx((1 - 0.5 + 0) / 3)
    [by_score] = compared(study, by="scores").values()
    assert (by_score["n_left_out_tied"], by_score["difference_ties_half"]) == (0, None)
    left_out = comparison_report(study, ComparisonChoices()).left_out
    assert (left_out["waiting"], left_out["tied"]) == (1, 1)


def test_p_values_are_corrected_for_all_rows(tmp_path):
    rows = list(compared(few_labels(tmp_path)).values())

    p_values = [row["p"] for row in rows]
    for method, name in (("holm", "p_holm"), ("fdr_bh", "p_bh")):
        expected = multipletests(p_values, method=method)[1]
        assert [row[name] for row in rows] == pytest.approx(expected)


def test_setups_are_compared_by_scores_of_all_responses(tmp_path):
    found = compared(few_labels(tmp_path), by="scores")

    given = labels_and_scores()
    for a, b in PAIRS:
        row = found[a, b]
        assert row["question"] is None
        assert row["n"] == N_DIALOGS
        assert row["difference"] == pytest.approx(mean(given[a][1] - given[b][1]))
        assert row["p_mcnemar"] is None


def test_setups_are_compared_by_raters_and_metric_together(tmp_path):
    found = compared(few_labels(tmp_path), by="both")

    given = labels_and_scores()
    is_rated = np.array([dialog in DRAWN for dialog in DIALOGS])
    for a, b in PAIRS:
        first, second = (
            RatedPart(labels, scores, np.arange(N_DIALOGS), is_rated)
            for labels, scores in (given[a], given[b])
        )
        expected = prediction_powered_difference(first, second)
        row = found[a, b]
        assert row["difference"] == pytest.approx(expected.estimate)
        assert row["difference_low"] == pytest.approx(expected.low)
        assert row["lam"] == pytest.approx(expected.lam)
        assert row["p"] == pytest.approx(expected.p)
        assert row["why"] is None


def test_without_a_drawn_sample_raters_judge_alone_and_the_row_says_so(tmp_path):
    found = compared(few_labels(tmp_path, n_drawn_from=None), by="both")

    row = found["first", "second"]
    assert "Raters alone" in row["why"]
    assert row["p"] is row["lam"] is None
    assert row["difference"] is not None


def test_models_are_compared_by_the_mean_of_their_responses(tmp_path):
    """Model x has two setups: yes and no on e1, yes and yes on e2. Model y has no and yes.

    The differences are .5 − 0 and 1 − 1, so their mean is .25.
    """
    answers = {"a1": "yes", "b1": "no", "a2": "yes", "b2": "yes", "c1": "no", "c2": "yes"}
    setups = {"a": ("x", 0.0), "b": ("x", 1.0), "c": ("y", 0.0)}
    study = import_rows(
        tmp_path,
        examples=[example_row("e1"), example_row("e2")],
        responses=[
            response_row(key, f"e{key[1]}", setup={"model": model, "temperature": temperature})
            for key in answers
            for model, temperature in [setups[key[0]]]
        ],
        votes=[
            vote_row(key, rater, answer, "good")
            for key, answer in answers.items()
            for rater in "uvw"
        ],
        scheme=scheme_of({"good": "yes_no"}),
    ).study

    row = compared(study, compare="models")["x", "y"]

    assert row["difference"] == pytest.approx(0.25)
    assert row["n"] == 2


def test_metrics_are_compared_by_how_often_they_agree_with_raters(tmp_path):
    """Raters say yes to r1 and r2 and no to r3. Metric good is right on all, bad on r1 alone."""
    scores = {"good": (0.9, 0.8, 0.2), "bad": (0.9, 0.1, 0.7)}
    study = rated(
        tmp_path,
        {f"r{n}": {"fine": [answer] * 3} for n, answer in enumerate(["yes", "yes", "no"], 1)},
        scores=[
            {"response": f"r{n}", "metric": metric, "score": str(score), "signature": "t:0.5"}
            for metric, of_metric in scores.items()
            for n, score in enumerate(of_metric, 1)
        ],
    )

    [row] = compared(study, compare="metrics").values()

    assert (row["a"], row["b"], row["n"]) == ("bad", "good", 3)
    assert (row["mean_a"], row["mean_b"]) == pytest.approx((1 / 3, 1))
    assert row["difference"] == pytest.approx(-2 / 3)


def test_one_setup_alone_has_no_pair(tmp_path):
    assert compared(few_labels(tmp_path), counted=CountedLabels(setup="first")) == {}


def test_an_unknown_metric_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(ChoiceError, match="There are: nli-"):
        COMPARISON.chosen(few_labels(tmp_path), {"metric": "other"})


def difference(a, b, low, high):
    """Return a row whose difference is 1: all of a, and nothing of b."""
    return ComparisonRow(
        question="q",
        metric=None,
        scale="yes_no",
        a=a,
        b=b,
        n=2,
        n_dialogs=2,
        mean_a=1.0,
        mean_b=0.0,
        difference=Estimate(1.0, low, high),
        p_holm=0.5,
    )


def test_the_matrix_has_each_pair_twice_and_colours_what_excludes_0():
    rows = [difference(*pair, -0.3, 1.0) for pair in combinations("abcd", 2)]
    rows[0] = replace(rows[0], difference=Estimate(1.0, 0.2, 1.0))

    [cells] = valid(comparison_chart(rows))["datasets"].values()

    assert {(cell["row"], cell["column"]): cell["value"] for cell in cells} == {
        pair: sign * 100
        for first in combinations("abcd", 2)
        for pair, sign in ((first, 1), (first[::-1], -1))
    }
    # ±100 from two examples says nothing if its interval has 0 in it.
    assert {(cell["row"], cell["column"]) for cell in cells if cell["shade"]} == {
        ("a", "b"),
        ("b", "a"),
    }


def test_there_is_no_matrix_under_four_sides():
    rows = [difference(*pair, 0.2, 1.0) for pair in combinations("abc", 2)]

    assert comparison_chart(rows) is None


# --- the order of setups --------------------------------------------------------------------


def test_the_order_of_setups_by_a_metric_is_compared_with_that_by_raters(tmp_path):
    study = few_labels(tmp_path)

    report = system_correlation_report(study, PredictionPoweredChoices())

    [row] = report.records
    given = labels_and_scores()
    by_raters = [np.nanmean(labels) for labels, _ in given.values()]
    drawn = [dialog in DRAWN for dialog in DIALOGS]
    by_metric = [scores[drawn].mean() for _, scores in given.values()]
    is_same = np.argsort(by_raters).tolist() == np.argsort(by_metric).tolist()
    assert row["n_setups"] == 3
    assert (row["tau"] == pytest.approx(1)) is is_same
    assert row["why"] is None
    assert system_correlation_chart(report.rows) is not None


def test_two_setups_have_no_order(tmp_path):
    study = few_labels(tmp_path)

    report = system_correlation_report(
        study, PredictionPoweredChoices(counted=CountedLabels(setup="first"))
    )

    assert report.records[0]["tau"] is None
