"""The recipe ([A] 7.7): how many items to look at, how many to show at once, what each call adds.

K1 passages are looked at. For each K from 1 to K2 a small model is asked ⌈K1 / K⌉ times, so that
each of them stands in a prompt of exactly K; of all responses one is chosen: sensible first.
"""

import math
from collections.abc import Sequence

import numpy as np

from evaluation.measures.reranking import NOTHING, SENSIBLE_FIRST, Ints, choose
from evaluation.statistics.human_auto import Bools
from evaluation.statistics.intervals import Floats, ratio

ROUNDING = 1e-9  # a mean this much below the target has reached it


def smallest_k(recalls: Sequence[float], target: float) -> int | None:
    """Return K1: the smallest k whose recall@k reaches a target; None where none does.

    Args:
        recalls: recall@k of k = 1, 2, …, in [0, 1]; NaN where undefined.
        target: in (0, 1].
    """
    reaching = (k for k, recall in enumerate(recalls, start=1) if recall >= target - ROUNDING)
    return next(reaching, None)


def highest(recalls: Sequence[float]) -> float:
    """Return the highest recall that is reached; NaN where none is defined."""
    return max((recall for recall in recalls if not math.isnan(recall)), default=math.nan)


def items_that_fit(
    budget: int,
    k1: int,
    *,
    dialog_tokens: float,
    item_tokens: float,
    instruction_tokens: float = 0.0,
) -> int:
    """Return K2: how many items of the average length a prompt has room for, K1 at most.

    Args:
        budget: tokens of a whole prompt at most.
        k1: items that are looked at.
        dialog_tokens: the mean of the dialogs.
        item_tokens: the mean of the items, each with its label; above 0.

    Returns:
        ⌊(budget - dialog - instructions) / item⌋; 0 where not even one has room.

    Raises:
        ValueError: items have no length.
    """
    if not item_tokens > 0:
        raise ValueError(f"items of {item_tokens} tokens, expected more than 0")
    room = budget - dialog_tokens - instruction_tokens
    return max(0, min(k1, math.floor(room / item_tokens + ROUNDING)))


def chosen_by_calls(attribution: Floats, sensibleness: Floats) -> Ints:
    """Return what is chosen for each example after 1, 2, … calls, sensible first.

    Args:
        attribution: scores in [0, 1], (n_pool, n_examples), calls in the order made; NaN unknown.
        sensibleness: the same.

    Returns:
        (n_pool, n_examples): row m - 1 has the places in the pool of what is chosen among the
        first m; `NOTHING` where none of them can be.
    """
    return np.stack(
        [
            choose(SENSIBLE_FIRST, attribution[:n_calls], sensibleness[:n_calls])
            for n_calls in range(1, len(attribution) + 1)
        ]
    )


def calls_made(is_made: Bools) -> Floats:
    """Return the mean number of calls that an example has had among the first 1, 2, ….

    Args:
        is_made: (n_pool, n_examples), calls in the order made.

    Returns:
        (n_pool,); NaN without examples.
    """
    n_examples = np.full(len(is_made), is_made.shape[1])
    return ratio(is_made.cumsum(axis=0).sum(axis=1), n_examples)


def taken(values: Floats, chosen: Ints) -> Floats:
    """Return what a pool says about the chosen responses.

    Args:
        values: (n_pool, n_examples).
        chosen: (n_examples,) places in the pool.

    Returns:
        (n_examples,); NaN where nothing was chosen.
    """
    there = np.take_along_axis(values, np.maximum(chosen, 0)[np.newaxis], axis=0)[0]
    return np.where(chosen == NOTHING, math.nan, there)
