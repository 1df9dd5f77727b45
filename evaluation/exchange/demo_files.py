"""The files of the demo, and the names of its datasets."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEMO_FILES = Path(__file__).resolve().parent / "demo"
DATASET = "Demo"
GRAPH_DATASET = "Demo graph"


def demo_rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one of the demo's JSON Lines files."""
    yield from map(json.loads, (DEMO_FILES / name).read_text("utf-8").splitlines())
