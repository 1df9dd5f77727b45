"""The page of the workers, for admins."""

from typing import NamedTuple

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from work.pieces import piece_kinds
from work.worker_health import is_cache_usable
from work.worker_records import SEEN_SECONDS, seen_workers


class QueueRow(NamedTuple):
    """One kind of piece of work: how many wait, and how many a worker has."""

    name: str
    n_waiting: int
    n_at_work: int


@require_safe
@allowed(Role.ADMIN)
def workers(request: SignedInRequest) -> HttpResponse:
    """List the workers heard in the last minutes, and what waits. The page asks for itself."""
    seen = seen_workers()
    context = {
        "workers": seen,
        "n_hosts": len({each.host for each in seen}),
        "n_busy": sum(bool(each.tasks) for each in seen),
        "n_silent": sum(each.is_silent for each in seen),
        "seen_minutes": round(SEEN_SECONDS / 60),
        "queue": [
            QueueRow(str(kind.model._meta.verbose_name_plural), **kind.counts())
            for kind in piece_kinds()
        ],
        "is_cache_lost": not seen and not is_cache_usable(),
    }
    return render_page_or_fragment(
        request, page="work/workers.html", fragment="work/_workers.html", context=context
    )
