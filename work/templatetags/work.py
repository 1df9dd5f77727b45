"""What pages with waiting work say about the workers."""

from django import template
from django.utils import timezone
from django.utils.formats import date_format

from work.worker_health import watch, why_unsent

register = template.Library()


@register.simple_tag
def are_workers_silent() -> bool:
    """Return whether no worker has given a sign for a while: nobody can say how long work takes."""
    return watch.silent_since() is not None


@register.inclusion_tag("work/_silence.html")
def worker_silence() -> dict[str, str | bool]:
    """Say that no worker has answered for a while, or that none can be told; else nothing."""
    if not watch.is_quiet():
        return {"unsent": why_unsent()}
    since = watch.silent_since()
    if since is None:
        return {"is_cache_lost": True}
    is_today = since.date() == timezone.now().date()
    return {"since": date_format(since, "H:i" if is_today else "j F Y, H:i")}
