"""Seeded order: of slots in the pool, of raters' starts, of responses inside a merged unit.

Everything here is a hash of the study's seed and of names, so that it can be told again at any
time, on any machine, and does not change when a study grows.
"""

import hashlib

N_KEYS = 2**31  # keys are in 0 .. N_KEYS - 1


def random_key(seed: int, *names: str | int) -> int:
    """Return a number in 0 .. N_KEYS - 1 that these names have under this seed."""
    text = "\x1f".join(str(part) for part in (seed, *names))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % N_KEYS


def start_of(seed: int, rater: str) -> int:
    """Return the key at which a rater (a code) begins to look for slots, then wraps round."""
    return random_key(seed, "start", rater)


def shown_order(seed: int, rater: str, unit: int, n: int) -> list[int]:
    """Return which of a unit's places 0 .. n - 1 stands first, second, … for one rater."""
    return sorted(range(n), key=lambda place: random_key(seed, "shown", rater, unit, place))


def share_is_drawn(seed: int, name: str, purpose: str, share: float) -> bool:
    """Return whether a name belongs to a random subset of about this share, in [0, 1]."""
    return random_key(seed, purpose, name) < share * N_KEYS
