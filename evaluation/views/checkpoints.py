"""Models that runs may use: admins add and delete them."""

import os
from typing import NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from evaluation.backends.registry import BACKENDS
from evaluation.forms.checkpoints import CheckpointForm
from evaluation.models import Checkpoint, MetricRun
from evaluation.services import checkpoints as services
from evaluation.services.checkpoints import CheckpointError

CHECKPOINTS_PER_PAGE = 25


class ModelRow(NamedTuple):
    """One model in the list."""

    checkpoint: Checkpoint
    kind: str
    is_server: bool
    is_key_set: bool  # in the environment of this process; its value is looked at nowhere here
    n_runs: int


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.ADMIN)
def checkpoints(request: SignedInRequest) -> HttpResponse:
    """List the models with their locations, and add one."""
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
    found = Checkpoint.objects.select_related("added_by")
    page = Paginator(found, CHECKPOINTS_PER_PAGE).get_page(request.GET.get("page"))
    names = [checkpoint.name for checkpoint in page.object_list]
    of_ours = MetricRun.objects.filter(is_imported=False, model_name__in=names).order_by()
    n_runs = dict(of_ours.values_list("model_name").annotate(n=Count("pk")))
    rows = [_row(checkpoint, n_runs.get(checkpoint.name, 0)) for checkpoint in page.object_list]
    context = {"form": form, "page": page, "rows": rows}
    return render(request, "evaluation/checkpoints.html", context, status=422 if posted else 200)


def _row(checkpoint: Checkpoint, n_runs: int) -> ModelRow:
    kind = BACKENDS.get(checkpoint.backend)
    return ModelRow(
        checkpoint,
        kind.title if kind else checkpoint.backend,
        bool(kind and kind.is_server),
        bool(os.environ.get(checkpoint.key_variable)),
        n_runs,
    )


@require_POST
@allowed(Role.ADMIN)
def delete_checkpoint(request: SignedInRequest, pk: int) -> HttpResponse:
    """Take a model away from the choices, unless a run uses it."""
    checkpoint = get_object_or_404(Checkpoint, pk=pk)
    try:
        services.delete_checkpoint(checkpoint, request.user)
    except CheckpointError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{checkpoint.name} is not offered any more.")
    return redirect("evaluation:checkpoints")
