"""A setup says what matters of its prompts, and from that the same choices are read again."""

import pytest

from generation.grids.prompt_choices import (
    PromptChoices,
    PromptError,
    choices_of,
    draws,
    settings_of,
    what_matters,
)
from generation.importers.setups import named_setup
from generation.retrieval.bm25 import Bm25
from generation.text.prompt_types import TWELVE, prompt_type

TYPES = [*TWELVE, prompt_type("top-3")]
EVERYTHING = {
    "position": "before-last-turn",
    "budget": 900,
    "query": "dialog",
    "bm25": Bm25("lucene", 0.9, 0.4),
    "seed": 7,
    "one_shot": "e1",
}
CUT = {"evidence_share": "rest of kept"}
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
        # Nothing is shown beside the whole dialog, and beside nothing of it there is one place.
        ("restricted-golden-1.0", {}, {"budget": 900}),
        ("restricted-next-best-1.0", {}, {"budget": 900}),
        ("restricted-random-1.0", {}, {"budget": 900}),
        ("restricted-golden-0.0", {}, {"budget": 900}),
        ("restricted-next-best-0.0", {}, {"budget": 900, "query": "dialog", **BM25_SETTINGS}),
        ("restricted-random-0.0", {}, {"budget": 900, "seed": 7}),
        ("restricted-golden-0.9", {}, {**CUT, "budget": 900, "position": "before-last-turn"}),
        (
            "restricted-next-best-0.1",
            {},
            {
                **CUT,
                "budget": 900,
                "position": "before-last-turn",
                "query": "dialog",
                **BM25_SETTINGS,
            },
        ),
        (
            "restricted-random-0.5",
            {},
            {**CUT, "budget": 900, "position": "before-last-turn", "seed": 7},
        ),
    ],
)
def test_only_what_changes_a_prompt_is_said_by_its_setup(key, more, settings):
    chosen = PromptChoices(prompt_type(key), **EVERYTHING | more)
    setup = named_setup("a")._replace(prompt=key, settings=settings | {"top_p": 0.9})

    assert settings_of(chosen) == settings
    assert choices_of(setup) == what_matters(chosen)
    assert settings_of(what_matters(chosen)) == settings


def test_prompts_of_an_earlier_rule_are_not_made_any_more():
    earlier = named_setup("a")._replace(prompt="restricted-golden-0.9")

    with pytest.raises(PromptError, match="a: its evidence was cut for the requested dialog share"):
        choices_of(earlier)


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
    with pytest.raises(
        PromptError, match="model-a: found prompt type 'my own'; expected one of no-evidence"
    ):
        choices_of(named_setup("model-a")._replace(prompt="my own"))
