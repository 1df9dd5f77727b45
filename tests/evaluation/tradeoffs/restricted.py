"""Grids on restricted context with given labels; each example is one dialog."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.tradeoffs.axes import Axes, Axis
from evaluation.tradeoffs.dots import dot_of
from evaluation.tradeoffs.material import TradeoffMaterial
from generation.models import Dataset, Setup
from tests.makers import example_row, import_rows, response_row

MODEL = "PaLM 540B"
# Evidence and dialog share → attributable and sensible for each of five examples: 1 yes, 0 no.
#            attribution  sensibleness      attribution, sensibleness
LABELS = {
    ("golden", 1.0): ("10000", "11111"),  # .2, 1
    ("golden", 0.8): ("11100", "11110"),  # .6, .8
    ("golden", 0.4): ("11110", "11000"),  # .8, .4
    ("next-best", 1.0): ("10000", "11111"),  # .2, 1
    ("next-best", 0.8): ("00000", "11110"),  # 0, .8
    ("next-best", 0.4): ("00010", "11000"),  # .2, .4
}


def restricted_material(
    labels: Mapping[tuple[str, float], tuple[str, str]] = LABELS,
    more: Mapping[Any, Any] = {},
    settings: Mapping[str, Mapping[str, Any]] = {},
) -> TradeoffMaterial:
    """Return the material of restricted setups without a database.

    Args:
        labels: labels in the form of `LABELS`; '.' is not known.
        more: labels of further setups, by evidence, share and name of settings; without the
            name, the settings are {"max_tokens": 7}.
        settings: settings by their names; the rule that the evidence is the rest of the dialog
            kept is added to them.

    Scores are half of the labels, so that scores and labels differ.
    """
    keys: list[tuple[str, float, Mapping[str, Any]]] = [(*key, {}) for key in labels]
    keys += [(*key[:2], settings[key[2]] if len(key) > 2 else {"max_tokens": 7}) for key in more]
    sides = [*labels.values(), *more.values()]
    dots, values = [], []
    for (evidence, share, settings), said in zip(keys, sides, strict=True):
        prompt = f"restricted-{evidence}-{share:.1f}"
        setup = Setup(name=f"{settings} {prompt}", model=MODEL, temperature=0.0, prompt=prompt)
        setup.settings = with_rule(share, settings)
        dots.append(dot_of(setup)._replace(**kept(share)))
        values.append([[math.nan if c == "." else float(c) for c in side] for side in said])
    both = np.array(values).swapaxes(0, 1)  # (2, n_dots, n_examples)
    n_examples = both.shape[2]
    sides_of_axes = Axes(Axis("a", "Attribution", "said a"), Axis("s", "Sensibleness", "said s"))
    return TradeoffMaterial(
        dataset=Dataset(name="mill"),
        axes=sides_of_axes,
        dots=tuple(dots),
        examples=tuple(f"e{number}" for number in range(n_examples)),
        example_ids=np.arange(1, n_examples + 1),
        dialogs=np.arange(n_examples),
        n_dialogs=n_examples,
        responses=np.arange(1, len(dots) * n_examples + 1).reshape(len(dots), n_examples),
        labels=both,
        scores=both / 2,
        is_assumed=np.zeros_like(both, bool),
        left_out={},
        data_hash="0",
    )


def kept(share: float) -> dict[str, Any]:
    """Return the shares that were kept: a little more dialog than asked for, but 1 at most."""
    dialog = min(share + 0.02, 1.0)
    return {"dialog_share": dialog, "evidence_share": 1 - share, "off_budget": dialog - share}


def with_rule(share: float, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings with today's rule for evidence added, where a part of the dialog is kept."""
    return {"evidence_share": "rest of kept", **settings} if 0 < share < 1 else settings


def restricted_dataset(
    folder: Path,
    labels: Mapping[tuple[str, float], tuple[str, str]] = LABELS,
    *,
    name: str = "mill",
    model: str = MODEL,
    is_scored: bool = True,
    **setting: Any,
) -> Dataset:
    """Import responses of restricted setups with the scores of both metrics.

    Args:
        labels: labels in the form of `LABELS`; '.' has no score.
        setting: further settings of all setups.
    """
    n_examples = max(len(attributable) for attributable, _ in labels.values())
    responses, scores = [], []
    for (evidence, share), sides in labels.items():
        setup = {"model": model, "temperature": 0, "prompt": f"restricted-{evidence}-{share:.1f}"}
        setup |= with_rule(share, setting)
        for number, (attributable, sensible) in enumerate(zip(*sides, strict=True), start=1):
            key = f"{evidence}-{share}-{number}"
            shares = {side: kept(share)[f"{side}_share"] for side in ("dialog", "evidence")}
            responses.append(response_row(key, f"e{number}", setup=setup, shares=shares))
            scores += [
                {"response": key, "metric": metric, "score": label, "signature": "t:0.5"}
                for metric, label in [("auto_ais", attributable), ("sensible", sensible)]
                if label != "."
            ]
    import_rows(
        folder / name,
        name,
        examples=[example_row(f"e{number}") for number in range(1, n_examples + 1)],
        responses=responses,
        scores=scores if is_scored else [],
    )
    return Dataset.objects.get(name=name)
