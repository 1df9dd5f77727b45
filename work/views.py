"""The pages of long work: all of it in a list, its buttons, one's own in short, and the workers."""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import trigger_client_event

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, page_to_return_to, render_page_or_fragment
from work.kinds import WorkKind, WorkRefused, changeable, kind_named, kinds_for
from work.pages import (
    GROUPS,
    PER_PAGE,
    STATES,
    ListedWork,
    WorkFilter,
    cards,
    in_groups,
    one_of,
    own_work,
    progress_of,
)
from work.pieces import piece_kinds
from work.worker_health import is_cache_usable
from work.worker_records import SEEN_SECONDS, seen_workers

STATE_WORDS = dict(
    zip(STATES, ("Going on", "Waiting for a decision", "Failed", "Cancelled", "Done"), strict=True)
)
NEWS_SECONDS = 24 * 3600.0  # failures of one's own work count as news for so long
SEEN_KEY = "work_seen_at"  # the time in the session when the person last saw the list


# --- all work -------------------------------------------------------------------------------


@require_safe
@allowed(Role.RESEARCHER)
def all_work(request: SignedInRequest) -> HttpResponse:
    """List all long work by group, newest first, as far as this person may see it."""
    kinds = kinds_for(request.user)
    wanted = WorkFilter(
        kind=_chosen(request, "kind", kinds),
        state=_chosen(request, "state", STATES),
        only_of=request.user.pk if request.GET.get("mine") else None,
        dataset=request.GET.get("dataset", ""),
    )
    page = Paginator(in_groups(kinds, wanted), PER_PAGE).get_page(request.GET.get("page"))
    keys = list(page.object_list)
    group_of = {(key, pk): GROUPS[group] for key, pk, _, group in keys}
    work = cards([each[:3] for each in keys], kinds, request.user)
    request.session[SEEN_KEY] = timezone.now().timestamp()
    context = {
        "page": page,
        "work": [(group_of[each.card.kind.key, each.card.pk], each) for each in work],
        "wanted": wanted,
        "kinds": sorted(kinds.values(), key=lambda kind: kind.noun),
        "states": STATE_WORDS,
        "goes_on": any(each.card.goes_on for each in work),
    }
    return render(request, "work/all_work.html", context)


def _chosen(request: SignedInRequest, name: str, known: Any) -> str:
    """Return a choice from the address, or "" if there is no such choice."""
    choice = request.GET.get(name, "")
    return choice if choice in known else ""


@require_safe
@allowed(Role.RESEARCHER)
def work_card(request: SignedInRequest, kind: str, pk: int) -> HttpResponse:
    """Show one piece of work. Its card asks for this repeatedly until it has ended."""
    of_kind = kind_named(kind, request.user)
    progress = progress_of(of_kind, pk, request.user)
    if progress is None:
        raise Http404(f"There is no such {of_kind.noun}.")
    answer = render(request, of_kind.card_template, {"progress": progress})
    card = progress.card
    if not card.goes_on or card.mark != request.GET.get("seen", ""):
        trigger_client_event(answer, "work-changed")
    return answer


@require_safe
@allowed(Role.RESEARCHER)
def work_bar(request: SignedInRequest) -> HttpResponse:
    """Say how much of one's own work goes on, and whether some has failed since one last looked."""
    news = timezone.now() - timedelta(seconds=NEWS_SECONDS)
    seen_at = request.session.get(SEEN_KEY, 0.0)
    since = max(news, datetime.fromtimestamp(seen_at, UTC))
    mine = own_work(kinds_for(request.user), since, request.user)
    return render(request, "work/_bar.html", {"mine": mine})


# --- what can be done with it ---------------------------------------------------------------


@require_POST
@allowed(Role.RESEARCHER)
def cancel(request: SignedInRequest, kind: str, pk: int) -> HttpResponse:
    """Stop work that goes on. What it has found is kept."""
    of_kind, work = changeable(kind, pk, request.user)
    found = _listed(of_kind, pk, request)
    if of_kind.cancel(work, request.user):
        messages.success(request, f"{found.row.name} was cancelled. {of_kind.kept}".strip())
    else:
        messages.info(request, f"{found.row.name} had already ended.")
    return _back(request, found.url)


@require_POST
@allowed(Role.RESEARCHER)
def resume(request: SignedInRequest, kind: str, pk: int) -> HttpResponse:
    """Continue work that was cancelled or failed, after what it has found."""
    of_kind, work = changeable(kind, pk, request.user)
    found = _listed(of_kind, pk, request)
    if not of_kind.resume(work, request.user):
        messages.info(request, f"{found.row.name} has nothing left to do.")
    return _back(request, found.url)


@require_POST
@allowed(Role.RESEARCHER)
def delete(request: SignedInRequest, kind: str, pk: int) -> HttpResponse:
    """Delete work that has ended."""
    of_kind, work = changeable(kind, pk, request.user)
    found = _listed(of_kind, pk, request)
    try:
        of_kind.delete(work, request.user)
    except WorkRefused as error:
        messages.error(request, str(error))
        return _back(request, found.url)
    messages.success(request, f"{found.row.name} is deleted. {of_kind.stays}".strip())
    is_its_page = page_to_return_to(request).startswith(found.url)
    return redirect("work:all") if is_its_page else _back(request, reverse("work:all"))


def _listed(kind: WorkKind[Any], pk: int, request: SignedInRequest) -> ListedWork:
    found = one_of(kind, pk, request.user)
    if found is None:
        raise Http404(f"There is no such {kind.noun}.")
    return found


def _back(request: SignedInRequest, otherwise: str) -> HttpResponse:
    """Redirect to the page whose button was pressed, or to this address if it is not known."""
    here = page_to_return_to(request)
    return redirect(otherwise if here == reverse("home") else here)


# --- the workers ----------------------------------------------------------------------------


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
