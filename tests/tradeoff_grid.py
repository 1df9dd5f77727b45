"""A grid whose truth is known: models of three sizes, every type of prompt, restricted context.

Each setup has a true chance to be attributable and one to be sensible. They are arranged as in [A]
figures 1 to 7: four clusters by history and golden evidence, F1 bands by size and temperature,
small moves along a band by the rest of the prompt, and golden evidence in restricted context along
one iso-F1 curve. Labels are drawn by a seed for each setup and example; those of one example, and
of one dialog, correlate. A label is yes where

    √0.3 · (the dialog's) + √0.4 · (the example's) + √0.3 · (its own)  <  Φ⁻¹(chance)

for standard normal numbers, so that on average the share of yes is the setup's chance. Attribution
and sensibleness have separate numbers.
"""

import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from generation.models import Dataset
from generation.text.prompt_types import TWELVE, PromptType, prompt_type
from tests.makers import import_rows
from tests.tradeoff_texts import DIALOG_SIZE, answer, example_row, golden_key, rival_keys

SMALL, MEDIUM, LARGE = MODELS = ("Synthetic 8B", "Synthetic 62B", "Synthetic 540B")
TEMPERATURES = (0.0, 0.7)
# Shares of the dialog in restricted context.
SHARES = tuple(share / 10 for share in range(10, -1, -1))
# The quality of a model: the paper's bands from left to right; two bands have two models each.
BAND_OF = {
    (SMALL, 0.7): 0,
    (SMALL, 0.0): 1,
    (MEDIUM, 0.7): 1,
    (MEDIUM, 0.0): 2,
    (LARGE, 0.7): 2,
    (LARGE, 0.0): 3,
}
BANDS = (0.66, 0.74, 0.82, 0.90)  # F1 with history and golden evidence
RESTRICTED_BANDS = (0.35, 0.40, 0.45, 0.50)  # F1 of golden evidence at any share of the dialog
# The position of each type with history and golden evidence along its band: see `on_band`.
ALONG = {
    "golden": -0.04,
    "golden-instructions": 0.02,
    "retrieved-2": -0.06,
    "retrieved-2-instructions": 0.00,
    "retrieved-3": -0.08,
    "retrieved-3-instructions": -0.02,
    "one-shot": -0.02,
}
# Shares of dialog, example and setup in the variance of the number that decides a label.
WEIGHTS = (0.3, 0.4, 0.3)
NOISE = 0.3  # standard deviation of what the second metric adds to the first's scores
METRICS = ("auto_ais", "sensible", "ais_noisy")
SEED = 20230217

Floats = NDArray[np.float64]


class Truth(NamedTuple):
    """The true chances of one setup."""

    attribution: float
    sensibleness: float

    @property
    def f1(self) -> float:
        return 2 * self.attribution * self.sensibleness / (self.attribution + self.sensibleness)


class Cell(NamedTuple):
    """One setup."""

    model: str
    temperature: float
    prompt: str  # key of its type
    truth: Truth

    @property
    def name(self) -> str:
        """The name that an import gives to the setup."""
        parts = [self.model, f"T {self.temperature!r}", self.prompt]
        return " · ".join(parts + [f"{name}={value}" for name, value in self.settings.items()])

    @property
    def settings(self) -> dict[str, str]:
        """The further settings of its setup: the rule by which evidence is cut, if it is cut."""
        is_cut = self.is_restricted and 0 < self.dialog_share < 1
        return {"evidence_share": "rest of kept"} if is_cut else {}

    @property
    def is_restricted(self) -> bool:
        return self.prompt.startswith("restricted-")

    @property
    def dialog_share(self) -> float:
        """The share of the dialog in a prompt of restricted context."""
        return float(self.prompt.rpartition("-")[2])


class Drawn(NamedTuple):
    """The labels and scores that were drawn for the cells: setups × examples."""

    cells: tuple[Cell, ...]
    labels: Floats  # (2, n_cells, n_examples): attribution, sensibleness; 1 or 0
    scores: Floats  # (3, n_cells, n_examples), by METRICS; the first two give the labels


