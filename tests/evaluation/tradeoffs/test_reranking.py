"""Aggregates: chosen by scores, stored once, exported and imported as they are."""

import pytest

from evaluation.exchange import interchange
from evaluation.exchange.interchange import BadRows
from evaluation.models import AutoScore
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.pools import USUAL_TYPES, Pool
from evaluation.tradeoffs.selection_bias import flattered
from evaluation.tradeoffs.services.reranking import RerankingError, rerank
from evaluation.votes.export import export_folder
from generation.models import Dataset, Response
from tests.evaluation.tradeoffs.reranked import (
    BY_ATTRIBUTION,
    MODEL,
    NAMES,
    SENSIBLE_FIRST,
    axes_in,
    dataset_of,
    keys_of,
    rows,
)
from tests.makers import (
    audit_actions,
    contents,
    example_row,
    forget,
    import_path,
    import_rows,
    problems_of,
    response_row,
    statements,
)
from tests.tradeoff_material import pools_of

pytestmark = pytest.mark.once


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    return dataset_of(tmp_path / "own")


def chosen(setup):
    """Return the key of the response that was chosen for each example."""
    return dict(setup.responses.values_list("example__key", "chosen_from__key"))


def test_an_aggregate_has_the_responses_that_the_scores_speak_for(dataset):
    aggregate = rerank(dataset, axes_in(dataset), NAMES, "max-attribution")

    assert chosen(aggregate) == keys_of(BY_ATTRIBUTION)
    assert (aggregate.model, aggregate.temperature, aggregate.prompt) == (MODEL, 0.0, "reranked")
    assert aggregate.settings["pool"] == list(NAMES)
    assert aggregate.settings["function"] == "max-attribution"
    assert aggregate.settings["attribution"] == axes_in(dataset).attribution.said
    assert ("setup.reranked", f"own: {aggregate.name}") in audit_actions()


def test_a_chosen_response_has_text_evidence_and_prompt_size_of_its_source(dataset):
    aggregate = rerank(dataset, axes_in(dataset), NAMES, "sensible-first")

    assert chosen(aggregate) == keys_of(SENSIBLE_FIRST)
    response = aggregate.responses.get(example__key="e2")
    assert response.text == "Text of retrieved-2-2."
    assert [shown.passage.key for shown in response.shown.all()] == ["p-e2"]
    assert response.meta == {"tokens": {"total": 102}}
    material = material_of(dataset, axes_in(dataset))
    place = material.place(aggregate.name)
    assert material.dots[place].n_calls == 3
    assert material.scores[0, place, :3].tolist() == [0.9, 0.7, 0.6]


def test_a_pool_is_in_the_order_of_its_types_whatever_the_order_given(dataset):
    aggregate = rerank(dataset, axes_in(dataset), NAMES[::-1], "weighted", (1, 1))

    assert aggregate.settings["pool"] == list(NAMES)
    # e1: 0.3 + 0.9, 0.6 + 0.9, 1.0 + 0.1; e2: 0.9 + 0.2, 0.2 + 0.8, 0.8 + 0.7;
    # e3: 1.0 + 0.6, 1.0 + 0.4, 0.4 + 0.9
    assert chosen(aggregate) == keys_of([1, 2, 0, -1])
    assert aggregate.settings["weights"] == [1.0, 1.0]


def test_the_same_again_is_the_same_aggregate(dataset):
    first = rerank(dataset, axes_in(dataset), NAMES, "max-attribution")
    before = contents()

    assert rerank(dataset, axes_in(dataset), NAMES, "max-attribution") == first
    assert contents() == before


def test_examples_that_have_come_since_are_added(dataset):
    aggregate = rerank(dataset, axes_in(dataset), NAMES, "max-attribution")
    aggregate.responses.filter(example__key__in=["e2", "e3"]).delete()

    assert rerank(dataset, axes_in(dataset), NAMES, "max-attribution") == aggregate
    assert chosen(aggregate) == keys_of(BY_ATTRIBUTION)


def test_another_choice_does_not_mix_with_the_stored_one(dataset):
    axes = axes_in(dataset)
    first = rerank(dataset, axes, NAMES, "max-attribution")
    scores = AutoScore.objects.filter(run=axes.attribution.run)
    scores.filter(target__response__key="golden-2").update(score=0.99)

    second = rerank(dataset, axes, NAMES, "max-attribution")

    assert second != first
    assert chosen(first) == keys_of(BY_ATTRIBUTION)
    assert chosen(second) == keys_of([1, 0, 2, 2])
    assert {k: v for k, v in second.settings.items() if k != "choice"} == first.settings
    assert rerank(dataset, axes, NAMES, "max-attribution") == second
    assert Response.objects.filter(setup=second).count() == 4


