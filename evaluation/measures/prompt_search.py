"""Linear search for the demonstrations of a few-shot prompt (attribution/fluency paper, 5.2).

The search goes once through the examples, in a given order. An example is kept as the next
demonstration when the prompt with it has a lower mean squared error to the rater scores than the
prompt without it. Both errors are over the same examples: all that neither prompt shows. An example
that a prompt shows is never scored with it. This module holds only the rules; the caller asks the
model.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

MOST_DEMONSTRATIONS = 5

Scores = Mapping[str, float | None]  # example → score; None: no reply that could be read


class Tried(NamedTuple):
    """One prompt that was tried: the examples it shows, and its scores for the other examples."""

    demonstrations: tuple[str, ...]  # examples, in the order of the prompt
    scores: Scores
    is_kept: bool  # always true for the prompt without demonstrations


class Comparison(NamedTuple):
    """A prompt compared with the prompt that it would replace, over the same examples."""

    mse: float  # NaN when nothing could be compared
    mse_before: float  # the error of the prompt without the new demonstration
    n_compared: int  # examples that have a score under both
    n_failed: int  # examples whose reply under the new prompt could not be read
    n_failed_before: int
    is_kept: bool


def next_demonstrations(order: Sequence[str], tried: Sequence[Tried]) -> tuple[str, ...] | None:
    """Return the examples that the next prompt to try shows; None when the search has ended.

    The first prompt shows none. Each further prompt shows the examples kept so far and one more,
    in the order given.

    Args:
        order: the examples, each only once.
        tried: all prompts so far, in order.
    """
    if not tried:
        return ()
    kept = current(tried).demonstrations
    n_seen = len(tried) - 1
    if len(kept) >= MOST_DEMONSTRATIONS or n_seen >= len(order):
        return None
    if len(order) - len(kept) < 2:
        return None  # no example would be left to score
    return (*kept, order[n_seen])


def current(tried: Sequence[Tried]) -> Tried:
    """Return the prompt that was kept last."""
    return next(prompt for prompt in reversed(tried) if prompt.is_kept)


def compared(rater_scores: Mapping[str, float], before: Tried, scores: Scores) -> Comparison:
    """Return the comparison of a prompt with the one before it, which decides whether it is kept.

    It is kept when its mean squared error is lower over the examples that have a score under both,
    and its number of replies that could not be read is not higher. If none of these replies to the
    prompt before could be read, any score is better.

    Args:
        rater_scores: the rater score of every example, in [0, 1].
        before: the prompt without the new demonstration; it scored at least these examples.
        scores: the scores of the new prompt, over every example that it does not show.
    """
    both = [
        (score, earlier, rater_scores[example])
        for example, score in scores.items()
        for earlier in [before.scores[example]]
        if score is not None and earlier is not None
    ]
    n_failed = sum(score is None for score in scores.values())
    n_failed_before = sum(before.scores[example] is None for example in scores)
    mse = mean_squared_error([(score, human) for score, _, human in both])
    mse_before = mean_squared_error([(earlier, human) for _, earlier, human in both])
    reads_first = not both and n_failed_before == len(scores) and n_failed < n_failed_before
    if reads_first:
        mse = error_of(rater_scores, scores)
    return Comparison(
        mse,
        mse_before,
        len(both),
        n_failed,
        n_failed_before,
        is_kept=reads_first or (n_failed <= n_failed_before and mse < mse_before),
    )


def error_of(rater_scores: Mapping[str, float], scores: Scores) -> float:
    """Return the mean squared error of a prompt over the examples with a score; NaN without any."""
    return mean_squared_error(
        [(score, rater_scores[example]) for example, score in scores.items() if score is not None]
    )


def mean_squared_error(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the mean squared difference; NaN without pairs."""
    if not pairs:
        return math.nan
    return math.fsum((score - human) ** 2 for score, human in pairs) / len(pairs)


def most_calls(n_examples: int) -> int:
    """Return the highest number of replies that a search scores.

    It is reached when no demonstration is kept: the prompt without demonstrations is asked about
    all n examples, and each of the n further prompts about all but the example that it shows, so
    the number is n + n (n − 1) = n². A reply that cannot be read may be asked for up to three
    times.
    """
    return n_examples**2
