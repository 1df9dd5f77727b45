"""The pages of jobs: the list, one job with what it has found, and the actions on a job."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import trigger_client_event

from accounts.access import Role, allowed, roles_of
from accounts.http import SignedInRequest, query_string
from evaluation.jobs import services
from evaluation.jobs.kinds import delete, kind_of, resume, send_job
from evaluation.jobs.services import JobError
from evaluation.models import Job
from work.claims import GOING_ON

JOBS_PER_PAGE = 20


@require_safe
@allowed(Role.RESEARCHER)
def jobs(request: SignedInRequest) -> HttpResponse:
    """List the jobs, newest first, each with its progress."""
    found = Job.objects.select_related("study").order_by("-pk")
    page = Paginator(found, JOBS_PER_PAGE).get_page(request.GET.get("page"))
    n_going_on = Job.objects.aggregate(n=Count("pk", filter=Q(state__in=GOING_ON)))["n"]
    context = {"page": page, "is_running": n_going_on > 0}
    return render(request, "evaluation/jobs/jobs.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def job(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one job: its progress, its choices, its steps, and what it has found."""
    found = get_object_or_404(Job.objects.select_related("study__dataset", "dataset"), pk=pk)
    kind = kind_of(found)
    if kind.page:
        return redirect(kind.page(found))
    context = {
        "job": found,
        "is_going_on": found.state in GOING_ON,
        "start_url": _start_url(found),
        "found_template": kind.template,
        **(kind.found(found, request.GET.get("page")) if kind.found else {}),
    }
    return render(request, "evaluation/jobs/job.html", context)


def _start_url(job: Job) -> str:
    """Return the address for starting a run with the result; "" if the job has none."""
    run_choices = kind_of(job).run_choices
    if job.state != Job.State.DONE or run_choices is None:
        return ""
    chosen = {"metric": job.parameters["metric"], **run_choices(job)}
    if job.study:
        chosen["over"] = f"study:{job.study.slug}"
    return f"{reverse('evaluation:start-run')}{query_string(chosen)}"


@require_safe
@allowed(Role.RESEARCHER)
def job_progress(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show the progress of one job. The page asks for it repeatedly until the job has ended."""
    found = get_object_or_404(Job.objects.select_related("study"), pk=pk)
    answer = render(request, "evaluation/jobs/_job.html", {"job": found})
    if found.state not in GOING_ON or str(found.n_done) != request.GET.get("seen", ""):
        trigger_client_event(answer, "job-changed")
    return answer


# --- what can be done about one -------------------------------------------------------------


def _changeable(request: SignedInRequest, pk: int) -> Job:
    """Return a job that this user may change.

    Raises:
        PermissionDenied: the job asks other machines, and the user is no admin.
    """
    found = get_object_or_404(Job, pk=pk)
    kinds = kind_of(found).asks_others
    if kinds and Role.ADMIN not in roles_of(request.user):
        raise PermissionDenied(f"Only admins can change {kinds.lower()}.")
    return found


@require_POST
@allowed(Role.RESEARCHER)
def cancel_job(request: SignedInRequest, pk: int) -> HttpResponse:
    """Stop a job; what it has found is kept."""
    found = _changeable(request, pk)
    if services.cancel_job(found, request.user):
        messages.success(request, f"{found.name} was cancelled. What it has found stays.")
    else:
        messages.info(request, f"{found.name} had already ended.")
    return redirect("evaluation:job", pk)


@require_POST
@allowed(Role.RESEARCHER)
def resume_job(request: SignedInRequest, pk: int) -> HttpResponse:
    """Continue a job that was cancelled or failed, after its last step."""
    found = _changeable(request, pk)
    if resume(found, request.user):
        send_job(found)
    else:
        messages.info(request, f"{found.name} has nothing left to do.")
    return redirect("evaluation:job", pk)


@require_POST
@allowed(Role.RESEARCHER)
def delete_job(request: SignedInRequest, pk: int) -> HttpResponse:
    """Delete a job that has ended, with its steps."""
    found = _changeable(request, pk)
    kind = kind_of(found)
    if kind.page:
        messages.error(
            request,
            f"This job cannot be deleted alone. Delete the {found.get_kind_display().lower()}, "
            "and its job is deleted too.",
        )
        return redirect(kind.page(found))
    try:
        delete(found, request.user)
    except JobError as error:
        messages.error(request, str(error))
        return redirect("evaluation:job", pk)
    messages.success(request, f"{found.name} is deleted. {kind.left}.")
    return redirect("evaluation:jobs")