def test_more_examples_cost_no_more_queries(dataset, tmp_path):
    axes = axes_in(dataset)
    rerank(dataset, axes, NAMES, "sensible-first")
    first = len(statements(lambda: rerank(dataset, axes, NAMES, "max-attribution")))
    more = range(5, 25)
    setup = {"model": MODEL, "temperature": 0.0, "prompt": "golden"}
    import_rows(
        tmp_path / "more",
        "own",
        examples=[example_row(f"e{n}") for n in more],
        responses=[response_row(f"golden-{n}", f"e{n}", setup=setup) for n in more],
        scores=[
            {"response": f"golden-{n}", "metric": "auto_ais", "score": 1, "signature": "t:0.5"}
            for n in more
        ],
    )

    again = len(statements(lambda: rerank(dataset, axes, NAMES, "max-attribution")))

    assert Response.objects.filter(setup__prompt="reranked").count() == 3 + 24
    assert again <= first


def test_a_pool_of_different_things_is_refused(dataset, tmp_path):
    odd = {
        "one model": {"model": "PaLM 62B", "temperature": 0.0, "prompt": "golden"},
        "one temperature": {"model": MODEL, "temperature": 0.7, "prompt": "golden"},
        "one number of new tokens": {"model": MODEL, "temperature": 0.0, "max_tokens": 9},
        "one precision": {"model": MODEL, "temperature": 0.0, "precision": "int8"},
        "made from a pool itself": {"model": MODEL, "temperature": 0.0, "prompt": "reranked"},
        "different models named": {
            "model": MODEL,
            "temperature": 0.0,
            "prompt": "one-shot",
            "made_with": {"revision": "b"},
        },
        "is not known": "gpt",
    }
    more = [response_row(said, setup=setup) for said, setup in odd.items()]
    import_rows(tmp_path / "more", "own", responses=more)
    dataset.setups.filter(name=NAMES[0]).update(made_with={"revision": "a"})

    for said in odd:
        name = Response.objects.get(key=said).setup.name
        with pytest.raises(RerankingError, match=said):
            rerank(dataset, axes_in(dataset), [name, *NAMES], "max-attribution")


def test_a_pool_that_is_not_there_or_has_no_scores_is_refused(dataset, tmp_path):
    axes = axes_in(dataset)
    setup = {"model": MODEL, "temperature": 0.0, "prompt": "one-shot"}
    import_rows(tmp_path / "more", "own", responses=[response_row("unscored", setup=setup)])
    unscored = Response.objects.get(key="unscored").setup.name

    for pool, said in [
        (["nobody"], "no setup 'nobody'"),
        ([], "at least one setup"),
        ([NAMES[0], NAMES[0]], "only once"),
        ([unscored], "No example has a response"),
    ]:
        with pytest.raises(RerankingError, match=said):
            rerank(dataset, axes, pool, "max-attribution")
    with pytest.raises(RerankingError, match="expected one of max-attribution"):
        rerank(dataset, axes, NAMES, "best")


def test_the_usual_pool_has_the_seven_types_of_one_model_and_temperature(dataset, tmp_path):
    others = [
        {"model": MODEL, "temperature": 0.0, "prompt": "no-evidence"},
        {"model": MODEL, "temperature": 0.0, "prompt": "no-history-golden"},
        {"model": MODEL, "temperature": 0.0, "prompt": "golden", "position": "last"},
        {"model": MODEL, "temperature": 0.7, "prompt": "golden"},
        {"model": MODEL, "temperature": 0.0, "prompt": "one-shot", "one_shot": "e9"},
    ]
    more = [response_row(f"more-{n}", setup=setup) for n, setup in enumerate(others)]
    import_rows(tmp_path / "more", "own", responses=more)
    one_shot, warm = (Response.objects.get(key=f"more-{n}").setup.name for n in (4, 3))

    pools = pools_of(material_of(dataset, axes_in(dataset)))

    missing = ("retrieved-3", "retrieved-2-instructions", "retrieved-3-instructions")
    assert pools == [
        Pool(MODEL, 0.0, (*NAMES, one_shot), missing=missing),
        Pool(MODEL, 0.7, (warm,), missing=USUAL_TYPES[1:]),
    ]
    assert pools[0].full_title == (
        f"{MODEL}, T 0.0: 4 of the 7 usual types; missing: {', '.join(missing)}"
    )


