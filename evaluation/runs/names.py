"""Names of runs in a list, each given only once, and keys of runs. Nothing here reads rows."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from evaluation.metrics.registry import METRICS, is_of_earlier_rule, metric_of
from evaluation.models import MetricRun


class SignedRun(Protocol):
    """A run, or anything else that has its metric and its signature."""

    metric: str

    @property
    def full_signature(self) -> str: ...


WORDS = {"t": "threshold", "t>=": "threshold", "v": "version"}  # part of a signature → its word


def distinct_names(runs: Sequence[tuple[str, str]]) -> list[str]:
    """Return a distinct name for each run, of the parts in which the runs differ.

    Different names that begin with the same part lose the other parts that all of them share.
    If several runs then have the same name, the parts of the signature that not all of them share
    are added: 'Auto-AIS, v3, lexical (golden)'. Runs that have equal signatures too are numbered.

    Args:
        runs: the name and the signature of each run; a comma separates the parts of a name.
    """
    short = _without_shared_parts([name.split(", ") for name, _ in runs])
    called_so = list(zip(short, (signature for _, signature in runs), strict=True))
    told = []
    for name, signature in called_so:
        alike = [set(other.split("|")) for called, other in called_so if called == name]
        own = [part for part in signature.split("|") if part not in set.intersection(*alike)]
        told.append(f"{name} ({', '.join(map(_in_words, own))})" if own else name)
    return _numbered(told)


def _without_shared_parts(names: Sequence[Sequence[str]]) -> list[str]:
    """Return the names without parts that all names with the same first part share.

    Names whose first part only equal names have stay whole.
    """
    by_first: dict[str, set[frozenset[str]]] = {}
    for parts in names:
        by_first.setdefault(parts[0], set()).add(frozenset(parts))
    shared = {
        first: frozenset.intersection(*alike) if len(alike) > 1 else frozenset[str]()
        for first, alike in by_first.items()
    }
    return [
        ", ".join([first, *(part for part in parts if part not in shared[first])])
        for first, *parts in names
    ]


def _in_words(part: str) -> str:
    """Return a part of a signature in words: 't:0.5' is 'threshold 0.5'."""
    key, colon, value = part.partition(":")
    return f"{WORDS.get(key, key)} {value}" if colon else key


def threshold_part(threshold: float, *, is_yes_at_threshold: bool) -> str:
    """Return the part of a signature that names a threshold: 't:0.5' or 't>=:0.5'."""
    return f"{'t>=' if is_yes_at_threshold else 't'}:{threshold!r}"


def without_threshold(signature: str) -> str:
    """Return a signature without the part that names a threshold."""
    parts = signature.split("|")
    return "|".join(part for part in parts if not part.startswith(("t:", "t>=:")))


def without_sample(signature: str) -> str:
    """Return a signature without the parts that say which responses were drawn."""
    parts = signature.split("|")
    return "|".join(part for part in parts if not part.startswith(("sample:", "of each:")))


def configuration(run: SignedRun) -> str:
    """Return every choice of a run that changes a score or a label, whatever it is run over."""
    return signed_name(run.metric, without_sample(run.full_signature))


def differing_parts(run: SignedRun, other: SignedRun) -> tuple[list[str], list[str]]:
    """Return, in words, the choices that a run has and another one has not, and the reverse."""
    here, there = (without_sample(each.full_signature).split("|") for each in (run, other))
    return (
        [_in_words(part) for part in here if part not in there],
        [_in_words(part) for part in there if part not in here],
    )


def _numbered(names: Iterable[str]) -> list[str]:
    """Return the names, with a number added to those that are equal."""
    wanted = list(names)
    n_called, seen = Counter(wanted), Counter[str]()
    unique = []
    for name in wanted:
        seen[name] += 1
        unique.append(name if n_called[name] == 1 else f"{name} ({seen[name]})")
    return unique


def run_parts(run: MetricRun) -> list[str]:
    """Return metric, model and choices of a run: 'Auto-AIS', 'lexical', 'v3', 'golden evidence'."""
    if run.is_imported or run.metric not in METRICS:
        return [" ".join(filter(None, [run.metric, run.signature, "(imported)"]))]
    metric = metric_of(run.metric, run.parameters)
    evidence = f"{run.parameters['evidence']} evidence" if "evidence" in run.parameters else ""
    rule = "earlier rule" if is_of_earlier_rule(run) else ""
    parts = [metric.title, run.model_name or run.backend, *metric.in_title, evidence, rule]
    return list(filter(None, parts))


def run_said(run: SignedRun) -> str:
    """Return the metric and the signature of a run, which are the same in every database."""
    return signed_name(run.metric, run.full_signature)


def signed_name(metric: str, signature: str) -> str:
    """Return the name of a run, as `run_said` gives it, from its metric and whole signature."""
    return f"{metric}: {signature}".strip()


def run_key(run: SignedRun) -> str:
    """Return a short key of a run, such as 'auto_ais-1f0c93ab'; it is the same in every database.

    Its second part is a hash of the run's signature.
    """
    signature = hashlib.sha256(run.full_signature.encode()).hexdigest()
    return f"{run.metric}-{signature[:8]}"
