"""Shares in the sentences of a study's answer, with their numbers and their intervals."""

from evaluation.reports.columns import Estimate, Format
from evaluation.reports.numbers import percent


def counted_share(share: Estimate, n: int, *, is_interim: bool, is_weighted: bool = False) -> str:
    """Return a share with its interval; an interim one with its numbers, such as '4 of 10'.

    A weighted share is no ratio of two numbers, so it has only that of its responses.
    """
    numbers = ""
    if is_interim:
        of_all = f"{n:,} response{'s'[: n != 1]}"
        n_yes = round((share.value or 0.0) * n)
        numbers = of_all if is_weighted else f"{n_yes:,} of {n:,}"
    return share_said(share, numbers)


def share_said(share: Estimate, numbers: str = "") -> str:
    """Return a share in whole percent, with the numbers behind it and its interval in brackets."""
    return f"{whole(share.value)}{in_brackets(share, numbers=numbers)}"


def whole(share: float | None) -> str:
    """Return a share in whole percent, which no line break parts from its sign."""
    return f"{percent(share, 0)}\N{NO-BREAK SPACE}%"


def in_brackets(estimate: Estimate, format: Format = Format.PERCENT, numbers: str = "") -> str:
    """Return the interval in brackets, after the numbers behind it; "" if there is nothing."""
    low, high = estimate.low, estimate.high
    within = ""
    if low is not None and high is not None:
        is_share = format is Format.PERCENT
        within = f"{percent(low, 0)}–{percent(high, 0)}" if is_share else format.interval(estimate)
    said = "; ".join(filter(None, [numbers, within]))
    return f" ({said})" if said else ""