def test_a_score_of_just_a_half_is_sensible_though_its_label_says_no(dataset):
    axes = axes_in(dataset)
    scores = AutoScore.objects.filter(run=axes.sensibleness.run)
    scores.filter(target__response__key="golden-instructions-1").update(score=0.5)

    aggregate = rerank(dataset, axes, NAMES, "sensible-first")

    # 0.9 with 0.5 before 0.1 with 1.0; a yes of an imported score is above 0.5.
    assert chosen(aggregate) == keys_of(SENSIBLE_FIRST)
    material = material_of(dataset, axes)
    place = material.place(aggregate.name)
    assert (material.scores[1, place, 0], material.labels[1, place, 0]) == (0.5, 0.0)


# --- export and import ----------------------------------------------------------------------


@pytest.mark.parametrize("batch", [3, 2000])
def test_an_aggregate_comes_back_from_an_export_and_gives_the_same_figures(
    dataset, tmp_path, monkeypatch, batch
):
    monkeypatch.setattr(interchange, "BATCH", batch)
    aggregate = rerank(dataset, axes_in(dataset), NAMES, "sensible-first")
    material = material_of(dataset, axes_in(dataset))
    export_folder(dataset, None, tmp_path / "out")

    again = import_path(tmp_path / "out", "copy").dataset
    assert again is not None

    place = material.place(aggregate.name)
    assert flattered(material.dots[place], axes_in(again)) == (True, True)
    copy = again.setups.get(name=aggregate.name)
    assert chosen(copy) == chosen(aggregate)
    assert copy.settings == aggregate.settings
    assert material_of(again, axes_in(again)).data_hash == material.data_hash
    # What was imported is what a re-ranking there would store.
    before = contents()
    assert rerank(again, axes_in(again), NAMES, "sensible-first") == copy
    assert contents() == before


def test_an_exported_aggregate_imported_where_it_came_from_changes_nothing(dataset, tmp_path):
    aggregate = rerank(dataset, axes_in(dataset), NAMES, "max-attribution")
    tie = aggregate.responses.get(example__key="e1")
    assert tie.meta == {"tokens": {"total": 101}, "is_tie": True}
    export_folder(dataset, None, tmp_path / "out")

    outcome = import_path(tmp_path / "out", "own")

    assert outcome.counts["responses"] == {"new": 0, "unchanged": 16, "bad": 0}


def test_a_response_is_chosen_from_one_of_its_example_that_is_there(dataset, tmp_path):
    aggregate = {"model": MODEL, "temperature": 0.0, "prompt": "reranked"}
    golden = "Text of golden-1."
    taken = response_row("taken", text=golden, chosen_from="golden-1", setup=aggregate)
    bad = {
        "nowhere": ("e1", golden),
        "golden-1": ("e2", golden),  # another example
        "golden-instructions-1": ("e1", golden),  # other words
        "late": ("e1", "Text of late."),  # has a later place
        "taken": ("e1", golden),  # chosen itself
    }
    given = [
        response_row(f"of-{source}", example, text=text, chosen_from=source, setup=aggregate)
        for source, (example, text) in bad.items()
    ]

    responses = [taken, *given, response_row("late")]
    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "more", "own", responses=responses)

    lines = [("responses.jsonl", line, "chosen_from") for line in range(2, 7)]
    assert problems_of(error.value) == lines
    for source, problem in zip(bad, error.value.outcome.problems, strict=True):
        assert source in problem.found
        assert "a response to the same example" in problem.expected


def test_a_source_may_stand_before_in_the_same_file(tmp_path):
    aggregate = {"model": MODEL, "prompt": "reranked"}
    given = rows()
    given["responses"].append(
        response_row("a", text="Text of golden-1.", chosen_from="golden-1", setup=aggregate)
    )

    import_rows(tmp_path / "own", "own", **given)

    assert Response.objects.get(chosen_from__key="golden-1").key == "a"


def test_a_dataset_goes_with_its_aggregates(dataset):
    rerank(dataset, axes_in(dataset), NAMES, "max-attribution")

    forget(dataset)

    assert not Response.objects.exists()
