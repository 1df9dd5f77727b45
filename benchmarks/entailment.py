"""Score window × response pairs with an entailment classifier in several ways: ratios of CPU time.

The workload is like that of a study: evidence of 5 to 45 sentences with about 20 words, windows of
two sentences, seven responses for each example, some of them repeated, flavor v3. Every way gets
the same seeded sub-sample of whole examples, in three rounds in turn, with one thread. Ratios are
those of medians. Without `--checkpoint` the model is a random one of MiniLM's shape.

With `--data`, Attest also scores published answers, split into sentences, in a database of its own.
`flipped_share` is the share of sentences whose label at 0.5 differs in bf16. `cached_gain` is the
CPU time of a run, divided by that of a second run over the same responses, which are then another
dataset with another setup.

    .venv/bin/python benchmarks/entailment.py --json
    .venv/bin/python benchmarks/entailment.py --checkpoint PATH --data begin
"""

import os

os.environ |= {  # must be set before any of these libraries is loaded
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "CUDA_VISIBLE_DEVICES": "",  # this compares CPU time
    "HF_HUB_OFFLINE": "1",
}

import argparse
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from evaluation.backends.classifier import (  # noqa: E402 - needs the lines above
    OBVIOUS,
    OBVIOUSLY_NOT,
    SequenceClassifier,
)
from evaluation.measures.entailment import AutoAis, EvidencePassage, Pair, ask  # noqa: E402
from generation.model_specs import ModelSpec  # noqa: E402

N_EXAMPLES, N_RESPONSES = 100, 7
SHARE_REPEATED = 0.15
CHOICES = AutoAis("v3", 2, "whole")
FEWEST_PAIRS = 400  # size of the sub-sample, at least
N_ROUNDS = 3
TOGETHER = 32
PADDED_TO = 512
WIDER = 40.0  # a random head gives all pairs nearly the same score; this factor spreads them

Probabilities = list[float]


# --- workload -------------------------------------------------------------------------------


def workload(seed: int = 1) -> list[list[Pair]]:
    """Return the pairs of each example: all windows of its evidence with each of its responses."""
    draw = random.Random(seed)
    words = vocabulary()

    def sentence(low: int, high: int) -> str:
        return " ".join(draw.choices(words, k=draw.randint(low, high))).capitalize() + "."

    examples = []
    for _ in range(N_EXAMPLES):
        evidence = " ".join(sentence(14, 26) for _ in range(draw.randint(5, 45)))
        question = sentence(6, 14)[:-1] + "?"
        responses: list[str] = []
        for _ in range(N_RESPONSES):
            is_repeat = responses and draw.random() < SHARE_REPEATED
            responses.append(draw.choice(responses) if is_repeat else sentence(12, 30))
        passages = [EvidencePassage(0, evidence)]
        asked = [ask(CHOICES, passages, question, response) for response in responses]
        examples.append([pair for each in asked for pair in each.asks if isinstance(pair, Pair)])
    return examples


def vocabulary(n: int = 4000, seed: int = 2) -> list[str]:
    """Return made-up words of one to three syllables, in a fixed order."""
    draw = random.Random(seed)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    words = {"".join(draw.choices(syllables, k=draw.randint(1, 3))) for _ in range(2 * n)}
    return sorted(words)[:n]


def sub_sample(examples: Sequence[Sequence[Pair]], seed: int = 21) -> list[Pair]:
    """Return the pairs of some whole examples, drawn until there are enough.

    With this seed, the share of repeated pairs is that of the whole workload: 13 %.
    """
    pairs: list[Pair] = []
    for example in random.Random(seed).sample(examples, len(examples)):
        if len(pairs) >= FEWEST_PAIRS:
            break
        pairs += example
    return pairs


