"""Prompts of a dataset's examples: which passages each type shows."""

import pytest

from generation.grids.material import materials
from generation.grids.prompt_choices import PromptChoices, PromptError
from generation.grids.prompts import PromptMaker
from generation.models import Dataset
from generation.retrieval.bm25 import Bm25
from generation.text.prompt_types import TWELVE, prompt_type
from tests.generation.mill import MILL, TURNS, example_rows, written
from tests.makers import example_row, import_rows, statements

pytestmark = pytest.mark.once

NO_GOLDEN = "no golden evidence"
TYPES = [*TWELVE, prompt_type("top-3")]


def choices(key, **more):
    return PromptChoices(prompt_type(key), **more)


@pytest.fixture
def mill(db, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"  # the index of passages is stored there
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


def test_material_comes_in_the_order_asked_with_four_queries(mill):
    ids = dict(mill.examples.values_list("key", "pk"))
    asked = [ids["mill"], ids["market"], ids["mill"]]
    got = []

    queries = statements(lambda: got.extend(materials(asked)))

    assert len(queries) == 4
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
    assert shown("retrieved-2", **lucene) == ["a", "d"]  # the golden one of the copies
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


# --- restricted context and the recipe's parts ----------------------------------------------


def test_restricted_context_shows_part_of_the_dialog_and_part_of_the_evidence(mill):
    prompt = made(mill, "restricted-golden-0.5")

    # Turns of 5, 6 and 6 tokens: of 17, 6 are nearer to a half than 12. Sentences of 6 and 4.
    assert prompt.prompt.text == (
        "Fact: Mill wheels stopped in 1971.\n0 -1 0 When did the mill close? [eot]\n1 0 1"
    )
    assert prompt.shares == (6 / 17, 6 / 10)
    assert keys_of(mill, prompt) == ["p2-mill"]


def test_at_its_ends_restricted_context_is_all_of_one_and_nothing_of_the_other(mill):
    start, end = made(mill, "restricted-golden-1.0"), made(mill, "restricted-golden-0.0")

    assert start.prompt.text == written("no-evidence")
    assert (start.shares, start.passages) == ((1, 0), ())
    assert end.prompt.text == f"Fact: {MILL}\n0 -1 1"
    assert end.shares == (0, 1)
    assert made(mill, "restricted-golden-0.0", position="before-last-turn") == end


@pytest.mark.parametrize("evidence", ["golden", "next-best", "random"])
def test_the_whole_dialog_has_no_evidence_of_any_kind(tmp_path, db, settings, evidence):
    settings.MEDIA_ROOT = tmp_path / "media"
    import_rows(tmp_path / "x", "x", examples=[example_row("e")])  # no passage but the golden one
    dataset = Dataset.objects.get()
    maker = PromptMaker(dataset, choices(f"restricted-{evidence}-1.0"))

    [prompt] = maker.made(material_of(dataset, "e"))

    assert prompt.prompt == made(dataset, "no-evidence", "e").prompt
    assert (prompt.shares, prompt.passages, prompt.problem) == ((1, 0), (), "")
    assert maker.retrieval == ""  # nothing was ranked or drawn


SAID = [("assistant", "Hello there!"), ("user", "The mill closed?")]


def test_restricted_non_evidence_shows_as_many_passages_as_are_golden(tmp_path, db, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    passages = [
        {"id": "g1", "text": "The mill closed.", "golden": True},
        {"id": "g2", "text": "The mill burnt.", "golden": True},
        {"id": "a", "text": "A mill closed late. Nobody knew."},
        {"id": "b", "text": "The mill sank."},
        {"id": "c", "text": "No words in common."},
    ]
    turns = [{"speaker": who, "text": text} for who, text in SAID]
    import_rows(tmp_path / "x", "x", examples=[example_row("e", turns=turns, evidence=passages)])
    dataset = Dataset.objects.get()
    lucene = {"bm25": Bm25("lucene", b=0.0)}

    golden = made(dataset, "restricted-golden-0.0", "e")
    best = made(dataset, "restricted-next-best-0.0", "e", **lucene)
    part = made(dataset, "restricted-next-best-0.6", "e", **lucene)

    assert keys_of(dataset, golden) == ["g1", "g2"]
    # Both share two words with the question; 'closed' is in fewer passages than 'The'.
    assert keys_of(dataset, best) == ["a", "b"]
    # Of 7 tokens the last turn has 4, nearer to 0.6 than 7; they leave 3/7. Sentences of 5, 3 and 4
    # tokens: of 12, 5 are nearer to 3/7 than 0 and 8.
    assert keys_of(dataset, part) == ["a"]
    assert part.shares == (4 / 7, 5 / 12)
    for seed in range(10):
        drawn = keys_of(dataset, made(dataset, "restricted-random-0.0", "e", seed=seed))
        assert len(drawn) == 2
        assert not set(drawn) & {"g1", "g2"}


def test_what_a_budget_takes_from_restricted_context_is_not_in_its_shares(mill):
    prompt = made(mill, "restricted-golden-0.1", budget=14)

    # No turn is nearest to 0.1, both sentences to 0.9: 4 + 12 tokens. The second one has no room.
    assert prompt.prompt.text == "Fact: Mill wheels stopped in 1971.\n0 -1 1"
    assert prompt.shares == (0, 6 / 10)
    assert prompt.prompt.n_sentences_left_out == 1


@pytest.mark.parametrize("evidence", ["golden", "next-best", "random"])
def test_without_golden_evidence_there_is_no_restricted_context_of_any_kind(mill, evidence):
    assert made(mill, f"restricted-{evidence}-0.5", "market").problem == NO_GOLDEN


def test_restricted_context_needs_a_dialog(tmp_path, db, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    import_rows(tmp_path / "x", "x", examples=[example_row("e", turns=None)])

    found = made(Dataset.objects.get(), "restricted-golden-0.5", "e")

    assert found.problem == "no dialog to keep a share of"


def test_parts_of_the_ranking_cover_its_first_and_do_not_force_golden(mill):
    shown = [keys_of(mill, made(mill, f"top-2-of-5-part-{part}")) for part in (1, 2, 3)]

    ranking = keys_of(mill, made(mill, "top-5"))
    assert ranking[:3] == ["p4-flood", "p5-strike", "p1-wind"]
    assert shown == [ranking[:2], ranking[2:4], [ranking[4], ranking[0]]]
    # There are eight passages: parts after the fourth have none of their own.
    assert len(keys_of(mill, made(mill, "top-2-of-20-part-4"))) == 2
    assert made(mill, "top-2-of-20-part-5").problem == "no passage of its own"
    assert made(mill, "top-2-of-20-part-10").prompt is None


def test_behind_many_copies_others_are_looked_for(tmp_path, db, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    # The first eleven of the ranking have one text; five are looked at beyond those to show.
    copies = [{"id": f"a{n:02}", "text": "The mill closed, it closed."} for n in range(11)]
    others = [
        {"id": "b", "text": "The mill closed."},
        {"id": "c", "text": "A mill has sails."},
        {"id": "d", "text": "No words in common.", "golden": True},
    ]
    turns = [{"speaker": "user", "text": "closed closed mill?"}]
    row = example_row("e", turns=turns, evidence=[*copies, *others])
    import_rows(tmp_path / "x", "x", examples=[row])
    dataset = Dataset.objects.get()
    lucene = {"bm25": Bm25("lucene", b=0.0)}
    maker = PromptMaker(dataset, choices("top-3", **lucene))
    material = material_of(dataset, "e")
    maker.made(material)  # the index is there now

    got = []
    queries = statements(lambda: got.extend(maker.made(material)))

    assert keys_of(dataset, got[0]) == ["a00", "b", "c"]
    assert len(queries) == 2  # the texts of eight passages, then of the others
    part = made(dataset, "top-2-of-3-part-2", "e", **lucene)
    assert keys_of(dataset, part) == ["c", "a00"]
    assert keys_of(dataset, made(dataset, "retrieved-3", "e", **lucene)) == ["a00", "b", "d"]
    for seed in range(5):
        drawn = made(dataset, "top-3", "e", ranking="random", seed=seed)
        assert len(drawn.passages) == 3


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
