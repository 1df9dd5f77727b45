"""Prompts of a dataset's examples: which passages a type shows, and what a setup says of it."""

import pytest

from generation.grids.material import materials
from generation.grids.prompts import (
    PromptChoices,
    PromptError,
    PromptMaker,
    choices_of,
    draws,
    settings_of,
    what_matters,
)
from generation.importers.setups import named_setup
from generation.models import Dataset
from generation.retrieval.bm25 import Bm25
from generation.text.prompt_types import TWELVE, prompt_type
from tests.generation.mill import MILL, TURNS, example_rows, written
from tests.makers import example_row, import_rows, statements

needs_database = pytest.mark.django_db
NO_GOLDEN = "no golden evidence"
TYPES = [*TWELVE, prompt_type("top-3")]


def choices(key, **more):
    return PromptChoices(prompt_type(key), **more)


@pytest.fixture
def mill(db, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"  # where the index of passages is kept
    import_rows(tmp_path / "mill", "mill", examples=example_rows())
    return Dataset.objects.get()


def material_of(dataset, *keys):
    ids = dict(dataset.examples.values_list("key", "pk"))
    return materials([ids[key] for key in keys])


def made(dataset, key, example="mill", **more):
    [prompt] = PromptMaker(dataset, choices(key, **more)).made(material_of(dataset, example))
    return prompt


def keys_of(dataset, prompt):
    """Return the keys of the passages that a prompt shows, in order."""
    keys = dict(dataset.passages.values_list("pk", "key"))
    return [keys[passage] for passage in prompt.passages]


# --- material -------------------------------------------------------------------------------


def test_material_comes_in_the_order_asked_with_three_queries(mill):
    ids = dict(mill.examples.values_list("key", "pk"))
    asked = [ids["mill"], ids["market"], ids["mill"]]
    got = []

    queries = statements(lambda: got.extend(materials(asked)))

    assert len(queries) == 3
    assert [example.key for example in got] == ["mill", "market", "mill"]
    assert got[0].turns == TURNS
    assert [(passage.key, passage.text) for passage in got[0].golden] == [("p2-mill", MILL)]
    assert got[1].golden == ()
    assert materials([]) == []


def test_material_of_an_example_that_is_not_there_is_an_error(mill):
    with pytest.raises(LookupError, match="no example with the id 999999"):
        materials([999999])


# --- prompts --------------------------------------------------------------------------------


def test_every_type_of_a_real_example_is_as_written_by_hand(mill):
    for kind in TYPES:
        if kind.evidence == "random":  # drawn: see below
            continue
        assert made(mill, kind.key).prompt.text == written(kind.key), kind.key


def test_the_passages_shown_are_told_in_their_order(mill):
    assert keys_of(mill, made(mill, "no-evidence")) == []
    assert keys_of(mill, made(mill, "golden")) == ["p2-mill"]
    assert keys_of(mill, made(mill, "retrieved-3")) == ["p4-flood", "p5-strike", "p2-mill"]
    assert keys_of(mill, made(mill, "top-3")) == ["p4-flood", "p5-strike", "p1-wind"]
    # Where not all of it fits each is shortened, and none is gone.
    assert len(keys_of(mill, made(mill, "retrieved-3", budget=50))) == 3


def test_the_whole_dialog_may_be_searched_by(mill):
    # Twice 'mill' and the 'in' of 1200, which no other passage has: more than the flood's words.
    assert keys_of(mill, made(mill, "top-1", query="dialog")) == ["p2-mill"]
    assert keys_of(mill, made(mill, "top-1")) == ["p4-flood"]


def test_a_random_passage_is_drawn_by_seed_and_is_never_golden(mill):
    drawn = [keys_of(mill, made(mill, "random", seed=seed)) for seed in range(40)]

    assert all(len(keys) == 1 for keys in drawn)
    assert len({keys[0] for keys in drawn}) > 3
    assert ["p2-mill"] not in drawn
    assert drawn[:5] == [keys_of(mill, made(mill, "random", seed=seed)) for seed in range(5)]


def test_a_random_ranking_holds_golden_evidence_where_the_type_says_so(mill):
    retrieved = [
        keys_of(mill, made(mill, "retrieved-3", ranking="random", seed=seed)) for seed in range(10)
    ]

    assert all(len(set(keys)) == 3 and "p2-mill" in keys for keys in retrieved)
    assert len({tuple(keys) for keys in retrieved}) > 3


def test_a_copy_of_the_golden_passage_is_no_non_evidence(tmp_path, db, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    passages = [
        {"id": "a", "text": "The mill closed in 1971.", "golden": True},
        {"id": "b", "text": "The mill closed in 1971."},
        {"id": "c", "text": "A mill has sails."},
        {"id": "d", "text": "No words in common."},
    ]
    turns = [{"speaker": "user", "text": "The mill closed?"}]
    import_rows(tmp_path / "x", "x", examples=[example_row("e", turns=turns, evidence=passages)])
    dataset = Dataset.objects.get()

    assert keys_of(dataset, made(dataset, "next-best", "e")) == ["c"]
    assert {keys_of(dataset, made(dataset, "random", "e", seed=s))[0] for s in range(20)} == {
        "c",
        "d",
    }


def test_no_text_takes_two_places(tmp_path, db, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    passages = [
        {"id": "a", "text": "The mill closed, it closed in 1971."},
        {"id": "b", "text": "The mill closed, it closed in 1971."},
        {"id": "c", "text": "The mill closed."},
        {"id": "d", "text": "The mill closed.", "golden": True},
        {"id": "e", "text": "A mill has sails."},
    ]
    turns = [{"speaker": "user", "text": "closed closed mill?"}]
    import_rows(tmp_path / "x", "x", examples=[example_row("e", turns=turns, evidence=passages)])
    dataset = Dataset.objects.get()
    lucene = {"bm25": Bm25("lucene", b=0.0)}  # no passage is the better for being short

    def shown(key, **more):
        return keys_of(dataset, made(dataset, key, "e", **more))

    # In order of the words shared: a and b (the same), c and d (the same), e.
    assert shown("top-2", **lucene) == ["a", "c"]
    assert shown("top-3", **lucene) == ["a", "c", "e"]
    assert shown("retrieved-2", **lucene) == ["a", "d"]  # of the copies the golden one
    assert shown("retrieved-3", **lucene) == ["a", "d", "e"]
    for seed in range(10):
        drawn = shown("retrieved-3", ranking="random", seed=seed)
        assert set(drawn) in ({"a", "d", "e"}, {"b", "d", "e"})


def test_without_golden_evidence_the_types_that_need_it_say_so(mill):
    problems = {kind.key: made(mill, kind.key, "market").problem for kind in TYPES}

    assert {key for key, problem in problems.items() if problem == NO_GOLDEN} == {
        kind.key for kind in TYPES if kind.needs_golden
    }
    assert {key for key, problem in problems.items() if not problem} == {
        *("no-evidence", "no-history-no-evidence", "random", "next-best", "top-3")
    }


def test_what_does_not_fit_is_a_problem_with_its_counts(mill):
    prompt = made(mill, "golden", budget=20)

    assert prompt.prompt is None
    assert prompt.passages == ()
    assert prompt.problem == (
        "24 tokens where all is left out that may be (dialog 16, evidence 8, instructions 0); "
        "expected at most 20"
    )


def test_without_any_other_passage_there_is_no_non_evidence(tmp_path, db, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    import_rows(tmp_path / "x", "x", examples=[example_row("e")])
    dataset = Dataset.objects.get()

    assert made(dataset, "next-best", "e").problem == "no passage to show"
    assert made(dataset, "random", "e").problem == "no passage to show"
    assert keys_of(dataset, made(dataset, "retrieved-2", "e")) == ["p-e"]


def test_the_queries_of_a_batch_do_not_grow_with_it(mill):
    maker = PromptMaker(mill, choices("retrieved-2"))
    maker.made(material_of(mill, "mill"))  # the index is there now
    few, many = material_of(mill, "mill"), material_of(mill, *["mill", "market"] * 20)

    n_few = len(statements(lambda: maker.made(few)))
    n_many = len(statements(lambda: maker.made(many)))

    assert n_few == n_many == 1  # the texts of some passages


def test_an_example_without_a_dialog_is_the_assistants_to_begin(tmp_path, db, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    import_rows(tmp_path / "x", "x", examples=[example_row("e", turns=None), *example_rows()])
    dataset = Dataset.objects.get()

    texts = [made(dataset, key, "e").prompt.text for key in ("golden", "no-history-no-evidence")]

    assert texts == ["Fact: Passage of e.\n0 -1 1", "0 -1 1"]
    assert len(keys_of(dataset, made(dataset, "top-3", "e"))) == 3


# --- the demonstration ----------------------------------------------------------------------


def test_an_example_of_the_dataset_may_demonstrate(tmp_path, db, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    shown = example_row("shown", golden_answer="Text.")
    import_rows(tmp_path / "x", "x", examples=[shown, example_row("asked")])
    dataset = Dataset.objects.get()
    maker = PromptMaker(dataset, choices("one-shot", one_shot="shown"))

    asked, itself = maker.made(material_of(dataset, "asked", "shown"))

    assert asked.prompt
    assert asked.prompt.text == (
        "Fact: Passage of shown.\n"
        "0 -1 0 Question of shown? [eot]\n"
        "1 0 1 Text. [eot]\n"
        "\n"
        "Fact: Passage of asked.\n"
        "0 -1 0 Question of asked? [eot]\n"
        "1 0 1"
    )
    assert keys_of(dataset, asked) == ["p-asked"]
    assert itself.prompt is None
    assert itself.problem == "it is the one-shot example itself"


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("nobody", "found 'nobody'; expected the id of an example of mill"),
        ("market", "found 'market', which lacks a golden answer or golden evidence"),
    ],
)
def test_an_example_that_cannot_demonstrate_is_an_error(mill, key, message):
    with pytest.raises(PromptError, match=message):
        PromptMaker(mill, choices("one-shot", one_shot=key))


# --- choices and settings -------------------------------------------------------------------

EVERYTHING = {
    "position": "before-last-turn",
    "budget": 900,
    "query": "dialog",
    "bm25": Bm25("lucene", 0.9, 0.4),
    "seed": 7,
    "one_shot": "e1",
}
BM25_SETTINGS = {"idf": "lucene", "k1": 0.9, "b": 0.4}


@pytest.mark.parametrize(
    ("key", "more", "settings"),
    [
        ("no-evidence", {}, {"budget": 900}),
        ("golden", {}, {"budget": 900, "position": "before-last-turn"}),
        ("no-history-golden", {}, {"budget": 900}),
        (
            "retrieved-3",
            {},
            {"budget": 900, "position": "before-last-turn", "query": "dialog", **BM25_SETTINGS},
        ),
        (
            "retrieved-3",
            {"ranking": "random"},
            {"budget": 900, "position": "before-last-turn", "ranking": "random", "seed": 7},
        ),
        ("retrieved-1", {"ranking": "random"}, {"budget": 900, "position": "before-last-turn"}),
        ("random", {}, {"budget": 900, "position": "before-last-turn", "seed": 7}),
        (
            "next-best",
            {"ranking": "random"},
            {"budget": 900, "position": "before-last-turn", "query": "dialog", **BM25_SETTINGS},
        ),
        ("one-shot", {}, {"budget": 900, "position": "before-last-turn", "one_shot": "e1"}),
    ],
)
def test_only_what_changes_a_prompt_is_said_by_its_setup(key, more, settings):
    chosen = choices(key, **EVERYTHING | more)
    setup = named_setup("a")._replace(prompt=key, settings=settings | {"top_p": 0.9})

    assert settings_of(chosen) == settings
    assert choices_of(setup) == what_matters(chosen)
    assert settings_of(what_matters(chosen)) == settings


def test_what_is_usual_is_not_said():
    for kind in TYPES:
        assert settings_of(PromptChoices(kind)) == {}
        assert choices_of(named_setup("a")._replace(prompt=kind.key)) == PromptChoices(kind)


def test_a_prompt_draws_where_it_is_random():
    drawing = {kind.key for kind in TYPES if draws(PromptChoices(kind, ranking="random"))}

    assert {kind.key for kind in TYPES if draws(PromptChoices(kind))} == {"random"}
    assert drawing == {"random", "top-3"} | {
        kind.key for kind in TYPES if kind.evidence == "retrieved"
    }


def test_a_setup_of_another_prompt_is_an_error():
    with pytest.raises(PromptError, match="model-a: prompt type 'my own'; expected no-evidence"):
        choices_of(named_setup("model-a")._replace(prompt="my own"))
