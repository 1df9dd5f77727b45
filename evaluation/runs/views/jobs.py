"""Pages of new prompt searches and distillations."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from evaluation.jobs.kinds import send_job
from evaluation.jobs.services import JobError, left_to_ask
from evaluation.models import Job
from evaluation.runs.forms.jobs import DistillationForm, PromptSearchForm
from evaluation.runs.services.distillation import request_distillation
from evaluation.runs.services.job_calls import distillation_asking, search_asking
from evaluation.runs.services.prompt_search import request_prompt_search
from generation.views.plan_first import plan_first


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def new_search(request: SignedInRequest) -> HttpResponse:
    """Show the form of a prompt search, with the number of calls that it takes, and start it."""
    posted = request.method == "POST"
    form = PromptSearchForm(request.POST if posted else _first_search(request))
    if posted and form.is_valid():
        plan = form.plan()
        job = partial(request_prompt_search, plan, request.user)
        try:
            page = plan_first(request, left_to_ask(job, partial(search_asking, plan)))
            return page or _started(job())
        except JobError as error:
            field = {"setup": "slice", "metric": "slice"}.get(error.field or "", error.field)
            form.add_error(field if field in form.fields else None, str(error))
    return _show_form(request, "evaluation/runs/new_search.html", form, planned=form.planned())


def _first_search(request: SignedInRequest) -> dict[str, Any]:
    """Return the values of the form: the choices so far, or the first choices."""
    form = PromptSearchForm()
    if "seed" in request.GET or not form.is_possible:
        return request.GET.dict()
    study = request.GET.get("study", "")
    slices = [each for each in form.slices if study in ("", each.split("/")[0])]
    if not slices:
        messages.error(request, f"There is no study {study} that a search could learn from.")
    models = form["model"].field.queryset  # type: ignore[attr-defined]
    return {"slice": (slices or [""])[0], "model": models.first().name, "seed": "0"}


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def new_distillation(request: SignedInRequest) -> HttpResponse:
    """Show the form of a distillation, with the data that it would learn from, and start it."""
    posted = request.method == "POST"
    form = DistillationForm(request.POST if posted else _first_distillation(request))
    if posted and form.is_valid():
        plan = form.plan()
        job = partial(request_distillation, plan, request.user)
        try:
            page = plan_first(request, left_to_ask(job, partial(distillation_asking, plan)))
            return page or _started(job())
        except JobError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
    return _show_form(
        request, "evaluation/runs/new_distillation.html", form, data=form.data_there()
    )


def _first_distillation(request: SignedInRequest) -> dict[str, Any]:
    """Return the values of the form: the choices so far, or the first choices."""
    form = DistillationForm()
    if "seed" in request.GET or not form.is_possible:
        return request.GET.dict()
    usual = {name: str(field.initial) for name, field in form.fields.items() if field.initial}
    runs, bases = (form[name].field.queryset for name in ("run", "base"))  # type: ignore[attr-defined]
    run = request.GET.get("run") or str(runs.first().pk)
    if run not in {str(pk) for pk in runs.values_list("pk", flat=True)}:
        messages.error(request, f"There is no run {run} that a small model could learn.")
        run = ""
    return {**usual, "seed": "0", "run": run, "base": bases.first().name}


def _show_form(
    request: SignedInRequest, template: str, form: PromptSearchForm | DistillationForm, **more: Any
) -> HttpResponse:
    posted = request.method == "POST"
    if not posted:  # a form that has not been sent shows no errors yet
        form.errors.clear()
    context = {"form": form, "is_refused": posted, **more}
    return render(request, template, context, status=422 if posted else 200)


def _started(job: Job) -> HttpResponse:
    send_job(job)
    return redirect("evaluation:job", job.pk)
