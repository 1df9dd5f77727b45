"""Which passages a prompt holds: golden ones forced into a ranking, or drawn at random."""

from collections.abc import Collection, Iterable, Sequence
from random import Random


def forced(ranking: Iterable[int], golden: Sequence[int], k: int) -> tuple[int, ...]:
    """Return the first `k` of a ranking with all golden passages among them.

    Golden passages that are not among the first take the last places, in their own order; what
    they push out is the worst that is not golden. So with one golden passage, k = 1 is golden.
    Our reading where an example has several: there are never fewer places than golden passages.

    Args:
        ranking: passages, best first; without repeats.
        golden: without repeats; none leaves the ranking as it is.
        k: how many passages; fewer come back only where the ranking ends before.

    Raises:
        ValueError: `k` is below 1.
    """
    if k < 1:
        raise ValueError(f"{k} passages of evidence; expected 1 or more")
    n_places = max(k, len(golden))
    first = [passage for passage, _ in zip(ranking, range(n_places), strict=False)]
    missing = [passage for passage in golden if passage not in first]
    n_others = n_places - len(golden)  # places for what is not golden
    kept = []
    for passage in first:
        if passage in golden:
            kept.append(passage)
        elif n_others:
            kept.append(passage)
            n_others -= 1
    return (*kept, *missing)


def draw(n_passages: int, without: Collection[int], k: int, seed: int, key: str) -> list[int]:
    """Return `k` positions drawn at random, none twice, or all there are where these are fewer.

    The draw depends on seed and key (of the example) alone, and the first of a longer draw are
    the shorter one's.

    Args:
        n_passages: positions are 0 .. n_passages − 1.
        without: positions that are not drawn; none beyond the last.

    Raises:
        ValueError: `k` is negative, or `without` names a position that there is not.
    """
    if k < 0:
        raise ValueError(f"{k} random passages; expected 0 or more")
    left_out = sorted(set(without))
    if left_out and not 0 <= left_out[0] <= left_out[-1] < n_passages:
        raise ValueError(f"positions {left_out} left out; expected 0 to {n_passages - 1}")
    random = Random(f"{seed}|{key}")
    n_free = n_passages - len(left_out)
    moved: dict[int, int] = {}  # a shuffle from the front that stops at k
    drawn = []
    for place in range(min(k, n_free)):
        other = random.randrange(place, n_free)
        drawn.append(_past(moved.get(other, other), left_out))
        moved[other] = moved.get(place, place)
    return drawn


def _past(place: int, left_out: Sequence[int]) -> int:
    """Return the position that is number `place` among those not left out (sorted)."""
    for position in left_out:
        if position > place:
            break
        place += 1
    return place
