"""The number of tokens that a model reads, by its tokenizer and its configuration."""

from types import SimpleNamespace
from typing import Any

import pytest
from transformers import BartConfig, BertConfig, GPT2Config, RobertaConfig, T5Config

from generation.backends.checkpoint_loader import most_tokens


@pytest.mark.parametrize(
    ("of_tokenizer", "config", "expected"),
    [
        (512, BertConfig(max_position_embeddings=512), 512),
        (10**30, BertConfig(max_position_embeddings=256), 256),
        (128, BertConfig(max_position_embeddings=512), 128),
        (10**30, RobertaConfig(max_position_embeddings=514), 512),  # the first two have no use
        (10**30, GPT2Config(n_positions=1024), 1024),
        (2048, BartConfig(max_position_embeddings=1024), 1024),
        (2048, T5Config(n_positions=512), 2048),  # type: ignore[call-arg]  # relative
        (10**30, T5Config(n_positions=512), 512),  # type: ignore[call-arg]
        (10**30, T5Config(), 777),  # neither says
    ],
)
def test_the_least_that_tokenizer_and_positions_allow(of_tokenizer, config: Any, expected):
    tokenizer = SimpleNamespace(model_max_length=of_tokenizer)

    assert most_tokens(tokenizer, config, 777) == expected
