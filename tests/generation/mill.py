"""An example made by hand, with eight passages. Its prompts are in tests/data/prompts."""

from pathlib import Path
from typing import Any

from generation.records import TurnRecord

WRITTEN = Path(__file__).parents[1] / "data" / "prompts"

TURNS = (
    TurnRecord("user", "Who built the mill?", -1),
    TurnRecord("assistant", "Monks did, in 1200.", 0),
    TurnRecord("user", "When did the mill close?", 1),
)
# Each has eight words, so that BM25 weighs a word alike in all of them. Of the question's words,
# 'close' is in two passages and 'mill' in three. So STRIKE ranks above WIND and MILL, which tie.
FLOOD = "One flood made every mill close for weeks."  # both words, so the best
STRIKE = "A strike let most shops close for days."
WIND = "Wind moved another mill on Gallows Hill once."
MILL = "Mill wheels stopped in 1971. Visitors came later."  # golden
BREAD = "Bread was baked here on Mondays and Fridays."
PASSAGES = {
    "p1-wind": WIND,
    "p2-mill": MILL,
    "p3-bread": BREAD,
    "p4-flood": FLOOD,
    "p5-strike": STRIKE,
    "p6-cheese": "Monks sold goat cheese at a nearby market.",
    "p7-bridge": "Carts crossed an old bridge made of stone.",
    "p8-tower": "Bells rang from a tower at seven daily.",
}


def written(key: str) -> str:
    """Return the prompt of a type as it was written by hand."""
    return (WRITTEN / f"{key}.txt").read_text("utf-8").removesuffix("\n")


def example_rows() -> list[dict[str, Any]]:
    """Return the example for an interchange file, and a second one that has the other passages."""
    golden, *others = sorted(PASSAGES, key=lambda key: key != "p2-mill")
    turns = [{"speaker": turn.speaker, "text": turn.text} for turn in TURNS]
    evidence = [{"id": golden, "text": PASSAGES[golden], "golden": True}]
    return [
        {"id": "mill", "turns": turns, "evidence": evidence, "golden_answer": "In 1971."},
        {
            "id": "market",  # has no golden evidence
            "turns": [{"speaker": "user", "text": "What was sold?"}],
            "evidence": [{"id": key, "text": PASSAGES[key]} for key in others],
        },
    ]