def make_checkpoint(folder: Path) -> Path:
    """Write a random classifier of MiniLM's shape with a tokenizer of its own."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=8000, special_tokens=special, show_progress=False
    )
    plain = [text for pair in (OBVIOUS, OBVIOUSLY_NOT) for text in pair]
    core.train_from_iterator([" ".join(vocabulary()), *plain, ". , ? ! abcdefghij"], trainer)
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, core.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer: Any = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=core,
        model_max_length=512,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    torch.manual_seed(0)
    model: Any = BertForSequenceClassification(
        BertConfig(
            vocab_size=30522,
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
            id2label={0: "not_entailment", 1: "entailment"},
            label2id={"not_entailment": 0, "entailment": 1},
        )
    )
    model.eval()
    with torch.no_grad():
        model.classifier.weight *= WIDER
        of_yes, of_no = (
            model(**tokenizer(*pair, return_tensors="pt")).logits[0]
            for pair in (OBVIOUS, OBVIOUSLY_NOT)
        )
        if (of_yes - of_no).diff() < 0:  # a checkpoint must get these two right to be loaded
            model.classifier.weight *= -1
            of_yes, of_no = -of_yes, -of_no
        model.classifier.bias -= (of_yes + of_no) / 2  # else nearly all pairs get one label
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


# --- ways -----------------------------------------------------------------------------------


def plain_ways(folder: Path) -> dict[str, Callable[[Sequence[Pair]], Probabilities]]:
    """Return the ways of others: plain transformers code, its pipeline, sentence-transformers."""
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    labels = {index: name.lower() for index, name in model.config.id2label.items()}
    yes = next(index for index, name in labels.items() if name.startswith("entail"))

    def asked(pairs: Sequence[Pair], **padding: Any) -> Probabilities:
        encoded = tokenizer(
            [pair.premise for pair in pairs],
            [pair.hypothesis for pair in pairs],
            truncation="only_first",
            max_length=PADDED_TO,
            return_tensors="pt",
            **padding,
        )
        with torch.no_grad():
            found: Probabilities = model(**encoded).logits.softmax(-1)[:, yes].tolist()
        return found

    def one_pair(pairs: Sequence[Pair]) -> Probabilities:
        return [asked([pair])[0] for pair in pairs]

    def padded(pairs: Sequence[Pair]) -> Probabilities:
        batches = (pairs[at : at + TOGETHER] for at in range(0, len(pairs), TOGETHER))
        return [p for batch in batches for p in asked(batch, padding="max_length")]

    classify: Any = pipeline(
        "text-classification", model=model, tokenizer=tokenizer, device="cpu", top_k=None
    )

    def by_pipeline(pairs: Sequence[Pair]) -> Probabilities:
        texts = [{"text": pair.premise, "text_pair": pair.hypothesis} for pair in pairs]
        found = classify(texts, batch_size=TOGETHER, truncation="only_first", max_length=PADDED_TO)
        return [
            next(each["score"] for each in of_pair if each["label"] == model.config.id2label[yes])
            for of_pair in found
        ]

    cross_encoder = CrossEncoder(str(folder), device="cpu", max_length=PADDED_TO)

    def by_cross_encoder(pairs: Sequence[Pair]) -> Probabilities:
        found: Any = cross_encoder.predict(
            [tuple(pair) for pair in pairs],
            batch_size=TOGETHER,
            apply_softmax=True,
            show_progress_bar=False,
        )
        return [float(row[yes]) for row in found]

    return {
        "one pair a call": one_pair,
        f"padded to {PADDED_TO}": padded,
        "pipeline": by_pipeline,
        "CrossEncoder": by_cross_encoder,
    }


def our_ways(folder: Path) -> dict[str, Callable[[Sequence[Pair]], Probabilities]]:
    """Return Attest's way, in both precisions."""

    def way(precision: str) -> Callable[[Sequence[Pair]], Probabilities]:
        model = SequenceClassifier(
            ModelSpec("transformers", location=str(folder), precision=precision)
        )
        return lambda pairs: [each.probability for each in model.entailment(pairs)]

    return {"ours, fp32": way("fp32"), "ours, bf16": way("bf16")}


def measured(folder: Path) -> dict[str, float]:
    """Print the time of each way, and return the ratios."""
    import torch

    torch.set_num_threads(1)
    examples = workload()
    everything = [pair for example in examples for pair in example]
    pairs = sub_sample(examples)
    say(f"{len(everything):,} pairs, {len(set(everything)):,} distinct; ")
    say(f"measured on {len(pairs):,}, {len(set(pairs)):,} distinct\n")
    ways = plain_ways(folder) | our_ways(folder)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    answers: dict[str, Probabilities] = {}
    for way in ways.values():
        way(pairs[:4])  # the first call prepares things, which must not be timed
    for _ in range(N_ROUNDS):
        for name, way in ways.items():
            began = time.process_time()
            answers[name] = way(pairs)
            seconds[name].append(time.process_time() - began)
    middle = {name: statistics.median(times) for name, times in seconds.items()}
    one, ours, bf16 = answers["one pair a call"], "ours, fp32", "ours, bf16"
    say(f"{'way':<20}{'CPU seconds':>12}{'pairs/s':>9}{'speed':>8}{'difference':>12}\n")
    differences = {}
    for name, taken in middle.items():
        differences[name] = max(abs(a - b) for a, b in zip(answers[name], one, strict=True))
        speed = middle["one pair a call"] / taken
        say(f"{name:<20}{taken:>12.2f}{len(pairs) / taken:>9.1f}")
        say(f"{speed:>8.2f}{differences[name]:>12.1e}\n")
    return {
        "reference_vs_cross_encoder": middle["CrossEncoder"] / middle[ours],
        "reference_vs_padded": middle[f"padded to {PADDED_TO}"] / middle[ours],
        "reference_vs_pipeline": middle["pipeline"] / middle[ours],
        "reference_vs_one_pair": middle["one pair a call"] / middle[ours],
        "bf16_vs_cross_encoder": middle["CrossEncoder"] / middle[bf16],
        "bf16_vs_reference": middle[ours] / middle[bf16],
        "max_difference": differences[ours],
        "pairs": len(pairs),
        "pairs_per_second": len(pairs) / middle[ours],
        "pairs_per_second_bf16": len(pairs) / middle[bf16],
    }


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--checkpoint", type=Path, help="a folder; default: a random one")
    parser.add_argument("--data", choices=["mtrag", "begin", "qags"], help="published answers")
    parser.add_argument(
        "--pairs", type=int, default=6000, help="of --data: responses are drawn until so many"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    if options.data and not options.checkpoint:
        parser.error("--data needs --checkpoint: labels of a random model mean nothing")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.checkpoint or make_checkpoint(Path(temporary) / "model")
        figures = measured(folder)
        if options.data:
            from benchmarks.entailment_data import measured_on_data

            figures |= measured_on_data(
                folder.resolve(), options.data, options.pairs, Path(temporary)
            )
    rounded = {
        name: float(f"{value:.4g}") if math.isfinite(value) else None
        for name, value in figures.items()
    }
    for name, value in rounded.items():
        say(f"{name:<28}{value}\n")
    if options.json:
        say(json.dumps(rounded) + "\n")


if __name__ == "__main__":
    main()
