"""The page of a threshold choice: the chart is drawn, and another question draws another."""

import re

import numpy as np
import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.evaluation.studies.test_threshold_choice_report import candidate
from tests.makers import rated, scheme_of

pytestmark = pytest.mark.django_db(transaction=True)


def grid_study(folder, n=40):
    """Import a study of two questions and twelve candidates, better with a window of two."""
    random = np.random.default_rng(4)
    labels = {f"r{n:02}": (bool(random.random() < 0.6), bool(n % 2)) for n in range(n)}
    words = {True: ["yes", "yes", "yes"], False: ["no", "no", "yes"]}
    study = rated(
        folder,
        {key: {"attributable": words[a], "relevant": words[b]} for key, (a, b) in labels.items()},
        scheme=scheme_of({"attributable": "yes_no", "relevant": "yes_no"}),
        name="Thresholds",
    )
    for flavor, lift in (("v1", 0.0), ("v2", 0.05), ("v3", 0.15)):
        for window in range(4):
            far = 0.3 + lift + 0.1 * (window == 2)
            noise = random.normal(0, 0.22, n)
            scores = {
                key: float(np.clip(0.45 + far * (a - 0.5) + each, 0, 1))
                for (key, (a, _)), each in zip(labels.items(), noise, strict=True)
            }
            candidate(study.dataset, flavor, window, scores)
    return study


def test_the_chart_is_drawn_and_another_question_draws_another(page, sign_in, rosa, tmp_path):
    study = grid_study(tmp_path / "s")
    sign_in(rosa)
    page.goto(reverse("evaluation:threshold-choice", args=[study.slug]))
    page.evaluate("window.sameDocument = true")

    chart = page.locator("[data-chart=grid] svg")
    expect(chart).to_be_visible()
    expect(chart).to_contain_text("ceiling: one against the rest")
    worth = page.get_by_role("region", name="What the choice gains")
    expect(worth).to_contain_text("Cross-validated (report this)")
    before = worth.inner_text()

    page.get_by_label("Question").select_option("relevant")

    expect(page).to_have_url(re.compile("question=relevant"))
    expect(worth).not_to_have_text(before)
    expect(chart).to_be_visible()
    assert page.evaluate("window.sameDocument"), "htmx should swap, not reload the page"
