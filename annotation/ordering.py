"""The sample and the orders that follow from a seed: of slots, raters' starts, and responses.

Each is a hash of the study's seed and of names. So it can be computed again at any time, on
any machine, and does not change when a study grows.
"""

from collections.abc import Iterable

from generation.seeded_random import N_KEYS as N_KEYS
from generation.seeded_random import random_key as random_key
from generation.seeded_random import share_is_drawn as share_is_drawn


def start_of(seed: int, rater: str) -> int:
    """Return the key at which a rater, given by code, begins to look for slots.

    After the last key the search goes on at the first one.
    """
    return random_key(seed, "start", rater)


def shown_order(seed: int, rater: str, unit: int, n: int) -> list[int]:
    """Return a unit's places, 0 to n - 1, in the order in which one rater sees them."""
    return sorted(range(n), key=lambda place: random_key(seed, "shown", rater, unit, place))


def drawn_names(names: Iterable[str], seed: int, n: int) -> set[str]:
    """Return the n names that a seed draws; each has the same probability, n / the number of names.

    A larger n with the same seed draws these names too.
    """
    return set(sorted(set(names), key=lambda name: random_key(seed, "sample", name))[:n])
