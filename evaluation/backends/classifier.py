"""Entailment by any sequence-classification checkpoint that the transformers library reads."""

import inspect
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from celery import current_task

from evaluation.backends.base import Entailment
from evaluation.metrics.entailment import Pair
from generation.backends.base import BackendError, ModelSpec
from generation.backends.model_files import digest_of, first_line, folder_of, is_snapshot

# Scored when a model is loaded: a checkpoint whose labels stand the wrong way round must not run.
_PREMISE = "A man is playing a guitar on a stage in front of a large crowd."
OBVIOUS = Pair(_PREMISE, "A man is playing a guitar.")
OBVIOUSLY_NOT = Pair(_PREMISE, "A woman is asleep in her bed.")

FEWEST_PREMISE_TOKENS = 8  # less evidence than that is none
DEFAULT_MAX_TOKENS = 512  # where neither tokenizer nor model names a limit
BATCH_TOKENS = 4096  # padding included; more fills no processor better
BATCH_TOKENS_ON_GPU = 32 * 1024
# Their first position comes after the padding token's, so that two have no use.
_POSITIONS_AFTER_PADDING = re.compile(r"roberta|camembert|longformer|mpnet|data2vec|xmod")


class _Measured(NamedTuple):
    """The pairs that a model can read, by length, and what it cannot."""

    n_tokens: dict[Pair, int]  # of premise and hypothesis together, before a premise is cut
    without_room: list[Pair]


