"""Orders that follow from the seed: of free slots, raters' starts, and responses in merged units.

Every order is a hash of the study's seed and of names. So it can be computed again at any time, on
any machine, and does not change when a study grows.
"""

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
