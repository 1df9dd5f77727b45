"""Seeded order: of slots in the pool, of raters' starts, of responses inside a merged unit.

Everything here is a hash of the study's seed and of names, so that it can be told again at any
time, on any machine, and does not change when a study grows.
"""

from generation.seeded_random import N_KEYS as N_KEYS
from generation.seeded_random import random_key as random_key
from generation.seeded_random import share_is_drawn as share_is_drawn


def start_of(seed: int, rater: str) -> int:
    """Return the key at which a rater (a code) begins to look for slots, then wraps round."""
    return random_key(seed, "start", rater)


def shown_order(seed: int, rater: str, unit: int, n: int) -> list[int]:
    """Return which of a unit's places 0 .. n - 1 stands first, second, … for one rater."""
    return sorted(range(n), key=lambda place: random_key(seed, "shown", rater, unit, place))
