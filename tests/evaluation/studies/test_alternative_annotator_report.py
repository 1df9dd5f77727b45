"""The report on the alternative-annotator test: its verdicts, raters and page."""

import csv
import io

import numpy as np
import pytest
from django.urls import reverse

from annotation.models import Rater
from evaluation.models import MetricRun
from evaluation.reports.formats import write_report
from evaluation.runs.item_scores import WITHOUT_THRESHOLD
from evaluation.runs.plan import STUDIES_OF_CHOICE
from evaluation.studies.reports.alternative_annotator import (
    FEW_RATERS,
    FLATTERED,
    PLACES,
    TOO_FEW_ITEMS,
    TOO_FEW_RATERS,
    AlternativeAnnotatorChoices,
    alternative_annotator_report,
)
from tests.makers import example_row, import_rows, response_row, scheme_of, vote_row
from tests.shown import shown

pytestmark = pytest.mark.once
N_DIALOGS, OF_DIALOG = 40, 2
KEYS = [f"r{number:02}" for number in range(N_DIALOGS * OF_DIALOG)]
RATERS = ("anna", "ben", "cleo")


def standing_in(
    folder, *, votes=None, raters=RATERS, scale="yes_no", signature="v1|t:0.5", **facts
):
    """Import 40 dialogs of two responses, raters who are right in nine of ten, and two metrics.

    The metric 'good' is right in nine of ten too, and 'blind' says yes or no at random.
    """
    random = np.random.default_rng(8)
    truth = random.random(len(KEYS)) < 0.5
    given = []
    for rater in raters:
        said = np.where(random.random(len(KEYS)) < 0.9, truth, ~truth)
        given += [
            vote_row(key, rater, "yes" if yes else "no", "q")
            for key, yes in zip(KEYS, said.tolist(), strict=True)
        ]
    labels = {
        "good": np.where(random.random(len(KEYS)) < 0.9, truth, ~truth),
        "blind": random.random(len(KEYS)) < 0.5,
    }
    scores = [
        {
            "response": key,
            "metric": name,
            "score": "0.9" if yes else "0.1",
            "signature": signature,
        }
        for name, of_metric in labels.items()
        for key, yes in zip(KEYS, of_metric.tolist(), strict=True)
    ]
    study = import_rows(
        folder,
        "standing-in",
        examples=[example_row(f"e-{key}", dialog=f"d{n // 2}") for n, key in enumerate(KEYS)],
        responses=[response_row(key, f"e-{key}") for key in KEYS],
        votes=given if votes is None else votes(given),
        scores=scores,
        scheme=scheme_of({"q": scale}),
    ).study
    assert study is not None
    return study


def reported(study, **choices):
    """Return the verdicts by metric, and the rows of raters by metric and rater."""
    report = alternative_annotator_report(study, AlternativeAnnotatorChoices(**choices))
    verdicts = {row["metric"]: row for row in report.records if "rater" not in row}
    beside = {(row["metric"], row["rater"]): row for row in report.records if "rater" in row}
    return verdicts, beside, report


def test_a_metric_like_the_raters_may_stand_in_and_a_blind_one_may_not(tmp_path):
    verdicts, beside, report = reported(standing_in(tmp_path))

    assert {name: row["passes"] for name, row in verdicts.items()} == {"good": True, "blind": False}
    good = verdicts["good"]
    assert (good["n"], good["n_dialogs"], good["n_raters"]) == (80, 40, 3)
    assert (good["n_raters_left_out"], good["epsilon"], good["note"]) == (0, 0.1, None)
    assert good["advantage_low"] < good["advantage"] < good["advantage_high"]
    rows = [beside["good", rater] for rater in RATERS]
    assert good["advantage"] == pytest.approx(np.mean([row["metric_advantage"] for row in rows]))
    assert good["winning_rate"] == pytest.approx(np.mean([row["is_won"] for row in rows]))
    assert "margin 0.1" in report.signature


def test_a_wider_margin_never_has_a_lower_winning_rate_and_is_in_the_signature(tmp_path):
    study = standing_in(tmp_path)
    found = [reported(study, epsilon=epsilon, metric="") for epsilon in (0.01, 0.1, 0.5)]

    rates = [verdicts["blind"]["winning_rate"] for verdicts, _, _ in found]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]
    assert "margin 0.5" in found[-1][2].signature


