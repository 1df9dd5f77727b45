"""The drawing of tokens, compared with shares worked out by hand."""

import math
from collections import Counter
from typing import Any

import pytest

from generation.backends.base import Decoding, Prompt
from generation.backends.token_steps import Steps

# A vocabulary of four tokens, not in the order of their shares.
LOGITS = [math.log(share) for share in (0.15, 0.5, 0.05, 0.3)]
N_DRAWS = 4000


def drawn(n_rows: int = N_DRAWS, **decoding: Any) -> list[int]:
    """Return the first token of so many prompts, each with random numbers of its own."""
    import torch

    prompts = [Prompt(str(number)) for number in range(n_rows)]
    wanted = Steps(prompts, Decoding(**decoding))(None, torch.tensor([LOGITS] * n_rows))
    tokens: list[int] = wanted.argmax(dim=-1).tolist()
    return tokens


@pytest.mark.parametrize(
    ("decoding", "shares"),
    [
        ({"temperature": 1.0}, [0.15, 0.5, 0.05, 0.3]),
        # Squared: 0.0225, 0.25, 0.0025 and 0.09, together 0.365.
        ({"temperature": 0.5}, [0.062, 0.685, 0.007, 0.247]),
        # 0.5 is too little, 0.5 + 0.3 is enough.
        ({"temperature": 1.0, "top_p": 0.79}, [0.0, 0.625, 0.0, 0.375]),
        ({"temperature": 1.0, "top_p": 0.81}, [0.15 / 0.95, 0.5 / 0.95, 0.0, 0.3 / 0.95]),
        ({"temperature": 1.0, "top_p": 0.5}, [0.0, 1.0, 0.0, 0.0]),
        ({"temperature": 1.0, "top_k": 1}, [0.0, 1.0, 0.0, 0.0]),
        # 0.5, 0.3 and 0.15 are left, together 0.95.
        ({"temperature": 1.0, "top_k": 3}, [0.15 / 0.95, 0.5 / 0.95, 0.0, 0.3 / 0.95]),
        ({"temperature": 1.0, "top_k": 9}, [0.15, 0.5, 0.05, 0.3]),
        # Squared, two are left: 0.25 and 0.09, together 0.34.
        ({"temperature": 0.5, "top_k": 2}, [0.0, 0.735, 0.0, 0.265]),
        # Of the two that are left the first has 0.5 / 0.8 = 0.625 of what there is, of four 0.5.
        ({"temperature": 1.0, "top_k": 2, "top_p": 0.6}, [0.0, 1.0, 0.0, 0.0]),
        ({"temperature": 1.0, "top_p": 0.6}, [0.0, 0.625, 0.0, 0.375]),
        ({"temperature": 0.0}, [0.0, 1.0, 0.0, 0.0]),
    ],
)
def test_tokens_are_drawn_by_their_shares(decoding, shares):
    counts = Counter(drawn(**decoding))

    # Of 4,000 draws a share has a standard error of at most 0.008.
    assert [counts[token] / N_DRAWS for token in range(4)] == pytest.approx(shares, abs=0.03)
    assert all(share or not counts[token] for token, share in enumerate(shares))


def test_the_same_seed_draws_the_same_and_another_seed_does_not():
    first = drawn(200, temperature=1.0, seed=1)

    assert first == drawn(200, temperature=1.0, seed=1)
    assert first[:7] == drawn(7, temperature=1.0, seed=1)  # whatever stands beside them
    assert first != drawn(200, temperature=1.0, seed=2)


@pytest.mark.parametrize("decoding", [{"top_k": 5}, {"top_k": 5, "top_p": 0.7}])
def test_what_may_be_drawn_is_what_transformers_leaves(decoding):
    """With random logits, exactly the tokens that plain transformers code leaves are drawn."""
    import torch
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    logits = torch.randn(1, 50, generator=torch.Generator().manual_seed(3))
    left = TopKLogitsWarper(5)(None, TemperatureLogitsWarper(0.7)(None, logits))
    left = TopPLogitsWarper(decoding.get("top_p", 1.0))(None, left)
    expected = left.softmax(dim=-1)[0]
    prompts = [Prompt(str(number)) for number in range(N_DRAWS)]

    steps = Steps(prompts, Decoding(temperature=0.7, **decoding))
    tokens = steps(None, logits.expand(N_DRAWS, -1)).argmax(dim=-1)

    shares = tokens.bincount(minlength=50) / N_DRAWS
    assert shares.tolist() == pytest.approx(expected.tolist(), abs=0.03)
    assert (shares > 0).tolist() == (expected > 0).tolist()
