"""Entailment by a text-to-text model that was fine-tuned to answer 1 or 0, like TRUE's T5."""

from collections.abc import Sequence
from typing import Any

from evaluation.backends.pair_model import (
    DEFAULT_MAX_TOKENS,
    FEWEST_PREMISE_TOKENS,
    ODD,
    PairModel,
    Tokens,
)
from evaluation.measures.entailment import Pair
from generation.backends.checkpoint_loader import load, most_tokens
from generation.model_specs import BackendError, ModelSpec

PREMISE, HYPOTHESIS = "premise:", "hypothesis:"
YES, NO = "1", "0"


class Seq2SeqClassifier(PairModel):
    """A checkpoint that is asked `premise: … hypothesis: …` and begins its answer with 1 or 0.

    P(entailment) is the softmax over two logits at the first step of the decoder: that of the token
    `1`, and that of the first token of `0`.
    """

    def __init__(self, spec: ModelSpec) -> None:
        """Load a checkpoint and ask it about two plain pairs.

        Args:
            spec: names a folder with config.json, tokenizer and safetensors, or a model on the hub.

        Raises:
            BackendError: the checkpoint is missing, incomplete, of another kind, or too large for
                memory, cannot answer 1 or 0, or answers the two pairs wrongly.
        """
        loaded = load(spec, "AutoModelForSeq2SeqLM", "answers in text, as TRUE's T5")
        self._yes, self._no = _answers(loaded.tokenizer, spec.location)
        start = loaded.model.generation_config.decoder_start_token_id
        if start is None:
            raise BackendError(
                f"{spec.location}: found no decoder_start_token_id; expected an encoder-decoder"
            )
        self._start: int = start
        most = most_tokens(loaded.tokenizer, loaded.model.config, DEFAULT_MAX_TOKENS)
        super().__init__(spec, loaded, most)
        self.signature = f"seq2seq|true|max_tokens:{self._max_tokens}|{spec.precision}|v:1"
        self._before, self._after = _ends(self._tokenizer)
        self._n_lead = len(self._pieces([PREMISE])[0])
        self._joins = self._joins_as_usual()
        self._test_itself()

    def _tokens(self, pairs: Sequence[Pair]) -> dict[Pair, Tokens]:
        """Return the tokens of pairs. Each text is tokenized once, and the tokens are joined.

        If joined tokens are not the usual ones, a pair that is not cut is tokenized as one text.
        """
        premises = list(dict.fromkeys(pair.premise for pair in pairs))
        hypotheses = list(dict.fromkeys(pair.hypothesis for pair in pairs))
        of_premise = dict(
            zip(premises, self._pieces([f"{PREMISE} {text}" for text in premises]), strict=True)
        )
        said = [f"{HYPOTHESIS} {text}" for text in hypotheses]
        of_hypothesis = dict(zip(hypotheses, self._pieces(said), strict=True))
        n_special = len(self._before) + len(self._after)
        found = {}
        for pair in pairs:
            premise, hypothesis = of_premise[pair.premise], of_hypothesis[pair.hypothesis]
            room = self._max_tokens - n_special - len(hypothesis)
            if room < min(self._n_lead + FEWEST_PREMISE_TOKENS, len(premise)):
                continue
            is_cut = len(premise) > room
            ids = [*self._before, *premise[:room], *hypothesis, *self._after]
            if not self._joins and not is_cut:
                ids = self._tokenizer(_asked(pair), verbose=False)["input_ids"][: self._max_tokens]
            found[pair] = Tokens(ids, is_cut=is_cut)
        return found

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._tokenizer(list(texts), add_special_tokens=False, verbose=False)
        pieces: list[list[int]] = encoded["input_ids"]
        return pieces

    def _joins_as_usual(self) -> bool:
        """Return whether joined tokens of two texts equal the tokens of the joined text."""
        self._joins = True
        return all(
            tokens.is_cut or tokens.ids == self._tokenizer(_asked(pair))["input_ids"]
            for pair, tokens in self._tokens(ODD).items()
        )

    def _probabilities(self, inputs: dict[str, Any]) -> Any:
        import torch

        n = len(inputs["input_ids"])
        device = inputs["input_ids"].device
        logits = self._model(
            **inputs,
            decoder_input_ids=torch.full((n, 1), self._start, device=device),
            use_cache=False,
        ).logits
        return logits[:, 0, [self._no, self._yes]].float().softmax(dim=-1)[:, 1]


def _asked(pair: Pair) -> str:
    return f"{PREMISE} {pair.premise} {HYPOTHESIS} {pair.hypothesis}"


def _answers(tokenizer: Any, location: str) -> tuple[int, int]:
    """Return the token `1` and the first token of `0`, which has two tokens in T5's vocabulary."""
    yes, no = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (YES, NO))
    if len(yes) != 1 or yes[0] == tokenizer.unk_token_id:
        raise BackendError(
            f"{location}: the tokenizer makes {len(yes)} tokens of {YES!r}; expected one that it "
            "knows"
        )
    if not no or no[0] in (yes[0], tokenizer.unk_token_id):
        raise BackendError(
            f"{location}: the tokenizer begins {NO!r} with the token of {YES!r}, or does not know "
            f"{NO!r}; expected another token"
        )
    return yes[0], no[0]


def _ends(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the special tokens that a tokenizer puts before and after a text."""
    bare = tokenizer(YES, add_special_tokens=False)["input_ids"]
    whole = tokenizer(YES)["input_ids"]
    at = whole.index(bare[0])
    return whole[:at], whole[at + len(bare) :]
