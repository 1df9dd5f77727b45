"""The demo's second model: responses that people wrote, chosen for each setup of the grid.

For each example `written_texts.jsonl` and `responses.jsonl` have texts of five kinds. A table says
how many examples of a setup get a text of each kind, so that better prompts tend to get better
texts. Which examples these are is drawn by a seed. Scores are never written: metrics compute them.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from evaluation.exchange.demo_files import demo_rows
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import import_dataset
from generation.importers import open_material
from generation.models import Dataset, Response

WRITER = "demo-writer"
SHOWN_TO = "extractive"  # the model whose prompts the writer is said to have been shown
SEED = 25
TEMPERATURES = (0.0, 0.7)
# right; right in part; true, but no answer to the question; a guess that fits the question; a text
# that has lost the dialog.
KINDS = ("right", "partly", "beside", "guess", "adrift")
# How many of 100 examples get a text of each kind, by prompt, at temperature 0. The responses to
# 'golden' and 'no-evidence' are in responses.jsonl.
SHARES: Mapping[str, Sequence[int]] = {
    "golden-instructions": (79, 11, 4, 6, 0),
    "retrieved-2": (65, 14, 11, 10, 0),
    "retrieved-3": (57, 14, 15, 14, 0),
    "retrieved-2-instructions": (72, 14, 7, 7, 0),
    "retrieved-3-instructions": (65, 14, 11, 10, 0),
    "one-shot": (72, 18, 4, 6, 0),
    "no-history-no-evidence": (0, 0, 0, 25, 75),
    "no-history-golden": (32, 11, 46, 0, 11),
    "random": (7, 4, 0, 75, 14),
    "next-best": (11, 11, 4, 64, 10),
}
# At temperature 0.7 this share of the right texts is replaced by texts of the other kinds.
LOST_WHEN_HOT = 0.3
# What `responses.jsonl` calls its texts, by the five kinds.
KIND_OF = {
    "right": "right",
    "partly": "partly",
    "contradicting": "guess",
    "unsupported": "guess",
    "evasive": "adrift",
    "nonsense": "adrift",
    "off-topic": "adrift",
    "repetitive": "adrift",
    "self-contradicting": "adrift",
}


def import_written_responses(dataset: Dataset) -> None:
    """Import the writer's responses to all prompts but the two that the dataset came with.

    They are said to be shown what `SHOWN_TO` was shown, so its grid must be done. Importing them
    again changes nothing.
    """
    rows = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in _rows(dataset))
    with TemporaryDirectory(prefix="attest-demo-") as folder:
        (Path(folder) / "responses.jsonl").write_text(rows, encoding="utf-8")
        with open_material(Path(folder)) as material:
            import_dataset(material, plan_import(material, dataset.name))


def _rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Yield the rows of responses.jsonl."""
    texts = written_texts()
    prompts = {(each.setup.prompt, each.example.key): each for each in _prompts_shown(dataset)}
    for prompt in SHARES:
        for temperature in TEMPERATURES:
            kinds = kinds_of_setup(list(texts), prompt, temperature)
            for example, kind in kinds.items():
                key = f"{example}.{prompt}.t{10 * temperature:.0f}"
                shown = prompts[prompt, example]
                yield {
                    "id": key,
                    "example": example,
                    "setup": {"model": WRITER, "temperature": temperature, "prompt": prompt},
                    "text": Random(f"{SEED} {key}").choice(texts[example][kind]),
                    "evidence_shown": [each.passage.key for each in shown.shown.all()],
                    "meta": {"kind": kind, "tokens": shown.meta["tokens"]},
                }


def _prompts_shown(dataset: Dataset) -> Iterator[Response]:
    """Return a response to each prompt of the grid, with the passages that were shown."""
    asked = dataset.responses.filter(
        setup__model=SHOWN_TO, setup__temperature=0, setup__prompt__in=SHARES
    )
    return asked.select_related("setup", "example").prefetch_related("shown__passage").iterator(500)


def written_texts() -> dict[str, dict[str, list[str]]]:
    """Return the texts of each example by kind, in the order of the files."""
    texts: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for row in demo_rows("written_texts.jsonl"):
        texts[row.pop("example")] = row
    for row in demo_rows("responses.jsonl"):
        texts[row["example"]][KIND_OF[row["meta"]["kind"]]].append(row["text"])
    return texts


def kinds_of_setup(examples: Sequence[str], prompt: str, temperature: float) -> dict[str, str]:
    """Return the kind of text that each example gets under a prompt at a temperature."""
    shares = list(map(float, SHARES[prompt]))
    if temperature:
        lost = LOST_WHEN_HOT * shares[0]
        shares = [shares[0] - lost, *(share + lost / 4 for share in shares[1:])]
    counts = zip(KINDS, _counts(shares, len(examples)), strict=True)
    kinds = [kind for kind, n in counts for _ in range(n)]
    drawn = Random(f"{SEED} {prompt} {temperature}").sample(examples, len(examples))
    return dict(zip(drawn, kinds, strict=True))


def _counts(shares: Sequence[float], n: int) -> list[int]:
    """Return whole numbers that add up to `n` and come nearest to some shares of 100."""
    exact = [n * share / 100 for share in shares]
    counts = list(map(int, exact))
    by_rest = sorted(range(len(exact)), key=lambda place: counts[place] - exact[place])
    for place in by_rest[: n - sum(counts)]:
        counts[place] += 1
    return counts
