"""The choice of a completion's tokens from a model's logits, and its end at stop strings."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from generation.backends.base import Decoding, Prompt


class TokenStep(NamedTuple):
    """The likely tokens at one place of a completion, with natural logarithms of probabilities."""

    log_probability: float  # belongs to the token that was taken
    top: list[tuple[int, float]]  # the most likely tokens


class Steps:
    """A processor of logits that takes the next token of each row and notes how likely it was.

    The noted probabilities are those before temperature, top-k and top-p change them.
    """

    def __init__(self, prompts: Sequence[Prompt], decoding: Decoding) -> None:
        self._decoding = decoding
        self._draws = [random.Random(repr((decoding.seed, *prompt.identity))) for prompt in prompts]
        self._noted: list[list[TokenStep]] = []  # for each place, one step per row
        self.without_numbers: set[int] = set()  # rows whose logits were not numbers

    def of(self, row: int) -> list[TokenStep]:
        """Return the noted steps of a row, place by place."""
        return [place[row] for place in self._noted]

    def __call__(self, ids: Any, logits: Any) -> Any:
        """Return logits in which the token to take is the highest."""
        import torch

        if not self._decoding.temperature:
            taken, wanted = logits.argmax(dim=-1), logits
        else:
            taken = self._drawn(logits)
            wanted = torch.full_like(logits, -math.inf).scatter(1, taken[:, None], 0.0)
        missing = logits.gather(1, taken[:, None])[:, 0].isnan()
        self.without_numbers.update(missing.nonzero()[:, 0].tolist())
        if self._decoding.n_top:
            self._note(logits.log_softmax(dim=-1), taken)
        return wanted

    def _drawn(self, logits: Any) -> Any:
        """Return a token for each row, drawn by its share.

        It is one of the `top_k` likeliest tokens and, among these, one of the likeliest that
        together make up `top_p`.
        """
        import torch

        scaled = logits.double() / self._decoding.temperature
        shares, tokens = scaled.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
        if top_k := self._decoding.top_k:
            shares = shares[:, :top_k]
            shares = shares / shares.sum(dim=-1, keepdim=True)
        sums = shares.cumsum(dim=-1)
        last = (sums - shares < self._decoding.top_p).sum(dim=-1, keepdim=True).sub(1).clamp(min=0)
        draws = torch.tensor([[row.random()] for row in self._draws]).to(sums)
        places = torch.searchsorted(sums, draws * sums.gather(1, last), right=True)
        return tokens.gather(1, places.minimum(last))[:, 0]

    def _note(self, log_probabilities: Any, taken: Any) -> None:
        n_top = min(self._decoding.n_top, log_probabilities.shape[-1])
        values, tokens = (part.tolist() for part in log_probabilities.topk(n_top, dim=-1))
        of_taken = log_probabilities.gather(1, taken[:, None])[:, 0].tolist()
        self._noted.append(
            [
                TokenStep(value, list(zip(*top, strict=True)))
                for value, *top in zip(of_taken, tokens, values, strict=True)
            ]
        )


class Stops:
    """A criterion that ends a row of a batch as soon as it holds one of the stop strings."""

    def __init__(
        self, decoded: Callable[[Any], str], n_before: int, stop: Sequence[str], n_rows: int
    ) -> None:
        self._decoded = decoded
        self._n_before = n_before  # tokens before the completion
        self._stop = stop
        # One character may take as many tokens as it has bytes, which are at most four.
        self._n_looked_at = 4 * max(map(len, stop), default=0) + 4
        self.ends = [0] * n_rows  # tokens of each row at its first stop string; 0: none yet

    def __call__(self, ids: Any, scores: Any, **kwargs: Any) -> Any:
        import torch

        written = ids[:, self._n_before :]
        n_written = written.shape[1]
        for row, tokens in enumerate(written[:, -self._n_looked_at :].tolist()):
            if not self.ends[row]:
                text = self._decoded(tokens)
                self.ends[row] = n_written if any(stop in text for stop in self._stop) else 0
        return torch.tensor([end > 0 for end in self.ends], device=ids.device)
