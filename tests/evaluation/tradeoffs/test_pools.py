"""The pools that are offered, and the best setup of a pool. No database is used."""

from evaluation.tradeoffs.pools import USUAL_TYPES, best_single, usual_pools
from generation.models import Setup
from tests.evaluation.tradeoffs.by_hand import dot, material_by_hand

MODEL = "PaLM 8B"


def setup(prompt, temperature=0.7, **settings):
    said = "".join(f" · {name}={value}" for name, value in settings.items())
    name = f"{MODEL} · T {temperature} · {prompt}{said}"
    return Setup(name=name, model=MODEL, temperature=temperature, prompt=prompt, settings=settings)


def test_every_complete_group_is_a_pool_and_says_what_tells_it_from_the_others():
    setups = [setup(kind, seed=seed) for kind in USUAL_TYPES for seed in (0, 1)]
    setups += [setup(kind, seed=0, top_p=0.9) for kind in USUAL_TYPES]
    setups += [setup("golden", seed=2)]  # in no complete group

    pools = usual_pools(setups)

    assert [pool.title for pool in pools] == [
        f"{MODEL}, T 0.7, seed 0: 7 setups",
        f"{MODEL}, T 0.7, seed 0, top p 0.9: 7 setups",
        f"{MODEL}, T 0.7, seed 1: 7 setups",
    ]
    assert len({pool.key for pool in pools}) == 3
    assert all(len(pool.setups) == 7 and not pool.missing for pool in pools)


def test_a_pool_that_lacks_types_says_which():
    [pool] = usual_pools([setup("golden"), setup("one-shot"), setup("no-evidence")])

    assert pool.title == f"{MODEL}, T 0.7: 2 of the 7 usual types"
    assert pool.missing == USUAL_TYPES[1:-1]
    assert pool.full_title.endswith(f"missing: {', '.join(USUAL_TYPES[1:-1])}")


def test_the_best_single_is_so_over_what_is_known_of_the_whole_pool():
    golden, one_shot, unknown = dot("golden"), dot("one-shot"), dot("retrieved-2")
    material = material_by_hand(
        [
            (golden, "1100", "1111"),
            (one_shot, "11..", "11.."),
            (unknown, "....", "1111"),
        ]
    )
    places = [material.place(each.setup.name) for each in (golden, one_shot, unknown)]

    # Each by itself: F1 of golden 2 · 0.5 · 1 / 1.5, of one-shot 1. Over the first two examples
    # both have 1, so the first one; the third, of which nothing is known, has no part.
    assert best_single(material, places) == places[0]
    assert best_single(material, places[2:]) is None
    apart = material_by_hand([(golden, "1.", "1."), (one_shot, ".1", ".1")])
    assert best_single(apart, [0, 1]) is None
