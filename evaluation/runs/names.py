"""Names of runs in a list: each name is given only once. Nothing here reads the database."""

from collections import Counter
from collections.abc import Iterable, Sequence

WORDS = {"t": "threshold", "t>=": "threshold", "v": "version"}  # part of a signature → its word


def distinct_names(runs: Sequence[tuple[str, str]]) -> list[str]:
    """Return a distinct name for each run.

    If several runs have the same name, the parts of the signature that not all of them share are
    added: 'Auto-AIS, v3, lexical (golden)'. Runs that have equal signatures too are numbered.

    Args:
        runs: the name and the signature of each run.
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
    """Return the names, with a number added to those that are equal."""
    wanted = list(names)
    n_called, seen = Counter(wanted), Counter[str]()
    unique = []
    for name in wanted:
        seen[name] += 1
        unique.append(name if n_called[name] == 1 else f"{name} ({seen[name]})")
    return unique
