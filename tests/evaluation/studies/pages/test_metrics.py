"""The page of a study's metrics; figures of large studies, which a worker computes."""

import re

import pytest
from django.urls import reverse

from evaluation.studies.reports import cached_figures
from evaluation.studies.tasks import compute_figures
from evaluation.studies.views import last_figures
from tests.evaluation.makers_of_scores import disputed, make_run, make_scores
from tests.evaluation.studies.pages.address import NAMES, page_of
from tests.makers import (
    rated,
    statements,
)
from tests.shown import shown

pytestmark = pytest.mark.once


def test_a_run_stands_beside_baseline_ceilings_confusion_and_disagreements(researcher, tmp_path):
    study, run = disputed(tmp_path)

    page = shown(page_of(researcher, study, "study-metrics"))

    # Of 4 with a majority the run agrees on one: yes 1 of 3, no 0 of 1; most people said yes.
    metrics = page.table("Auto-metrics against")
    assert metrics.row("Auto-AIS, v3, localized K = 2, lexical")["Accuracy"] == "25.0"
    assert metrics.row("Ceiling: one against the rest")
    assert page.table("Measures of").row("Majority-label baseline")["Value"] == "75.0"
    assert page.table("Confusion matrix").rows == [
        ["human yes", "1 33 %", "2 67 %"],
        ["human no", "1 100 %", "0 0 %"],
    ]
    assert "0 waiting, 1 tied, 0 not scored, 0 failed, 0 assumed" in page.part("cm").text
    assert "3 disagreements in 4 cases" in page.part("cm").text
    listed = reverse("evaluation:disagreements", args=[study.slug])
    of_run = f"?run={run.pk}&question=attributable&truth=separate"
    assert page.part("cm").links["3 disagreements"] == listed + of_run
    assert f"/metrics/{run.pk}/" in page.addresses


def test_a_roc_curve_ends_where_every_score_is_a_yes(researcher, tmp_path):
    page = shown(page_of(researcher, disputed(tmp_path)[0], "study-metrics"))

    points = page.table("Points of the ROC curve")
    assert points.columns == ["Score above", "False alarms", "Hits"]
    assert points.rows[0] == ["0.900", "0.0", "0.0"]
    assert points.rows[-1] == ["all", "100.0", "100.0"]


def test_question_and_run_are_chosen_in_the_address(researcher, tmp_path):
    study, run = disputed(tmp_path)
    other = make_run(study.dataset, signature="other")
    make_scores(other, {"r-miss": 0.9, "r-far": 0.9, "r-false": 0.1, "r-same": 0.9})

    newest, older = (
        shown(page_of(researcher, study, "study-metrics", **a)) for a in ({}, {"run": run.pk})
    )

    # The newest run agrees with all of them.
    listed = reverse("evaluation:disagreements", args=[study.slug])
    assert "No disagreement in 4 cases" in newest.part("cm").text
    assert not any(listed in to for to in newest.part("cm").addresses)
    assert "No disagreement" not in older.text
    assert "3 disagreements in 4 cases" in older.part("cm").text
    assert f"?run={run.pk}&question=attributable#auto" in newest.addresses
    page = shown(page_of(researcher, study, "study-metrics", question="understand"))
    assert any("no response has both a score and a human label" in item for item in page.items)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_costs_the_same_for_more_votes_and_for_more_runs(researcher, tmp_path, name):
    def rated_by_a_run(n):
        votes = {f"r{i}": {"q": ["yes", "no", "no"]} for i in range(n)}
        study = rated(tmp_path / str(n), votes, name=f"study {n}")
        run = make_run(study.dataset)
        make_scores(run, dict.fromkeys(votes, 0.9))
        return study, run

    def cost(study, run):
        asked = {} if name == "study" else {"run": run.pk}
        page_of(researcher, study, name, **asked)  # makes the figures
        return len(statements(lambda: page_of(researcher, study, name, **asked)))

    few, many = rated_by_a_run(3), rated_by_a_run(30)
    assert cost(*few) == cost(*many)

    for n in range(4):
        make_scores(make_run(many[0].dataset, signature=f"more {n}"), {"r1": 0.9})
    assert cost(*few) == cost(*many)


def test_large_figures_are_computed_by_a_worker_while_the_last_ones_are_shown(
    researcher, tmp_path, monkeypatch, django_capture_on_commit_callbacks
):
    study, _ = disputed(tmp_path)
    page_of(researcher, study)
    monkeypatch.setattr(cached_figures, "MOST_VOTES_AT_ONCE", 3)
    sent = []
    monkeypatch.setattr(compute_figures, "delay_on_commit", lambda *args: sent.append(args))

    make_run(study.dataset, signature="new")
    last = page_of(researcher, study)
    [seen] = re.findall(r'"Figures-Of": "([^"]+)"', last.text)
    waiting = researcher.get(
        last.request["PATH_INFO"], headers={"HX-Request": "true", "Figures-Of": seen}
    )

    page = shown(last)
    [message] = page.messages
    assert re.match(r"Numbers of \d\d:\d\d\b.* Newer numbers", message)
    assert "Questions by scenario" in page.headings
    assert [pk for pk, _ in sent] == [study.pk]  # asked once, though the page waits
    assert waiting.status_code == 204

    compute_figures(*sent[0])
    current = shown(page_of(researcher, study))
    assert "Newer numbers" not in current.text


def test_a_large_study_without_figures_says_that_they_are_being_computed(
    researcher, tmp_path, monkeypatch
):
    study, _ = disputed(tmp_path)
    monkeypatch.setattr(cached_figures, "MOST_VOTES_AT_ONCE", 3)
    monkeypatch.setattr(compute_figures, "delay_on_commit", lambda *args: None)

    page = shown(page_of(researcher, study))

    assert "The numbers are being computed" in page.headings
    figure = reverse("evaluation:figure", args=[study.slug, "accuracy", "svg"])
    answer = researcher.get(figure)
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("report", ["agreement", "json"]), ("figure", ["accuracy", "svg"])],
)
def test_a_file_of_a_large_study_is_asked_for_and_then_the_last_one_is_given(
    researcher, tmp_path, monkeypatch, name, arguments
):
    study, run = disputed(tmp_path)
    monkeypatch.setattr(cached_figures, "MOST_VOTES_AT_ONCE", 3)
    monkeypatch.setattr(last_figures, "ASKED_AGAIN_AFTER", 0)
    sent = []
    monkeypatch.setattr(compute_figures, "delay_on_commit", lambda *args: sent.append(args))
    address = reverse(f"evaluation:{name}", args=[study.slug, *arguments])

    first = researcher.get(address)
    assert (first.status_code, first["Retry-After"]) == (503, "10")
    [asked] = sent
    compute_figures(*asked)
    made = researcher.get(address)
    run.scores.all().delete()
    later = researcher.get(address)

    assert (made.status_code, later.status_code) == (200, 200)
    assert later.content == made.content  # though the scores are gone: new ones are asked for
    assert [pk for pk, _ in sent] == [study.pk, study.pk]


def test_only_the_report_on_raters_has_rows_by_setup(researcher, pilot):
    address = reverse("evaluation:report", args=["pilot", "scenarios", "json"])

    assert researcher.get(f"{address}?by=setup").content == researcher.get(address).content
