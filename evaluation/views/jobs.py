"""Jobs: searches, distillations and pulls, one with its steps, the list, and most new ones."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import trigger_client_event

from accounts.access import Role, allowed, roles_of
from accounts.http import SignedInRequest
from evaluation.forms.jobs import DistillationForm, SearchForm
from evaluation.models import Job
from evaluation.runs.jobs import GOING_ON, line_of, tried_prompts
from evaluation.services import jobs as services
from evaluation.services.distillation import request_distillation
from evaluation.services.job_kinds import delete, resume
from evaluation.services.jobs import JobError
from evaluation.services.prompt_search import request_prompt_search
from evaluation.tasks import send_job
from generation.models import Checkpoint

JOBS_PER_PAGE = 20
NAMES_PER_PAGE = 100
SEARCH, DISTILLATION = Job.Kind.PROMPT_SEARCH, Job.Kind.DISTILLATION
PULL, CONSTRUCTION = Job.Kind.GRAPH_PULL, Job.Kind.CONSTRUCTION
OF_ADMINS = {PULL: "Pulls", CONSTRUCTION: "Constructions"}  # they ask other machines


@require_safe
@allowed(Role.RESEARCHER)
def jobs(request: SignedInRequest) -> HttpResponse:
    """List the jobs, newest first, each with how far it is."""
    found = Job.objects.select_related("study").order_by("-pk")
    page = Paginator(found, JOBS_PER_PAGE).get_page(request.GET.get("page"))
    n_going_on = Job.objects.aggregate(n=Count("pk", filter=Q(state__in=GOING_ON)))["n"]
    context = {"page": page, "is_running": n_going_on > 0}
    return render(request, "evaluation/jobs.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def job(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one job: how far it is, its choices, its steps, and what it has found.

    A construction has a page of its own.
    """
    found = get_object_or_404(Job.objects.select_related("study__dataset", "dataset"), pk=pk)
    if found.construction_id:
        return redirect("constructions:construction", found.construction_id)
    context = {"job": found, "is_going_on": found.state in GOING_ON, "start_url": _start_url(found)}
    if found.kind == PULL:
        context |= _of_pull(found, request.GET.get("page"))
    else:
        context |= _of_search(found) if found.kind == SEARCH else _of_distillation(found)
    return render(request, "evaluation/job.html", context)


def _of_pull(job: Job, page: str | None) -> dict[str, Any]:
    steps = job.steps.order_by("number")
    return {"page": Paginator(steps, NAMES_PER_PAGE).get_page(page)}


def _of_search(job: Job) -> dict[str, Any]:
    tried = tried_prompts(job)
    kept = [prompt for prompt in tried if prompt.is_kept]
    return {
        "tried": tried,
        "line": line_of([prompt.mse for prompt in kept]),
        "n_kept": max(0, len(kept) - 1),
    }


def _of_distillation(job: Job) -> dict[str, Any]:
    epochs = [step.content for step in job.steps.all()]
    listed = Checkpoint.objects.filter(name=job.name, backend="distilled").exists()
    return {
        "epochs": epochs,
        "line": line_of([epoch["held_out_mse"] for epoch in epochs]),
        "is_listed": listed,
    }


def _start_url(job: Job) -> str:
    """Return where a run with what was found is begun; "" before it is found."""
    if job.state != Job.State.DONE or job.kind == PULL:
        return ""
    chosen = {"metric": job.parameters["metric"]}
    if job.kind == DISTILLATION:
        chosen["model"] = job.name
    else:
        chosen |= {"prompt": job.name, "model": job.parameters["model"]}
    if job.study:
        chosen["over"] = f"study:{job.study.slug}"
    return f"{reverse('evaluation:start-run')}?{urlencode(chosen)}"


