"""Durations as people say them."""

UNDEFINED = "—"


def about(seconds: float | None) -> str:
    """Return a duration as people say it: 'about 6 min'; unknown: a dash."""
    if seconds is None:
        return UNDEFINED
    if seconds < 59.5:
        return f"about {max(1, round(seconds))} s"
    if seconds < 3570:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"
