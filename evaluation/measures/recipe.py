"""The recipe ([A] 7.7): the number of items to use, the number per prompt, the gain of each call.

K1 passages are used. For each K from 1 to K2 a small model is asked ⌈K1 / K⌉ times, so that each
passage is in a prompt of exactly K passages. One of all responses is chosen: sensible first.
"""

import math
from collections.abc import Sequence

import numpy as np

from evaluation.measures.reranking import NOTHING, SENSIBLE_FIRST, Ints, choose
from evaluation.statistics.human_auto import Bools
from evaluation.statistics.intervals import Floats, ratio

ROUNDING = 1e-9  # a mean this much below the target has reached it


def smallest_k(recalls: Sequence[float], target: float) -> int | None:
    """Return K1: the smallest k whose recall@k reaches a target; None if no k does.

    Args:
        recalls: recall@k for k = 1, 2, …, in [0, 1]; NaN where undefined.
        target: the target, in (0, 1].
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
    """Return K2: the number of items of average length that fit in a prompt, at most K1.

    Args:
        budget: the most tokens that a whole prompt may have.
        k1: the number of items that are used.
        dialog_tokens: mean number of tokens of a dialog.
        item_tokens: mean number of tokens of an item with its label; above 0.
        instruction_tokens: number of tokens of the instructions.

    Returns:
        ⌊(budget - dialog - instructions) / item⌋, at most K1; 0 if not even one item fits.

    Raises:
        ValueError: `item_tokens` is not above 0.
    """
    if not item_tokens > 0:
        raise ValueError(f"items of {item_tokens} tokens, expected more than 0")
    room = budget - dialog_tokens - instruction_tokens
    return max(0, min(k1, math.floor(room / item_tokens + ROUNDING)))


def chosen_by_calls(attribution: Floats, sensibleness: Floats) -> Ints:
    """Return the response that is chosen for each example after 1, 2, … calls, sensible first.

    Args:
        attribution: scores in [0, 1], (n_pool, n_examples), calls in the order in which they were
            made; NaN unknown.
        sensibleness: scores in the same form.

    Returns:
        Places in the pool, (n_pool, n_examples). Row m - 1 has the responses that are chosen among
        the first m; `NOTHING` where none of them can be chosen.
    """
    return np.stack(
        [
            choose(SENSIBLE_FIRST, attribution[:n_calls], sensibleness[:n_calls])
            for n_calls in range(1, len(attribution) + 1)
        ]
    )


def calls_made(is_made: Bools) -> Floats:
    """Return the mean number of calls made for an example, among the first 1, 2, … of the pool.

    Args:
        is_made: whether each call was made, (n_pool, n_examples), in the order of the calls.

    Returns:
        The means, (n_pool,); NaN without examples.
    """
    n_examples = np.full(len(is_made), is_made.shape[1])
    return ratio(is_made.cumsum(axis=0).sum(axis=1), n_examples)


def taken(values: Floats, chosen: Ints) -> Floats:
    """Return the values of the chosen responses.

    Args:
        values: values of all responses in the pool, (n_pool, n_examples).
        chosen: places in the pool, (n_examples,).

    Returns:
        The chosen values, (n_examples,); NaN where nothing was chosen.
    """
    there = np.take_along_axis(values, np.maximum(chosen, 0)[np.newaxis], axis=0)[0]
    return np.where(chosen == NOTHING, math.nan, there)
