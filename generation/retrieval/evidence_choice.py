"""The choice of passages for a prompt: golden ones forced into a ranking, parts, or random ones."""

from collections.abc import Collection, Iterable, Sequence
from random import Random

from generation.text.prompt_types import n_parts


def forced(ranking: Iterable[int], golden: Sequence[int], k: int) -> tuple[int, ...]:
    """Return the first `k` of a ranking with all golden passages among them.

    Golden passages that are not among the first take the last places, in their own order. They
    replace the worst passages that are not golden. So with one golden passage and k = 1, that
    passage is the result. If an example has several, there are never fewer places than golden
    passages; this is our reading of the paper.

    Args:
        ranking: passages, best first, without repeats.
        golden: passages without repeats; if there are none, the ranking stays as it is.
        k: number of passages; fewer are returned only if the ranking is shorter.

    Raises:
        ValueError: `k` is below 1.
    """
    if k < 1:
        raise ValueError(f"{k} passages of evidence; expected 1 or more")
    n_places = max(k, len(golden))
    first = [passage for passage, _ in zip(ranking, range(n_places), strict=False)]
    missing = [passage for passage in golden if passage not in first]
    n_others = n_places - len(golden)  # places for passages that are not golden
    kept = []
    for passage in first:
        if passage in golden:
            kept.append(passage)
        elif n_others:
            kept.append(passage)
            n_others -= 1
    return (*kept, *missing)


def part_of_ranking(ranking: Sequence[int], k: int, k1: int, part: int) -> tuple[int, ...]:
    """Return part `part` of the first `k1` of a ranking, cut into parts of exactly `k` ([A] 7.7).

    These are passages k · (part − 1) + 1 to k · part. If a part has too few, as the last one may,
    it is filled up after its own passages with the best of the others. If the ranking is too short
    for that, fewer than `k` are returned, and none for a part without passages of its own.

    Args:
        ranking: passages, best first, without repeats.
        part: number of the part, from 1.

    Raises:
        ValueError: `k` is not from 1 to `k1`, or `part` not from 1 to ⌈k1 / k⌉.
    """
    n = n_parts(k1, k)
    if not 1 <= part <= n:
        raise ValueError(f"part {part} of {k1} passages by {k}; expected from 1 to {n}")
    first = ranking[:k1]
    own = first[k * (part - 1) : k * part]
    if not own:
        return ()
    others = [passage for passage in first if passage not in own]
    return (*own, *others[: k - len(own)])


def draw(n_passages: int, without: Collection[int], k: int, seed: int, key: str) -> list[int]:
    """Return `k` positions drawn at random, none twice, or all positions if there are fewer.

    The draw depends only on the seed and the key (of the example). A longer draw begins with the
    shorter one.

    Args:
        n_passages: positions are 0 .. n_passages − 1.
        without: positions that are not drawn; none is beyond the last.

    Raises:
        ValueError: `k` is negative, or `without` has a position that does not exist.
    """
    if k < 0:
        raise ValueError(f"{k} random passages; expected 0 or more")
    left_out = sorted(set(without))
    if left_out and not 0 <= left_out[0] <= left_out[-1] < n_passages:
        raise ValueError(f"positions {left_out} left out; expected 0 to {n_passages - 1}")
    random = Random(f"{seed}|{key}")
    n_free = n_passages - len(left_out)
    moved: dict[int, int] = {}  # a shuffle from the front that ends after k places
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
