"""Distilled sensibleness: a small classifier that was taught a language model's scores.

This is step 3 of the recipe in the attribution/fluency paper, 7.7: the scores that a large model
gave to many replies are distilled into a small model, which then judges the rest.
`distillation_training.py` makes such a checkpoint.
"""

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.backends.base import Judged, Reply
from generation.backends.checkpoint_loader import load, most_tokens
from generation.model_specs import BackendError, ModelSpec

TAUGHT = ("sensible", "specific")  # metrics whose scores can be distilled; they name the output
FEWEST_DIALOG_TOKENS = 8  # a reply that leaves less room for its dialog has no score
DEFAULT_MAX_TOKENS = 512  # used where neither tokenizer nor model names a limit
BATCH_TOKENS = 4096  # including padding


class Distilled:
    """A checkpoint with one output. The sigmoid of the output, in fp32, is the score."""

    def __init__(self, spec: ModelSpec) -> None:
        """Load a checkpoint that `distillation_training.py` has made.

        Raises:
            BackendError: the checkpoint is missing, incomplete, or not a distilled one.
        """
        loaded = load(spec, "AutoModelForSequenceClassification", "sensibleness by `distil`")
        self._model, self.device = loaded.model, loaded.device
        self.revision, self.files = loaded.revision, loaded.files
        labels = list(self._model.config.id2label.values())
        if len(labels) != 1 or labels[0] not in TAUGHT:
            found = ", ".join(map(str, labels))
            raise BackendError(
                f"{spec.location}: found the outputs {found}; expected one that is called "
                f"{' or '.join(TAUGHT)}, as manage.py distil makes it"
            )
        self.metric: str = labels[0]
        self._reader = ReplyReader(loaded.tokenizer, self._model)
        self.signature = f"distilled|{self.metric}|max_tokens:{self._reader.max_tokens}|fp32|v:1"

    def sensibleness(self, replies: Sequence[Reply]) -> list[Judged]:
        """Return the score of each reply, in the same order.

        If the text is too long for the model, only the dialog is cut, at its beginning. A reply
        that leaves no room for its dialog has a problem instead of a score.
        """
        n_tokens = self._reader.n_tokens(replies)
        problem = f"the reply leaves no room for its dialog in {self._reader.max_tokens} tokens"
        found = {
            reply: Judged(math.nan, problem=problem) for reply, n in n_tokens.items() if n is None
        }
        readable = {reply: n for reply, n in n_tokens.items() if n is not None}
        for batch in _batches(readable, self._reader.max_tokens):
            for reply, score in zip(batch, self._reader.scores(batch), strict=True):
                found[reply] = Judged(
                    score,
                    is_truncated=readable[reply] > self._reader.max_tokens,
                    problem="the model gave no number" if math.isnan(score) else "",
                )
        return [found[reply] for reply in replies]


class ReplyReader:
    """The reader that gives a dialog and its reply to a model as a pair of texts."""

    def __init__(self, tokenizer: Any, model: Any) -> None:
        tokenizer.truncation_side = "left"  # the newest turns are kept
        self._tokenizer = tokenizer
        self._model = model
        self._takes = inspect.signature(model.forward).parameters
        self._has_types = getattr(model.config, "type_vocab_size", 0) > 1 or None
        self.max_tokens = most_tokens(tokenizer, model.config, DEFAULT_MAX_TOKENS)

    def n_tokens(self, replies: Sequence[Reply]) -> dict[Reply, int | None]:
        """Return the length of each distinct reply with its dialog, in tokens.

        It is None if the reply leaves no room for its dialog.
        """
        distinct = list(dict.fromkeys(replies))
        dialogs = self._lengths([dialog_text(reply) for reply in distinct])
        texts = self._lengths([reply.text for reply in distinct])
        n_special = self._tokenizer.num_special_tokens_to_add(pair=True)
        found: dict[Reply, int | None] = {}
        for reply, dialog, text in zip(distinct, dialogs, texts, strict=True):
            room = self.max_tokens - n_special - text
            has_room = room >= min(FEWEST_DIALOG_TOKENS, dialog)
            found[reply] = n_special + dialog + text if has_room else None
        return found

    def inputs(self, replies: Sequence[Reply]) -> dict[str, Any]:
        """Return a batch in the form that the model takes: tensors on its device."""
        encoded = self._tokenizer(
            [dialog_text(reply) for reply in replies],
            [reply.text for reply in replies],
            truncation="only_first",
            max_length=self.max_tokens,
            padding=True,
            return_token_type_ids=self._has_types,
            return_tensors="pt",
        )
        return {
            name: tensor.to(self._model.device)
            for name, tensor in encoded.items()
            if name in self._takes
        }

    def scores(self, replies: Sequence[Reply]) -> list[float]:
        """Return the score of each reply of a batch."""
        import torch

        with torch.no_grad():
            logits = self._model(**self.inputs(replies)).logits
        scores: list[float] = logits[:, 0].float().sigmoid().tolist()
        return scores

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        encoded = self._tokenizer(list(texts), add_special_tokens=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]


def dialog_text(reply: Reply) -> str:
    """Return a dialog as one text, one line per turn: 'A: ' before the user's turns, else 'B: '."""
    return "\n".join(
        f"{'A' if speaker.lower() == 'user' else 'B'}: {text}" for speaker, text in reply.turns
    )


def _batches(n_tokens: Mapping[Reply, int], max_tokens: int) -> Iterator[list[Reply]]:
    """Yield the replies in batches of similar length, the longest first; padding counts."""
    batch: list[Reply] = []
    widest = 0
    for reply in sorted(n_tokens, key=n_tokens.__getitem__, reverse=True):
        if batch and widest * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        if not batch:
            widest = min(n_tokens[reply], max_tokens)
        batch.append(reply)
    if batch:
        yield batch
