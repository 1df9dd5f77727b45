"""The choice of the passages that a prompt holds."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.retrieval.evidence_choice import draw, forced, part_of_ranking

A, B, C, D, E = range(5)


@pytest.mark.parametrize(
    ("ranking", "golden", "k", "shown"),
    [
        ([A, B, C, D], [B], 2, (A, B)),  # it is among the first: nothing changes
        ([A, B, C, D], [D], 2, (A, D)),  # else it takes place k
        ([A, B, C, D], [D], 3, (A, B, D)),
        ([A, B, C, D], [C], 1, (C,)),  # k = 1 is golden
        ([A, B, C, D], [C, D], 3, (A, C, D)),  # C keeps its place, D pushes B out
        ([A, B, C, D], [D, C], 2, (D, C)),
        ([A, B, C, D], [C, D], 1, (C, D)),  # never fewer places than golden passages
        ([A, B], [E], 3, (A, B, E)),  # golden is not in the ranking, which ends early
        ([], [E], 2, (E,)),
        ([A, B, C], [], 2, (A, B)),
    ],
)
def test_golden_is_forced_into_a_ranking(ranking, golden, k, shown):
    assert forced(ranking, golden, k) == shown


def test_no_place_at_all_is_an_error():
    with pytest.raises(ValueError, match="0 passages"):
        forced([A], [A], 0)


@given(
    st.permutations(range(8)), st.sets(st.integers(0, 7), min_size=1).map(sorted), st.integers(1, 8)
)
def test_golden_is_always_in_and_the_rest_is_the_best_of_the_ranking(ranking, golden, k):
    shown = forced(ranking, golden, k)

    assert len(set(shown)) == len(shown) == max(k, len(golden))
    assert set(golden) <= set(shown)
    others = [passage for passage in ranking if passage not in golden]
    assert [p for p in shown if p not in golden] == others[: len(shown) - len(golden)]


def test_a_draw_depends_on_seed_and_key_alone_and_never_holds_what_is_left_out():
    drawn = draw(100, {3, 50, 99}, 10, 7, "e1")

    assert drawn == draw(100, {3, 50, 99}, 10, 7, "e1")
    assert drawn[:4] == draw(100, {3, 50, 99}, 4, 7, "e1")
    assert drawn != draw(100, {3, 50, 99}, 10, 8, "e1")
    assert drawn != draw(100, {3, 50, 99}, 10, 7, "e2")
    assert len(set(drawn)) == 10
    assert not set(drawn) & {3, 50, 99}


@given(st.integers(0, 12), st.sets(st.integers(0, 11)), st.integers(0, 14), st.integers())
def test_a_draw_of_all_is_everything_that_is_not_left_out(n, without, k, seed):
    without = {place for place in without if place < n}

    drawn = draw(n, without, k, seed, "e")

    assert len(drawn) == len(set(drawn)) == min(k, n - len(without))
    assert set(drawn) <= set(range(n)) - without


def test_each_position_is_as_likely_as_any_other():
    first = Counter(draw(4, {1}, 1, 0, f"e{i}")[0] for i in range(3000))

    # 1,000 each; their standard deviation is sqrt(3000 · 1/3 · 2/3) = 26.
    assert set(first) == {0, 2, 3}
    assert all(abs(n - 1000) < 4 * 26 for n in first.values())


@pytest.mark.parametrize("without", [{4}, {-1}])
def test_a_position_that_there_is_not_cannot_be_left_out(without):
    with pytest.raises(ValueError, match="expected 0 to 3"):
        draw(4, without, 1, 0, "e")


def test_a_negative_draw_is_an_error():
    with pytest.raises(ValueError, match="-1 random"):
        draw(4, (), -1, 0, "e")


@pytest.mark.parametrize(
    ("k", "k1", "part", "shown"),
    [
        (1, 5, 1, (A,)),
        (1, 5, 5, (E,)),
        (2, 5, 1, (A, B)),
        (2, 5, 2, (C, D)),
        (2, 5, 3, (E, A)),  # the last one is filled up with the best, behind its own
        (3, 5, 1, (A, B, C)),
        (3, 5, 2, (D, E, A)),
        (4, 5, 2, (E, A, B, C)),
        (5, 5, 1, (A, B, C, D, E)),
        (2, 4, 2, (C, D)),  # nothing to fill up
        (2, 3, 2, (C, A)),  # beyond K1 the ranking does not matter
    ],
)
def test_parts_of_a_ranking_have_exactly_k(k, k1, part, shown):
    assert part_of_ranking((A, B, C, D, E), k, k1, part) == shown


@pytest.mark.parametrize(
    ("part", "shown"),
    [(1, (A, B)), (2, (C, A)), (3, ())],  # the third has none of its own
)
def test_a_ranking_that_ends_early_is_filled_up_with_what_it_has(part, shown):
    assert part_of_ranking((A, B, C), 2, 5, part) == shown


def test_there_are_never_more_passages_than_in_the_ranking():
    assert part_of_ranking((A, B), 3, 5, 1) == (A, B)
    assert part_of_ranking((A, B), 3, 5, 2) == ()
    assert part_of_ranking((), 3, 5, 1) == ()


@given(st.integers(1, 20), st.data())
def test_all_of_the_first_k1_are_in_some_part(k1, data):
    k = data.draw(st.integers(1, k1))
    n_parts = (k1 + k - 1) // k

    parts = [part_of_ranking(range(30), k, k1, part) for part in range(1, n_parts + 1)]

    assert all(len(part) == len(set(part)) == k for part in parts)
    assert {passage for part in parts for passage in part} == set(range(k1))


@pytest.mark.parametrize(
    ("k", "k1", "part", "message"),
    [
        (0, 5, 1, "0 passages of the first 5; expected from 1 to 5"),
        (6, 5, 1, "6 passages of the first 5"),
        (2, 5, 4, "part 4 of 5 passages by 2; expected from 1 to 3"),
        (2, 5, 0, "part 0 of"),
    ],
)
def test_a_part_that_there_is_not_is_an_error(k, k1, part, message):
    with pytest.raises(ValueError, match=message):
        part_of_ranking((A, B, C), k, k1, part)