# --- the truth ------------------------------------------------------------------------------


def on_band(f1: float, along: float) -> Truth:
    """Return a point of an iso-F1 curve: A = F1 (1 + a), so S = F1 (1 + a) / (1 + 2a).

    2SA / (S + A) = 2 F1 (1 + a)² / (1 + 2a) / ((1 + a) (2 + 2a) / (1 + 2a)) = F1.
    """
    return Truth(f1 * (1 + along), f1 * (1 + along) / (1 + 2 * along))


def restricted_truth(band: int, dialog_share: float, evidence_share: float, golden: bool) -> Truth:
    """Return the chances of prompts that hold a part of the dialog and a part of the evidence.

    With golden evidence, attribution grows with its share and sensibleness with the dialog's, so
    that both move along one iso-F1 curve where the two shares add up to 1. Other evidence lowers
    attribution as its share grows, and sensibleness a little. At a share of 0 the chances are those
    of a prompt without evidence.
    """
    f1 = RESTRICTED_BANDS[band]
    along = {share: -0.32 + 1.12 * share for share in (evidence_share, 1 - dialog_share)}
    attribution = on_band(f1, along[evidence_share]).attribution
    sensibleness = on_band(f1, along[1 - dialog_share]).sensibleness
    if golden:
        return Truth(attribution, sensibleness)
    alone = on_band(f1, -0.32).attribution
    return Truth(alone * (1 - 0.7 * evidence_share), sensibleness * (1 - 0.25 * evidence_share))


def truth_of(model: str, temperature: float, kind: PromptType) -> Truth:
    """Return the chances of one of the twelve types."""
    band = BAND_OF[model, temperature]
    if kind.has_history and kind.needs_golden:
        return on_band(BANDS[band], ALONG[kind.key])
    if kind.needs_golden:
        return Truth(0.42 + 0.02 * band, 0.45 + 0.03 * band)
    if not kind.has_history:
        return Truth(0.08 + 0.02 * band, 0.28 + 0.04 * band)
    without = restricted_truth(band, 1.0, 0.0, golden=False)
    if kind.evidence == "none":
        return without
    return Truth(0.8 * without.attribution, 0.95 * without.sensibleness)


def grid_cells(models: Sequence[str] = MODELS) -> list[Cell]:
    """Return the cells of the twelve types for each model and temperature."""
    return [
        Cell(model, temperature, kind.key, truth_of(model, temperature, kind))
        for model in models
        for temperature in TEMPERATURES
        for kind in TWELVE
    ]


def restricted_cells(model: str = LARGE) -> list[Cell]:
    """Return cells of golden and next-best evidence by share of the dialog, at temperature 0."""
    band = BAND_OF[model, 0.0]
    return [
        Cell(
            model,
            0.0,
            f"restricted-{evidence}-{share}",
            restricted_truth(band, share, 1 - share, golden=evidence == "golden"),
        )
        for evidence in ("golden", "next-best")
        for share in SHARES
    ]


# --- what is drawn --------------------------------------------------------------------------


