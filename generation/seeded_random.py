"""Draws that can be told again: a hash of a seed and of names.

They are the same at any time and on any machine, and do not change when what is drawn from grows.
"""

import hashlib

N_KEYS = 2**31  # keys are in 0 .. N_KEYS - 1


def random_key(seed: int, *names: str | int) -> int:
    """Return a number in 0 .. N_KEYS - 1 that these names have under this seed."""
    text = "\x1f".join(str(part) for part in (seed, *names))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % N_KEYS


def share_is_drawn(seed: int, name: str, purpose: str, share: float) -> bool:
    """Return whether a name belongs to a random subset of about this share, in [0, 1]."""
    return random_key(seed, purpose, name) < share * N_KEYS
