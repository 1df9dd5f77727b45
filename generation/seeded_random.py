"""Draws that can be repeated: each is a hash of a seed and of names.

They are the same at any time and on any machine. They do not change when there are more names to
draw from.
"""

import hashlib

N_KEYS = 2**31  # keys are from 0 to N_KEYS - 1


def random_key(seed: int, *names: str | int) -> int:
    """Return the number from 0 to N_KEYS - 1 that belongs to these names under this seed."""
    text = "\x1f".join(str(part) for part in (seed, *names))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % N_KEYS


def share_is_drawn(seed: int, name: str, purpose: str, share: float) -> bool:
    """Return whether a name belongs to a random subset of about this share, in [0, 1]."""
    return random_key(seed, purpose, name) < share * N_KEYS
