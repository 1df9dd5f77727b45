"""Entailment by any sequence-classification checkpoint that the transformers library reads."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.backends.pair_model import (
    DEFAULT_MAX_TOKENS,
    FEWEST_PREMISE_TOKENS,
    OBVIOUS,
    OBVIOUSLY_NOT,
    ODD,
    PairModel,
    Tokens,
)
from evaluation.measures.entailment import Pair
from generation.backends.checkpoint_loader import load, most_tokens
from generation.model_specs import BackendError, ModelSpec

__all__ = ["OBVIOUS", "OBVIOUSLY_NOT", "SequenceClassifier"]


class SequenceClassifier(PairModel):
    """A checkpoint with a label for entailment. P(entailment) is the softmax over its labels."""

    def __init__(self, spec: ModelSpec) -> None:
        """Load a checkpoint and ask it about two plain pairs.

        Args:
            spec: names a folder with config.json, tokenizer and safetensors, or a model on the hub.

        Raises:
            BackendError: the checkpoint is missing, incomplete, no classifier, or too large for
                memory, has no label for entailment, or answers the two pairs wrongly.
        """
        loaded = load(spec, "AutoModelForSequenceClassification", "sequence classification")
        config = loaded.model.config
        labels = {int(index): str(name) for index, name in config.id2label.items()}
        self._entailment = _entailment_label(labels, spec.entailment_index, spec.location)
        super().__init__(spec, loaded, most_tokens(loaded.tokenizer, config, DEFAULT_MAX_TOKENS))
        self.signature = f"transformers|max_tokens:{self._max_tokens}|{spec.precision}|v:1"
        self._takes = set(inspect.signature(self._model.forward).parameters)
        # Some tokenizers do not return the text that each token belongs to, although their model
        # was trained with it.
        self._has_types = "token_type_ids" in self._takes and (
            getattr(config, "type_vocab_size", 0) > 1
            or "token_type_ids" in self._tokenizer.model_input_names
        )
        self._n_special: int = self._tokenizer.num_special_tokens_to_add(pair=True)
        self._joins = bool(self._tokenizer.is_fast) and self._joins_as_usual()
        self._test_itself()

    def _tokens(self, pairs: Sequence[Pair]) -> dict[Pair, Tokens]:
        return self._joined(pairs) if self._joins else self._paired(pairs)

    def _joined(self, pairs: Sequence[Pair]) -> dict[Pair, Tokens]:
        """Return the tokens of pairs. Each text is tokenized once, and the tokenizer joins them."""
        tokenizer = self._tokenizer.backend_tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        alone = dict(zip(texts, encoded, strict=True))
        tokenizer.enable_truncation(
            self._max_tokens,
            strategy="only_first",
            direction=self._tokenizer.truncation_side,
        )
        found = {}
        for pair in pairs:
            n_premise, n_hypothesis = (len(alone[text]) for text in pair)
            if self._has_room(n_premise, n_hypothesis):
                joined = tokenizer.post_process(alone[pair.premise], alone[pair.hypothesis])
                types = joined.type_ids if self._has_types else None
                is_cut = self._is_cut(n_premise, n_hypothesis)
                found[pair] = Tokens(joined.ids, types, is_cut)
        return found

    def _paired(self, pairs: Sequence[Pair]) -> dict[Pair, Tokens]:
        """Return the tokens of pairs, with the tokenizer's usual call for pairs."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        ids = self._tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        length = {text: len(of_text) for text, of_text in zip(texts, ids, strict=True)}
        fit = [
            pair for pair in pairs if self._has_room(length[pair.premise], length[pair.hypothesis])
        ]
        if not fit:
            return {}
        encoded = self._tokenizer(
            [pair.premise for pair in fit],
            [pair.hypothesis for pair in fit],
            truncation="only_first",
            max_length=self._max_tokens,
            return_token_type_ids=self._has_types,
        )
        types = encoded["token_type_ids"] if self._has_types else [None] * len(fit)
        return {
            pair: Tokens(ids, of_pair, self._is_cut(length[pair.premise], length[pair.hypothesis]))
            for pair, ids, of_pair in zip(fit, encoded["input_ids"], types, strict=True)
        }

    def _has_room(self, n_premise: int, n_hypothesis: int) -> bool:
        room = self._max_tokens - self._n_special - n_hypothesis
        return room >= min(FEWEST_PREMISE_TOKENS, n_premise)

    def _is_cut(self, n_premise: int, n_hypothesis: int) -> bool:
        return self._n_special + n_premise + n_hypothesis > self._max_tokens

    def _joins_as_usual(self) -> bool:
        """Return whether joined tokens are the same as the tokens that the usual call returns."""
        try:
            return self._joined(ODD) == self._paired(ODD)
        except Exception:  # an error in the usual call is reported when the model is tested
            return False

    def _probabilities(self, inputs: dict[str, Any]) -> Any:
        given = {name: tensor for name, tensor in inputs.items() if name in self._takes}
        return self._model(**given).logits.float().softmax(dim=-1)[:, self._entailment]


def _entailment_label(labels: Mapping[int, str], index: int | None, location: str) -> int:
    """Return the output that means entailment.

    It is found by its name, else by the stated index. It is never guessed from its position.

    Raises:
        BackendError: it cannot be found, or the index does not fit the names.
    """
    names = ", ".join(f"{at}: {name}" for at, name in sorted(labels.items()))
    if len(labels) < 2:
        raise BackendError(f"{location}: found the labels {names}; expected two or more")
    named = [at for at, name in labels.items() if name.lower().startswith(("entail", "support"))]
    if index is None and len(named) == 1:
        return named[0]
    if index is None:
        raise BackendError(
            f"{location}: found the labels {names}; expected one that begins with 'entail' or "
            "'support'. If you know which output means entailment, state its index"
        )
    if index not in labels or (named and index not in named):
        raise BackendError(
            f"{location}: found the labels {names}; expected one that means entailment as {index}"
        )
    return index
