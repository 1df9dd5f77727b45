"""Durations and sums of money in words. A value that is unknown is shown as a dash."""

UNDEFINED = "—"
CENTS = 100  # a sum of so many cents or more is shown with two decimals


def about(seconds: float | None) -> str:
    """Return a duration in words, for example 'about 6 min'. If it is unknown, return a dash."""
    if seconds is None:
        return UNDEFINED
    if seconds < 59.5:
        return f"about {max(1, round(seconds))} s"
    if seconds < 3570:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"


def money(amount: float | None, currency: str = "") -> str:
    """Return a sum with its currency: '12.35 USD', '0.0042 USD'. If unknown, return a dash."""
    if amount is None:
        return UNDEFINED
    if amount == 0:
        text = "0"
    elif amount < 0.00005:
        text = "<0.0001"
    else:
        text = f"{amount:,.2f}" if amount * 100 >= CENTS else f"{amount:.4f}"
    return f"{text} {currency}".strip()
