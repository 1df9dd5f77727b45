"""The grid of known truth as the material of reports, without a database."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.measures.reranking import choose
from evaluation.models import MetricRun
from evaluation.tradeoffs.axes import Axes, of_run
from evaluation.tradeoffs.dots import dot_of
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.pools import Pool, usual_pools
from generation.models import RERANKED, Dataset, Setup
from tests.tradeoff_grid import METRICS, SEED, Cell, drawn, kept_shares, n_tokens
from tests.tradeoff_texts import DIALOG_SIZE, example_key


def synthetic_material(
    n_examples: int = 60, seed: int = SEED, attribution: str = "auto_ais"
) -> TradeoffMaterial:
    """Return the same as `material_of` the imported dataset, without a database.

    Args:
        attribution: the metric of the axis of attribution: 'auto_ais' or 'ais_noisy'.
    """
    world = drawn(n_examples, seed)
    dataset = Dataset(pk=1, name="synthetic", slug="synthetic")
    runs = [
        MetricRun(
            pk=number, dataset=dataset, metric=metric, signature="synthetic|t:0.5", is_imported=True
        )
        for number, metric in enumerate((attribution, "sensible"), start=1)
    ]
    scores = world.scores[[METRICS.index(run.metric) for run in runs]]
    dots = [
        dot_of(
            Setup(
                pk=number,
                dataset=dataset,
                name=cell.name,
                model=cell.model,
                temperature=cell.temperature,
                prompt=cell.prompt,
                settings=cell.settings,
            )
        )._replace(**_means(cell, n_examples))
        for number, cell in enumerate(world.cells, start=1)
    ]
    n_responses = len(dots) * n_examples
    return TradeoffMaterial(
        dataset=dataset,
        axes=Axes(*map(of_run, runs)),
        dots=tuple(dots),
        examples=tuple(example_key(number) for number in range(n_examples)),
        example_ids=np.arange(1, n_examples + 1),
        dialogs=np.arange(n_examples) // DIALOG_SIZE,
        n_dialogs=-(-n_examples // DIALOG_SIZE),
        responses=np.arange(1, n_responses + 1).reshape(len(dots), n_examples),
        labels=(scores > 0.5).astype(np.float64),
        scores=scores,
        is_assumed=np.zeros_like(scores, bool),
        left_out={"repeated_responses": 0, "attribution_unknown": 0, "sensibleness_unknown": 0},
        data_hash="synthetic",
    )


def _means(cell: Cell, n_examples: int) -> dict[str, Any]:
    examples = range(n_examples)
    said = {"context_tokens": np.mean([n_tokens(cell, each)["total"] for each in examples])}
    if cell.is_restricted:
        kept = [kept_shares(cell, each) for each in examples]
        said |= {f"{part}_share": np.mean([each[part] for each in kept]) for part in kept[0]}
        said["off_budget"] = np.mean([abs(sum(each.values()) - 1) for each in kept])
    return {name: float(value) for name, value in said.items()}


def with_aggregate(
    material: TradeoffMaterial,
    pool: Sequence[str],
    function: str,
    chosen_by: TradeoffMaterial | None = None,
) -> TradeoffMaterial:
    """Return a material with an aggregate added to the setups that it chooses from.

    Args:
        pool: names of setups, in type order.
        chosen_by: a material of the same responses whose scores decide the choice; None: this one.
    """
    by = chosen_by or material
    places = [material.place(name) for name in pool]
    chosen = choose(function, *by.scores[:, places])
    everywhere = chosen[np.newaxis, np.newaxis]
    labels, scores = (
        np.take_along_axis(values[:, places], everywhere, axis=1)
        for values in (material.labels, material.scores)
    )
    first = material.dots[places[0]].setup
    setup = Setup(
        pk=len(material.dots) + 1,
        dataset=material.dataset,
        name=f"{first.model} · T {first.temperature!r} · {RERANKED} · {function}",
        model=first.model,
        temperature=first.temperature,
        prompt=RERANKED,
        settings={
            "pool": list(pool),
            "function": function,
            "attribution": by.axes.attribution.said,
            "sensibleness": by.axes.sensibleness.said,
        },
    )
    n_responses = material.responses.size
    new = np.arange(n_responses + 1, n_responses + material.n_examples + 1)
    return material._replace(
        dots=(*material.dots, dot_of(setup)),
        responses=np.vstack([material.responses, new]),
        labels=np.concatenate([material.labels, labels], axis=1),
        scores=np.concatenate([material.scores, scores], axis=1),
    )


def pools_of(material: TradeoffMaterial) -> list[Pool]:
    """Return the usual pools of a material's setups."""
    return usual_pools(dot.setup for dot in material.dots)