@require_safe
@allowed(Role.RESEARCHER)
def job_progress(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show how far one job is, for the page that asks again and again until it has ended."""
    found = get_object_or_404(Job.objects.select_related("study"), pk=pk)
    answer = render(request, "evaluation/_job.html", {"job": found})
    if found.state not in GOING_ON or str(found.n_done) != request.GET.get("seen", ""):
        trigger_client_event(answer, "job-changed")
    return answer


# --- new ones -------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def new_search(request: SignedInRequest) -> HttpResponse:
    """Choose slice, model and name of a prompt search; say what it costs, and start it."""
    posted = request.method == "POST"
    form = SearchForm(request.POST if posted else _first_search(request))
    if posted and form.is_valid():
        try:
            return _started(request_prompt_search(form.plan(), request.user))
        except JobError as error:
            field = {"setup": "slice", "metric": "slice"}.get(error.field or "", error.field)
            form.add_error(field if field in form.fields else None, str(error))
    return _show_form(request, "evaluation/new_search.html", form, planned=form.planned())


def _first_search(request: SignedInRequest) -> dict[str, Any]:
    """Return what the form holds: what was chosen so far, or what to begin with."""
    form = SearchForm()
    if "seed" in request.GET or not form.is_possible:
        return request.GET.dict()
    slices = [value for value, _ in form["slice"].field.choices]  # type: ignore[attr-defined]
    study = request.GET.get("study", "")
    of_study = [value for value in slices if value.split("/")[0] == study]
    models = form["model"].field.queryset  # type: ignore[attr-defined]
    return {"slice": (of_study or slices)[0], "model": models.first().name, "seed": "0"}


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def new_distillation(request: SignedInRequest) -> HttpResponse:
    """Choose run, encoder and name of a distillation; say what it would learn from; start it."""
    posted = request.method == "POST"
    form = DistillationForm(request.POST if posted else _first_distillation(request))
    if posted and form.is_valid():
        try:
            return _started(request_distillation(form.plan(), request.user))
        except JobError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
    return _show_form(request, "evaluation/new_distillation.html", form, data=form.data_there())


def _first_distillation(request: SignedInRequest) -> dict[str, Any]:
    """Return what the form holds: what was chosen so far, or what to begin with."""
    form = DistillationForm()
    if "seed" in request.GET or not form.is_possible:
        return request.GET.dict()
    usual = {name: str(field.initial) for name, field in form.fields.items() if field.initial}
    runs, bases = (form[name].field.queryset for name in ("run", "base"))  # type: ignore[attr-defined]
    run = request.GET.get("run") or str(runs.first().pk)
    return {**usual, "seed": "0", "run": run, "base": bases.first().name}


def _show_form(
    request: SignedInRequest, template: str, form: SearchForm | DistillationForm, **more: Any
) -> HttpResponse:
    posted = request.method == "POST"
    if not posted:  # nothing is wrong yet with what nobody has sent
        form.errors.clear()
    context = {"form": form, "is_refused": posted, **more}
    return render(request, template, context, status=422 if posted else 200)


def _started(job: Job) -> HttpResponse:
    send_job(job)
    return redirect("evaluation:job", job.pk)


# --- what can be done about one -------------------------------------------------------------


def _changeable(request: SignedInRequest, pk: int) -> Job:
    """Return a job that this person may change: what asks other machines is for admins."""
    found = get_object_or_404(Job, pk=pk)
    if found.kind in OF_ADMINS and Role.ADMIN not in roles_of(request.user):
        raise PermissionDenied(f"{OF_ADMINS[Job.Kind(found.kind)]} are for admins to change.")
    return found


@require_POST
@allowed(Role.RESEARCHER)
def cancel_job(request: SignedInRequest, pk: int) -> HttpResponse:
    """Stop a job; what it has found stays."""
    found = _changeable(request, pk)
    if services.cancel_job(found, request.user):
        messages.success(request, f"{found.name} is cancelled. What it has found stays.")
    else:
        messages.info(request, f"{found.name} had ended already.")
    return redirect("evaluation:job", pk)


@require_POST
@allowed(Role.RESEARCHER)
def resume_job(request: SignedInRequest, pk: int) -> HttpResponse:
    """Go on with a job that was cancelled or failed, behind its last step."""
    found = _changeable(request, pk)
    if resume(found, request.user):
        send_job(found)
    else:
        messages.info(request, f"{found.name} has nothing to go on with.")
    return redirect("evaluation:job", pk)


@require_POST
@allowed(Role.RESEARCHER)
def delete_job(request: SignedInRequest, pk: int) -> HttpResponse:
    """Delete a job that has ended, with its steps."""
    found = _changeable(request, pk)
    if found.construction_id:
        messages.error(request, "Delete the construction itself: its job goes with it.")
        return redirect("constructions:construction", found.construction_id)
    try:
        delete(found, request.user)
    except JobError as error:
        messages.error(request, str(error))
        return redirect("evaluation:job", pk)
    kept = "What it pulled stays" if found.kind == PULL else "Runs that used it stay as they are"
    messages.success(request, f"{found.name} is deleted. {kept}.")
    return redirect("evaluation:jobs")
