"""The runs of a study: the first click, the bar, the end."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Study
from evaluation.models import MetricRun
from tests.evaluation.metric_runs import done, requested, work
from tests.makers import (
    at_each_statement,
    example_row,
    import_rows,
    rated,
    response_row,
    statements,
)
from tests.shown import markup, shown

pytestmark = pytest.mark.once


@pytest.fixture
def study(tmp_path):
    """Two rated responses by one setup; both say 'Text of …', as nothing was shown to say."""
    return rated(tmp_path / "rated", {"a": {"q": ["yes"]}, "b": {"q": ["no"]}}, name="rated")


# --- the runs of a study --------------------------------------------------------------------


def runs_of(study):
    return reverse("evaluation:study-runs", args=[study.slug])


def start(study):
    return reverse("evaluation:start-default-run", args=[study.slug])


def test_without_a_run_one_click_starts_the_first(
    researcher, study, django_capture_on_commit_callbacks
):
    Study.objects.update(evidence_choice="golden")
    study.refresh_from_db()
    page = shown(researcher.get(runs_of(study)))
    assert "No auto-metric has scored these responses yet" in page.headings

    with django_capture_on_commit_callbacks() as sent:
        answer = researcher.post(start(study))

    run = MetricRun.objects.get()
    assert (
        run.signature
        == "auto_ais|added_words|apart|localized:2|whole|golden|tokens:unicode-words|t:0.5|v:3"
    )
    assert answer.url == reverse("evaluation:study-metrics", args=[study.slug])
    assert len(sent) == 2  # a chunk of responses, and one of controls


def test_with_htmx_the_click_leads_to_the_bar(researcher, study):
    answer = researcher.post(start(study), headers={"HX-Request": "true"}, follow=True)

    assert answer.redirect_chain == [(runs_of(study), 302)]
    assert "<html" not in answer.text
    [bar] = shown(answer).parts("bar")
    assert bar.text == "0 of 2 responses 0 %"
    assert f'hx-get="{runs_of(study)}" hx-trigger="every 200ms"' in markup(answer)
    assert "HX-Trigger" not in answer.headers


def test_when_the_last_run_has_ended_the_page_is_told(researcher, study):
    work(requested(study.dataset))

    answer = researcher.get(runs_of(study), headers={"HX-Request": "true"})

    assert "runs-finished" in answer.headers["HX-Trigger"]
    assert answer.headers["HX-Retarget"] == answer.headers["HX-Reselect"] == "#study-runs"
    assert 'hx-trigger="every' not in answer.text
    assert "Run Auto-AIS" not in answer.text


def test_whenever_the_run_ends_the_page_asks_on_or_is_told(researcher, study):
    run = work(requested(study.dataset), 0)

    def polled():
        return researcher.get(runs_of(study), headers={"HX-Request": "true"})

    for answer in at_each_statement(polled, lambda: work(run)):
        asks_on = 'hx-trigger="every' in answer.text
        assert asks_on != ("HX-Trigger" in answer.headers)
        assert asks_on == ('id="study-runs-now"' in answer.text)  # what htmx puts in


def test_a_study_whose_runs_were_imported_is_still_offered_the_first_click(researcher, tmp_path):
    import_rows(
        tmp_path / "x",
        examples=[example_row()],
        responses=[response_row()],
        votes=[{"response": "r1", "rater": "a", "question": "q", "answer": "yes"}],
        scores=[{"response": "r1", "metric": "rouge", "score": "1", "signature": ""}],
    )

    page = shown(researcher.get(runs_of(Study.objects.get())))

    assert "Run Auto-AIS (added words)" in page.buttons


def test_a_study_s_runs_cost_the_same_for_1_and_for_10(researcher, study):
    def cost():
        return len(statements(lambda: researcher.get(runs_of(study))))

    done(study.dataset)
    for_one = cost()
    for n in range(9):
        done(study.dataset, threshold=n / 10)

    assert cost() == for_one


def test_a_study_s_runs_are_for_researchers_with_a_token(rachel, rosa, client_for, study):
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(rosa)

    assert client_for(rachel).get(runs_of(study)).status_code == 403
    assert client_for(rachel).post(start(study)).status_code == 403
    assert client_for(rosa).get(start(study)).status_code == 405
    assert client_for(rosa).post(runs_of(study)).status_code == 405
    assert careful.post(start(study)).status_code == 403
    assert client_for(rosa).post("/studies/nowhere/runs/start/").status_code == 404
    assert not MetricRun.objects.exists()
