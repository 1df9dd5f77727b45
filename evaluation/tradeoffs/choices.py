"""The responses that scores choose among the setups of a pool. This module makes no queries."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.reranking import NOTHING, choose_with_ties
from evaluation.tradeoffs.material import TradeoffMaterial


class ChosenResponses(NamedTuple):
    """The response that is chosen for each example, by ids; examples without one are left out."""

    responses: dict[int, int]  # example → response
    ties: frozenset[int]  # examples in which the other score decided between equals


def chosen_responses(
    material: TradeoffMaterial,
    pool: Sequence[str],
    function: str,
    weights: Sequence[float] | None = None,
) -> ChosenResponses:
    """Return the responses that the scores of a material choose among the setups of a pool.

    A setup of the pool without any response is ignored.

    Args:
        pool: names of setups, in the order of the pool.
        function: one of `evaluation.measures.reranking.FUNCTIONS`.
        weights: weights for the function `weighted`: sensibleness, attribution.

    Raises:
        ValueError: the function or the weights are not valid.
    """
    there = {dot.setup.name: place for place, dot in enumerate(material.dots)}
    places = [there[name] for name in pool if name in there]
    if not places:
        return ChosenResponses({}, frozenset())
    attribution, sensibleness = material.scores[:, places]
    found, is_tie = choose_with_ties(function, attribution, sensibleness, weights)
    responses = material.responses[places][found, np.arange(material.n_examples)]
    is_chosen = found != NOTHING
    examples = material.example_ids
    return ChosenResponses(
        dict(zip(examples[is_chosen].tolist(), responses[is_chosen].tolist(), strict=True)),
        frozenset(examples[is_chosen & is_tie].tolist()),
    )
