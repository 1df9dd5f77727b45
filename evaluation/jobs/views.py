"""The pages of jobs: a list of prompt searches and distillations, and one job of any kind."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, query_string
from evaluation.jobs.kinds import kind_of
from evaluation.models import Job
from work.kinds import kinds_for
from work.pages import PER_PAGE, WorkFilter, cards, newest_first, one_of

LISTED = ("prompt-search", "distillation")


@require_safe
@allowed(Role.RESEARCHER)
def jobs(request: SignedInRequest) -> HttpResponse:
    """List prompt searches and distillations, newest first, each with its progress."""
    kinds = {key: kind for key, kind in kinds_for(request.user).items() if key in LISTED}
    keys = newest_first(kinds, WorkFilter())
    page = Paginator(keys, PER_PAGE).get_page(request.GET.get("page"))
    work = cards(list(page.object_list), kinds, request.user)
    context = {"page": page, "work": work, "is_running": any(each.card.goes_on for each in work)}
    return render(request, "evaluation/jobs/jobs.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def job(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one job: its progress, its choices, its steps, and what it has found."""
    found = get_object_or_404(Job.objects.select_related("study__dataset", "dataset"), pk=pk)
    kind = kind_of(found)
    if own_page := kind.own_page(found):
        return redirect(own_page)
    context = {
        "job": found,
        "progress": one_of(kind, pk, request.user),
        "start_url": _start_url(found),
        "found_template": kind.template,
        **kind.page_content(found, request.GET.get("page")),
    }
    return render(request, "evaluation/jobs/job.html", context)


def _start_url(job: Job) -> str:
    """Return the address for starting a run with the result; "" if the job has none."""
    chosen = kind_of(job).run_choices(job) if job.state == Job.State.DONE else None
    if chosen is None:
        return ""
    all_chosen = {"metric": job.parameters["metric"], **chosen}
    if job.study:
        all_chosen["over"] = f"study:{job.study.slug}"
    return f"{reverse('evaluation:start-run')}{query_string(all_chosen)}"
