"""Setups that differ in one thing only, and setups that are comparable. No database is used."""

import pytest

from evaluation.tradeoffs.dots import dot_of
from evaluation.tradeoffs.pairs import (
    ComparablePair,
    comparable_pairs,
    pairs_differing_in,
    size_pairs,
    sizes_of,
    unsized,
)
from generation.models import Setup

SMALL, MIDDLE, LARGE = "PaLM 8B", "PaLM 62B", "PaLM 540B"


def dot(prompt, model=LARGE, temperature=0.0, tokens=None, run="", **settings):
    """Return a mark; restricted context is cut by the rule of today unless settings say another."""
    if prompt.startswith("restricted-") and not prompt.endswith(("0.0", "1.0")):
        settings = {"evidence_share": "rest of kept"} | settings
    name = f"{model} · {temperature} · {prompt} · {run} · {sorted(settings.items())}"
    setup = Setup(
        name=name, model=model, temperature=temperature, prompt=prompt, run=run, settings=settings
    )
    made = dot_of(setup)
    return made if tokens is None else made._replace(context_tokens=tokens)


def prompts_of(dots, pairs):
    return [(dots[pair.first].setup.prompt, dots[pair.second].setup.prompt) for pair in pairs]


GRID = [
    dot(prompt)
    for prompt in (
        "no-evidence",
        "golden",
        "golden-instructions",
        "retrieved-2",
        "retrieved-2-instructions",
        "one-shot",
        "no-history-no-evidence",
        "no-history-golden",
        "random",
        "next-best",
    )
]


# --- one difference -------------------------------------------------------------------------


def test_history_is_with_minus_without_at_the_same_evidence():
    pairs = pairs_differing_in(GRID, "history")

    assert prompts_of(GRID, pairs) == [
        ("no-evidence", "no-history-no-evidence"),
        ("golden", "no-history-golden"),
    ]


def test_golden_evidence_is_with_minus_none_or_non_evidence_at_the_same_history():
    pairs = pairs_differing_in(GRID, "golden evidence")

    # One-shot and retrieved prompts hold golden evidence and more: nothing is like them without.
    assert sorted(prompts_of(GRID, pairs)) == [
        ("golden", "next-best"),
        ("golden", "no-evidence"),
        ("golden", "random"),
        ("no-history-golden", "no-history-no-evidence"),
    ]


def test_instructions_are_with_minus_without_at_the_same_k():
    assert prompts_of(GRID, pairs_differing_in(GRID, "instructions")) == [
        ("golden-instructions", "golden"),
        ("retrieved-2-instructions", "retrieved-2"),
    ]


def test_size_is_each_larger_model_minus_the_next_smaller():
    dots = [dot("golden", model) for model in (LARGE, MIDDLE, SMALL, "mystery")]
    dots += [dot("random", LARGE), dot("random", SMALL)]  # the middle model has none
    dots += [dot("one-shot", MIDDLE)]

    pairs = pairs_differing_in(dots, "size")

    said = [(dots[first].setup.model, dots[second].setup.model) for first, second in pairs]
    assert said == [(LARGE, MIDDLE), (MIDDLE, SMALL), (LARGE, SMALL)]
    assert prompts_of(dots, pairs) == [("golden",) * 2, ("golden",) * 2, ("random",) * 2]
    assert [models for _, models in sizes_of(dots)] == [[SMALL], [MIDDLE], [LARGE]]
    assert unsized(dots) == ["mystery"]


def test_models_of_unknown_size_are_paired_when_asked_for():
    dots = [dot("golden", "new"), dot("golden", "old"), dot("random", "old"), dot("random", "new")]

    assert pairs_differing_in(dots, "size") == []
    assert size_pairs(dots, "new", "old") == [(0, 1), (3, 2)]


def test_temperature_is_the_lowest_minus_each_higher():
    dots = [dot("golden", temperature=each) for each in (0.7, 0.0, 1.0, None)]

    pairs = pairs_differing_in(dots, "temperature")

    assert pairs == [(1, 0), (1, 2)]


def test_what_samples_differently_has_no_part_at_temperature_0():
    greedy = dot("golden")
    sampled = [dot("golden", temperature=0.7, seed=seed, top_p=0.9) for seed in (1, 2)]
    longer = dot("golden", temperature=0.7, max_tokens=64)

    pairs = pairs_differing_in([greedy, *sampled, longer], "temperature")

    assert pairs == [(0, 1), (0, 2)]  # max_tokens differs for the last


@pytest.mark.parametrize(
    ("first", "second", "do_pair"),
    [
        ({"position": "before-last-turn"}, {}, True),  # no evidence, so no position
        ({"query": "dialog"}, {}, True),  # golden evidence is not searched for
        ({"budget": 500}, {}, False),
        ({"form": "messages"}, {}, False),
        ({"form": "messages"}, {"form": "messages"}, True),
        ({"precision": "bf16"}, {}, False),
        ({"seed": 3}, {}, True),  # nothing is drawn at T 0
        ({"own": 1}, {"own": 2}, False),
    ],
)
def test_settings_have_to_agree_where_they_matter_to_both(first, second, do_pair):
    dots = [dot("golden", **first), dot("no-evidence", **second)]

    assert bool(pairs_differing_in(dots, "golden evidence")) is do_pair


