"""A small real language model, against plain transformers code on the same files."""

import warnings
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from generation.backends.base import Completion, Decoding, Prompt
from generation.backends.huggingface import TransformersLanguageModel
from generation.model_specs import ModelSpec

pytestmark = pytest.mark.models

MAX_TOKENS = 24
# A batch is computed in another order, so it may take the other one of two logits this close.
NEAR_TIE = 1e-4
FACT = "Fact: The museum opens at nine and closes at six. It is closed on Mondays."
PROMPTS = [
    Prompt("What is the capital of France?"),
    Prompt("Who wrote Romeo and Juliet?", "Answer in one sentence."),
    Prompt(f"{FACT}\n\nWhen does the museum open?"),
    Prompt(f"{FACT}\n\nMay I come on a Monday?", "Answer by the fact alone."),
    Prompt("Name three colours."),
    Prompt("Is 7 a prime number? Yes or no?"),
    Prompt("Hello!"),
    Prompt("Write a sentence about the sea.", "You are a poet. " * 8),
]


class Alone(NamedTuple):
    """The text that the transformers library makes of one prompt by itself."""

    tokens: list[int]  # the token that ends the text is left out
    top_gaps: list[float]  # between the two highest logits at each place
    n_prompt_tokens: int
    pieces: list[str]
    text: str


@pytest.fixture(scope="module")
def model(small_language_model) -> TransformersLanguageModel:
    return TransformersLanguageModel(
        ModelSpec("language-model", location=str(small_language_model))
    )


@pytest.fixture(scope="module")
def alone(small_language_model) -> dict[Prompt, Alone]:
    """Return what plain code makes of each prompt in fp32, one at a time."""
    return dict(zip(PROMPTS, _alone(small_language_model), strict=True))


def _alone(folder: Path) -> list[Alone]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    found = []
    for prompt in PROMPTS:
        system = [{"role": "system", "content": prompt.system}] if prompt.system else []
        read = tokenizer.apply_chat_template(
            [*system, {"role": "user", "content": prompt.text}],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
        made = model.generate(
            **read,
            do_sample=False,
            max_new_tokens=MAX_TOKENS,
            return_dict_in_generate=True,
            output_logits=True,
        )
        n_before = read["input_ids"].shape[1]
        tokens = [t for t in made.sequences[0, n_before:].tolist() if t != tokenizer.eos_token_id]
        highest = [logits[0].topk(2).values.tolist() for logits in made.logits]
        found.append(
            Alone(
                tokens,
                [first - second for first, second in highest],
                n_before,
                [tokenizer.decode([token]) for token in tokens],
                tokenizer.decode(tokens),
            )
        )
    return found


def pieces(completion: Completion) -> list[str]:
    return [token.text for token in completion.tokens]


def test_a_question_sent_through_the_chat_template_is_answered(model):
    [found] = model.complete([PROMPTS[0]], Decoding(max_tokens=MAX_TOKENS))

    assert "Paris" in found.text
    assert not found.is_cut
    assert model.signature.startswith("language-model|chat|")


def test_one_prompt_at_a_time_has_the_tokens_of_plain_code(model, alone):
    decoding = Decoding(max_tokens=MAX_TOKENS, n_top=1)

    found = {prompt: next(model.complete([prompt], decoding)) for prompt in PROMPTS}

    for prompt, expected in alone.items():
        completion = found[prompt]
        assert pieces(completion) == expected.pieces, prompt
        assert completion.text == expected.text
        assert completion.n_tokens == len(expected.tokens)
        assert completion.n_prompt_tokens == expected.n_prompt_tokens
    assert len({completion.text for completion in found.values()}) > 5  # not one text for all


def test_a_batch_of_eight_differs_from_plain_code_only_at_near_ties(model, alone):
    found = list(model.complete(PROMPTS, Decoding(max_tokens=MAX_TOKENS, n_top=1)))

    n_different = 0
    for prompt, completion in zip(PROMPTS, found, strict=True):
        both = zip_longest(pieces(completion), alone[prompt].pieces)
        place = next((place for place, (a, b) in enumerate(both) if a != b), None)
        if place is not None:  # what follows has another beginning, and is not compared
            assert alone[prompt].top_gaps[place] < NEAR_TIE, (prompt, place)
            n_different += 1
    if n_different:
        warnings.warn(f"{n_different} of {len(PROMPTS)} texts differ at near ties", stacklevel=1)
