"""A T5 of some 400 KiB, made in a second: real in form, but not in content.

Its weights are random, and it has its own vocabulary. As in the real T5's vocabulary, `1` is one
piece and `0` is two, the first of which is a space. The last layer is fitted to a few plain pairs,
among them those that a backend asks about when it is opened.
"""

from pathlib import Path
from typing import Any

from tests.tiny_models import NO_PAIRS, YES_PAIRS

ONE, SPACE = "▁1", "▁"
_SPECIAL = ["<pad>", "</s>", "<unk>"]


def tiny_t5(
    folder: Path,
    *,
    is_reversed: bool = False,
    is_one_known: bool = True,
    max_tokens: int = 128,
    seed: int = 0,
) -> Path:
    """Write a T5 that answers 1 or 0, with its tokenizer, into a folder, and return the folder.

    Args:
        is_reversed: whether it answers 1 where the premise does not entail the hypothesis.
        is_one_known: whether `1` is a piece of its tokenizer.
        max_tokens: the most tokens of a pair.
        seed: the seed of its weights.
    """
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    tokenizer = _tokenizer(max_tokens, is_one_known)
    start: dict[str, Any] = {"decoder_start_token_id": 0, "tie_word_embeddings": False}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = T5ForConditionalGeneration(
            T5Config(
                vocab_size=len(tokenizer),
                d_model=32,
                d_kv=8,
                d_ff=64,
                num_layers=2,
                num_heads=4,
                **start,
                initializer_factor=1.5,  # large, so that every word affects the answer
            )
        ).eval()
    if is_one_known:
        _fit(model, tokenizer, -1 if is_reversed else 1)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer(max_tokens: int, is_one_known: bool) -> Any:
    """Return a tokenizer that splits text as T5's does; its pieces are letters and a few words."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ023456789.,;:!?'\"()[]-"
    words = ["premise", "hypothesis", "the", "is", "a", "man", "woman", "museum", "opens", "of"]
    pieces = [(token, 0.0) for token in _SPECIAL]
    pieces += [(SPACE, -2.0)]
    pieces += [(ONE, -2.5)] if is_one_known else []
    pieces += [(f"▁{word}", -3.0) for word in words]
    pieces += [(letter, -6.0) for letter in letters]
    pieces += [("1", -9.0)] if is_one_known else []
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=max_tokens,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    )


def _fit(model: Any, tokenizer: Any, sign: int) -> None:
    """Set the last layer so that for the plain pairs the logit of `1` is that of a space ± 2."""
    import torch

    hidden: list[Any] = []
    hook = model.lm_head.register_forward_pre_hook(lambda _, inputs: hidden.append(inputs[0]))
    with torch.no_grad():
        for premise, hypothesis in YES_PAIRS + NO_PAIRS:
            asked = tokenizer(f"premise: {premise} hypothesis: {hypothesis}", return_tensors="pt")[
                "input_ids"
            ]
            model(input_ids=asked, decoder_input_ids=torch.tensor([[0]]))
        hook.remove()
        states = torch.cat([each[0, :1] for each in hidden])
        # A row is also its piece's embedding, but none of these texts has a `1`.
        weight = model.lm_head.weight
        wanted = torch.tensor([2.0] * len(YES_PAIRS) + [-2.0] * len(NO_PAIRS)) * sign
        wanted += states @ weight[tokenizer.convert_tokens_to_ids(SPACE)]
        weight[tokenizer.convert_tokens_to_ids(ONE)] = torch.linalg.pinv(states) @ wanted
