"""Find the names in N questions by a trained spaCy pipeline: questions a second, in CPU time.

The questions have one sentence of about ten words each, with a person and a place. They are read
together, as grids and reports do, and one at a time, as pages do. Beside that stand spaCy by itself
and the search for a graph's own labels, of which there are as many as --labels says.

    make small-models
    .venv/bin/python benchmarks/question_names.py --json
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
os.environ.setdefault("DJANGO_DEBUG", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

PIPELINE = Path(__file__).parent.parent / "var" / "models" / "en_core_web_sm"
FIRST = ("Marie", "Albert", "Ada", "Anne", "William", "Charles", "Rosalind", "Niels", "Emmy")
LAST = ("Curie", "Einstein", "Lovelace", "Hathaway", "Babbage", "Franklin", "Bohr", "Noether")
PLACES = ("Warsaw", "Paris", "London", "Stratford", "Copenhagen", "Berlin", "Rome", "Princeton")
FORMS = (
    "When did {person} move to {place} for the first time?",
    "Which prize did {person} of {place} win, and for what?",
    "Who taught {person} before the family came to {place}?",
    "Did {person}, the scientist, ever work at a school in {place}?",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pipeline", type=Path, default=PIPELINE, help="folder of the pipeline")
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--labels", type=int, default=50_000)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    if not options.pipeline.is_dir():
        sys.stdout.write(
            f"No spaCy pipeline is at {options.pipeline}: run `make small-models`. "
            "Nothing was measured.\n"
        )
        return
    figures = measured(options)
    for name, value in figures.items():
        sys.stdout.write(f"{name:<36}{value:>12,}\n")
    if options.json:
        sys.stdout.write(json.dumps(figures) + "\n")


def measured(options: argparse.Namespace) -> dict[str, float]:
    """Return questions a second of each way, and how long the pipeline takes to load."""
    django.setup()
    import spacy

    from generation.retrieval.entities import Absent, LabelRecogniser, ModelRecogniser

    asked = list(questions(options.questions))
    load_seconds, pipeline = timed(lambda: spacy.load(options.pipeline))
    by_model = ModelRecogniser(pipeline, "benchmark-0")
    by_labels = LabelRecogniser(labels(options.labels), Absent("for comparison"))
    few = asked[: max(1, len(asked) // 10)]
    one_at_a_time: dict[str, Callable[[], Any]] = {
        "pipeline, one at a time": lambda: [list(by_model.mentions([each])) for each in few],
    }
    together: dict[str, Callable[[], Any]] = {
        "pipeline, together": lambda: list(by_model.mentions(asked)),
        "spaCy by itself, together": lambda: [len(doc.ents) for doc in pipeline.pipe(asked)],
        "labels, together": lambda: list(by_labels.mentions(asked)),
    }
    list(by_model.mentions(few))  # the first texts and labels take longer
    list(by_labels.mentions(few))
    figures: dict[str, float] = {"questions": len(asked), "load_seconds": round(load_seconds, 1)}
    for ways, n in ((one_at_a_time, len(few)), (together, len(asked))):
        for name, find in ways.items():
            figures[f"{name}, per second"] = round(n / timed(find)[0])
    return figures


def questions(n: int) -> Iterable[str]:
    """Yield `n` questions, the same ones each time."""
    draw = random.Random(1)
    for _ in range(n):
        person = f"{draw.choice(FIRST)} {draw.choice(LAST)}"
        yield draw.choice(FORMS).format(person=person, place=draw.choice(PLACES))


def labels(n: int) -> Iterable[str]:
    """Yield `n` names of a graph, with those of the questions among them."""
    yield from PLACES
    yield from (f"{first} {last}" for first in FIRST for last in LAST)
    yield from (f"Person {number}" for number in range(n - len(PLACES) - len(FIRST) * len(LAST)))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and its result."""
    began = time.process_time()
    found = call()
    return time.process_time() - began, found


if __name__ == "__main__":
    main()
