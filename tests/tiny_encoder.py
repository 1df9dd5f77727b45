"""An encoder of some 50 KiB with its own vocabulary, made in a moment: a base to be fine-tuned.

Its weights are random and deterministic. It has one layer, so that it learns in a second.
"""

from pathlib import Path

_TEXT = "rome capital italy museum opens nine closes six lies tiber what about a b : . ?"
WORDS = _TEXT.split()
GOOD, BAD = "guitar", "dogs"  # words by which a teacher can judge
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def tiny_encoder(folder: Path, *, max_tokens: int = 48, seed: int = 0) -> Path:
    """Write a BERT without an output layer and its tokenizer into a folder; return the folder."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = [*_SPECIAL, *WORDS, GOOD, BAD]
    tokenizer = Tokenizer(
        models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, words.index(token)) for token in ("[CLS]", "[SEP]")],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=max_tokens,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertModel(
            BertConfig(
                vocab_size=len(words),
                hidden_size=32,
                num_hidden_layers=1,
                num_attention_heads=4,
                intermediate_size=64,
                max_position_embeddings=max_tokens,
                initializer_range=0.1,
            )
        )
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
