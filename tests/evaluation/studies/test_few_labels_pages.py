"""The pages of the reports on few labels, on two sides and on the order of setups."""

import pytest
from django.urls import reverse

from annotation.models import Study
from tests.evaluation.studies.few_labels import few_labels
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once
KEYS = ("prediction_powered", "comparison", "system_correlation")


def page_of(study, key, query=""):
    return reverse("evaluation:report-of-study", args=[study.slug, key]) + query


@pytest.mark.parametrize("key", KEYS)
def test_each_page_has_its_table_and_its_chart(tmp_path, researcher, key):
    answer = researcher.get(page_of(few_labels(tmp_path), key))

    assert answer.status_code == 200
    page = shown(answer)
    assert page.tables
    has_chart = 'data-chart="figures"' in answer.content.decode()
    assert has_chart is (key != "comparison")  # three setups need no matrix
    assert "Raters are still at work" not in page.text


def test_a_study_that_is_being_rated_says_that_figures_change(tmp_path, researcher):
    study = few_labels(tmp_path)
    Study.objects.update(state=Study.State.OPEN)

    page = shown(researcher.get(page_of(study, "comparison")))

    assert "Raters are still at work" in page.text


def test_a_second_visit_reads_no_votes(tmp_path, researcher):
    study = few_labels(tmp_path)
    researcher.get(page_of(study, "comparison"))

    asked = statements(lambda: researcher.get(page_of(study, "comparison")))

    assert not any("GROUP BY" in each and "annotation_vote" in each for each in asked)


def test_the_results_of_a_drawn_study_lead_to_few_labels(tmp_path, researcher):
    study = few_labels(tmp_path)

    page = researcher.get(reverse("evaluation:study", args=[study.slug]))

    assert page_of(study, "prediction_powered") in page.content.decode()
    assert "The seed drew 40 of 80 dialogs" in shown(page).text


def test_a_choice_that_there_is_not_is_said_on_the_page(tmp_path, researcher):
    page = shown(researcher.get(page_of(few_labels(tmp_path), "comparison", "?metric=other")))

    assert "other" in page.text
