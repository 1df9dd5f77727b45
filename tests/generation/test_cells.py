"""The setups of a grid; each says everything about the way it is asked."""

import pytest

from generation.backends.base import Decoding
from generation.grids.cells import cells, decoding_of, models_there, spec_of
from generation.grids.grid_file import GridError, GridModel
from generation.grids.prompt_choices import choices_of
from generation.models import Checkpoint, Setup
from tests.generation.question_makers import grid_of

pytestmark = pytest.mark.both


def names(**grid):
    return [cell.setup.name for cell in cells(grid_of(model="extractive", **grid))]


def test_each_choice_meets_each_other_and_what_is_usual_is_not_said():
    assert names(prompts=["no-evidence", "golden"], temperatures=[0.0, 0.7]) == [
        "extractive · T 0.0 · no-evidence",
        "extractive · T 0.7 · no-evidence",
        "extractive · T 0.0 · golden",
        "extractive · T 0.7 · golden",
    ]


def test_what_decodes_the_same_way_is_one_setup():
    """At temperature 0 the most likely token comes, whatever it is drawn by."""
    assert names(temperatures=[0.0, 0.7], seeds=[0, 1], top_p=[1.0, 0.9], top_k=[0, 5]) == [
        "extractive · T 0.0 · golden",
        "extractive · T 0.7 · golden",
        "extractive · T 0.7 · golden · seed=1",
        "extractive · T 0.7 · golden · top_k=5",
        "extractive · T 0.7 · golden · seed=1 · top_k=5",
        "extractive · T 0.7 · golden · top_p=0.9",
        "extractive · T 0.7 · golden · seed=1 · top_p=0.9",
        "extractive · T 0.7 · golden · top_k=5 · top_p=0.9",
        "extractive · T 0.7 · golden · seed=1 · top_k=5 · top_p=0.9",
    ]


def test_what_prompts_the_same_way_is_one_setup():
    """Without evidence it has no position; a random passage is drawn at temperature 0 too."""
    both = ["before-dialog", "before-last-turn"]

    assert names(prompts=["no-evidence"], positions=both, seeds=[0, 1]) == [
        "extractive · T 0.0 · no-evidence"
    ]
    assert names(prompts=["random"], seeds=[0, 1], positions=both) == [
        "extractive · T 0.0 · random",
        "extractive · T 0.0 · random · seed=1",
        "extractive · T 0.0 · random · position=before-last-turn",
        "extractive · T 0.0 · random · position=before-last-turn · seed=1",
    ]


def test_a_setup_alone_says_how_it_is_asked():
    grid = grid_of(
        model="extractive",
        prompts=["no-evidence", "random", "top-3", "one-shot"],
        temperatures=[0.0, 0.7],
        seeds=[0, 3],
        top_p=[0.9],
        top_k=[40],
        max_tokens=[64],
        positions=["before-dialog", "before-last-turn"],
        budget=900,
        one_shot="e1",
        retrieval={"idf": "lucene", "k1": 1.2, "b": 0.5, "query": "dialog"},
    )

    for cell in cells(grid):
        setup = Setup(**cell.setup._asdict())
        assert decoding_of(setup) == cell.decoding
        assert choices_of(setup) == cell.choices
        assert spec_of(setup) == cell.spec
    assert cells(grid)[-1].decoding == Decoding(0.7, 0.9, 40, 64, ("[eot]",), 3)


MODELS = {
    "chat": ("language-model", "/m/chat", True),
    "base": ("language-model", "/m/base", False),
    "hub": ("language-model", "org/model", None),
    "served": ("openai", "https://host/v1", True),
    "continued": ("openai", "https://host/v1/completions", False),
}


@pytest.mark.parametrize(
    ("model", "usual", "other", "refused"),
    [
        ("extractive", "", [], ["messages", "plain"]),
        ("chat", " · form=messages", ["native", "plain"], []),
        ("base", " · form=plain", ["native"], ["messages"]),
        ("hub", " · form=messages", ["native", "plain"], []),  # it says itself if it is none
        ("served", " · form=messages", ["native"], ["plain"]),
        ("continued", " · form=plain", ["native"], ["messages"]),
    ],
)
def test_a_dialog_has_the_usual_form_of_its_model_or_another_that_it_takes(
    model, usual, other, refused
):
    for name, (backend, location, is_chat) in MODELS.items():
        Checkpoint.objects.create(name=name, backend=backend, location=location, is_chat=is_chat)

    assert [cell.setup.name for cell in cells(grid_of(model=model))] == [
        f"{model} · T 0.0 · golden{usual}"
    ]
    [alone] = cells(grid_of(model=model, prompts=["no-history-golden"]))
    assert len(
        cells(
            grid_of(
                model=model,
                prompts=["no-history-golden"],
                positions=["before-dialog", "before-last-turn"],
            )
        )
    ) == (2 if alone.choices.form == "messages" else 1)  # the system's message, or the user's
    both = [usual.removeprefix(" · form=") or "native", *other]
    assert [cell.choices.form for cell in cells(grid_of(model=model, form=both))] == both
    assert [
        cell.setup.name for cell in cells(grid_of(model=model, prompts=["graph-gold"], form=both))
    ] == [f"{model} · T 0.0 · graph-gold"]
    for form in refused:
        with pytest.raises(GridError, match=f"form: found '{form}'; expected one that {model}"):
            cells(grid_of(model=model, form=[form]))


@pytest.mark.parametrize(
    ("model", "where"),
    [
        ({"name": "nobody"}, "models.1.name"),
        ({"name": "judge"}, "models.1.name"),  # it only says yes or no of pairs
        ({"name": "extractive", "precision": "bf16"}, "models.1.precision"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(model, where):
    Checkpoint.objects.create(name="judge", backend="transformers", location="/models/judge")

    with pytest.raises(GridError) as error:
        cells(grid_of(models=[model]))

    assert error.value.where == where


def test_listed_models_are_asked_as_they_are_listed():
    Checkpoint.objects.create(name="tiny", backend="language-model", location="/models/tiny")

    [cell] = cells(grid_of(models=[GridModel("tiny", "bf16")._asdict()], form=["native"]))

    assert cell.setup.name == "tiny · T 0.0 · golden · precision=bf16"
    assert (cell.spec.location, cell.spec.precision) == ("/models/tiny", "bf16")
    assert list(models_there()) == ["extractive", "tiny"]
