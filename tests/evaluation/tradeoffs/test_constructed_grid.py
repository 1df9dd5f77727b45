"""Real grids, asked of a model whose answers are attributable and sensible by construction."""

import numpy as np
import pytest

from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.reports.tradeoff import tradeoff_report
from generation.models import Call
from tests.constructed_model import construction
from tests.evaluation.tradeoffs.scoring import constructed_dataset, scored, usual_axes
from tests.generation.question_makers import ask, grid_of, started
from tests.tradeoff_grid import LARGE, SMALL
from tests.tradeoff_texts import example_key

pytestmark = pytest.mark.once

N_EXAMPLES = 12
PROMPTS = [
    "no-evidence",
    "golden",
    "retrieved-3-instructions",
    "one-shot",
    "no-history-golden",
    "next-best",
    "restricted-golden-0.5",
    "restricted-golden-0.0",
    "restricted-next-best-0.0",
    "top-1-of-3-part-2",
    "top-2-of-3-part-2",
]


def test_lexical_and_heuristic_find_what_was_constructed(tmp_path, constructed_models):
    dataset = constructed_dataset(tmp_path / "own", N_EXAMPLES)
    models = [{"name": SMALL}, {"name": LARGE}]

    ask(started(dataset, grid_of(prompts=PROMPTS, models=models, temperatures=[0.0])))
    scored(dataset, "auto_ais", "lexical")
    scored(dataset, "sensible", "heuristic")

    axes = usual_axes(dataset)
    material = material_of(dataset, axes)
    assert len(material.dots) == 2 * len(PROMPTS)
    wanted, chances = (np.full(material.labels.shape, np.nan) for _ in range(2))
    calls = Call.objects.filter(setup__dataset=dataset).select_related("setup", "example")
    for call in calls:
        made = construction(call.setup.model, call.prompt, temperature=0.0)
        here = material.place(call.setup.name), material.examples.index(call.example.key)
        is_about_it = made.example is not None and example_key(made.example) == call.example.key
        wanted[:, *here] = made.is_attributable and is_about_it, made.is_sensible
        chances[:, *here] = made.truth
        chances[0, *here] *= is_about_it
    assert set(wanted.ravel()) == {0, 1}  # each setup has been asked about each example
    np.testing.assert_array_equal(material.labels, wanted)

    held = []
    for row in tradeoff_report(material, View()).records:
        attribution, sensibleness = chances[:, material.place(row["setup"])].mean(axis=1)
        held.append(row["attribution_low"] <= attribution <= row["attribution_high"])
        held.append(row["sensibleness_low"] <= sensibleness <= row["sensibleness_high"])
    assert len(held) == 2 * 2 * len(PROMPTS)
    assert np.mean(held) >= 0.85  # 95 % are expected
