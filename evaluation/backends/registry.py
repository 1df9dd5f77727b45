"""Backends by name: entailment models, baselines, and the language models of `generation`."""

import gc
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from evaluation.backends.base import Backend
from evaluation.backends.classifier import SequenceClassifier
from evaluation.backends.distilled import Distilled
from evaluation.backends.heuristic import Heuristic
from evaluation.backends.lexical import Lexical
from evaluation.backends.seq2seq import Seq2SeqClassifier
from generation.backends.base import BackendError, ModelSpec
from generation.backends.model_files import commit_of, fingerprint
from generation.backends.registry import LANGUAGE_MODELS

# Of a language model, for one answer: Auto-SSA asks again twice what it cannot read.
MOST_COMPLETIONS = 3


class BackendKind(NamedTuple):
    """A kind of backend: how it is opened, and what people should know before."""

    title: str
    open: Callable[[ModelSpec], Backend]
    needs_model: bool = True
    is_server: bool = False  # its location is an address
    precisions: tuple[str, ...] = ("fp32",)  # the first by default
    longest_call_seconds: float = 0.0  # that one answer may take; a worker counts as alive so long
    least_at_once: int = 1  # asks that take hardly longer than one, where no processor computes
    # How the architectures in config.json end; none: whatever it is, it is tried.
    architectures: tuple[str, ...] = ()


BACKENDS: dict[str, BackendKind] = {
    "lexical": BackendKind(
        "Lexical overlap, a baseline", lambda spec: Lexical(), needs_model=False
    ),
    "heuristic": BackendKind(
        "Words and whole sentences, a baseline", lambda spec: Heuristic(), needs_model=False
    ),
    "distilled": BackendKind(
        "Distilled sensibleness", Distilled, architectures=("ForSequenceClassification",)
    ),
    "transformers": BackendKind(
        "Entailment classifier",
        SequenceClassifier,
        precisions=("fp32", "bf16"),
        architectures=("ForSequenceClassification",),
    ),
    "seq2seq": BackendKind(
        "Entailment from text to text, as TRUE's T5",
        Seq2SeqClassifier,
        precisions=("fp32", "bf16"),
        architectures=("ForConditionalGeneration",),
    ),
    **{
        key: BackendKind(
            kind.title,
            kind.open,
            is_server=kind.is_server,
            precisions=kind.precisions,
            longest_call_seconds=MOST_COMPLETIONS * kind.longest_call_seconds,
            least_at_once=kind.least_at_once,
            architectures=kind.architectures,
        )
        for key, kind in LANGUAGE_MODELS.items()
    },
}


def open_backend(spec: ModelSpec) -> Backend:
    """Return a backend that is ready to be asked. A process keeps one model in memory: the last.

    A model whose files have changed since is opened anew.

    Raises:
        BackendError: there is no such backend, or it cannot be used.
    """
    if spec.backend not in BACKENDS:
        raise BackendError(f"backend {spec.backend!r}, expected one of {', '.join(BACKENDS)}")
    kind = BACKENDS[spec.backend]
    if not kind.needs_model:
        return kind.open(spec)
    if kind.is_server:
        return _connected(spec)
    files = fingerprint(spec.location)
    # A folder is what it is: only a name on the hub has revisions to choose from. Where none is
    # pinned, it is the one that was today's when this process first asked.
    revision = "" if files else spec.revision or _todays(spec.location)
    return _opened(spec._replace(revision=revision), files)


@lru_cache(maxsize=16)
def _todays(location: str) -> str:
    return commit_of(location)


@lru_cache(maxsize=1)
def _opened(spec: ModelSpec, files: str) -> Backend:
    _opened.cache_clear()  # there may be no room for two models, not even while one is loaded
    gc.collect()  # models are full of references in circles, which keep the last one alive
    if torch := sys.modules.get("torch"):
        torch.cuda.empty_cache()
    return BACKENDS[spec.backend].open(spec)


@lru_cache(maxsize=4)
def _connected(spec: ModelSpec) -> Backend:
    return BACKENDS[spec.backend].open(spec)
