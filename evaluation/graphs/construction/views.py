"""Pages of constructions: the list, a new one, one with its entries, and the review of entries."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from accounts.models import User
from evaluation.graphs.construction.forms import (
    ConstructionForm,
    EntriesForm,
    EntryFilter,
    PublishForm,
    ReviewForm,
)
from evaluation.graphs.construction.pages import (
    ConstructionProgress,
    Counts,
    EntryPage,
    counts_of,
    listed,
    next_open,
    reasons_of,
    with_questions,
    work_of,
)
from evaluation.graphs.construction.problem_names import PROBLEMS
from evaluation.graphs.construction.services.call_plan import construction_asking
from evaluation.graphs.construction.services.constructions import (
    delete_construction,
    request_construction,
)
from evaluation.graphs.construction.services.entries_check import MOST_PROBLEMS
from evaluation.graphs.views.pull import TICK
from evaluation.jobs.kinds import send_job
from evaluation.jobs.services import JobError, left_to_ask
from generation.models import Construction, ConstructionEntry
from generation.retrieval.endpoint_addresses import NotPublicError
from generation.services import constructions as services
from generation.services.constructions import ConstructionError, StaleReviewError
from generation.views.plan_first import plan_first
from work.kinds import work_kinds
from work.pages import one_of

CONSTRUCTIONS_PER_PAGE = 20
ENTRIES_PER_PAGE = 50


@require_safe
@allowed(Role.RESEARCHER)
def constructions(request: SignedInRequest) -> HttpResponse:
    """List the constructions, newest first, each with its progress and its datasets."""
    found = Construction.objects.select_related("job", "requested_by")
    page = Paginator(found, CONSTRUCTIONS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "rows": listed(list(page.object_list))}
    return render(request, "evaluation/graphs/construction/list.html", context)


# --- a new one ------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.ADMIN)
def new(request: SignedInRequest) -> HttpResponse:
    """Show the form for entries, what the entries contain, and the form that starts."""
    posted = request.method == "POST"
    is_start = posted and request.POST.get("do") == "start"
    entries = EntriesForm(request.POST, request.FILES) if posted else EntriesForm()
    is_read = posted and entries.is_valid()
    form = ConstructionForm(request.POST if is_start else None, initial=_first_name(entries))
    if is_start and is_read and form.is_valid() and entries.check.may_start:
        plan = form.plan(entries.check)
        asked = partial(request_construction, plan, request.user)
        try:
            calls = left_to_ask(asked, partial(construction_asking, plan))
            if page := plan_first(request, calls, checked=entries.upload.signed):
                return page
            job = asked()
        except JobError as error:
            said = f"{error}. {TICK}" if isinstance(error.__cause__, NotPublicError) else f"{error}"
            form.add_error(error.field if error.field in form.fields else None, said)
        else:
            send_job(job)
            return redirect("constructions:construction", job.construction_id)
    context = {
        "entries": entries,
        "form": form,
        "check": entries.check if is_read else None,
        "problems": entries.check.problems[:MOST_PROBLEMS] if is_read else (),
        "is_refused": is_start,
    }
    is_bad = posted and (is_start or not is_read or bool(entries.check.problems))
    status = 422 if is_bad else 200
    return render(request, "evaluation/graphs/construction/new.html", context, status=status)


def _first_name(entries: EntriesForm) -> dict[str, Any]:
    """Return an initial name: that of the file, without its suffix."""
    if not entries.is_bound or not entries.is_valid():
        return {}
    return {"name": entries.check.file.split(".")[0][:100].strip()}


# --- one ------------------------------------------------------------------------------------


@require_safe
@allowed(Role.RESEARCHER)
def construction(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one construction: progress, entries left after each step, the entries, its datasets."""
    return _show(request, _construction(pk), PublishForm(), status=200)