class SequenceClassifier:
    """A checkpoint with an output for entailment: softmax over its labels, in fp32."""

    def __init__(self, spec: ModelSpec) -> None:
        """Load a checkpoint and ask it about two plain pairs.

        Args:
            spec: of a folder with config.json, tokenizer and safetensors, or a name on the hub.

        Raises:
            BackendError: the checkpoint is not there, not whole, no classifier, has no label for
                entailment, or gets the two pairs wrong.
        """
        location = self.location = spec.location
        self.files: dict[str, str] = {}
        self.device = "cpu"
        folder = folder_of(location)
        self.revision = folder.name if is_snapshot(folder) else digest_of(folder)
        self._load(folder)
        labels = {int(index): str(name) for index, name in self._model.config.id2label.items()}
        self._entailment = _entailment_label(labels, spec.entailment_index, location)
        self._max_tokens = _max_tokens(self._tokenizer.model_max_length, self._model.config)
        self.signature = f"transformers|max_tokens:{self._max_tokens}|fp32|v:1"
        self._test_itself()

    def entailment(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """Return P(entailment) for each pair, in the same order.

        Only the premise is cut to what the model reads. A hypothesis that leaves it no room has a
        problem in place of a probability.
        """
        if not pairs:
            return []
        measured = self._measured(pairs)
        answers = dict.fromkeys(
            measured.without_room,
            Entailment(
                math.nan,
                problem="the response leaves no room for evidence in "
                f"{self._max_tokens} tokens: split it into sentences",
            ),
        )
        for batch in _batches(measured.n_tokens, self._max_tokens, self._batch_tokens):
            for pair, probability in zip(batch, self._probabilities(batch), strict=True):
                answers[pair] = Entailment(
                    probability,
                    is_truncated=measured.n_tokens[pair] > self._max_tokens,
                    problem="the model gave no number" if math.isnan(probability) else "",
                )
        return [answers[pair] for pair in pairs]

    def _load(self, folder: Path) -> None:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        # It prints tables of what is refused below.
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        # Inside a task; else PyTorch's own choice, which is all cores, or OMP_NUM_THREADS.
        pool_size = current_task.app.conf.worker_concurrency if current_task else None
        if pool_size:
            torch.set_num_threads(max(1, (os.cpu_count() or 1) // pool_size))
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            model, found = AutoModelForSequenceClassification.from_pretrained(
                folder,
                dtype=torch.float32,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # refused below, in a line that says which
            )
            device = "cuda" if torch.cuda.is_available() else "cpu"
            self._model: Any = model.to(device).eval()
        except Exception as exc:  # what other people's files raise is anything at all
            raise BackendError(
                f"{self.location}: cannot be loaded; is it whole? {first_line(exc)}"
            ) from exc
        misfits = [name for name, *_ in found["mismatched_keys"]]
        if wanting := sorted(found["missing_keys"]) + sorted(misfits):
            raise BackendError(
                f"{self.location}: no weights that fit for {', '.join(wanting[:3])}; expected a "
                "whole checkpoint, fine-tuned for sequence classification"
            )
        known = self._tokenizer(OBVIOUS.premise, add_special_tokens=False)["input_ids"]
        if set(known) <= {self._tokenizer.unk_token_id}:  # what comes of a missing vocabulary
            raise BackendError(f"{self.location}: its tokenizer knows no words, expected its files")
        self._batch_tokens = BATCH_TOKENS if device == "cpu" else BATCH_TOKENS_ON_GPU

    def _test_itself(self) -> None:
        try:
            yes, no = self.entailment([OBVIOUS, OBVIOUSLY_NOT])
        except Exception as exc:  # a tokenizer that does not fit its model fails only here
            raise BackendError(f"{self.location}: cannot be asked: {first_line(exc)}") from exc
        if not yes.probability > no.probability:  # also when one is NaN
            raise BackendError(
                f"{self.location}: gives an obvious entailment {yes.probability:.3f} and an "
                f"obvious non-entailment {no.probability:.3f}; expected the first to be higher. "
                "Are its labels the wrong way round?"
            )

    def _measured(self, pairs: Sequence[Pair]) -> _Measured:
        """Return how long each distinct pair is, and the pairs that cannot be asked."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        ids = self._tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        length = {text: len(of_text) for text, of_text in zip(texts, ids, strict=True)}
        n_special = self._tokenizer.num_special_tokens_to_add(pair=True)
        n_tokens, without_room = {}, []
        for pair in dict.fromkeys(pairs):
            room = self._max_tokens - n_special - length[pair.hypothesis]
            if room < min(FEWEST_PREMISE_TOKENS, length[pair.premise]):
                without_room.append(pair)
            else:
                n_tokens[pair] = n_special + length[pair.premise] + length[pair.hypothesis]
        return _Measured(n_tokens, without_room)

    def _probabilities(self, batch: Sequence[Pair]) -> list[float]:
        import torch

        encoded = self._tokenizer(
            [pair.premise for pair in batch],
            [pair.hypothesis for pair in batch],
            truncation="only_first",
            max_length=self._max_tokens,
            padding=True,
            # Some tokenizers keep silent about which tokens are whose, though their model was
            # trained to know.
            return_token_type_ids=getattr(self._model.config, "type_vocab_size", 0) > 1 or None,
            return_tensors="pt",
        )
        takes = inspect.signature(self._model.forward).parameters
        inputs = {key: value for key, value in encoded.items() if key in takes}
        with torch.no_grad():
            logits = self._model(**{k: v.to(self._model.device) for k, v in inputs.items()}).logits
        probabilities: list[float] = logits.softmax(dim=-1)[:, self._entailment].tolist()
        return probabilities


def _entailment_label(labels: Mapping[int, str], index: int | None, location: str) -> int:
    """Return the output that means entailment: by its name, else as stated; never by position."""
    names = ", ".join(f"{at}: {name}" for at, name in sorted(labels.items()))
    if len(labels) < 2:
        raise BackendError(f"{location}: labels {names}; expected two or more")
    named = [at for at, name in labels.items() if name.lower().startswith(("entail", "support"))]
    if index is None and len(named) == 1:
        return named[0]
    if index is None:
        raise BackendError(
            f"{location}: labels {names}; expected one that begins with 'entail' or 'support'. "
            "If you know which output means entailment, state its index"
        )
    if index not in labels or (named and index not in named):
        raise BackendError(f"{location}: labels {names}; {index} is not one that means entailment")
    return index


def _max_tokens(of_tokenizer: int, config: Any) -> int:
    """Return how many tokens a model reads, as far as its tokenizer and its positions say."""
    limits = [of_tokenizer] if of_tokenizer < 10**9 else []  # 10³⁰ stands for 'not said'
    positions = getattr(config, "max_position_embeddings", None) or 0
    if positions > 0:
        unused = 2 if _POSITIONS_AFTER_PADDING.search(config.model_type) else 0
        limits.append(positions - unused)
    return min(limits, default=DEFAULT_MAX_TOKENS)


def _batches(
    n_tokens: Mapping[Pair, int], max_tokens: int, batch_tokens: int
) -> Iterator[list[Pair]]:
    """Yield the pairs in batches of like length, the longest first, padding included."""
    batch: list[Pair] = []
    widest = 0
    for pair in sorted(n_tokens, key=n_tokens.__getitem__, reverse=True):
        if batch and widest * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        if not batch:
            widest = min(n_tokens[pair], max_tokens)
        batch.append(pair)
    if batch:
        yield batch
