"""The page of the trade-off says how far each axis can be trusted."""

import pytest
from django.urls import reverse

from annotation.models import Study
from evaluation.reports.columns import Estimate
from evaluation.tradeoffs.axis_trust import Agreement
from tests.makers import rated
from tests.shown import shown

VOTES = ["yes", "yes", "yes", "no", "no", "no", "yes", "no"]
SCORES = [0.9, 0.8, 0.2, 0.1, 0.3, 0.7, 0.6, 0.4]


@pytest.mark.once
def test_the_line_under_the_figure_has_the_agreement_of_each_axis(
    tmp_path, rosa, client_for, own_cache_and_folder
):
    keys = [f"r{number}" for number in range(len(VOTES))]
    scores = [
        {"response": key, "metric": metric, "score": score, "signature": "t:0.5"}
        for metric in ("auto_ais", "sensible")
        for key, score in zip(keys, SCORES, strict=True)
    ]
    votes = {key: {"attributable": [vote]} for key, vote in zip(keys, VOTES, strict=True)}
    study = rated(tmp_path / "a", votes, name="pilot", scores=scores)

    client = client_for(rosa)
    answer = client.get(reverse("tradeoffs:tradeoff", args=[study.dataset.slug]))

    # Of the 4 · 4 pairs of a yes and a no, .9, .8 and .6 are above (4, 4, 3) no’s and .2 above 1.
    text = shown(answer).text
    assert "x, attribution: controls —; ROC AUC with raters .75" in text
    assert "n = 8, not shown to be better than chance : pilot" in text
    assert "y, sensibleness: controls —; agreement with raters —" in text
    assert reverse("evaluation:study-metrics", args=[study.slug]) in answer.text


@pytest.mark.parametrize(
    ("auc", "said", "is_chance"),
    [
        (Estimate(0.7, 0.6, 0.8), ".70 (.60 to .80)", False),
        (Estimate(0.6, 0.5, 0.8), ".60 (.50 to .80)", True),
        (Estimate(0.3, 0.2, 0.4), ".30 (.20 to .40)", True),
        (Estimate(0.7), ".70", True),
        (Estimate(), "—", False),
    ],
)
def test_an_auc_whose_interval_is_not_above_a_half_is_not_better_than_chance(auc, said, is_chance):
    found = Agreement(Study(), 8, auc)

    assert (found.auc_text, found.is_chance) == (said, is_chance)
