"""From the answer of a study to its tied responses, a decision, and figures that use it."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.studies.hand_made import votes
from tests.makers import rated

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_researcher_decides_what_is_tied_and_takes_it_as_the_truth(page, sign_in, rosa, tmp_path):
    study = rated(tmp_path, votes(a="yyy", b="nnn", c="yn"))
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.9, "c": 0.9})
    sign_in(rosa)

    page.goto(reverse("evaluation:study", args=[study.slug]))
    page.get_by_role("link", name="Adjudicate 1").click()
    case = page.get_by_role("article", name="Response c")
    case.get_by_text("Adjudicate").click()
    case.get_by_role("radio", name="yes").check()
    case.get_by_label("Why").fill("Sentence 3 says so.")
    case.get_by_role("button", name="Save decision").click()
    expect(case.get_by_role("status")).to_have_text("The decision is saved. No vote was changed.")

    page.get_by_role("link", name="Metrics", exact=True).click()
    accuracies = page.get_by_role("table", name="Auto-metrics against the human majority, q")
    expect(accuracies).to_contain_text("50.0")  # a and b: yes, no; the metric says yes twice
    page.get_by_text("Counted:").click()
    page.get_by_role("switch", name="Adjudicated decisions are the truth").check()
    expect(page.get_by_text("1 label is a decision by adjudication").first).to_be_visible()
    decided = page.get_by_role("table", name="Auto-metrics against adjudicated decisions")
    expect(decided).to_contain_text("66.7")  # c is a yes as well: 2 of 3
    assert "adjudicated=on" in page.url
