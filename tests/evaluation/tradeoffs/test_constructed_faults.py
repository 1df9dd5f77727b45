"""The whole way, at full size: known models, asked, scored, re-ranked, and seen on the pages."""

import math

import numpy as np
import pytest
from django.urls import reverse

from evaluation.measures.reranking import SENSIBLE_FIRST
from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.reports.takeaways import takeaways_report
from evaluation.tradeoffs.reports.tradeoff import bands, tradeoff_report
from evaluation.tradeoffs.services.reranking import rerank
from generation.grids.restricted_context import restricted_grid
from generation.text.prompt_types import TWELVE
from tests.evaluation.tradeoffs.scoring import constructed_dataset, scored, usual_axes
from tests.evaluation.tradeoffs.true_values import cluster_truths
from tests.generation.question_makers import ask, grid_of, started
from tests.tradeoff_grid import BAND_OF, LARGE, SMALL, TEMPERATURES
from tests.tradeoff_material import pools_of

pytestmark = [pytest.mark.once, pytest.mark.faults]

N = 80  # examples


def test_pages_recover_what_models_were_made_to_do(tmp_path, constructed_models, client_for, rosa):
    dataset = constructed_dataset(tmp_path / "own", N)
    models = [{"name": name} for name in constructed_models]
    prompts = [kind.key for kind in TWELVE]
    ask(started(dataset, grid_of(prompts=prompts, models=models, temperatures=TEMPERATURES)))
    ask(started(dataset, restricted_grid("restricted", LARGE)))
    scored(dataset, "auto_ais", "lexical")
    scored(dataset, "sensible", "heuristic")
    axes = usual_axes(dataset)
    for pool in pools_of(material_of(dataset, axes)):
        rerank(dataset, axes, pool.setups, SENSIBLE_FIRST)

    material = material_of(dataset, axes)
    report = tradeoff_report(material, View())

    # 72 of the grid, 21 of restricted context, an aggregate of each model and temperature.
    assert len(report.records) == 72 + 21 + 6
    n_right = 0
    for row in report.records:
        if row["cluster"]:
            middles = cluster_truths(row["model"], row["temperature"])
            point = row["attribution"], row["sensibleness"]
            nearest = min(middles, key=lambda place: math.dist(middles[place], point))
            n_right += nearest == row["cluster"]
    assert n_right >= 70  # out of 72
    order = [BAND_OF[band.model, band.temperature or 0.0] for band in bands(report.rows)]
    assert order == sorted(order)
    effects = {row["effect"]: row for row in takeaways_report(material).records if not row["of"]}
    for effect in ("history", "golden evidence", "size", "temperature", "re-ranking"):
        assert effects[effect]["f1_difference_low"] > 0, effect
    small = max(row["f1"] for row in report.records if row["model"] == SMALL)
    large = [
        row["f1"]
        for row in report.records
        if (row["model"], row["temperature"], row["cluster"]) == (LARGE, 0.0, "top right")
    ]
    assert small == pytest.approx(np.mean(large), abs=0.1)
    for page in ("tradeoff", "takeaways", "comparable", "restricted", "reranking", "recipe"):
        answer = client_for(rosa).get(reverse(f"tradeoffs:{page}", args=[dataset.slug]))
        assert answer.status_code == 200, page