@lru_cache(maxsize=8)
def drawn(n_examples: int = 60, seed: int = SEED) -> Drawn:
    """Return labels and scores of all setups.

    A score is above one half for a yes and below it for a no. Both kinds of restricted prompts show
    the same text where they hold no evidence, and so have the same labels there.
    """
    cells = tuple(sorted(grid_cells() + restricted_cells(), key=lambda cell: cell.name))
    shape = 2, n_examples
    shared = np.random.default_rng(seed)
    of_dialog = shared.normal(size=shape)[:, np.arange(n_examples) // DIALOG_SIZE]
    of_example = shared.normal(size=shape)
    labels, scores = [], []
    for cell in cells:
        key = cell.prompt.replace("next-best-1.0", "golden-1.0")
        own = np.random.default_rng([seed, zlib.crc32(f"{cell[:2]} {key}".encode())])
        parts = of_dialog, of_example, own.normal(size=shape)
        decides = sum(np.sqrt(w) * part for w, part in zip(WEIGHTS, parts, strict=True))
        is_yes = decides < ndtri(np.array(cell.truth))[:, np.newaxis]
        score = 0.45 * own.random(shape) + np.where(is_yes, 0.55, 0.0)
        noisy = np.clip(score[0] + NOISE * own.normal(size=n_examples), 0, 1)
        labels.append(is_yes.astype(np.float64))
        scores.append(np.round([*score, noisy], 6))
    return Drawn(cells, np.stack(labels, axis=1), np.stack(scores, axis=1))


def n_tokens(cell: Cell, example: int) -> dict[str, int]:
    """Return the tokens of a prompt; dialogs and passages of some examples are longer."""
    dialog, evidence = 160 + 20 * (example % 5), 80 + 10 * (example % 3)
    if cell.is_restricted:
        share = cell.dialog_share
        return _counted(round(share * dialog), round((1 - share) * evidence), 0)
    kind = prompt_type(cell.prompt)
    n_passages = 0 if kind.evidence == "none" else kind.k
    instructions = 40 * kind.has_instructions + 150 * kind.is_one_shot
    return _counted(dialog if kind.has_history else 12, n_passages * evidence, instructions)


def _counted(dialog: int, evidence: int, instructions: int) -> dict[str, int]:
    total = dialog + evidence + instructions
    return {
        "dialog": dialog,
        "evidence": evidence,
        "instructions": instructions,
        "total": total,
    }


def kept_shares(cell: Cell, example: int) -> dict[str, float]:
    """Return the shares of dialog and evidence that a restricted prompt really contains."""
    off = 0.03 * (example % 3 - 1) if 0 < cell.dialog_share < 1 else 0.0
    return {"dialog": cell.dialog_share + off, "evidence": 1 - cell.dialog_share - off}


# --- as a dataset ---------------------------------------------------------------------------


def synthetic_dataset(
    folder: Path,
    name: str = "synthetic",
    n_examples: int = 60,
    only: Callable[[Cell], bool] = lambda cell: True,
) -> Dataset:
    """Import the grid: examples, responses of all setups, and scores of three metrics.



    The texts are such that `lexical` and `heuristic` give them the same labels.

    Args:
        only: returns whether a cell's setup is imported.
    """
    world = drawn(n_examples)
    places = [
        (place, example)
        for place, cell in enumerate(world.cells)
        for example in range(n_examples)
        if only(cell)
    ]
    outcome = import_rows(
        folder,
        name,
        examples=[example_row(number) for number in range(n_examples)],
        responses=[_response_row(world, *place) for place in places],
        scores=[
            {
                "response": _response_key(*place),
                "metric": metric,
                "score": float(world.scores[of_metric, *place]),
                "signature": "synthetic|t:0.5",
            }
            for of_metric, metric in enumerate(METRICS)
            for place in places
        ],
    )
    assert outcome.dataset is not None
    return outcome.dataset


def _response_row(world: Drawn, place: int, example: int) -> dict[str, Any]:
    cell = world.cells[place]
    is_attributable, is_sensible = map(bool, world.labels[:, place, example])
    row: dict[str, Any] = {
        "id": _response_key(place, example),
        "example": example_row(example)["id"],
        "setup": {
            "model": cell.model,
            "temperature": cell.temperature,
            "prompt": cell.prompt,
            **cell.settings,
        },
        "text": answer(example, is_attributable, is_sensible, draw=place),
        "evidence_shown": _shown(cell, example),
        "tokens": n_tokens(cell, example),
    }
    return row | ({"shares": kept_shares(cell, example)} if cell.is_restricted else {})


def _response_key(place: int, example: int) -> str:
    return f"r{place:03}-{example:03}"


def _shown(cell: Cell, example: int) -> list[str]:
    """Return the keys of the passages that a prompt shows."""
    if (cell.is_restricted and cell.dialog_share == 1) or "no-evidence" in cell.prompt:
        return []
    if "next-best" in cell.prompt or cell.prompt == "random":
        return rival_keys(example)[:1]
    k = 1 if cell.is_restricted else prompt_type(cell.prompt).k
    return [golden_key(example), *rival_keys(example)][:k]
