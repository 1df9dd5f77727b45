"""Entailment checkpoints of some 200 KiB, made in a second: real ones in form, not in content.

Each is a BERT with random weights and its own WordPiece tokenizer. Its last layer is fitted to a
few plain pairs, among them those that `pair_model.py` asks about. For other pairs its answers mean
nothing, but they are deterministic, differ from pair to pair, and are between 0 and 1.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.backends.pair_model import OBVIOUS, OBVIOUSLY_NOT
from evaluation.measures.entailment import Pair

LABELS = ("not_entailment", "entailment")

YES_PAIRS = [
    OBVIOUS,
    Pair("Rome is the capital of Italy. It lies on the Tiber.", "Rome is the capital of Italy."),
    Pair("The museum opens at nine and closes at six.", "The museum opens at nine."),
]
NO_PAIRS = [
    OBVIOUSLY_NOT,
    Pair("Rome is the capital of Italy. It lies on the Tiber.", "Paris is in France."),
    Pair("The museum opens at nine and closes at six.", "Two dogs chase a ball."),
]
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def tiny_checkpoint(
    folder: Path,
    *,
    labels: Sequence[str] = LABELS,
    entailment: int = 1,
    is_reversed: bool = False,
    max_tokens: int = 128,
    n_layers: int = 2,
    hidden_size: int = 32,
    seed: int = 0,
) -> Path:
    """Write a sequence-classification checkpoint with its tokenizer into a folder, and return it.

    Args:
        labels: the names of its outputs.
        entailment: the output that is high where the premise entails the hypothesis.
        is_reversed: whether that output is high where the premise does not entail it.
        max_tokens: the most tokens of a pair.
        n_layers: the number of its layers. With many wide ones a checkpoint is slow, and not tiny.
        hidden_size: the width of its layers.
        seed: the seed of its weights.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = _tokenizer(max_tokens)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertForSequenceClassification(
            BertConfig(
                vocab_size=len(tokenizer),
                hidden_size=hidden_size,
                num_hidden_layers=n_layers,
                num_attention_heads=4,
                intermediate_size=64,
                max_position_embeddings=max_tokens,
                initializer_range=0.4,  # large, so that every word affects the answer
                id2label=dict(enumerate(labels)),
                label2id={label: index for index, label in enumerate(labels)},
            )
        ).eval()
    _fit(model, tokenizer, entailment, -1 if is_reversed else 1)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def replace_by_untrained(family: str, folder: Path) -> None:
    """Replace the model in a checkpoint's folder by one of the family 'roberta' or 'distilbert'.

    The model has 130 positions, and its tokenizer does not say how many tokens it takes.
    """
    import torch
    from transformers import (
        DistilBertConfig,
        DistilBertForSequenceClassification,
        RobertaConfig,
        RobertaForSequenceClassification,
    )

    torch.manual_seed(1)
    labels: dict[str, Any] = {"id2label": {0: "LABEL_0", 1: "LABEL_1"}, "pad_token_id": 0}
    model = (
        RobertaForSequenceClassification(
            RobertaConfig(
                vocab_size=400,
                hidden_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=16,
                max_position_embeddings=130,
                type_vocab_size=1,
                initializer_range=0.4,
                **labels,
            )
        )
        if family == "roberta"
        else DistilBertForSequenceClassification(
            DistilBertConfig(
                vocab_size=400,
                dim=16,
                n_layers=1,
                n_heads=2,
                hidden_dim=16,
                max_position_embeddings=130,
                initializer_range=0.4,
                **labels,
            )
        )
    )
    model.save_pretrained(folder)
    tokenizer_config = folder / "tokenizer_config.json"
    config = json.loads(tokenizer_config.read_text())
    tokenizer_config.write_text(json.dumps(config | {"model_max_length": 10**30}))


def _tokenizer(max_tokens: int) -> Any:
    """Return a WordPiece tokenizer trained on the pairs above; it knows every letter."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    # Each letter is once at the start of a word, and once inside it.
    every_letter = [f"{letter}{letter}" for letter in _LETTERS]
    texts = [text for pair in YES_PAIRS + NO_PAIRS for text in pair]
    tokenizer.train_from_iterator(
        [*texts, *every_letter, ". , ; : ! ? ' \" ( ) [ ] -"],
        trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False),
    )
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=ends,
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=max_tokens,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )


def _fit(model: Any, tokenizer: Any, entailment: int, sign: int) -> None:
    """Set the last layer so that the pairs above get logit ±2 for entailment, all others 0."""
    import torch

    with torch.no_grad():
        pooled = []
        for pair in YES_PAIRS + NO_PAIRS:
            # Token types are included, as the model will get them; the tokenizer's default is none.
            encoded = tokenizer(*pair, return_token_type_ids=True, return_tensors="pt")
            pooled.append(model.bert(**encoded).pooler_output[0])
        wanted = torch.tensor([2.0] * len(YES_PAIRS) + [-2.0] * len(NO_PAIRS)) * sign
        weights = torch.linalg.pinv(torch.stack(pooled)) @ wanted
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        model.classifier.weight[entailment] = weights
