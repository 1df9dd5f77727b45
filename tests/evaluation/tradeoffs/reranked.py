"""A pool of three setups over four examples, with scores by two metrics of attribution."""

from pathlib import Path
from typing import Any

from evaluation.tradeoffs.axes import Axes, axes_of, find
from generation.models import Dataset
from tests.makers import example_row, import_rows, response_row

MODEL = "PaLM 8B"
POOL = ("golden", "golden-instructions", "retrieved-2")  # prompts, in type order
NAMES = tuple(f"{MODEL} · T 0.0 · {prompt}" for prompt in POOL)

# Prompt → scores of e1 … e4; None: not scored.
ATTRIBUTION: dict[str, list[float | None]] = {
    "golden": [0.9, 0.2, 0.6, None],
    "golden-instructions": [0.9, 0.8, 0.4, None],
    "retrieved-2": [0.1, 0.7, 0.9, 0.3],
}
SENSIBLENESS: dict[str, list[float | None]] = {
    "golden": [0.3, 0.9, 1.0, 1.0],
    "golden-instructions": [0.6, 0.2, 1.0, 1.0],
    "retrieved-2": [1.0, 0.8, 0.4, None],
}
# By hand, as places in the pool. Highest attribution: e1 has 0.9 twice, and the second is more
# sensible; e2 has 0.8; e3 has 0.9; e4 has only one known score. Sensible first, attribution of the
# sensible responses: e1 has 0.9 at the second place and 0.1 at the third; e2 0.2 and 0.7; e3 0.6
# and 0.4; e4 has none, because no response has both scores.
BY_ATTRIBUTION = [1, 1, 2, 2]
SENSIBLE_FIRST = [1, 2, 0, -1]
# A second metric of attribution.
SECOND: dict[str, list[float | None]] = {
    "golden": [0.9, 0.9, 0.9, 0.9],
    "golden-instructions": [0.1, 0.9, 0.1, 0.9],
    "retrieved-2": [0.9, 0.1, 0.9, 0.1],
}


def rows() -> dict[str, Any]:
    """Return the rows of the dataset's files."""
    metrics = {"auto_ais": ATTRIBUTION, "sensible": SENSIBLENESS, "second": SECOND}
    return {
        "examples": [example_row(f"e{n}", dialog=f"d{n}") for n in range(1, 5)],
        "responses": [
            response_row(
                f"{prompt}-{n}",
                f"e{n}",
                setup={"model": MODEL, "temperature": 0.0, "prompt": prompt},
                evidence_shown=[f"p-e{n}"],
                meta={"tokens": {"total": 100 + n}},
            )
            for prompt in POOL
            for n in range(1, 5)
        ],
        "scores": [
            {"response": f"{prompt}-{n}", "metric": metric, "score": score, "signature": "t:0.5"}
            for metric, by_prompt in metrics.items()
            for prompt, scores in by_prompt.items()
            for n, score in enumerate(scores, start=1)
            if score is not None
        ],
    }


def dataset_of(folder: Path, name: str = "own") -> Dataset:
    """Return the dataset, imported."""
    outcome = import_rows(folder, name, **rows())
    assert outcome.dataset is not None
    return outcome.dataset


def axes_in(dataset: Dataset, attribution: str = "auto_ais") -> Axes:
    """Return the axes of a metric of attribution and of sensibleness."""
    axes = axes_of(dataset)
    return Axes(find(axes, attribution), find(axes, "sensible"))


def keys_of(places: list[int]) -> dict[str, str]:
    """Return the keys of the responses at places in the pool, by example."""
    return {f"e{n}": f"{POOL[place]}-{n}" for n, place in enumerate(places, start=1) if place >= 0}
