"""Material with given labels, without a database."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.tradeoffs.axes import Axes, Axis
from evaluation.tradeoffs.dots import Dot, dot_of
from evaluation.tradeoffs.material import TradeoffMaterial
from generation.models import Dataset, Setup

AXES = Axes(
    Axis("run-1", "Auto-AIS", "auto_ais: lexical"),
    Axis("run-2", "Auto-SSA", "sensible: heuristic"),
)


def dot(prompt: str, model: str = "PaLM 540B", temperature: float = 0.0, **more: Any) -> Dot:
    """Return the mark of a setup; `tokens` is its mean context, the rest of `more` its settings.

    Settings of restricted context name the rule by which evidence is cut; the default is today's.
    """
    tokens = more.pop("tokens", math.nan)
    if prompt.startswith("restricted-") and not prompt.endswith(("0.0", "1.0")):
        more = {"evidence_share": "rest of kept"} | more
    name = f"{model} · T {temperature} · {prompt} · {sorted(more.items())}"
    setup = Setup(name=name, model=model, temperature=temperature, prompt=prompt, settings=more)
    return dot_of(setup)._replace(context_tokens=tokens)


def material_by_hand(labels: Sequence[tuple[Dot, str, str]]) -> TradeoffMaterial:
    """Return the material of setups with attribution and sensibleness of each example.

    Args:
        labels: '1' yes, '0' no, '.' unknown, one for each example; each example is a dialog.
    """
    rows = sorted(labels, key=lambda row: row[0].setup.name)
    sides = [
        [[_label(each) for each in of_setup] for of_setup in side]
        for side in ([row[1] for row in rows], [row[2] for row in rows])
    ]
    n_examples = len(rows[0][1]) if rows else 0
    values = np.array(sides).reshape(2, len(rows), n_examples)
    return TradeoffMaterial(
        dataset=Dataset(name="mill", slug="mill"),
        axes=AXES,
        dots=tuple(dot for dot, _, _ in rows),
        examples=tuple(f"e{n}" for n in range(n_examples)),
        example_ids=np.arange(1, n_examples + 1),
        dialogs=np.arange(n_examples),
        n_dialogs=n_examples,
        responses=np.ones((len(rows), n_examples), np.int64),
        labels=values,
        scores=values,
        is_assumed=np.zeros_like(values, bool),
        left_out={},
        data_hash="0",
    )


def _label(text: str) -> float:
    return math.nan if text == "." else float(text)
