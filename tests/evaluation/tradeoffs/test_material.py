"""What figures on the trade-off are made of, from imported responses, scores and votes."""

import math

import numpy as np
import pytest

from evaluation.tradeoffs.axes import FAILED, UNDECIDED, axes_of, usual
from evaluation.tradeoffs.material import Material, material_of
from generation.models import Response
from tests.makers import example_row, import_rows, response_row

pytestmark = [pytest.mark.django_db, pytest.mark.database]

SCORES = [
    # e1: attributable and sensible; e2: sensible alone; e3: its sensibleness could not be scored.
    ("r1", "auto_ais", 0.9),
    ("r2", "auto_ais", 0.5),  # just the threshold: no yes
    ("r3", "auto_ais", 0.7),
    ("r1", "sensible", 0.8),
    ("r2", "sensible", 0.6),
]


@pytest.fixture
def material(tmp_path) -> Material:
    outcome = import_rows(
        tmp_path / "own",
        "own",
        examples=[example_row(f"e{n}") for n in (1, 2, 3)],
        responses=[
            response_row(f"r{n}", f"e{n}", setup={"model": "PaLM 8B", "prompt": "golden"})
            for n in (1, 2, 3)
        ],
        scores=[
            {"response": response, "metric": metric, "score": score}
            for response, metric, score in SCORES
        ],
    )
    axes = usual(axes_of(outcome.dataset))
    assert axes
    return material_of(outcome.dataset, axes)


def test_both_axes_are_arrays_of_setups_and_examples(material):
    assert material.examples == ("e1", "e2", "e3")
    assert [dot.setup.model for dot in material.dots] == ["PaLM 8B"]
    np.testing.assert_array_equal(material.labels[0, 0], [1, 0, 1])
    np.testing.assert_array_equal(material.labels[1, 0], [1, 1, math.nan])
    np.testing.assert_array_equal(material.scores[0, 0], [0.9, 0.5, 0.7])
    assert material.left_out["sensibleness_unknown"] == 1
    assert material.left_out["attribution_unknown"] == 0


def test_a_chosen_response_has_the_values_of_its_source(material):
    source = Response.objects.get(key="r1")
    setup = material.dataset.setups.create(name="chosen", model="PaLM 8B", prompt="reranked")
    Response.objects.create(
        dataset=material.dataset,
        example=source.example,
        setup=setup,
        key="chosen-1",
        text=source.text,
        is_evidence_stated=False,
        digest="",
        chosen_from=source,
    )

    again = material_of(material.dataset, material.axes)

    place = again.place("chosen")
    assert again.dots[place].is_aggregate
    np.testing.assert_array_equal(again.labels[:, place, 0], [1, 1])
    assert np.isnan(again.labels[:, place, 1:]).all()


def test_the_hash_follows_the_scores(material):
    before = material.data_hash
    assert material_of(material.dataset, material.axes).data_hash == before

    run = material.axes.attribution.run
    run.scores.filter(target__response__key="r2").update(score=0.95)

    assert material_of(material.dataset, material.axes).data_hash != before


def test_why_there_is_no_label_is_counted(material):
    run = material.axes.attribution.run
    run.scores.filter(target__response__key="r2").update(score=None, problem="no answer")

    again = material_of(material.dataset, material.axes)

    assert again.left_out[f"attribution_{FAILED}"] == 1
    assert f"attribution_{UNDECIDED}" not in again.left_out