def test_a_rater_with_few_items_is_shown_as_left_out_with_the_reason(tmp_path):
    def without_many(votes):
        return [each for each in votes if each["rater"] != "dora" or each["response"] < "r29"]

    study = standing_in(tmp_path, votes=without_many, raters=(*RATERS, "dora"))

    verdicts, beside, _ = reported(study)

    dora = beside["good", "dora"]
    assert (dora["n"], dora["why"], dora["is_won"], dora["p"]) == (29, TOO_FEW_ITEMS, None, None)
    assert dora["metric_advantage"] is None
    assert (verdicts["good"]["n_raters"], verdicts["good"]["n_raters_left_out"]) == (3, 1)


@pytest.mark.parametrize(
    ("raters", "note", "passes"),
    [
        (RATERS[:2], FEW_RATERS, True),
        (RATERS[:1], TOO_FEW_RATERS, None),
        (("1", "2", "3"), PLACES, True),
    ],
)
def test_few_raters_and_raters_who_may_be_places_are_said(tmp_path, raters, note, passes):
    verdicts, _, report = reported(standing_in(tmp_path, raters=raters))

    good = verdicts["good"]
    assert (good["note"], good["passes"] is None) == (note, passes is None)
    assert report.left_out["items_of_one_rater"] == (80 if len(raters) == 1 else 0)


def test_a_run_without_a_threshold_has_no_labels_and_no_verdict(tmp_path):
    verdicts, beside, _ = reported(standing_in(tmp_path, signature="v1"))

    assert not beside
    assert {row["passes"] for row in verdicts.values()} == {None}
    assert verdicts["good"]["note"].lower() == f"{WITHOUT_THRESHOLD}."


def test_points_on_the_cut_are_no_label(tmp_path):
    def as_points(votes):
        points = {"yes": "5", "no": "1"}
        said = [each | {"answer": points[each["answer"]]} for each in votes]
        return [each | {"answer": "3"} if each["response"] < "r05" else each for each in said]

    verdicts, _, report = reported(
        standing_in(tmp_path, votes=as_points, scale={"ordinal": [1, 5]})
    )

    assert report.left_out["votes_on_the_cut"] == 5 * 3
    assert (verdicts["good"]["n"], verdicts["good"]["passes"]) == (75, True)


def test_votes_of_excluded_raters_count_only_if_chosen(tmp_path):
    study = standing_in(tmp_path)
    Rater.objects.filter(study=study, code="cleo").update(is_excluded=True)

    assert reported(study)[0]["good"]["n_raters"] == 2
    assert reported(study, with_excluded=True)[0]["good"]["n_raters"] == 3


def test_a_threshold_chosen_on_the_votes_is_said(tmp_path):
    study = standing_in(tmp_path)
    run = MetricRun.objects.get(metric="good")
    run.parameters[STUDIES_OF_CHOICE] = [study.slug]
    run.save()

    verdicts, _, _ = reported(study)

    assert (verdicts["good"]["note"], verdicts["good"]["flattered"]) == (FLATTERED, True)
    assert (verdicts["blind"]["note"], verdicts["blind"]["flattered"]) == (None, False)


def page_of(study, query=""):
    return reverse("evaluation:report-of-study", args=[study.slug, "alternative_annotator"]) + query


def test_the_page_shows_the_verdicts_and_folds_the_raters(tmp_path, researcher):
    study = standing_in(tmp_path)

    answer = researcher.get(page_of(study))

    page, html = shown(answer), answer.content.decode()
    assert "It cannot know whether the raters are right" in page.text
    first, folded = html.split("<summary>Rater by rater</summary>")
    assert "May stand in" in first
    assert "anna" not in first.split("<tbody>")[1]
    assert "anna" in folded


def test_a_margin_beyond_its_bounds_is_refused_with_what_is_expected(tmp_path, researcher):
    page = shown(researcher.get(page_of(standing_in(tmp_path), "?epsilon=0.9")))

    assert "less than or equal to 0.5" in page.text


def test_files_have_both_kinds_of_rows(tmp_path):
    _, _, report = reported(standing_in(tmp_path))

    rows = list(csv.DictReader(io.StringIO(write_report(report, "csv"))))
    assert len(rows) == 2 + 2 * 3
    assert {row["rater"] for row in rows} == {"", *RATERS}
    latex = write_report(report, "latex")
    assert latex.count(r"\begin{tabular}") == 1
    assert "Winning rate" in latex