def test_the_seed_of_drawn_evidence_matters_at_temperature_0_too():
    dots = [dot("random", SMALL, seed=1), dot("random", LARGE), dot("random", LARGE, seed=1)]

    assert pairs_differing_in(dots, "size") == [(2, 0)]


def test_runs_and_models_and_temperatures_have_to_agree():
    with_it = dot("golden")
    others = [dot("no-evidence", SMALL), dot("no-evidence", temperature=0.7)]
    others += [dot("no-evidence", run="2"), dot("no-evidence", model="")]

    assert pairs_differing_in([with_it, *others], "golden evidence") == []


def test_prompts_of_other_places_still_pair_by_size_and_temperature():
    dots = [dot("theirs", LARGE), dot("theirs", SMALL), dot("theirs", LARGE, 0.7)]

    assert pairs_differing_in(dots, "size") == [(0, 1)]
    assert pairs_differing_in(dots, "temperature") == [(0, 2)]
    assert pairs_differing_in(dots, "history") == []


def test_restricted_context_steps_from_dialog_to_evidence():
    shares = ("1.0", "0.9", "0.8")
    dots = [dot(f"restricted-golden-{share}") for share in shares]
    dots += [dot("restricted-next-best-0.9"), dot("golden")]

    assert pairs_differing_in(dots, "restricted share") == [(1, 0), (2, 1)]
    assert pairs_differing_in(dots, "golden evidence") == []


def test_restricted_context_of_an_earlier_rule_is_in_no_pair():
    dots = [dot(f"restricted-golden-{share}") for share in ("0.0", "0.8", "1.0")]
    dots.append(dot("restricted-golden-0.9", evidence_share=""))
    dots.append(dot("restricted-next-best-0.8", evidence_share=""))

    assert pairs_differing_in(dots, "restricted share") == [(0, 1), (1, 2)]
    assert comparable_pairs(dots) == []


def test_the_next_share_is_that_of_the_same_model():
    dots = [dot(f"restricted-golden-{share}") for share in ("1.0", "0.5", "0.0")]
    dots += [dot(f"restricted-golden-{share / 10}", SMALL) for share in range(11)]

    pairs = pairs_differing_in(dots, "restricted share")

    assert [pair for pair in pairs if pair.first < 3] == [(1, 0), (2, 1)]
    assert len(pairs) == 2 + 10


def test_the_next_size_is_that_with_the_same_settings():
    dots = [dot("golden", LARGE), dot("golden", MIDDLE, budget=500), dot("golden", SMALL)]

    assert pairs_differing_in(dots, "size") == [(0, 2)]


def test_aggregates_and_parts_of_a_recipe_are_in_no_pair():
    dots = [dot("reranked", LARGE, pool=["a"]), dot("reranked", SMALL, pool=["a"])]
    dots += [dot("top-2-of-5-part-1", LARGE), dot("top-2-of-5-part-1", SMALL)]

    assert pairs_differing_in(dots, "size") == []


# --- comparable -----------------------------------------------------------------------------


def reasons(*dots):
    return [pair.reasons for pair in comparable_pairs(dots)]


@pytest.mark.parametrize(
    ("tokens", "is_comparable"),
    [
        ((90, 100), True),
        ((89, 100), False),
        ((None, 100), False),
        ((100, None), False),
        ((None, None), False),
    ],
)
def test_contexts_within_10_percent_are_comparable(tokens, is_comparable):
    pair = dot("golden", tokens=tokens[0]), dot("one-shot", tokens=tokens[1])

    assert reasons(*pair) == ([("context",)] if is_comparable else [])


def test_setups_that_differ_in_instructions_are_read_from_without_to_with():
    dots = [dot("golden-instructions", tokens=105), dot("golden", tokens=100)]

    assert comparable_pairs(dots) == [ComparablePair(0, 1, ("instructions", "context"))]


def test_restricted_setups_of_one_share_are_read_to_golden_evidence():
    dots = [dot(f"restricted-{each}") for each in ("golden-0.9", "next-best-0.9", "golden-0.8")]

    assert comparable_pairs(dots) == [ComparablePair(0, 1, ("restricted share",))]


def test_aggregates_of_one_pool_are_comparable_in_any_order_of_it():
    pools = [["a", "b"], ["b", "a"], ["a"]]
    dots = [dot("reranked", pool=pool, n=n, tokens=100) for n, pool in enumerate(pools)]

    assert comparable_pairs(dots) == [ComparablePair(1, 0, ("one pool",))]


def test_other_models_and_temperatures_are_not_comparable():
    assert reasons(dot("golden", tokens=9), dot("golden", SMALL, tokens=9)) == []
    assert reasons(dot("golden", tokens=9), dot("random", temperature=0.7, tokens=9)) == []
    assert reasons(dot("golden", "", tokens=9), dot("random", "", tokens=9)) == []
