"""Work on the page of its subject, and notes about the workers where work waits."""

from datetime import datetime

from django import template
from django.utils import timezone

from work.amounts import about
from work.kinds import kinds_for
from work.pages import GOES_ON, SHOWN, WorkFilter, cards, newest_first
from work.worker_health import watch, why_unsent

register = template.Library()
register.filter(about)

TAGS = {
    "done": "ok",
    "planned": "on",
    "running": "on",
    "cancelled": "warn",
    "failed": "bad",
    "failed in part": "bad",
}


@register.filter
def state_tag(state: str) -> str:
    """Return the CSS class of a state's tag; "" for a state that waits for a worker or has none."""
    return f"tag--{TAGS[state]}" if state in TAGS else ""


@register.inclusion_tag("work/_on_dataset.html", takes_context=True)
def work_on(context: template.Context, slug: str) -> dict[str, object]:
    """Show the work on a dataset that goes on, newest first."""
    request = context["request"]
    kinds = kinds_for(request.user)
    keys = newest_first(kinds, WorkFilter(state=GOES_ON, dataset=slug))[:SHOWN]
    return {
        "work": cards(list(keys), kinds, request.user),
        "here_url": request.get_full_path(),
        "csrf_token": context["csrf_token"],
    }


@register.simple_tag
def are_workers_silent() -> bool:
    """Return whether no worker has given a sign for a while, so that no page can estimate times."""
    return watch.silent_since() is not None


@register.inclusion_tag("work/_silence.html")
def worker_silence() -> dict[str, str | bool | datetime]:
    """Show since when no worker has answered, or that this cannot be known without a cache.

    While workers answer, show why a message to them could not be sent a moment ago, if one was
    lost.
    """
    if not watch.is_quiet():
        return {"unsent": why_unsent()}
    since = watch.silent_since()
    if since is None:
        return {"is_cache_lost": True}
    is_today = since.date() == timezone.now().date()
    return {"since": since, "how": "time" if is_today else "full"}
