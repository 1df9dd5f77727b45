"""Complete prompts by the folder backend, and by `generate` of transformers by itself: their ratio.

Both get the same prompts in batches of eight, take the likeliest token each time, and compute in
fp32 with one thread. They take turns in each round, so that other work on the machine slows both.
A prompt has a fact and a question about it. Tokens are those of completions, without padding.

    make small-models
    .venv/bin/python benchmarks/tokens_per_second.py --json
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]
os.environ.setdefault("DJANGO_DEBUG", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from generation.backends.base import Decoding, Prompt  # noqa: E402 - needs the lines above
from generation.backends.huggingface import TransformersLanguageModel  # noqa: E402
from generation.model_specs import ModelSpec  # noqa: E402
from tests.small_models import LANGUAGE_MODEL  # noqa: E402

TOGETHER = 8
INSTRUCTION = "Answer the question by the fact."
PLACES = ("The mill", "The abbey", "The lighthouse", "The school", "The museum", "The harbour")
SENTENCES = (
    "was built in {year} by monks who came from the north.",
    "burned down in {year}, and the town paid for a new roof.",
    "closed in {year} after a flood had made the road useless.",
    "has been open to visitors since {year}, on every day but Monday.",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, default=LANGUAGE_MODEL, help="folder of the model")
    parser.add_argument("--prompts", type=int, default=TOGETHER)
    parser.add_argument("--max-tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    if not options.model.is_dir():
        sys.stdout.write(
            f"No language model is at {options.model}: run `make small-models`. "
            "Nothing was measured.\n"
        )
        return
    figures = measured(options)
    for name, value in figures.items():
        sys.stdout.write(f"{name:<40}{value:>10,}\n")
    if options.json:
        sys.stdout.write(json.dumps(figures) + "\n")


def measured(options: argparse.Namespace) -> dict[str, float]:
    """Return the tokens a second of both ways, their ratio, and how many texts are the same."""
    prompts = list(facts_and_questions(options.prompts))
    ways: dict[str, Callable[[Sequence[Prompt]], list[str]]] = {
        "backend": by_backend(options.model, options.max_tokens),
        "transformers": by_transformers(options.model, options.max_tokens),
    }
    texts = {name: complete(prompts[:TOGETHER]) for name, complete in ways.items()}  # warm up
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, complete in ways.items():
            began = time.process_time()
            texts[name] = complete(prompts)
            seconds[name].append(time.process_time() - began)
    count = token_counter(options.model)
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    speeds = {name: sum(map(count, texts[name])) / medians[name] for name in ways}
    figures = {f"{name}, tokens a second": round(speed, 1) for name, speed in speeds.items()}
    same = sum(a == b for a, b in zip(*texts.values(), strict=True))
    return figures | {
        "ratio": round(speeds["backend"] / speeds["transformers"], 2),
        "prompts": len(prompts),
        "same texts": same,
    }


def facts_and_questions(n: int) -> Iterator[Prompt]:
    """Yield `n` different prompts with facts of two to eight sentences, the same ones each time."""
    draw = random.Random(1)
    for number in range(n):
        place = draw.choice(PLACES)
        said = (
            f"{place} {draw.choice(SENTENCES).format(year=draw.randint(1100, 1990))}"
            for _ in range(draw.randint(2, 8))
        )
        fact = f"Fact: {' '.join(said)}"
        yield Prompt(f"{fact}\n\n{number + 1}. What is known about {place.lower()}?", INSTRUCTION)


def by_backend(folder: Path, max_tokens: int) -> Callable[[Sequence[Prompt]], list[str]]:
    model = TransformersLanguageModel(ModelSpec("language-model", location=str(folder.resolve())))
    decoding = Decoding(max_tokens=max_tokens)

    def complete(prompts: Sequence[Prompt]) -> list[str]:
        return [
            completion.text
            for batch in batches(prompts)
            for completion in model.complete(batch, decoding)
        ]

    return complete


def by_transformers(folder: Path, max_tokens: int) -> Callable[[Sequence[Prompt]], list[str]]:
    """Return a function that completes prompts as the documentation of transformers shows it."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)

    def complete(prompts: Sequence[Prompt]) -> list[str]:
        texts = []
        for batch in batches(prompts):
            chats = [
                [
                    {"role": "system", "content": each.system},
                    {"role": "user", "content": each.text},
                ]
                for each in batch
            ]
            asked = tokenizer.apply_chat_template(
                chats,
                add_generation_prompt=True,
                padding=True,
                return_tensors="pt",
                return_dict=True,
            )
            written = model.generate(**asked, max_new_tokens=max_tokens, do_sample=False)
            replies = written[:, asked["input_ids"].shape[1] :]
            texts += tokenizer.batch_decode(replies, skip_special_tokens=True)
        return texts

    return complete


def batches(prompts: Sequence[Prompt]) -> Iterator[Sequence[Prompt]]:
    for begin in range(0, len(prompts), TOGETHER):
        yield prompts[begin : begin + TOGETHER]


def token_counter(folder: Path) -> Callable[[str], int]:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    return lambda text: len(tokenizer(text)["input_ids"])


if __name__ == "__main__":
    main()
