"""What runs are called where several stand together: each by a name that no other has. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

WORDS = {"t": "threshold", "t>=": "threshold", "v": "version"}  # of parts of a signature


def distinct_names(runs: Sequence[tuple[str, str]]) -> list[str]:
    """Return what each run is called: where names are alike, with what tells it apart.

    That is what its signature says and another's of that name does not: 'Auto-AIS, v3, lexical
    (golden)'. Runs whose signatures are alike too are numbered.

    Args:
        runs: the name of each, and its signature.
    """
    told = []
    for name, signature in runs:
        alike = [set(other.split("|")) for called, other in runs if called == name]
        own = [part for part in signature.split("|") if part not in set.intersection(*alike)]
        told.append(f"{name} ({', '.join(map(_in_words, own))})" if own else name)
    return _numbered(told)


def _in_words(part: str) -> str:
    """Return a part of a signature in words: 't:0.5' is 'threshold 0.5'."""
    key, colon, value = part.partition(":")
    return f"{WORDS.get(key, key)} {value}" if colon else key


def _numbered(names: Iterable[str]) -> list[str]:
    """Return names with a number where they are alike."""
    wanted = list(names)
    n_called, seen = Counter(wanted), Counter[str]()
    unique = []
    for name in wanted:
        seen[name] += 1
        unique.append(name if n_called[name] == 1 else f"{name} ({seen[name]})")
    return unique
