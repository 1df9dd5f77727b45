"""The pages of jobs: a list of prompt searches and distillations, and one job of any kind."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, query_string
from evaluation.jobs.kinds import kind_of
from evaluation.models import Job
from work.kinds import kinds_for
from work.pages import WorkFilter, one_of, page_number, work_page

LISTED = ("prompt-search", "distillation")


@require_safe
@allowed(Role.RESEARCHER)
def jobs(request: SignedInRequest) -> HttpResponse:
    """List prompt searches and distillations, newest first, each with its progress."""
    kinds = {key: kind for key, kind in kinds_for(request.user).items() if key in LISTED}
    page = work_page(kinds, WorkFilter(), page_number(request.GET.get("page")), request.user)
    context = {"page": page, "is_running": any(each.goes_on for each in page.work)}
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
        "each": one_of(kind, pk, request.user),
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
