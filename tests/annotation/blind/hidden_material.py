"""A dataset in which everything that raters must not see has a mark in its name."""

from pathlib import Path
from typing import Any

from evaluation.models import MetricRun, SavedView
from generation.models import Dataset
from tests.annotation.makers import material

MARK = "undisclosed"  # it is in every word that is hidden
SCORE, TEMPERATURE, GOLD_SCORE, THRESHOLD = 0.31415, 0.87654, 0.27182, 0.61803
SETUPS = ("a", "b")


def hidden(what: str) -> str:
    return f"{MARK}-{what}"


def hidden_material(folder: Path) -> Dataset:
    numbers = range(1, 5)
    keys = [(number, setup) for number in numbers for setup in SETUPS]
    dataset = material(
        folder,
        examples=[example(number) for number in numbers],
        responses=[response(number, setup) for number, setup in keys],
        scores=[
            {
                "response": hidden(f"response-{number}-{setup}"),
                "metric": hidden("metric"),
                "score": str(SCORE),
                "signature": hidden("signature"),
            }
            for number, setup in keys
        ],
    )
    MetricRun.objects.update(model_name=hidden("checkpoint"), threshold=THRESHOLD)
    SavedView.objects.create(dataset=dataset, name=hidden("view"))
    return dataset


def example(number: int) -> dict[str, Any]:
    return {
        "id": hidden(f"example-{number}"),
        "dialog": hidden(f"dialog-{number}"),
        "turns": [{"speaker": "user", "text": f"When did mill {number} close?"}],
        "golden_answer": hidden(f"golden-answer-{number}"),
        "evidence": [
            {"id": hidden(f"passage-{number}-{golden}"), "text": text, "golden": golden}
            for golden, text in (
                (True, f"Mill {number} closed long ago."),
                (False, f"Mill {number} stood by a river."),
            )
        ],
    }


def response(number: int, setup: str, **more: Any) -> dict[str, Any]:
    return {
        "id": hidden(f"response-{number}-{setup}"),
        "example": hidden(f"example-{number}"),
        "setup": {
            "model": hidden(f"model-{setup}"),
            "temperature": TEMPERATURE,
            "prompt": hidden(f"prompt-{setup}"),
            "run": hidden(f"run-{setup}"),
            "style": hidden(f"style-{setup}"),
        },
        "text": f"It closed in {number}{len(setup)}{ord(setup)}.",
        "evidence_shown": [hidden(f"passage-{number}-{golden}") for golden in (True, False)],
        "meta": {"origin": hidden("meta")},
    } | more
