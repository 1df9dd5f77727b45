"""The grid of known truth as a dataset, and its pages."""

import numpy as np
import pytest
from django.urls import reverse

from evaluation.measures.reranking import MAX_ATTRIBUTION
from evaluation.tradeoffs.axes import Axes, axes_of, find
from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.reports.tradeoff import tradeoff_report
from evaluation.tradeoffs.services.reranking import rerank
from tests.evaluation.tradeoffs.scoring import usual_axes
from tests.shown import shown
from tests.tradeoff_grid import ALONG, SMALL, synthetic_dataset
from tests.tradeoff_material import pools_of, synthetic_material

pytestmark = pytest.mark.once

N_OF_ALL = 4  # examples, where there are all setups
N = 40


def test_the_material_made_without_a_database_is_that_of_the_import(tmp_path):
    dataset = synthetic_dataset(tmp_path / "grid", n_examples=N_OF_ALL)

    stored = material_of(dataset, usual_axes(dataset))

    made = synthetic_material(N_OF_ALL)
    assert made.examples == stored.examples
    np.testing.assert_array_equal(made.dialogs, stored.dialogs)
    np.testing.assert_array_equal(made.labels, stored.labels)
    np.testing.assert_allclose(made.scores, stored.scores)
    for one, other in zip(made.dots, stored.dots, strict=True):
        assert (one.setup.name, one.kind) == (other.setup.name, other.kind)
        np.testing.assert_allclose(one[2:-1], other[2:-1])
        assert one.rated is other.rated is None
    assert [axis.said for axis in made.axes] == [axis.said for axis in stored.axes]


def test_choosing_by_a_noisy_metric_raises_it_more_and_the_page_warns(tmp_path, client_for, rosa):
    dataset = synthetic_dataset(
        tmp_path / "pool",
        n_examples=N,
        only=lambda cell: (cell.model, cell.temperature) == (SMALL, 0.7) and cell.prompt in ALONG,
    )
    true, noisy = (
        Axes(find(axes_of(dataset), metric), find(axes_of(dataset), "sensible"))
        for metric in ("auto_ais", "ais_noisy")
    )
    [pool] = pools_of(material_of(dataset, noisy))
    address = reverse("tradeoffs:tradeoff", args=[dataset.slug])

    aggregate = rerank(dataset, noisy, pool.setups, MAX_ATTRIBUTION)

    gains, flattered, pages = {}, {}, {}
    for name, axes in (("true", true), ("noisy", noisy)):
        rows = tradeoff_report(material_of(dataset, axes), View()).records
        [chosen] = [row for row in rows if row["setup"] == aggregate.name]
        singles = [row["attribution"] for row in rows if not row["is_aggregate"]]
        gains[name] = chosen["attribution"] - np.mean(singles)
        flattered[name] = chosen["is_flattered_x"]
        keys = {side: getattr(axes, side).key for side in Axes._fields}
        pages[name] = shown(client_for(rosa).get(address, keys | {"figure": 6}))
    assert gains["noisy"] > gains["true"] > 0
    assert flattered == {"noisy": True, "true": False}
    warning = "Attribution: Max attribution"  # sensibleness decided ties alone
    assert any(warning in message for message in pages["noisy"].messages)
    assert warning not in pages["true"].text
