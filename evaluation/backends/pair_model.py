"""The base of entailment checkpoints: pairs in batches of similar length, and a self-test."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from evaluation.backends.base import Entailment
from evaluation.measures.entailment import Pair
from generation.backends.checkpoint_loader import Loaded
from generation.backends.faster_layers import FasterLayers
from generation.backends.model_files import GIVES_NOTHING, NO_WORDS, first_line
from generation.model_specs import BackendError, ModelSpec

# These are scored when a model is loaded: a checkpoint with reversed labels must not run.
_PREMISE = "A man is playing a guitar on a stage in front of a large crowd."
OBVIOUS = Pair(_PREMISE, "A man is playing a guitar.")
OBVIOUSLY_NOT = Pair(_PREMISE, "A woman is asleep in her bed.")
# On these pairs, a quicker way to make tokens must give the same result as the usual way.
ODD = [
    OBVIOUS,
    OBVIOUSLY_NOT,
    Pair(
        "  Zürich’s “old”\ttown –\n\n1,000 km² (naïve, ﬁne) … 北京",
        "İt is 3.5% [SEP] larger </s>. ",
    ),
    Pair("The sky is blue. " * 2000, "Is it?  It is blue."),
]

FEWEST_PREMISE_TOKENS = 8  # a hypothesis that leaves less room for the evidence has no score
DEFAULT_MAX_TOKENS = 512  # used where neither tokenizer nor model names a limit
BATCH_TOKENS = 1024  # including padding; larger batches are not faster on a CPU core
BATCH_TOKENS_ON_GPU = 64 * 1024
LARGEST_DIFFERENCE = {"fp32": 1e-5, "bf16": 0.1}  # allowed between two ways to compute the same


class Tokens(NamedTuple):
    """The tokens of a pair in the form that a model reads."""

    ids: list[int]
    types: list[int] | None = None  # the text that each token belongs to, the first or the second
    is_cut: bool = False  # whether the premise was too long and was cut


class PairModel(ABC):
    """A checkpoint that gives P(entailment) of a premise and a hypothesis."""

    revision: str
    files: dict[str, str]
    device: str
    signature: str

    def __init__(self, spec: ModelSpec, loaded: Loaded, max_tokens: int) -> None:
        location = self.location = spec.location
        self._precision = spec.precision
        self.revision, self.files, self.device = loaded.revision, loaded.files, loaded.device
        self._model, self._tokenizer = loaded.model, loaded.tokenizer
        self._max_tokens = max_tokens
        self._batch_tokens = BATCH_TOKENS if loaded.device == "cpu" else BATCH_TOKENS_ON_GPU
        known = self._tokenizer(OBVIOUS.premise, add_special_tokens=False)["input_ids"]
        if set(known) <= {self._tokenizer.unk_token_id}:  # the vocabulary is missing
            raise BackendError(f"{location}: {NO_WORDS}")

    def entailment(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """Return P(entailment) for each pair, in the same order.

        If a pair is too long for the model, only the premise is cut. A hypothesis that leaves no
        room for its premise has a problem instead of a probability.
        """
        distinct = list(dict.fromkeys(pairs))
        if not distinct:
            return []
        tokens = self._tokens(distinct)
        by_length = sorted(tokens, key=lambda pair: len(tokens[pair].ids), reverse=True)
        found = self._all_probabilities([tokens[pair] for pair in by_length])
        answers = {
            pair: Entailment(
                probability,
                is_truncated=tokens[pair].is_cut,
                problem="the model gave no number" if math.isnan(probability) else "",
            )
            for pair, probability in zip(by_length, found, strict=True)
        }
        no_room = Entailment(
            math.nan,
            problem="the response leaves no room for evidence in "
            f"{self._max_tokens} tokens: split it into sentences",
        )
        return [answers.get(pair, no_room) for pair in pairs]

    @abstractmethod
    def _tokens(self, pairs: Sequence[Pair]) -> dict[Pair, Tokens]:
        """Return the tokens of the pairs, except of those without room for a premise."""

    @abstractmethod
    def _probabilities(self, inputs: dict[str, Any]) -> Any:
        """Return P(entailment), in fp32, of a batch of tokens that are padded to equal length."""

    def _all_probabilities(self, pairs: Sequence[Tokens]) -> list[float]:
        """Return P(entailment) of pairs that are sorted with the longest first."""
        import torch

        found = []
        done = 0
        while done < len(pairs):
            n = _batch_size(len(pairs[done].ids), self._batch_tokens)
            batch = pairs[done : done + n]
            try:
                with torch.inference_mode():
                    found.append(self._probabilities(self._padded(batch)))
            except torch.OutOfMemoryError as exc:
                self._batch_tokens = min(self._batch_tokens, n * len(batch[0].ids)) // 2
                if n == 1:
                    raise BackendError(
                        f"{self.location}: one pair of {len(batch[0].ids):,} tokens does not fit "
                        f"into memory ({first_line(exc)})"
                    ) from exc
                torch.cuda.empty_cache()
            else:
                done += len(batch)
        # Numbers are copied only now, so that a GPU does not have to wait between two batches.
        return [number for each in found for number in each.tolist()]

    def _padded(self, batch: Sequence[Tokens]) -> dict[str, Any]:
        import torch

        columns: dict[str, list[list[int]]] = {
            "input_ids": [each.ids for each in batch],
            "attention_mask": [[1] * len(each.ids) for each in batch],
        }
        fill = {"input_ids": self._tokenizer.pad_token_id or 0, "attention_mask": 0}
        if all(each.types is not None for each in batch):
            columns["token_type_ids"] = [each.types or [] for each in batch]
            fill["token_type_ids"] = self._tokenizer.pad_token_type_id
        widest = max(len(each.ids) for each in batch)
        is_left = self._tokenizer.padding_side == "left"
        padded = {}
        for name, rows in columns.items():
            gaps = ([fill[name]] * (widest - len(row)) for row in rows)
            lines = [g + r if is_left else r + g for r, g in zip(rows, gaps, strict=True)]
            padded[name] = torch.tensor(lines).to(self.device.partition(":")[0])
        return padded

    def _test_itself(self) -> None:
        """Ask about two plain pairs; then use faster layers if they give the same result.

        Raises:
            BackendError: the model cannot be asked, or its answers are the wrong way round.
        """
        try:
            plain = self._plain_pairs()
        except Exception as exc:  # a tokenizer that does not fit its model first fails here
            raise BackendError(f"{self.location}: {GIVES_NOTHING}: {first_line(exc)}") from exc
        yes, no = plain
        if not yes > no:  # also when one is NaN
            raise BackendError(
                f"{self.location}: the model gives an obvious entailment {yes:.3f} and an "
                f"obvious non-entailment {no:.3f}; expected the first to be higher. "
                "Are its labels the wrong way round?"
            )
        faster = FasterLayers(self._model, is_bf16=self._precision == "bf16")
        if faster and self._gives(plain):
            faster.keep()
        else:
            faster.undo()

    def _gives(self, plain: Sequence[float]) -> bool:
        """Return whether the two plain pairs have almost these probabilities."""
        try:
            again = self._plain_pairs()
        except Exception:  # some models use their weights in a way that faster layers cannot
            return False
        most = LARGEST_DIFFERENCE[self._precision]
        return all(abs(a - b) <= most for a, b in zip(plain, again, strict=True))

    def _plain_pairs(self) -> list[float]:
        return [each.probability for each in self.entailment([OBVIOUS, OBVIOUSLY_NOT])]


def _batch_size(longest: int, batch_tokens: int) -> int:
    """Return how many pairs to ask about at once, given the number of tokens of the longest."""
    return max(1, batch_tokens // longest)
