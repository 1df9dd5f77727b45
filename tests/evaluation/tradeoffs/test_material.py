"""The material of figures on the trade-off, from imported responses, scores and votes."""

import math

import numpy as np
import pytest

from evaluation.models import MetricRun
from evaluation.tradeoffs.axes import (
    FAILED,
    NOT_ASKED,
    TIED,
    Values,
    axes_of,
    usual,
    values_of,
)
from evaluation.tradeoffs.material import TradeoffMaterial, material_of
from evaluation.tradeoffs.material_cache import version_of
from generation.models import Example, Response
from tests.makers import example_row, import_rows, response_row

pytestmark = pytest.mark.once

SCORES = [
    # e1: attributable and sensible; e2: sensible alone; e3: its sensibleness could not be scored.
    ("r1", "auto_ais", 0.9),
    ("r2", "auto_ais", 0.5),  # just the threshold: no yes
    ("r3", "auto_ais", 0.7),
    ("r1", "sensible", 0.8),
    ("r2", "sensible", 0.6),
]


@pytest.fixture
def material(tmp_path) -> TradeoffMaterial:
    outcome = import_rows(
        tmp_path / "own",
        "own",
        examples=[example_row(f"e{n}") for n in (1, 2, 3)],
        responses=[
            response_row(f"r{n}", f"e{n}", setup={"model": "PaLM 8B", "prompt": "golden"})
            for n in (1, 2, 3)
        ],
        scores=[
            {"response": response, "metric": metric, "score": score, "signature": "t:0.5"}
            for response, metric, score in SCORES
        ],
    )
    assert outcome.dataset
    axes = usual(axes_of(outcome.dataset))
    assert axes
    return material_of(outcome.dataset, axes)


def chosen(material: TradeoffMaterial, source: Response) -> Response:
    setup = material.dataset.setups.create(name="chosen", model="PaLM 8B", prompt="reranked")
    return Response.objects.create(
        dataset=material.dataset,
        example=source.example,
        setup=setup,
        key="chosen-1",
        text=source.text,
        is_evidence_stated=False,
        digest="",
        chosen_from=source,
    )


def test_both_axes_are_arrays_of_setups_and_examples(material):
    assert material.examples == ("e1", "e2", "e3")
    assert [dot.setup.model for dot in material.dots] == ["PaLM 8B"]
    np.testing.assert_array_equal(material.labels[0, 0], [1, 0, 1])
    np.testing.assert_array_equal(material.labels[1, 0], [1, 1, math.nan])
    np.testing.assert_array_equal(material.scores[0, 0], [0.9, 0.5, 0.7])
    assert material.left_out["sensibleness_unknown"] == 1
    assert material.left_out["attribution_unknown"] == 0


def test_a_chosen_response_has_the_values_of_its_source(material):
    chosen(material, Response.objects.get(key="r1"))

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
    assert f"attribution_{TIED}" not in again.left_out


def test_of_some_setups_only_their_scores_are_read_and_those_of_their_sources(
    material, django_assert_num_queries
):
    source = Response.objects.get(key="r1")
    aggregate = chosen(material, source).setup

    assert values_of(material.axes.attribution, {aggregate.pk}).ids.tolist() == [source.pk]
    with django_assert_num_queries(
        8
    ):  # setups, examples, responses, controls; of each axis own and sources
        some = material_of(material.dataset, material.axes, {aggregate.pk})
    whole = material_of(material.dataset, material.axes)
    assert [dot.setup.name for dot in some.dots] == ["chosen"]
    assert some.examples == ("e1",)
    np.testing.assert_array_equal(some.labels[:, 0], whole.labels[:, whole.place("chosen"), :1])
    np.testing.assert_array_equal(some.scores[:, 0], [[0.9], [0.8]])


def test_places_of_responses_among_those_that_were_asked_about():
    empty = np.zeros(0)
    none = Values(np.zeros(0, np.int64), empty, empty, np.zeros(0, np.int64), empty.astype(bool))
    some = none._replace(ids=np.array([3, 5, 9]))

    assert some.places(np.array([5, 4, 9, 10, 0])).tolist() == [
        1,
        NOT_ASKED,
        2,
        NOT_ASKED,
        NOT_ASKED,
    ]
    assert none.places(np.array([5])).tolist() == [NOT_ASKED]