def _show(
    request: SignedInRequest, found: Construction, form: PublishForm, status: int
) -> HttpResponse:
    shown = EntryFilter(request.GET)
    shown.is_valid()
    entries = found.entries.filter(shown.condition()) if not shown.errors else found.entries.all()
    page = Paginator(entries, ENTRIES_PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = list(with_questions(page.object_list))  # type: ignore[arg-type]
    counts = counts_of([found])[found.pk]
    context = {
        "construction": found,
        "progress": _progress(found, counts, request.user),
        "counts": counts,
        "work": work_of(found),
        "filter": shown,
        "page": page,
        "problems": PROBLEMS,
        "datasets": list(found.datasets.select_related("dataset").order_by("pk")),
        "first_open": next_open(found, after=0) if counts.n_open else None,
        "form": form,
    }
    return render(
        request, "evaluation/graphs/construction/construction.html", context, status=status
    )


@require_POST
@allowed(Role.ADMIN)
def delete(request: SignedInRequest, pk: int) -> HttpResponse:
    """Delete a construction with its entries and calls.

    This is refused while a dataset that was made from it exists.
    """
    found = _construction(pk)
    try:
        delete_construction(found, request.user)
    except JobError as error:
        messages.error(request, str(error))
        return redirect("constructions:construction", pk)
    messages.success(request, f"{found.name} is deleted.")
    return redirect("constructions:constructions")


@require_POST
@allowed(Role.RESEARCHER)
def publish(request: SignedInRequest, pk: int) -> HttpResponse:
    """Make a dataset from the questions that no reviewer dropped."""
    found = _construction(pk)
    form = PublishForm(request.POST)
    if form.is_valid():
        name, style = form.cleaned_data["name"], form.cleaned_data["style"]
        try:
            dataset = services.publish(found, name, style, request.user)
        except ConstructionError as error:
            form.add_error(error.field or "name", str(error))
        else:
            messages.success(request, f"{dataset.name} was made from {found.name}.")
            return redirect("graphs:questions", dataset.slug)
    return _show(request, found, form, status=422)


# --- its entries ----------------------------------------------------------------------------


@require_safe
@allowed(Role.RESEARCHER)
def entry(request: SignedInRequest, pk: int, number: int) -> HttpResponse:
    """Show one entry round by round, its minimum set and its question."""
    shown = EntryPage(_entry(pk, number))
    return _show_entry(request, shown, ReviewForm(shown.reviewable))


@require_POST
@allowed(Role.RESEARCHER)
def review(request: SignedInRequest, pk: int, number: int) -> HttpResponse:
    """Store a reviewer's decision about an entry's question, and show the next open question."""
    shown = EntryPage(_entry(pk, number))
    form = ReviewForm(shown.reviewable, request.POST)
    if not form.is_valid():
        return _show_entry(request, shown, form, status=422)
    try:
        seen = form.cleaned_data["seen"]
        services.review_entry(shown.entry, form.review(), request.user, seen)
    except StaleReviewError as error:
        now = EntryPage(_entry(pk, number))
        again = ReviewForm(now.reviewable, request.POST)
        again.refuse_stale(str(error))
        return _show_entry(request, now, again, status=422)
    except ConstructionError as error:
        form.add_error(error.field, str(error))
        return _show_entry(request, shown, form, status=422)
    if form.cleaned_data["verdict"] == "open":
        return redirect("constructions:entry", pk, number)
    following = next_open(shown.entry.construction, after=number)
    if following is None:
        messages.success(request, "You have decided about every question of this construction.")
        return redirect("constructions:construction", pk)
    return redirect("constructions:entry", pk, following)


def _show_entry(
    request: SignedInRequest, shown: EntryPage, form: ReviewForm, status: int = 200
) -> HttpResponse:
    found = shown.entry.construction
    context = {
        "construction": found,
        "entry": shown.entry,
        "shown": shown,
        "form": form,
        "counts": counts_of([found])[found.pk],
        "next_open": next_open(found, after=shown.entry.number),
        "reasons": reasons_of(found),
        "datasets": list(found.datasets.select_related("dataset").order_by("pk")),
        "problems": PROBLEMS,
    }
    return render(request, "evaluation/graphs/construction/entry.html", context, status=status)


def _construction(pk: int) -> Construction:
    return get_object_or_404(Construction.objects.select_related("job", "requested_by"), pk=pk)


def _entry(pk: int, number: int) -> ConstructionEntry:
    entries = ConstructionEntry.objects.select_related("construction__job", "reviewed_by")
    return get_object_or_404(entries, construction=pk, number=number)


def _progress(found: Construction, counts: Counts, user: User) -> ConstructionProgress | None:
    """Return how the job of a construction goes; None: an admin has deleted the job."""
    job = getattr(found, "job", None)
    work = one_of(work_kinds()["construction"], job.pk, user) if job else None
    return ConstructionProgress(work, counts) if work else None
