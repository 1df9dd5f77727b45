"""Pages of models that runs and grids may use. Admins add, change and delete models here."""

import os
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from evaluation.backends.registry import BACKENDS
from evaluation.models import MetricRun
from evaluation.runs.forms.checkpoints import CheckpointForm, LimitsForm, limits_form
from evaluation.runs.services import checkpoints as services
from evaluation.runs.services.checkpoints import CheckpointError
from generation.backends.registry import LANGUAGE_MODELS
from generation.model_sizes import size_text
from generation.models import Checkpoint, GridSetup
from generation.retrieval.entities import spacy_model

CHECKPOINTS_PER_PAGE = 25


class ListedModel(NamedTuple):
    """One model in the list."""

    checkpoint: Checkpoint
    kind: str
    size: str  # "": not known
    is_server: bool
    is_key_set: bool  # the environment of this process has the key; its value is not used here
    n_runs: int
    n_grids: int
    limits: LimitsForm | None  # None: not a language model


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.ADMIN)
def checkpoints(request: SignedInRequest) -> HttpResponse:
    """Show the models with their locations, and the form that adds a model."""
    posted = request.method == "POST"
    form = CheckpointForm(request.POST if posted else None)
    if posted and form.is_valid():
        try:
            added = services.add_checkpoint(**form.cleaned_data, actor=request.user)
        except CheckpointError as error:
            form.add_error(error.field, str(error))
        else:
            messages.success(request, f"Runs can use {added.name} now.")
            return redirect("evaluation:checkpoints")
    context = {"form": form, **_listed(request.GET.get("page"))}
    return render(
        request, "evaluation/runs/checkpoints.html", context, status=422 if posted else 200
    )


def _listed(
    number: int | str | None, wrong: Mapping[int, LimitsForm] | None = None
) -> dict[str, object]:
    """Return a page of models, its rows, and the spaCy model of questions about graphs.

    Args:
        number: the number of the page.
        wrong: posted forms with errors, by the model's id.
    """
    found = Checkpoint.objects.select_related("added_by")
    page = Paginator(found, CHECKPOINTS_PER_PAGE).get_page(number)
    names = [checkpoint.name for checkpoint in page.object_list]
    of_ours = MetricRun.objects.filter(is_imported=False, model_name__in=names).order_by()
    n_runs = dict(of_ours.values_list("model_name").annotate(n=Count("pk")))
    cells = GridSetup.objects.filter(setup__model__in=names).order_by()
    grids = cells.values_list("setup__model").annotate(n=Count("grid", distinct=True))
    n_grids = dict(grids)
    rows = [
        _row(each, n_runs.get(each.name, 0), n_grids.get(each.name, 0), (wrong or {}).get(each.pk))
        for each in page.object_list
    ]
    return {"page": page, "rows": rows, "spacy_model": spacy_model()}


def _row(
    checkpoint: Checkpoint, n_runs: int, n_grids: int, wrong: LimitsForm | None
) -> ListedModel:
    kind = BACKENDS.get(checkpoint.backend)
    has_limits = checkpoint.backend in LANGUAGE_MODELS
    return ListedModel(
        checkpoint,
        kind.title if kind else checkpoint.backend,
        size_text(checkpoint.n_parameters) if checkpoint.n_parameters else "",
        bool(kind and kind.is_server),
        bool(os.environ.get(checkpoint.key_variable)),
        n_runs,
        n_grids,
        wrong or (limits_form(checkpoint) if has_limits else None),
    )


@require_POST
@allowed(Role.ADMIN)
def change_limits(request: SignedInRequest, pk: int) -> HttpResponse:
    """Change how many calls may be made of a model a minute, and at once."""
    checkpoint = get_object_or_404(Checkpoint, pk=pk)
    number = _page_number(checkpoint)
    form = limits_form(checkpoint, request.POST)
    if form.is_valid():
        limits = form.cleaned_data["limits"]
        try:
            services.change_limits(checkpoint, limits, request.user)
        except CheckpointError as error:
            form.add_error(error.field, str(error))
        else:
            messages.success(request, f"The limits of {checkpoint.name} are saved.")
            return redirect(_page_of(checkpoint))
    context = {"form": CheckpointForm(), **_listed(number, {checkpoint.pk: form})}
    return render(request, "evaluation/runs/checkpoints.html", context, status=422)


@require_POST
@allowed(Role.ADMIN)
def let_key_go_over_http(request: SignedInRequest, pk: int) -> HttpResponse:
    """Allow or forbid that the key of a model is sent over plain http, where others can read it."""
    checkpoint = get_object_or_404(Checkpoint, pk=pk)
    is_allowed = request.POST.get("allow") == "1"
    try:
        services.let_key_go_over_http(checkpoint, is_allowed, request.user)
    except CheckpointError as error:
        messages.error(request, str(error))
    else:
        goes = "is now sent over plain http" if is_allowed else "is no longer sent over plain http"
        messages.success(request, f"The key of {checkpoint.name} {goes}.")
    return redirect(_page_of(checkpoint))


def _page_of(checkpoint: Checkpoint) -> str:
    page = urlencode({"page": _page_number(checkpoint)})
    return f"{reverse('evaluation:checkpoints')}?{page}"


def _page_number(checkpoint: Checkpoint) -> int:
    """Return the number of the page that lists a model."""
    return Checkpoint.objects.filter(name__lt=checkpoint.name).count() // CHECKPOINTS_PER_PAGE + 1


@require_POST
@allowed(Role.ADMIN)
def delete_checkpoint(request: SignedInRequest, pk: int) -> HttpResponse:
    """Remove a model from the list, unless a run or a grid uses it."""
    checkpoint = get_object_or_404(Checkpoint, pk=pk)
    try:
        services.delete_checkpoint(checkpoint, request.user)
    except CheckpointError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{checkpoint.name} is no longer offered.")
    return redirect("evaluation:checkpoints")