ODD_META = [
    {"shares": {"dialog": 0.5}},
    {"shares": 5, "tokens": 5},
    {"shares": [1], "tokens": [1]},
    {"shares": "x", "tokens": "x"},
    {"shares": None, "tokens": None},
    {"shares": {"dialog": "0.5", "evidence": "0.5"}, "tokens": {"total": "5"}},
    {"shares": {"dialog": True, "evidence": False}, "tokens": {"total": True}},
    {"shares": {"dialog": 1.5, "evidence": 0.5}, "tokens": {"total": -1}},
    {"shares": '{"dialog": 0.5, "evidence": 0.5}', "tokens": '{"total": 5}'},
    {"shares": {"dialog": 10**400, "evidence": 0}, "tokens": {"total": 10**400}},
]


def test_what_is_no_number_of_tokens_and_no_share_is_not_said(tmp_path):
    # The last setup says 100 and 200 tokens, and 0.25 and 0.75 of the dialog: 150 and 0.5.
    said = [
        {"tokens": {"total": 100}, "shares": {"dialog": 0.25, "evidence": 1}},
        {"tokens": {"total": 200.0}, "shares": {"dialog": 0.75, "evidence": 0}},
        {"tokens": {"total": "many"}},
    ]
    metas = [(f"odd {n:02}", meta) for n, meta in enumerate(ODD_META)]
    metas += [("told", meta) for meta in said]
    outcome = import_rows(
        tmp_path / "odd",
        "odd",
        examples=[example_row(f"e{n}") for n in (1, 2, 3)],
        responses=[
            response_row(f"r{n:02}", f"e{n % 3 + 1}", setup={"model": name}, meta=meta)
            for n, (name, meta) in enumerate(metas)
        ],
        scores=[
            {"response": "r00", "metric": metric, "score": 1} for metric in ("auto_ais", "sensible")
        ],
    )
    assert outcome.dataset
    axes = usual(axes_of(outcome.dataset))
    assert axes

    *odd, told = material_of(outcome.dataset, axes).dots

    for dot in odd:
        figures = dot.context_tokens, dot.dialog_share, dot.evidence_share
        assert np.isnan(figures).all(), dot.setup.name
    assert (told.context_tokens, told.dialog_share, told.evidence_share) == (150, 0.5, 0.5)
    # 0.25 + 1 and 0.75 + 0 are each 0.25 from a whole, though their means are 0.5 and 0.5.
    assert told.off_budget == 0.25


def test_the_hash_follows_all_that_figures_are_made_from(material):
    response = Response.objects.get(key="r1")
    responses = Response.objects.filter(pk=response.pk)
    other = material.dataset.setups.create(name="other")
    fourth = Example.objects.create(dataset=material.dataset, key="e4", dialog="another")
    hashes = [material.data_hash]

    def changed() -> bool:
        hashes.append(material_of(material.dataset, material.axes).data_hash)
        return hashes[-1] not in hashes[:-1]

    assert not changed()  # a setup and an example without responses change nothing
    material.dataset.examples.filter(key="e2").update(dialog="the same as another")
    assert changed()
    responses.update(meta={"tokens": {"total": 5}})
    assert changed()
    responses.update(meta={"shares": {"dialog": 0.5, "evidence": 0.5}})
    assert changed()
    responses.update(example=fourth)
    assert changed()
    responses.update(setup=other)
    assert changed()


def test_the_first_response_is_that_of_the_smallest_key_by_characters(material):
    # 'R' is the smaller character; a dictionary has 'r1' before 'R2'.
    first = Response.objects.get(key="r1")
    Response.objects.filter(key="r2").update(key="R2", example=first.example)

    again = material_of(material.dataset, material.axes)

    assert again.responses[0, 0] == Response.objects.get(key="R2").pk
    assert again.left_out["repeated_responses"] == 1


def test_what_is_kept_is_made_anew_when_what_made_it_is_told(material):
    axes, dataset = material.axes, material.dataset
    versions = [version_of(dataset, axes)]
    assert axes.attribution.run

    runs = MetricRun.objects.filter(pk=axes.attribution.run.pk)
    runs.update(backend_signature="float16")
    versions.append(version_of(dataset, axes))
    dataset.setups.update(made_with={"backend": "local"})
    versions.append(version_of(dataset, axes))
    dataset.setups.update(run="second")
    versions.append(version_of(dataset, axes))

    assert len(set(versions)) == 4
