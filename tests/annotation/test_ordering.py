"""Seeded order: always the same, spread evenly, different for each rater."""

from collections import Counter

from annotation.ordering import N_KEYS, random_key, share_is_drawn, shown_order, start_of


def test_a_key_is_the_same_each_time_and_another_for_other_names_or_seeds():
    assert random_key(1, "slot", "a", 1) == random_key(1, "slot", "a", 1)
    assert len({random_key(1, "a", "bc"), random_key(1, "ab", "c"), random_key(2, "a", "bc")}) == 3


def test_keys_are_spread_over_their_whole_range():
    quarters = Counter(4 * random_key(13, n) // N_KEYS for n in range(4000))

    # Binomial(4000, 1/4): mean 1000, standard deviation 27
    assert set(quarters) == {0, 1, 2, 3}
    assert all(abs(n - 1000) < 5 * 27 for n in quarters.values())


def test_every_order_of_three_responses_is_about_as_frequent():
    orders = Counter(tuple(shown_order(13, "R-1", unit, 3)) for unit in range(6000))

    # six orders, each Binomial(6000, 1/6): mean 1000, standard deviation 29
    assert len(orders) == 6
    assert all(abs(n - 1000) < 5 * 29 for n in orders.values())


def test_raters_see_orders_of_their_own_and_begin_elsewhere():
    raters = [f"R-{n}" for n in range(20)]

    assert len({tuple(shown_order(13, rater, 1, 8)) for rater in raters}) == 20
    assert len({start_of(13, rater) for rater in raters}) == 20


def test_a_larger_share_contains_the_smaller_one():
    def drawn(share: float) -> set[str]:
        return {str(n) for n in range(1000) if share_is_drawn(13, str(n), "full", share)}

    assert drawn(0.0) == set()
    assert len(drawn(1.0)) == 1000
    assert drawn(0.2) < drawn(0.5)
