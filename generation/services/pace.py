"""The pace of listed models: a limit of calls a minute, for all grids and workers together."""

import math
from datetime import timedelta

from django.utils import timezone

from generation.models import Checkpoint

SHARE_AT_ONCE = 10  # a tenth of a minute's calls may be made together
MINUTE = 60_000_000  # microseconds


def reserve(checkpoint_name: str, n: int, patience_seconds: float = math.inf) -> float:
    """Reserve the next time for n calls that are made together; return the seconds to wait first.

    The wait is 0 for a model without a limit, and for one that is not listed. The first to reserve
    calls first, and no time is given twice, because one conditional update decides. As long as n is
    at most `calls_at_once`, no sixty seconds hold more calls than the limit, in whatever portions
    the calls are made. With more calls together, only the mean is kept.

    Args:
        patience_seconds: if the wait would be longer, nothing is reserved.

    Raises:
        ValueError: n is not 1 or more.
    """
    if n < 1:
        raise ValueError(f"{n} calls; expected 1 or more")
    found = Checkpoint.objects.filter(name=checkpoint_name)
    seen = found.values("pk", "calls_per_minute", "next_call_at")
    while (row := seen.first()) and (limit := row["calls_per_minute"]):
        now = timezone.now()
        starts_at = max(now, row["next_call_at"] or now)
        wait = (starts_at - now).total_seconds()
        if wait > patience_seconds:
            return wait
        next_call_at = starts_at + n * _between_calls(limit)
        # This succeeds only if no other process reserved in between and the limit is unchanged.
        # Otherwise the loop looks again.
        if Checkpoint.objects.filter(**row).update(next_call_at=next_call_at):
            return wait
    return 0.0


def is_limited(checkpoint_name: str) -> bool:
    """Return whether the calls of a model are limited to a number a minute."""
    found = Checkpoint.objects.filter(name=checkpoint_name)
    return found.exclude(calls_per_minute=None).exists()


def not_free_within(seconds: float) -> list[str]:
    """Return the names of the models whose next free time for a call is later than that."""
    later = timezone.now() + timedelta(seconds=seconds)
    limited = Checkpoint.objects.exclude(calls_per_minute=None)
    return list(limited.filter(next_call_at__gt=later).values_list("name", flat=True))


def calls_at_once(checkpoint_name: str, most: int) -> int:
    """Return how many calls of a model to make together, at most `most`, so that its limit holds.

    This is a tenth of a minute's calls, but at least one. It is `most` if there is no limit.
    """
    found = Checkpoint.objects.filter(name=checkpoint_name)
    limit = found.values_list("calls_per_minute", flat=True).first()
    return min(most, _at_once(limit)) if limit else most


def _at_once(calls_per_minute: int) -> int:
    return max(1, calls_per_minute // SHARE_AT_ONCE)


def _between_calls(calls_per_minute: int) -> timedelta:
    """Return the time that each call takes up.

    At the end of a minute, the time of the last `_at_once` calls may still lie in the future. So
    the minute is divided as if it had fewer calls, which leaves room for these. The time is rounded
    up to microseconds, in which databases store times: if it were rounded down, one more call would
    fit into the minute.
    """
    in_a_minute = calls_per_minute - _at_once(calls_per_minute) + 1
    return timedelta(microseconds=-(-MINUTE // in_a_minute))
